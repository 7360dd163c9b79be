package main

var bankCommand = group(`bank
hold and transfer money in a ledger

A bank is a directory that holds a ledger. An account is created by its first payment. Only
'mint' creates money. Every request has an id. If you send a request again with the same id, the
bank returns the same answer and books nothing. It refuses a different request with the same id.
The answer is a receipt, SEQ:HASH, which the bank returns once the entry is durable.

   bourse bank init books
   bourse bank mint books user:ann 100 --id salary-1
   bourse bank transfer books user:ann user:bob 12.50 --id rent-1
   bourse bank balance books
   bourse bank audit books

Amounts are dollars with at most six decimals. Accounts are words such as user:ann, and ids have up
to 64 printable characters. Times are seconds since 2000-01-01 UTC. Only one process can write at a
time. Many processes can read at the same time, and each sees a consistent state. 'bourse ledger'
also accepts the directory.

Anyone who can write to an open bank can transfer any money. In an owned bank, every entry contains
an order signed with the key of the requesting account. Each command reports whether the bank is
open or owned:

   bourse bank own books --operator operator.pub --recovery recovery.pub
   bourse bank enrol books user:ann --key ann.pub --operator operator
   bourse bank transfer books user:ann user:bob 12.50 --id rent-1 --key ann

Instead of a directory, these commands and those of 'bourse ledger' accept the URL of a
ledger in PostgreSQL or CockroachDB. NAME is a schema; the default is bourse. Set the
password in PGPASSWORD or .pgpass.

   bourse bank init 'postgres://bank@db/money?ledger=NAME'

'bank serve' serves a bank to many clients. Commands that write entries, and 'bank balance', then
accept an address https://NAME:PORT and the flag --pin instead of the directory. You can give
several addresses, separated by commas.`, bankInitCommand, importCommand, mintCommand, transferCommand, applyCommand,
	balanceCommand, logCommand, verifyLogCommand, bankAuditCommand, copyCommand,
	ownCommand, inviteCommand, enrolCommand, rotateCommand, bankCertificateCommand,
	revokeCommand, recoverCommand, rightCommand, rightsCommand, whoamiCommand,
	serveCommand, receiptCommand, signCommand, keyNewCommand)
