// Package store keeps a bank's journal, and the balances it adds up to, in a
// Pebble database: one directory a ledger.
//
// The values of a journal may stand elsewhere: in any [Keep], of which a directory is
// one and [bourse/bank/store/postgres] another. What every keep must hold to is a suite,
// [bourse/bank/store/conformance].
//
// It does not know what an entry is for.
//
// # Promises
//
// Entries are kept in groups of up to [GroupSize], one sync a group: an
// entry is durable once [Journal.Flush] has returned. Balances are written every
// few groups, in the same write as the group that they stand for, so that
// opening replays at most the groups since.
//
// The same entries in the same groups give the same files, byte for byte, in a
// directory made with [Options].Reproducible.
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
//
// A group is the byte 1, uv count, its entries, and the tree after them. An entry
// stands there as str, followed by the first 4 bytes of its hash, and is
//
//	kind byte, uv seq, f64 time, uv contract+1, str id, str note,
//	uv moves; each: str from, str to, uv micro-dollars
//
// where an empty name is the escrow of the entry's contract. The kinds are 1 issue,
// 2 admit, 3 reject, 4 settle, 5 penalty, 6 transfer.
//
// The hash of an entry is the RFC 6962 leaf hash of the 32-byte hash of the entry
// before it and the entry itself; before the first stands the leaf hash of
// "bourse ledger 1". So the hash of one entry commits to all up to it. These leaves
// make an RFC 6962 Merkle log, as in [golang.org/x/mod/sumdb/tlog]. A tree is the
// hash of the last entry, then the roots of the complete subtrees, largest first,
// one for each bit set in the number of entries.
//
// Beside the database stands the file HEAD: the size and root of the log when it
// was last written and, once the ledger is closed, the SHA-256 of every file that
// Pebble does not checksum throughout. It is never ahead of what is durable, and a
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
// last, which the database may not yet have. Opening takes it from there.
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
// read alone. Its hash commits to the entry before, so that a receipt for one
// stands for all that came before; the tree is there for short proofs.
package store
