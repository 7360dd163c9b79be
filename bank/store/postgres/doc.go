// Package postgres keeps a bank's ledger in PostgreSQL, or in CockroachDB, which
// speaks the same: the journal, sequencer, formats and receipts of [bourse/bank/store],
// and other rows under them.
//
// # Where
//
// A ledger is named by a URL as libpq has it, with one parameter more:
//
//	postgres://USER@HOST:PORT/DATABASE?ledger=NAME
//
// NAME is the schema that holds it, "bourse" if none is given: up to 63 letters,
// digits and the signs - _ . /. The password comes from PGPASSWORD, a .pgpass file or
// the URL, and is never printed.
//
// # Tables
//
//	ledger     one row: format; writer, who has it open, or empty; beat, which grows
//	           while it is; head, the size and root after the last group
//	groups     'G': first, value
//	balances   'B': name, value
//	contracts  'C': page, value
//	requests   'I': id, value
//	standing   'S': value
//
// The letters are the table bytes of bourse/bank/store, whose keys and values these
// are, byte for byte.
//
// # Promises
//
// They are those of bourse/bank/store, and are held by the same tests, in
// [bourse/bank/store/conformance]. A group is one transaction, in which head is
// written too: rows that were removed at the end are found when the ledger is opened.
// A server that runs with fsync off promises nothing; synchronous_commit off is
// turned on for the bank's own connection.
//
// No statement is waited for longer than ten seconds. A transaction that the server
// undoes and asks for again, SQLSTATE 40001 or 40P01, is sent again for as long. When
// the server is lost while it commits, whether the group stands is unknown: open
// again, and ask again with the same ids.
//
// # Design
//
// One writer at a time: it puts a token of its own in writer, and makes beat grow, by
// what it writes or twice a second. Who finds a token there waits until beat grows,
// and is refused, or until it has stood for three seconds, and takes the ledger over.
// Every transaction of a writer asks for its token, so that one that was taken for
// dead writes nothing more; nor does it tell anything more: it makes beat grow first,
// unless it did so two and a half seconds ago or less. Advisory locks would free a ledger at once when its writer
// dies, but CockroachDB has none; a row locked by an open transaction would, too, but
// would keep the whole database from being vacuumed.
//
// A reader sees one snapshot, locks nothing and waits for nobody. What it sees is
// durable: a transaction is visible once it is.
package postgres
