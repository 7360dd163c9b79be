// Package bank keeps the money: accounts, the escrow of each contract, and the
// journal of entries that moved it.
//
// A [Ledger] is what its journal adds up to. Money enters only through
// [Ledger.Mint] and thereafter only moves, so the sum of all balances, escrow
// included, always equals what was issued. No account but the mint, whose
// balance is minus what it issued, is ever below zero.
//
// The bank knows neither rates, contracts (it has their numbers alone) nor
// hosts, has no clock, and takes no lock: one loop owns a ledger. Prices, shares
// and work are float64 and belong to other rooms; a float64 becomes money through
// [Dollars] or [Nearest] and nowhere else.
//
// # Promises
//
// Each is held by the tests named; bank's TestFaults plants mistakes in the code
// one at a time, and sees those tests fail.
//
//   - Money is conserved to the micro-dollar at every entry, and no account is
//     overdrawn: TestModel; under any interleaving, TestConformance and TestReaders of
//     bank/store.
//   - What was answered is kept, once, after a power cut at any moment, a disk that
//     fails, or a process that is killed: TestPowerCut, TestDiskErrors, TestKill of
//     bank/store.
//   - A request is applied once however often it is sent: same id and body, same
//     receipt; another body, a refusal. In an owned ledger the body is the signed text, and
//     a signed order that was refused stays refused and uses up its id: TestLife,
//     TestRefusedForGood, TestSignedText of bank/owners. In an open one a refusal leaves
//     nothing behind. The ledger's clock dates entries, and a wrong one books nothing:
//     TestClock there. Nobody is answered before what the answer
//     rests on is durable: TestConformance, TestWhileWritten, TestPowerCut. Who gives up
//     is told whether it was applied: TestConformance.
//   - History cannot be changed, cut or reordered without being found, and the first
//     bad entry is named, or its leaf of up to 32 where it was forged with its checksum:
//     TestMutations, TestFiles, TestNamed, TestEntries, TestMoney, TestLog of bank/audit;
//     the bank itself finds it, too: TestGroupHarmed of bank/store. Making a whole ledger
//     anew is found by a head, receipt or signed checkpoint that was kept elsewhere:
//     TestHead, and TestCheckpoint of bank/proof.
//     After a crash, too, damage to a file is noticed at the next audit or opening, or
//     made good from a copy, the last entry included, and also where no entry rests on
//     it: TestCrashDamage, TestOldFiles and TestRestored of bank/store, whose comment lists
//     what a write cut short leaves that nobody can tell from harm. That is of one harm;
//     harm to both copies of what was acknowledged last looks like a write cut short.
//   - Every micro-dollar of a contract is accounted for, from admission to settlement,
//     from the ledger alone: TestMoney of bank/audit. What a charge is of the bank does
//     not know: experiments/verify computes it again.
//     Other programs agree: TestHledger, TestLedger, TestBeancount of bank/export.
//   - In an owned ledger nothing is booked that its owner did not sign, as of that
//     entry; past the door it is found by an audit, from the ledger alone: TestAttacks,
//     TestReadings and TestPinned of bank/owners. THREATS.md says who tries what.
//   - The same holds over a network, for as many as ask, and of two servers of one ledger
//     while they are killed and cut off: TestSame, TestAttacks and TestLimits of
//     bank/service, TestJepsen of cmd/bourse.
//   - A failure is a sentence that names the place and the cure: TestPlainFailures,
//     TestPlainErrors and TestHarmedTable of bank/store.
//   - The same holds in PostgreSQL: TestConformance of bank/store and of
//     bank/store/postgres run one suite; TestCut, TestCrash, TestTaken and TestDamage
//     cut the connection, crash the server and change rows.
//
// # Design
//
// An [Amount] is an int64 of micro-dollars: a decimal type of arbitrary size
// costs twenty times as much to add and can be made to take gigabytes. It stands
// at the doors, where text and floats become money.
//
// Accounts are interned to small numbers, and an escrow is a recycled one, so
// that a posting is two additions in a slice. An [Entry], which is what a journal
// keeps, has names: it can be read, proved and audited without the ledger.
package bank
