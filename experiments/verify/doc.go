// Package verify compares results with ledgers. It recomputes the outcome of every contract
// from published data only. It shares no code with the market that ran the contracts, so
// two implementations of the same rules must agree.
//
// [Follow] reads a ledger together with bank/audit, which verifies entries and money. It
// checks that the statements in notes are possible for the contract. If a run published
// more data than its ledger (a [Run]), the package compares every entry with the contract's
// row in the table of jobs.
//
// If hosts are shared by auction, by turns or exclusively, the notes of admissions state
// who bid how much on which host. The package then simulates the market again with these
// bids. It checks every charge (share, price and time), the work done, the end of each
// contract, the verdict, the penalty and the table of prices.
//
// If a contract pays its budget or an agreed price as a whole, the package computes charges
// and penalties from the deadline and the verdict. It can do so even if hosts come and go.
// It compares the charge for a cancelled contract with the contract's price.
//
// If a policy sells intervals at prices of its own, the package recomputes each interval and its
// price. It uses the list prices and the node-seconds sold before, or the bids of the clearing. It
// also checks the reasons for refusals, which need the rows of all jobs.
//
// Metered charges cannot be recomputed if the sharing rule uses estimates or if hosts come
// and go, because the ledger lacks the necessary facts. If the note of an admission does
// not name the hosts, charges cannot be recomputed from that entry on. The report states
// these limits. The package never guesses. The package does not check whether a request
// should have been admitted, but it compares the reason in the ledger with the job's row.
//
// The time per entry does not depend on the number of earlier entries. It grows with the
// logarithm of the number of tasks on a host. Memory grows with the number of open
// contracts and with the number of table rows, which are read first.
//
// The package is independent of how runs are executed and of how entries are stored.
package verify
