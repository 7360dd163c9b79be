// Package service makes a bank available over a network. It has a server for one ledger, and a
// client with the interface of a local bank. bank/wire defines the calls.
//
// The package identifies contracts only by their numbers, and is independent of how a ledger is
// stored.
//
// # Access rules
//
// Entries to book contain their orders, and bank/owners checks them as for a local bank. The
// server sets the time of an entry, which decides whether its order has expired. To read, a
// client sends an order of kind read to market "bank", signed by the key of its account, which
// expires within a minute.
//
//   - An account may read its own balance, the escrows refundable to it, and the requests that
//     concern it.
//   - A market may read its own account and the escrows of its contracts.
//   - The operator and accounts with the right read or audit may read everything. Only they
//     may read entries and proofs, because these also show neighbouring entries.
//   - In an open ledger, everybody may read and book anything.
//
// The reply to a booked entry is a receipt signed by the bank: see bank/proof.
//
// # Promises
//
//   - A remote bank answers like a local one, with the same receipts, balances, escrows and
//     distinguishable errors: TestSame.
//   - Nobody can read data of others or book entries for them: TestAttacks. Requests that are too
//     large, too many or too slow are refused, and one account cannot block others: TestLimits,
//     TestSlow.
//   - A server that is shut down replies to the requests that it has applied: TestShutdown.
//   - If two servers share a ledger in a database and are killed, cut off or paused, nothing
//     is lost, booked twice or read in an outdated state: TestJepsen of cmd/bourse.
//
// # Design
//
// The goroutine of a call checks its signatures, on any processor, with the latest known keys
// of the accounts. The loop that owns the ledger only checks that the keys are still current.
// The table shows processor time at both ends, without the database, while 256 clients have
// transfers booked, first one per call and then 64 (profile of BenchmarkServe):
//
//	checking signatures of orders         57 %
//	the ledger, its tree, and the driver  11 %
//	HTTP, TLS and Connect, at both ends   13 %
//	parsing orders                         7 %
//	signing receipts                       6 %
//	garbage collection                     6 %
//
// A client retries until it is answered, with one server after another and the same id, so it
// need not know which server writes. Calls are unary, so that each can be repeated.
package service
