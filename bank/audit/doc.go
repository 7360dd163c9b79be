// Package audit verifies a bank's journal. It checks that the entries are those that were
// written, that every entry conserves money, that no account is overdrawn, and that each escrow
// was fully paid out or refunded.
//
// It reads the files that bank/store documents and shares no code with the package that wrote
// them. It writes nothing and takes no lock. It therefore works on read-only media and, up to
// the entry being written, on a ledger in use. It reads such a ledger as of one point in time.
// It keeps tables open, so that their removal does not matter, and copies logs to memory,
// because they are reused. (A Pebble checkpoint would have to be made by the writing process,
// and its hard links need a writable place. Open files work as well and leave nothing behind.)
//
// # What is found
//
//   - Every entry has a checksum.
//   - Every leaf of 32 entries has a hash that commits to all earlier entries.
//   - Every group is followed by the root of the Merkle tree after it.
//   - HEAD contains the root of the whole log.
//   - A closed ledger has the hash of each of its files.
//
// An audit therefore finds any changed byte and any entry that was changed, removed, inserted
// or moved. It names the first bad entry, even if Pebble refuses to open its files: it then
// reads the remains without Pebble.
//
// If only a hash differs, the audit names the entries that the hash covers, at most a leaf.
// Either one of them was forged together with its checksum, or one is missing at the end of a
// group, or the hash itself was changed.
//
// In a ledger that was not closed, the audit distinguishes damage to data that no entry
// depends on from an interrupted write as far as possible. It uses the copies in ACKS, the
// hashes in HEAD of files that are no longer written, and the checksums of logs and tables.
//
// If a whole ledger was rewritten, including hashes and HEAD, or replaced by an older copy, only a
// head that was stored elsewhere reveals it: [Options].Head. If none was given, the report states
// this.
//
// # Followers
//
// The audit is independent of the meaning of entries to the market. A [Follower] interprets
// them: it receives each entry that is valid by itself and reports further problems.
package audit
