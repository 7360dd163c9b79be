package audit_test

import (
	"math"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func one(from, to string, micros int64) []bank.Move {
	return []bank.Move{{From: from, To: to, Amount: bank.Micros(micros)}}
}

// TestMoney checks that an entry that violates a money rule is found and named, even if it was
// written, hashed and sealed correctly.
func TestMoney(t *testing.T) {
	t.Parallel()
	const none = bank.NoContract
	good := []bank.Entry{
		{Kind: bank.Issue, Contract: none, Moves: one("mint", "user:ann", 100), Time: 1},
		{Kind: bank.Admit, Contract: 7, Moves: one("user:ann", "escrow:7", 40), Time: 2},
		{Kind: bank.Settle, Contract: 7, Moves: append(one("escrow:7", "host:1", 30), one("escrow:7", "user:ann", 10)...), Time: 3},
		{Kind: bank.Penalty, Contract: 7, Moves: one("host:1", "user:ann", 5), Time: 3},
		{Kind: bank.Admit, Contract: 8, Moves: one("user:ann", "escrow:8", 20), Time: 3},
		{Kind: bank.Reject, Contract: 9, Time: 4},
		{Kind: bank.Transfer, Contract: none, Moves: one("user:ann", "user:bob", 1), Time: 5},
	}
	audited := func(bad ...bank.Entry) []audit.Finding {
		fs := vfs.NewMem()
		j, err := store.Create("ledger", store.Options{FS: fs})
		check(t, err)
		for i, e := range append(append([]bank.Entry(nil), good...), bad...) {
			e.Seq = int64(i + 1)
			check(t, j.Append(&e))
		}
		check(t, j.Close())
		return run(t, fs, audit.Options{}).Findings
	}
	if f := audited(); len(f) > 0 {
		t.Fatal(f)
	}
	for name, e := range map[string]bank.Entry{
		"overdraft":                     {Kind: bank.Transfer, Contract: none, Moves: one("user:ann", "user:bob", 55)},
		"payer that is nobody":          {Kind: bank.Transfer, Contract: none, Moves: one("user:eve", "user:bob", 1)},
		"nothing moved":                 {Kind: bank.Transfer, Contract: none, Moves: one("user:ann", "user:bob", 0)},
		"no moves":                      {Kind: bank.Transfer, Contract: none},
		"money from nowhere":            {Kind: bank.Transfer, Contract: none, Moves: one("mint", "user:bob", 1)},
		"money to nowhere":              {Kind: bank.Transfer, Contract: none, Moves: one("user:ann", "mint", 1)},
		"issue that takes":              {Kind: bank.Issue, Contract: none, Moves: one("user:ann", "user:bob", 1)},
		"issue of too much":             {Kind: bank.Issue, Contract: none, Moves: one("mint", "user:bob", math.MaxInt64)},
		"to itself":                     {Kind: bank.Transfer, Contract: none, Moves: one("user:ann", "user:ann", 1)},
		"transfer with a contract":      {Kind: bank.Transfer, Contract: 8, Moves: one("user:ann", "user:bob", 1)},
		"transfer out of escrow":        {Kind: bank.Transfer, Contract: none, Moves: one("escrow:8", "user:bob", 1)},
		"name that is none":             {Kind: bank.Transfer, Contract: none, Moves: one("user:ann", "User Bob", 1)},
		"admitted twice":                {Kind: bank.Admit, Contract: 7, Moves: one("user:ann", "escrow:7", 1)},
		"admitted while open":           {Kind: bank.Admit, Contract: 8, Moves: one("user:ann", "escrow:8", 1)},
		"admitted beyond means":         {Kind: bank.Admit, Contract: 10, Moves: one("user:bob", "escrow:10", 2)},
		"admitted without escrow":       {Kind: bank.Admit, Contract: 10, Moves: one("user:ann", "user:bob", 2)},
		"settlement that leaves a rest": {Kind: bank.Settle, Contract: 8, Moves: one("escrow:8", "host:1", 19)},
		"settlement of more":            {Kind: bank.Settle, Contract: 8, Moves: one("escrow:8", "host:1", 21)},
		"settlement again":              {Kind: bank.Settle, Contract: 7, Moves: one("escrow:7", "host:1", 1)},
		"settlement from an account":    {Kind: bank.Settle, Contract: 8, Moves: one("user:ann", "host:1", 20)},
		"penalty of no contract":        {Kind: bank.Penalty, Contract: 9, Moves: one("host:1", "user:ann", 1)},
		"penalty without contract":      {Kind: bank.Penalty, Contract: none, Moves: one("host:1", "user:ann", 1)},
		"penalty from the mint":         {Kind: bank.Penalty, Contract: 7, Moves: one("mint", "user:ann", 1)},
		"rejection that moves":          {Kind: bank.Reject, Contract: 11, Moves: one("user:ann", "user:bob", 1)},
		"rejection of nothing":          {Kind: bank.Reject, Contract: none},
		"kind that is none":             {Kind: 7, Contract: none},
		"time before the last":          {Kind: bank.Reject, Contract: 11, Time: -1},
		"time that is none":             {Kind: bank.Reject, Contract: 11, Time: math.NaN()},
		"time that never comes":         {Kind: bank.Reject, Contract: 11, Time: math.Inf(1)},
	} {
		if e.Time == 0 {
			e.Time = 6
		}
		if f := audited(e); len(f) == 0 || f[0].Seq != int64(len(good)+1) {
			t.Errorf("%s: %v, want entry %d named", name, f, len(good)+1)
		}
	}
	request := bank.Entry{Kind: bank.Reject, Contract: 12, ID: "again", Time: 6}
	if f := audited(request, request); len(f) == 0 {
		t.Error("a request booked twice is not found")
	}
}

// TestSums checks that sums of payments do not overflow if all existing money is charged,
// refunded and fined repeatedly.
func TestSums(t *testing.T) {
	t.Parallel()
	const all = math.MaxInt64 - 1
	entries := []bank.Entry{{Kind: bank.Issue, Contract: bank.NoContract, Moves: one("mint", "user:ann", all)}}
	for c := range int64(3) {
		escrow := bank.EscrowName(c)
		entries = append(entries,
			bank.Entry{Kind: bank.Admit, Contract: c, Moves: one("user:ann", escrow, all)},
			bank.Entry{Kind: bank.Settle, Contract: c, Moves: append(one(escrow, "host:1", all-1), one(escrow, "user:ann", 1)...)},
			bank.Entry{Kind: bank.Penalty, Contract: c, Moves: one("host:1", "user:ann", all-1)})
	}
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	for i := range entries {
		entries[i].Seq = int64(i + 1)
		check(t, j.Append(&entries[i]))
	}
	check(t, j.Close())
	r := run(t, fs, audit.Options{})
	if !r.Clean() || r.Charged != math.MaxInt64 || r.Penalties != math.MaxInt64 || r.Refunded != 3 || r.Issued != all {
		t.Errorf("%v: charged %v, penalties %v, refunded %v, issued %v", r.Findings, r.Charged, r.Penalties, r.Refunded, r.Issued)
	}
}
