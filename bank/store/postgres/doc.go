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
// in TestConformance. A group is one transaction, which also writes the head. Opening a ledger
// therefore detects rows that were removed at the end. A server with fsync turned off
// guarantees nothing. If synchronous_commit is off, the bank turns it on for its own
// connection.
//
// No statement takes longer than ten seconds. If the server rolls a transaction back with
// SQLSTATE 40001 or 40P01, the transaction is retried within the same time. If the connection
// is lost during a commit, it is unknown whether the group was written: open the ledger again
// and repeat the requests with the same ids.
//
// # Design
//
// There is one writer at a time. It stores its own token in writer and increases beat with
// each write, or every half second. A process that finds a token waits. If beat increases,
// another writer is alive, and the process is refused. If beat does not change for three
// seconds, the process takes the ledger over.
//
// Every transaction of a writer checks its token, so a writer that was presumed dead can write
// nothing more. It also answers no more readers: before answering, it increases beat unless it
// did so within the last two and a half seconds.
//
// Advisory locks would release a ledger as soon as its writer dies, but CockroachDB has none.
// A row locked by an open transaction would do the same, but would prevent vacuuming of the
// whole database.
//
// A reader sees one snapshot, locks nothing and waits for nobody. The data in it is durable,
// because a transaction becomes visible only once it is durable.
package postgres
