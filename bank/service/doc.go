// Package service lets many ask a bank over a network: a server for one ledger, and a
// client that is asked as a bank here is. bank/wire has the calls.
//
// It does not know what contracts are beyond their numbers, nor how a ledger is kept.
//
// # Who may ask for what
//
// What is booked carries its order, and the door of the ledger, bank/owners, judges that
// as it does here; the server gives an entry its time, by which an order expires. Who reads
// sends an order to read: of kind read, to market "bank", signed by the key of its account,
// which expires within a minute. An account reads its own balance, the escrows that go back
// to it, and what concerns it of requests; a market its own and the escrows of its
// contracts; the operator, and who has right read or audit, reads all. Entries and proofs,
// which show the entries beside, are for those alone. Of an open ledger everybody may ask
// for anything.
//
// What was booked is answered with a receipt that the bank signs: see bank/proof.
//
// # Promises
//
//   - A bank elsewhere answers as one here: receipts, balances, escrows, and errors that
//     are told apart: TestSame.
//   - Nobody reads or books what is another's: TestAttacks. What is too large, too many or
//     too slow is refused, and one account does not keep others out: TestLimits, TestSlow.
//   - A server that is told to end answers what it has applied: TestShutdown.
//   - Of two servers of one ledger in a database, killed, cut off and silenced, nothing is
//     lost, doubled or seen as it no longer is: TestJepsen of cmd/bourse.
//
// # Design
//
// Signatures are checked by the call that brings them, on any processor, with the key that
// the account had last; the loop that owns the ledger asks only whether it still is. Where
// processors spend their time while 256 clients have transfers booked, one a call and then
// 64, at both ends but for the database itself (profile of BenchmarkServe):
//
//	to check signatures of orders         57 %
//	the ledger, its tree, and the driver  11 %
//	HTTP, TLS and Connect, at both ends   13 %
//	to read orders                         7 %
//	to sign receipts                       6 %
//	to collect garbage                     6 %
//
// A client asks again until it is answered, one server after another, with the same id: it
// need not know which of them writes. Calls are unary, so that any of them can be asked
// again.
package service
