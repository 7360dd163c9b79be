// Package trail creates the section of a page that links figures to ledger entries. A row of
// the summary links to its replications, and a replication links to its jobs. A job links to
// the decision with its reason, to the prices during the job, and to its ledger entries with
// their hashes. Each links back.
//
// The size of a page is limited. A trail therefore shows only the jobs in the first
// replication of each policy, whose ledgers are stored. It lists what it omits, with the
// command that shows the omitted data.
//
// The package is independent of the source of rows and entries and of the meaning of numbers.
//
// # Design
//
// Unlike in bourse/experiments/report, the tables are written directly, without go-pretty.
// This is ten times faster for thousands of rows with names and links. The speed matters
// because every run writes a page.
package trail
