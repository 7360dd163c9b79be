package main

var ledgerCommand = group(`ledger
audit, print, sign and publish ledgers

A results directory stores its ledgers in ledger/CONFIGURATION/ADMISSION/REPLICATION,
and the head of each ledger in its manifest.

   bourse ledger audit results/paper                       all that it keeps
   bourse ledger audit results/paper/ledger/pareto-high/cac/0
   bourse ledger show results/paper/ledger/pareto-high/cac/0 --contract 7
   bourse ledger statement results/paper/ledger/pareto-high/cac/0 --user 2
   bourse ledger export results/paper/ledger/pareto-high/cac/0 --format hledger`, auditCommand, showCommand, statementCommand, exportCommand, checkpointCommand, proveCommand, verifyProofCommand, publishCommand, extendsCommand, witnessCommand)
