// Package audit proves a bank's journal: that its entries are those that were
// written, that money is conserved at every one, that nobody is overdrawn, and
// that of each contract what was admitted was paid or came back.
//
// It reads the files that bank/store documents, and shares no code with what
// wrote them. It writes nothing, takes no lock, and so works on read-only media
// and, up to the entry that is being written, on a ledger in use. That is read as it
// was at one moment: tables are held open, so that their removal is no matter, and
// logs, which are used again, are copied to memory. (A checkpoint of Pebble's would
// need the writer's own process, and its hard links a place to write to; files held
// open are as good, and leave nothing behind.)
//
// # What is found
//
// Every entry carries a checksum, every 32 of them, a leaf, a hash that commits to all
// entries before, every group the root of the Merkle tree after it, HEAD the root of
// the whole, and a closed ledger the hash of each of its files. So any byte changed, any
// entry changed, removed, inserted or moved is found, and the first bad entry named,
// also where Pebble refuses to open its files: their remains are then read without it.
//
// Where only a hash tells, the entries that it is of are named, at most a leaf: one of
// them was forged together with its checksum, or is missing at the end of a group, or
// the hash itself was changed.
//
// In a ledger that was not closed, harm to what no entry rests on is told from a write
// cut short where it can be: by the copies in ACKS, by what HEAD says of files that
// nobody writes any more, and by the checksums of logs and tables.
//
// Someone who makes a whole ledger anew, hashes and HEAD included, or puts an
// older copy in its place, is found only by a head that was kept elsewhere:
// [Options].Head. A report says when none was given.
//
// # Who follows
//
// What entries mean to those who made them an audit does not know. A [Follower] does: it
// is told each entry that is in order in itself, and finds what is amiss with it.
package audit
