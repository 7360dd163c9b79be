package main

var bankCommand = group(`bank
hold and transfer money in a ledger

A bank is a directory that holds a ledger. Accounts come into being when they are
first paid; money enters by 'mint' alone. Every request has an id: sent again with
the same content it is booked once and answered the same, with other content it is
refused. The answer is a receipt, SEQ:HASH, given once the entry is durable.

   bourse bank init books
   bourse bank mint books user:ann 100 --id salary-1
   bourse bank transfer books user:ann user:bob 12.50 --id rent-1
   bourse bank balance books
   bourse bank audit books

Amounts are dollars with at most six decimals, accounts words such as user:ann, ids up
to 64 printable characters. Instants are seconds since 2000-01-01 UTC. One process
writes at a time; many may read, each as of one moment. 'bourse ledger' works on the
directory, too.

Whoever can write an open bank may move any money. In an owned one every entry carries
an order, signed by the key of the account that asks; each command says which it is:

   bourse bank own books --operator operator.pub --recovery recovery.pub
   bourse bank enrol books user:ann --key ann.pub --operator operator
   bourse bank transfer books user:ann user:bob 12.50 --id rent-1 --key ann

In place of a directory any of these commands, and those of 'bourse ledger', take the
URL of a ledger in PostgreSQL or CockroachDB, in which NAME is a schema, bourse if
none is given. The password is best left to PGPASSWORD or .pgpass.

   bourse bank init 'postgres://bank@db/money?ledger=NAME'

'bank serve' serves a bank to many; what asks for entries, and 'bank balance', then take
https://NAME:PORT, or several with commas between them, in place of the directory, and
its --pin.`, bankInitCommand, importCommand, mintCommand, transferCommand, applyCommand, balanceCommand, logCommand, verifyLogCommand, bankAuditCommand, copyCommand, ownCommand, inviteCommand, enrolCommand, rotateCommand, bankCertificateCommand, revokeCommand, recoverCommand, rightCommand, rightsCommand, whoamiCommand, serveCommand, receiptCommand, signCommand, keyNewCommand)
