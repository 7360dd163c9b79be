// Package audit verifies a bank's journal. It checks that the entries are unchanged, that
// every entry conserves money, that no account is overdrawn, and that each escrow was
// completely paid out or refunded.
//
// It reads the files that bank/store documents and shares no code with the package that wrote
// them. It writes nothing and takes no lock. It therefore works on read-only media. It also
// works on a ledger in use, up to the entry that is being written. It reads such a ledger as
// of one point in time. It keeps table files open, so that their removal does not matter, and
// copies logs to memory, because Pebble reuses them. (A Pebble checkpoint would have to be
// made by the writing process, and its hard links need a writable directory. Open files work
// as well and leave no files behind.)
//
// # What is found
//
//   - Every entry has a checksum.
//   - Every leaf of 32 entries has a hash that commits to all earlier entries.
//   - Every group is followed by the root of the Merkle tree after it.
//   - HEAD contains the root of the whole log.
//   - A closed ledger has the hash of each of its files.
//
// An audit therefore finds any changed byte, and any entry that was changed, removed, inserted
// or moved. It names the first bad entry, even if Pebble refuses to open the files. In that
// case, it reads the remains without Pebble.
//
// If only a hash differs, the audit names the entries that the hash covers, which are at most
// one leaf. Then either one of these entries was forged together with its checksum, or an
// entry is missing at the end of a group, or the hash itself was changed.
//
// If a ledger was not closed, damage to data on which no entry depends can look like an
// interrupted write. The audit distinguishes the two as far as possible. For this purpose it
// uses the copies in ACKS, the hashes in HEAD of files that are no longer written, and the
// checksums of logs and tables.
//
// If a whole ledger was rewritten, including hashes and HEAD, or was replaced by an older
// copy, only a head that was stored elsewhere can show this: [Options].Head. If no such head
// was given, the report states this.
//
// # Followers
//
// The audit is independent of the meaning of entries in the market. A [Follower] interprets
// them: it receives each entry that is valid by itself and reports further problems.
package audit
