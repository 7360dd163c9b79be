// Package results keeps what an experiment found: a directory of tables that
// people, spreadsheets and data-frame libraries read, with a manifest that says
// how it was made and what every byte of it should be.
//
//	manifest.json   scenario, seed, versions, hashes; see Manifest
//	README.txt      every column of every table, in words
//	jobs.parquet    a row a job and replication; see Job
//	jobs.csv        the same rows
//	prices.parquet  the mean host price over time; see Price
//	metrics.csv     a row a metric and replication; see Metric
//	summary.csv     means over replications; see Summary
//	curve.csv       efficiency against alpha; see Point
//	units.json      where in these files each unit is, and units.values what was measured of it
//	ledger/         the journals that were kept, one directory a replication
//	report.html     a page for people, and whatever else the caller adds
//
// The package knows neither how a row was computed nor what it means beyond its
// unit.
//
// # Design
//
// A row is a plain struct whose tags are the only description of its columns:
// the Parquet schema, the CSV header and codec, and README.txt come from them.
// A column that does not apply holds nil, which is null in Parquet and an empty
// cell in CSV; a NaN or an infinity is refused, because readers disagree about
// them.
//
// Rows are encoded block by block, on as many processors as there are, and blocks are
// put one behind the other as bytes; in Parquet each is a group of rows. The bytes of
// every file depend on the rows and their blocks alone: no instants, no machine. Wall
// time and versions live in the manifest.
//
// A directory is written beside its final place and renamed when it is complete,
// so that a run that dies leaves nothing that looks whole. Until then its units, the
// parts that are whole by themselves, are kept beside it, a file each: see [Units].
package results
