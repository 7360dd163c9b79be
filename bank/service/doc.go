// Package service makes a bank available over a network. It contains a server for one ledger,
// and a client with the interface of a local bank. The calls are defined in bank/wire.
//
// The package identifies contracts only by their numbers, and is independent of how a ledger is
// stored.
//
// # Access rules
//
// Entries to book contain their orders, which bank/owners checks in the same way as for a
// local bank. The server sets the time of each entry, which determines whether the order has
// expired. To read, a client sends an order of kind read for the market "bank". It is signed
// with the key of the client's account and expires within a minute.
//
//   - An account may read its own balance, the escrows refundable to it, and the requests that
//     concern it.
//   - A market may read its own account and the escrows of its contracts.
//   - The operator and accounts with the right read or audit may read everything. Only they
//     may read entries and proofs, because these also show neighbouring entries.
//   - In an open ledger, anyone may read all data and book any entry.
//
// The reply to a booked entry is a receipt signed by the bank: see bank/proof.
//
// # Promises
//
//   - A remote bank answers in the same way as a local one, with the same receipts, balances,
//     escrows and distinguishable errors: TestSame.
//   - No client can read the data of other accounts or book entries for them: TestAttacks.
//     Requests that are too large, too many or too slow are refused, and one account cannot
//     block others: TestLimits, TestSlow.
//   - A server that is shut down replies to the requests that it has applied: TestShutdown.
//   - If two servers share a ledger in a database and are killed, cut off or paused, nothing
//     is lost, booked twice or read in an outdated state: TestJepsen of cmd/bourse.
//
// # Design
//
// The signatures of a call are checked by the goroutine of the call, on any processor, with
// the latest known keys of the accounts. The loop that owns the ledger only checks that the
// keys are still current. The table shows the processor time at both ends, without the
// database. In the measurement, 256 clients had transfers booked, first one per call and then
// 64 per call (profile of BenchmarkServe):
//
//	checking signatures of orders         57 %
//	the ledger, its tree, and the driver  11 %
//	HTTP, TLS and Connect, at both ends   13 %
//	parsing orders                         7 %
//	signing receipts                       6 %
//	garbage collection                     6 %
//
// A client repeats a request with the same id, with one server after another, until it
// receives an answer. It therefore need not know which server writes. Calls are unary, so that
// each can be repeated.
package service
