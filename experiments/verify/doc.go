// Package verify compares results with ledgers: it recomputes, only from published data, the
// outcome of every contract. It shares no code with the market that ran them, so two
// implementations of the same rules must agree.
//
// [Follow] reads a ledger together with bank/audit, which proves entries and money. It checks
// that what notes state about a contract is possible. Given the data that a run published in
// addition to its ledger, a [Run], it compares every entry with its row of the table of jobs.
//
// If hosts are shared by auction, by turns or exclusively, the notes of admissions state who
// bid how much on which host. The package then runs the market again from them. It checks
// every charge (share, price and time), the work done, the end of each contract, the verdict,
// the penalty, and the table of prices.
//
// If a contract pays its budget or an agreed price as a whole, charges and penalties are
// computed from deadline and verdict, even if hosts come and go. The charge for a cancelled
// contract is compared with its price.
//
// Metered charges cannot be computed if the sharing rule uses estimates or if hosts come and
// go, because the ledger does not contain the necessary facts. The same holds from an
// admission on whose note does not name its hosts. The report states such limits; nothing is
// guessed. The package does not decide whether a request should have been admitted, but
// compares the stated reason with its row.
//
// The time per entry does not depend on the number of earlier entries, but grows with the
// logarithm of the number of tasks on a host. Memory grows with the number of open contracts
// and with the rows of the tables, which are read first.
//
// The package is independent of how runs are executed and of how entries are stored.
package verify
