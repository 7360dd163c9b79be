// Package trail lays the way from a figure to a micro-dollar on a page: a row of the
// summary leads to its replications, a replication to its jobs, a job to what was decided
// and why, to the prices that it met, and to its entries in the ledger with their hashes;
// and each leads back.
//
// A page has so much room. A trail shows the jobs of the first replication of each policy,
// whose ledgers are kept, and says what it leaves out and which command shows it.
//
// The package reads rows and entries, and knows neither how they came about nor what a
// number in them means.
//
// # Design
//
// The tables here are written byte by byte, where those of bourse/experiments/report are
// rendered by go-pretty: thousands of rows with a name and links each take a tenth of the
// time, and a page is part of every run.
package trail
