// Package postgres stores a bank's ledger in PostgreSQL, or in CockroachDB, which uses the
// same protocol. It uses the journal, sequencer, formats and receipts of [bourse/bank/store];
// only the storage differs.
//
// # URL
//
// A ledger is named by a libpq URL with an additional parameter:
//
//	postgres://USER@HOST:PORT/DATABASE?ledger=NAME
//
// NAME is the schema of the ledger, by default "bourse": up to 63 letters, digits and the
// characters - _ . /. The password comes from PGPASSWORD, a .pgpass file or the URL, and is
// never printed.
//
// # Tables
//
//	ledger     one row: format; writer, the token of the process that has it open, or empty;
//	           beat, which increases while it is open; head, size and root after the last group
//	groups     'G': first, value
//	balances   'B': name, value
//	contracts  'C': page, value
//	requests   'I': id, value
//	standing   'S': value
//
// The letters are the table bytes of bourse/bank/store. Keys and values have the same bytes as
// in that package.
//
// # Promises
//
// The package gives the same guarantees as bourse/bank/store, and the same tests check them,
// in TestConformance. A group is one transaction, which also writes the head. The opening of a
// ledger therefore detects whether rows at the end were removed. A server with fsync turned
// off guarantees nothing. If synchronous_commit is off, the bank turns it on for its own
// connection.
//
// No statement takes longer than ten seconds. If the server rolls a transaction back with
// SQLSTATE 40001 or 40P01, the transaction is retried within the same time limit. If the
// connection is lost during a commit, it is unknown whether the group was written. Open the
// ledger again and repeat the requests with the same ids.
//
// # Design
//
// There is one writer at a time. It stores its own token in writer and increases beat with
// each write, or every half second. A process that finds a token waits. If beat increases,
// another writer is alive, and the process is refused. If beat does not change for three
// seconds, the process becomes the writer.
//
// Every transaction of a writer checks its token. A writer that was presumed dead can
// therefore write no more data. It also stops answering readers: before each answer, it
// increases beat, unless it did so within the last two and a half seconds.
//
// Advisory locks would release a ledger as soon as its writer dies, but CockroachDB does not
// have them. A row locked by an open transaction would have the same effect, but would prevent
// the vacuuming of the whole database.
//
// A reader reads from one snapshot, locks nothing and never waits for a writer. The data in
// the snapshot are durable, because a transaction becomes visible only when it is durable.
package postgres
