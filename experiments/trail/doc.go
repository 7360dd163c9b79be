// Package trail links figures to ledger entries on a page. A row of the summary links to its
// replications, a replication to its jobs, and a job to the decision and its reason, to the
// prices during the job, and to its ledger entries with their hashes. Each links back.
//
// The size of a page is limited. A trail shows the jobs of the first replication of each
// policy, whose ledgers are stored. It lists what it omits, and the command that shows it.
//
// The package reads rows and entries, and is independent of their origin and of the meaning
// of numbers.
//
// # Design
//
// The tables are written byte by byte, not rendered by go-pretty as in
// bourse/experiments/report. Thousands of rows with names and links each then take a tenth of
// the time, which matters because every run writes a page.
package trail
