// Package store writes a bank's journal, and the balances that result from it, to a Pebble
// database. Each ledger has its own directory.
//
// The values of a journal can also be stored in any other [Backend]. A directory is one
// backend, and [bourse/bank/store/postgres] implements a second one. The tests of that package
// check the guarantees of both.
//
// The package is independent of the meaning of entries. A [Sequencer] asks bourse/bank/owners
// whether an entry may be booked.
//
// # Promises
//
// Entries are written in groups of up to [GroupSize], with one sync per group. An entry is
// durable once [Journal.Flush] has returned. Balances are written every few groups, in the
// same write as the last group that they include. Opening a ledger therefore replays only the
// groups written since then.
//
// In a directory created with [Options].Reproducible, the same entries in the same groups
// produce the same files, byte for byte, because all data is in write-ahead logs.
//
// # Format
//
// A key is a table byte followed by the key within the table. Integers in keys are 8 bytes,
// big-endian. An unsigned varint of minimal length is uv, a uv followed by that number of bytes is
// str, and the 8 bytes of a float64, big-endian, are f64.
//
//	'G' seq       the group whose first entry is seq, counted from 1
//	'B' name      the balance of an account: uv micro-dollars (zigzag), str owner of an escrow
//	'C' page      the contracts ever admitted, 512 per page: 64 bytes, bit n%512 of n
//	'I' id        the entry booked for a request: uv seq, its 32-byte hash, and the first
//	              16 bytes of the SHA-256 of the entry with seq and time 0
//	'S'           the state that 'B', 'C' and 'I' reflect: uv seq of the last entry, f64 its
//	              time, tree
//	'S' name      in an owned ledger, as of the same entry: the record of an account, in the
//	              text form of [owners.Owners.Rows]; the ledger's id is at "/ledger"
//
// A group is the byte 2, uv count, the bytes that its entries add to the log, and the 32-byte
// root of the log after them. The log consists of leaves. Each leaf except the last has
// [LeafSize] entries, regardless of group boundaries. A leaf is the byte 0, the 32-byte hash
// of the previous leaf, and its entries. Each entry is a str followed by the crc32c of the
// string, 4 bytes, big-endian. An entry is
//
//	kind byte, uv seq, f64 time, uv contract+1, str id, str note,
//	uv moves; each: str from, str to, uv micro-dollars
//
// An empty name means the escrow of the entry's contract. The kinds are 1 issue, 2 admit, 3
// reject, 4 settle, 5 penalty, 6 transfer, 7 owner, 8 refuse, 9 clear, 10 move, 11 adjust.
//
// The hash of an entry is the SHA-256 of its leaf up to and including the entry, so it commits
// to all earlier entries. The hash of a leaf is the hash of its last entry. The hash before
// the first leaf is the SHA-256 of the byte 0 and "bourse ledger 2". A leaf begins with the
// byte 0 of RFC 6962. The leaves therefore form a Merkle log as in
// [golang.org/x/mod/sumdb/tlog], except that the last leaf may still grow. The root of a log
// of n entries depends only on those entries.
//
// The tree in 'S' consists of the roots of the complete subtrees of complete leaves, largest
// first, one for each bit set in the number of leaves. They are followed by the bytes of the
// next leaf so far, at least its first 33 bytes.
//
// The file HEAD, next to the database, contains the size and root of the log when HEAD was
// last written. When the ledger is closed, HEAD also contains the SHA-256 of every file that
// Pebble does not protect completely with checksums. While the ledger is open, it contains the
// SHA-256 of the files that are no longer written. HEAD never describes entries that are not
// yet durable. If a ledger ends before its HEAD, it has lost entries.
//
// The file ACKS, which reproducible ledgers do not have, records the entries acknowledged after
// HEAD was written. Its 512 KiB consist of four regions: areas 0 and 1, and a copy of each. One
// era fills one area, and the next era fills the other. An area is a sequence of acks, each
//
//	crc32c of the rest, length n, uint64 era, first, last, the 32-byte root of
//	entries to last, and n bytes
//
// Here crc32c and n have 4 bytes each, big-endian. The first ack of an era has n = 0: all
// entries up to last are durable in the database. Each later ack contains a group, entries
// first to last, which may still be missing from the database. Opening the ledger restores the
// group from the ack. An ack is padded with zeros to a multiple of 64 bytes, so that no single
// flipped bit can make it look like an empty area. Every byte of an area that is not part of
// an ack of the area's era has the value a5.
//
// # After a crash
//
// A ledger that was not closed is not sealed. An audit nevertheless detects a flipped bit, a
// zeroed block or a truncated end in any of its files:
//
//   - Entries have hashes.
//   - The two copies in ACKS can only differ as an interrupted write leaves them: one has a5
//     where the other has an ack. Each area is therefore filled with a5 rather than 0 where it
//     has no ack.
//   - HEAD has the hashes of OPTIONS, and of the manifests and logs that were already finished
//     when the ledger was opened.
//   - Logs and tables finished later have checksums throughout. No log file is reused, because
//     its old contents could not be distinguished from damage.
//
// Damage to the remains of an interrupted write cannot be detected, because they have no valid
// checksum. No data depends on them. Examples are the end of an ack or a log that was not
// acknowledged, a table that was not yet used, and the files *.tmp and *.dbtmp. Damage to the
// end of the manifest in use can look like an interrupted write. In that case it is rebuilt
// from the remaining logs, or the ledger is refused. It is also impossible to find out whether
// Pebble itself removed a file, if Pebble removes such files when they are no longer needed.
// Damage that occurs while a ledger is being opened may go unnoticed until HEAD contains the
// hash of OPTIONS.
//
// # Design
//
// The package uses Pebble v2. Pebble v1 is no longer developed. Unless the parent directory is
// synced separately, it loses a new database completely on a power failure. The package uses
// the newest file format, because older formats leave parts of their files without a checksum.
//
// Pebble's recovery silently drops a damaged end of the write-ahead log, because it cannot
// distinguish the damage from an interrupted write. ACKS makes the distinction possible. A
// group of up to 64 KiB is acknowledged once ACKS contains it twice, in blocks far apart. Only
// a larger group, or a group with balances, waits for the write-ahead log and then for ACKS.
// Most groups therefore wait for one sync of a file that does not grow, which is faster than
// Pebble without ACKS. A single fault (a bit, a block or the end of a file) loses nothing that
// was acknowledged. The data is restored from the copy or the log, or the ledger is refused.
// It would be sufficient for detection to write only the size and root after each sync of the
// log, but this would need a second sync.
//
// An entry contains names rather than account numbers, so that it can be proved and read by
// itself. Its hash commits to all earlier entries, so a receipt for one entry also covers the
// entries before it. The tree allows short proofs. With one leaf per entry, each entry would
// cost two hashes of two blocks, which is four times the cost of hashing the entries. With
// leaves of 32 entries, whose bytes are hashed in place, a group costs little more than
// hashing its entries. The hash of a single entry is only computed if a receipt is requested.
// A proof then contains the leaf of its entry, which has at most 32 entries.
//
// Each entry is stored with a checksum rather than with the beginning of its hash, because
// computing that hash for every entry would cost more. With the checksum, an audit can name a
// damaged entry. If both an entry and its checksum are forged, the hash after its leaf or the
// root after its group reveals it, and the audit names the leaf.
//
// 'S' also contains the entries of the incomplete leaf, usually a few hundred bytes. Without
// them, hashing could only continue after a search through the previous groups.
package store
