// Package bank manages money: accounts, the escrow of each contract, and the journal of the
// entries that moved money.
//
// The state of a [Ledger] is the sum of its journal. Money enters only through [Ledger.Mint];
// afterwards it only moves between accounts. The sum of all balances, including escrows,
// therefore always equals the amount issued. The mint's balance is minus the amount that it
// issued; no other balance is negative.
//
// For example, a contract with a budget of 10 $ is booked as follows. [Ledger.Hold] moves 10 $
// from its owner to the escrow when it is admitted. [Ledger.Settle] later pays 7 $ from the
// escrow to the hosts' owners and returns 3 $.
//
// The bank is independent of rates and hosts. It identifies a contract by its number only. It
// has no clock and uses no locks: each ledger belongs to one goroutine. Prices, shares and
// work are float64 and belong to other packages. A float64 becomes money only through
// [Dollars], [Product], [Amount.Part] or [Nearest].
//
// # Promises
//
// The following list contains the guarantees, each followed by the names of the tests that
// check it. TestFaults of this package introduces mistakes into the code, one at a time, and
// checks that these tests fail.
//
//   - Money is conserved to the micro-dollar at every entry, and no account is overdrawn:
//     TestModel. This holds under any interleaving: TestConformance and TestReaders of
//     bank/store.
//   - An acknowledged entry is stored exactly once, even if power fails at any moment, a disk
//     fails, or the process is killed: TestPowerCut, TestDiskErrors, TestKill of bank/store.
//   - A request is applied once, however often it is sent. The same ID and body return the
//     same receipt; another body is refused. In an owned ledger the body is the signed text,
//     and a signed order that was refused stays refused and uses up its ID: TestLife,
//     TestRefusedForGood, TestSignedText of bank/owners. In an open ledger a refusal leaves no
//     trace. The ledger's clock dates entries, and a wrong clock books nothing: TestClock
//     there. An answer is sent only when everything it depends on is durable: TestConformance,
//     TestWhileWritten, TestPowerCut. A client that gives up is informed whether its request was
//     applied: TestConformance.
//   - If history is changed, truncated or reordered, the change is detected. The report names
//     the first bad entry, or its leaf of up to 32 entries if the entry was forged together
//     with its checksum: TestMutations, TestFiles, TestNamed, TestEntries, TestMoney, TestLog
//     of bank/audit. The bank detects it too: TestGroupHarmed of bank/store. A ledger rebuilt
//     from scratch is detected by a head, receipt or signed checkpoint stored elsewhere:
//     TestHead, and TestCheckpoint of bank/proof.
//   - Damage to a file after a crash is detected at the next audit or opening, or repaired
//     from a copy. This includes the last entry, and parts of files on which no entry depends:
//     TestCrashDamage, TestOldFiles and TestRestored of bank/store. The comment of
//     TestCrashDamage lists what an interrupted write leaves that cannot be distinguished from
//     damage. The promise covers a single fault. Damage to both copies of the latest
//     acknowledged entries looks like an interrupted write.
//   - Every micro-dollar of a contract is accounted for, from admission to settlement, using
//     only the ledger: TestMoney of bank/audit. The bank does not know how a charge is
//     computed; experiments/verify computes it again. Other programs agree: TestHledger,
//     TestLedger, TestBeancount of bank/export.
//   - In an owned ledger, an entry is booked only if the owner at that entry signed it. If the
//     check was bypassed, an audit of the ledger detects this: TestAttacks, TestReadings and
//     TestPinned of bank/owners. THREATS.md lists the attackers and attacks considered.
//   - The same holds over a network, for any number of clients, and for two servers of one
//     ledger that are killed and disconnected: TestSame, TestAttacks and TestLimits of
//     bank/service, TestJepsen of cmd/bourse.
//   - An error message is a sentence that names the location and the remedy:
//     TestPlainFailures, TestPlainErrors and TestHarmedTable of bank/store.
//   - The same guarantees apply in PostgreSQL: TestConformance of bank/store and of
//     bank/store/postgres run one suite; TestCut, TestCrash, TestTaken and TestDamage cut the
//     connection, crash the server and change rows.
//
// # Design
//
// An [Amount] is an int64 of micro-dollars. A decimal type of arbitrary size needs twenty
// times as long for an addition, and malicious input can make it allocate gigabytes. The
// decimal type is therefore used only to convert text and floats to money.
//
// Accounts are mapped to small numbers, and an escrow reuses the number of a closed one. A
// posting therefore consists of only two additions to elements of a slice. An [Entry], which a
// journal stores, uses names instead, so it can be read, proved and audited without the
// ledger.
package bank
