// Package results stores the results of an experiment in a directory. The directory contains
// tables for people, spreadsheets and data-frame libraries. A manifest describes how the
// results were made and gives the hash of every file.
//
//	manifest.json   scenario, seed, versions, hashes; see Manifest
//	README.txt      every column of every table, in words
//	jobs.parquet    a row a job and replication; see Job
//	jobs.csv        the same rows
//	prices.parquet  the mean host price over time; see Price
//	metrics.csv     one row per metric and replication; see Metric
//	summary.csv     means over replications; see Summary
//	curve.csv       efficiency against alpha; see Point
//	units.json      position of each unit in these files; units.values: its measured values
//	ledger/         the stored journals, one directory per replication
//	report.html     a page for people, and other files that the caller adds
//
// The package is independent of how rows are computed and of their meaning, except for
// units.
//
// # Design
//
// A row is a plain struct, and its tags are the only description of the columns. The Parquet
// schema, the CSV header and codec, and README.txt are derived from these tags. A column that
// does not apply is nil in Go, null in Parquet and an empty cell in CSV. NaNs and infinities
// are rejected, because readers treat them differently.
//
// Rows are encoded block by block in parallel, and the blocks are concatenated as bytes. In
// Parquet, each block is a row group. The bytes of a file depend only on the rows and their
// division into blocks. They do not depend on time or machine. Only the manifest contains
// the wall time and the versions.
//
// A directory is written under a temporary name and renamed when it is complete. If a run
// is killed, its directory therefore never looks complete. Until the directory is complete,
// finished units are stored in separate files next to it: see [Units].
package results
