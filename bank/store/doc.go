// Package store keeps a bank's journal, and the balances it adds up to, in a
// Pebble database: one directory a ledger.
//
// The values of a journal may stand elsewhere: in any [Backend], of which a directory is
// one and [bourse/bank/store/postgres] another. What every backend must hold to is a suite,
// [bourse/bank/store/conformance].
//
// It does not know what an entry is for. A [Sequencer] asks bourse/bank/owners whether
// it may be booked.
//
// # Promises
//
// Entries are kept in groups of up to [GroupSize], one sync a group: an
// entry is durable once [Journal.Flush] has returned. Balances are written every
// few groups, in the same write as the group that they stand for, so that
// opening replays at most the groups since.
//
// The same entries in the same groups give the same files, byte for byte, in a
// directory made with [Options].Reproducible: all is in write-ahead logs.
//
// # Format
//
// A key is a table byte and what it finds there; integers in keys are 8 bytes,
// big-endian. uv is an unsigned varint of least length, str a uv and so many
// bytes, f64 the 8 bytes of a float64, big-endian.
//
//	'G' seq       the group whose first entry is seq, counted from 1
//	'B' name      what an account held: uv micro-dollars (zigzag), str owner of an escrow
//	'C' page      the contracts ever admitted, 512 a page: 64 bytes, bit n%512 of n
//	'I' id        the entry that a request made: uv seq, its 32-byte hash, and the first
//	              16 bytes of the SHA-256 of the entry with seq and time 0
//	'S'           what 'B', 'C' and 'I' stand for: uv seq of the last entry, f64 its time, tree
//	'S' name      of an owned ledger, as of then: what an account has, the text of
//	              [owners.Owners.Rows]; its id, at "/ledger"
//
// A group is the byte 2, uv count, what its entries add to the log, and the root of
// the log after them, 32 bytes. The log is leaves, of [LeafSize] entries each but the
// last, wherever groups end. A leaf is the byte 0, the 32-byte hash of the leaf before,
// and its entries, each as str followed by the crc32c of the string, 4 bytes,
// big-endian. An entry is
//
//	kind byte, uv seq, f64 time, uv contract+1, str id, str note,
//	uv moves; each: str from, str to, uv micro-dollars
//
// where an empty name is the escrow of the entry's contract. The kinds are 1 issue,
// 2 admit, 3 reject, 4 settle, 5 penalty, 6 transfer, 7 owner, 8 refuse.
//
// The hash of an entry is the SHA-256 of its leaf up to it, itself included: so it
// commits to all entries before. That of a leaf is the hash of its last entry; before
// the first leaf stands SHA-256 of the byte 0 and "bourse ledger 2". As a leaf begins
// with the 0 of RFC 6962, leaves make a Merkle log of that, as in
// [golang.org/x/mod/sumdb/tlog], whose last leaf may still grow. The root of a log of n
// entries depends on them alone.
//
// The tree of 'S' is the roots of the complete subtrees of complete leaves, largest
// first, one for each bit set in their number, and then what there is of the leaf that
// comes next: its first 33 bytes at least.
//
// Beside the database stands the file HEAD: the size and root of the log when it
// was last written and, once the ledger is closed, the SHA-256 of every file that
// Pebble does not checksum throughout; while it is open, of those that nobody writes
// any more. It is never ahead of what is durable, and a
// ledger that is behind it has lost its end.
//
// The file ACKS, which reproducible ledgers do not have, tells what was acknowledged
// since. Its 512 KiB are four regions: areas 0 and 1, and a copy of both. An era
// fills one area, the next the other: acks one after another, each
//
//	crc32c of the rest, length n, uint64 era, first, last, the 32-byte root of
//	entries to last, and n bytes
//
// with crc32c and n in 4 bytes, big-endian. The first of an era has no more: entries
// to last are durable in the database. Those after it have a group, entries first to
// last, which the database may not yet have. Opening takes it from there. An ack ends
// with zeros, at a multiple of 64 bytes, so that none is like no ack but for a bit.
// Every byte that is not of an ack of the area's era is a5.
//
// # After a crash
//
// A ledger that was not closed is not sealed, and yet an audit notices a bit flipped, a
// block zeroed or an end cut off in any of its files. Entries have hashes. The two copies
// in ACKS differ only as a write cut short leaves them: one has a5 where the other has an
// ack; so they are written, and a5 rather than 0 is where nothing is. OPTIONS, and the
// manifests and logs that were done with when the ledger was opened, are in HEAD. Logs
// and tables that were done with since have checksums throughout; no log is used again,
// because what is left in one from before could not be told from harm.
//
// What cannot be told is harm to what a write cut short has left, for it has nothing
// that could hold, and nothing rests on it: the end of an ack or a log that was not
// acknowledged, a table that was not yet used, the files *.tmp and *.dbtmp. The end of
// the manifest in use looks so, too, and is then made good from the logs that are still
// there, or the ledger is refused. Nor can it be told who removed a file that Pebble
// removes once it is done with it. Harm while a ledger is opened, before HEAD tells of
// OPTIONS, may pass until then.
//
// # Design
//
// Pebble v2, not v1: v1 is finished, and loses a whole new database on a power cut
// unless the parent directory is synced by hand. The newest format is asked
// for, because older ones leave parts of their files without checksum.
//
// A recovery of Pebble drops a damaged end of the write-ahead log without a word,
// since it cannot tell it from a write cut short. ACKS is there to tell: a group of
// up to 64 KiB is acknowledged once it stands there twice, in blocks far apart, and
// only a larger one, or one with balances, waits for the write-ahead log and then for
// ACKS. So one sync of a file that does not grow is all that most groups wait for,
// which is faster than Pebble alone. Of one harm at a time, a bit, a block or the end
// of a file, nothing that was acknowledged is lost: either it is made good from the
// copy or the log, or the ledger is refused. To write the size and root alone after
// each sync of the log would find as much and cost a second sync.
//
// An entry carries names rather than account numbers, so that it can be proved and
// read alone. Its hash commits to all before it, so that a receipt for one stands for
// all that came before; the tree is there for short proofs. A leaf for each entry costs
// two hashes of two blocks an entry, four times what hashing the entries takes; with
// leaves of 32, whose bytes are hashed where they stand, a group needs little more than
// that, and hashes of single entries are finished for those who ask for a receipt. A
// proof then carries its entry's leaf, at most 32 entries.
//
// What is kept beside an entry is a checksum and not the beginning of its hash, which
// would have to be finished for each. So damage to an entry is named to the entry. One
// who forges an entry and its checksum is found by the hash that stands after its leaf,
// or by the root after its group, and the leaf is named.
//
// The entries of a leaf that is not complete stand in 'S', too, a few hundred bytes as
// a rule: hashing could otherwise only go on after a search through the groups before.
package store
