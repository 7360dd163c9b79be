// Package verify compares results with ledgers. It recomputes the outcome of every contract
// from published data only. It shares no code with the market that ran the contracts.
// Agreement therefore confirms two independent implementations of the same rules.
//
// [Follow] works together with bank/audit, which reads a ledger and verifies its entries and
// the money. It checks that the values in notes are possible for their contracts. If a run has
// published more data than its ledger (see [Run]), the package also compares every entry with
// the row of the contract in the table of jobs.
//
// If hosts are shared by auction, by turns or exclusively, the notes of admissions contain the
// bids on each host. From these bids, the package simulates the market again. It checks every
// charge (share, price and time), the work done, the end of each contract, the verdict, the
// penalty and the table of prices.
//
// If a contract pays its budget or an agreed price as a whole, the package computes charges
// and penalties from the deadline and the verdict. This works even if hosts come and go. For a
// cancelled contract, it compares the charge with the contract's price.
//
// If a policy sells intervals at its own prices, the package recomputes each interval and its
// price. The data are the list prices and the node-seconds sold earlier, or the bids of the
// clearing. It also checks the reasons for refusals, for which it needs the rows of all jobs.
//
// Metered charges cannot be recomputed if the sharing rule uses estimates or if hosts come and
// go, because the ledger does not contain the necessary data. If the note of an admission does
// not name the hosts, charges cannot be recomputed from that entry on. The report states these
// limits. The package does not check whether a request should have been admitted. It only
// compares the reason in the ledger with the job's row.
//
// The time per entry does not depend on the number of earlier entries. It grows with the
// logarithm of the number of tasks on a host. Memory grows with the number of open
// contracts and with the number of table rows, which are read first.
//
// The package is independent of how runs are executed and of how entries are stored.
package verify
