package verify_test

import (
	"bytes"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/experiments/verify"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPromised checks that an audit finds from the ledger alone whether a live market pays the
// promised penalty. Faults are an unknown cause, a wrong amount owed, a withheld amount above
// the amount owed, and a penalty that is too small, too large, paid to another account or not
// paid.
func TestPromised(t *testing.T) {
	t.Parallel()
	const terms = `{"decision":"accept","submit":5,"deadline":90,"penalty_part":1,"penalty_most":0.5}`
	verdict := func(more string) string {
		return `{"state":"violated","work":100,"work_done":70,` + more + `}`
	}
	const owed = `"cause":"host","payer":"host:h00","penalty_owed":"0.000300"`
	own := strings.Replace(owed, "host:h00", "user:ann", 1)
	for _, c := range []struct {
		name           string
		terms, verdict string
		host           int64 // micro-dollars paid to the host
		has, penalty   int64 // funds of the market and penalty that it pays, in micro-dollars
		to             string
		found          string
	}{
		{name: "kept", terms: terms, verdict: `{"state":"fulfilled","work":100,"work_done":100}`, host: 200},
		{name: "asked", terms: terms, verdict: verdict(`"cause":"asked"`), host: 200, has: 500},
		{name: "by the market", terms: terms, verdict: verdict(owed), has: 500, penalty: 300},
		{name: "by both", terms: terms, verdict: verdict(owed + `,"withheld":"0.000100"`), has: 500, penalty: 200},
		{name: "by the host", terms: terms, verdict: verdict(owed + `,"withheld":"0.000300"`), host: 50, has: 500},
		{name: "poor", terms: terms, verdict: verdict(owed), has: 40, penalty: 40},
		{name: "by its own host", terms: terms, verdict: verdict(own), has: 500},
		{name: "by its own host, withheld", terms: terms, verdict: verdict(own + `,"withheld":"0.000100"`), has: 500},
		{name: "at most", terms: terms, verdict: `{"state":"violated","work":100,"work_done":0,"cause":"market","payer":"market:lab","penalty_owed":"0.000500"}`, has: 500, penalty: 500},
		{name: "nothing promised", terms: `{"decision":"accept","submit":5,"deadline":90}`, verdict: verdict(`"cause":"host"`), has: 500},

		{name: "no cause", terms: terms, verdict: verdict(`"payer":"host:h00"`), has: 500, found: "a violated contract with cause"},
		{name: "another cause", terms: terms, verdict: verdict(`"cause":"weather"`), has: 500, found: "a violated contract with cause \"weather\""},
		{name: "owes less", terms: terms, verdict: verdict(strings.Replace(owed, "300", "200", 1)), has: 500, penalty: 200, found: "a penalty owed of 0.000200"},
		{name: "owes nothing", terms: terms, verdict: verdict(`"cause":"host"`), has: 500, found: "a penalty owed of 0.000000"},
		{name: "owes beyond most", terms: terms, verdict: `{"state":"violated","work":100,"work_done":0,"cause":"host","payer":"host:h00","penalty_owed":"0.001000"}`, has: 5000, penalty: 1000, found: "a penalty owed of 0.001000"},
		{name: "owes for the program", terms: terms, verdict: verdict(strings.Replace(owed, `"host"`, `"program"`, 1)), has: 500, penalty: 300, found: "a penalty owed of 0.000300"},
		{name: "withholds more", terms: terms, verdict: verdict(owed + `,"withheld":"0.000400"`), has: 500, found: "0.000400 withheld"},
		{name: "pays the host first", terms: terms, verdict: verdict(owed), host: 100, has: 500, penalty: 300, found: "0.000100 paid to host:h00"},
		{name: "pays less", terms: terms, verdict: verdict(owed), has: 500, penalty: 299, found: "a penalty of 0.000299"},
		{name: "pays more", terms: terms, verdict: verdict(owed), has: 500, penalty: 301, found: "a penalty of 0.000301"},
		{name: "pays another", terms: terms, verdict: verdict(owed), has: 500, penalty: 300, to: "user:eve", found: `a penalty paid to "user:eve"`},
		{name: "pays for its own host", terms: terms, verdict: verdict(own), has: 500, penalty: 300, found: "a penalty of 0.000300"},
		{name: "pays nothing", terms: terms, verdict: verdict(owed), has: 500, found: "the end of the ledger"},
	} {
		fs := vfs.NewMem()
		j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
		check(t, err)
		l := bank.New(j)
		account := func(name string) bank.Account {
			a, err := l.Account(name)
			check(t, err)
			return a
		}
		ann, market, host := account("user:ann"), account("market:lab"), account("host:h00")
		check(t, l.Mint(0, ann, bank.Micros(1000)))
		if c.has > 0 {
			check(t, l.Mint(0, market, bank.Micros(c.has)))
		}
		check(t, l.Hold(10, 7, ann, bank.Micros(1000), []byte(c.terms)))
		var pay []bank.Payment
		if c.host > 0 {
			pay = append(pay, bank.Payment{To: host, Amount: bank.Micros(c.host)})
		}
		_, err = l.Settle(100, 7, pay, []byte(c.verdict))
		check(t, err)
		if c.penalty > 0 {
			to := ann
			if c.to != "" {
				to = account(c.to)
			}
			_, err = l.Penalty(100, 7, []bank.Debit{{From: market, Most: bank.Micros(c.penalty)}}, to, []byte(`{"cause":"host"}`))
			check(t, err)
		}
		check(t, j.Close())
		r := run(t, fs, audit.Options{Follow: verify.Follow(nil)})
		if r.Clean() != (c.found == "") || c.found != "" && !strings.Contains(r.Findings[0].Found, c.found) {
			t.Errorf("%s: %+v, want %q", c.name, r.Findings, c.found)
		}
	}
}

// TestLeast checks that an audit finds from the ledger alone whether a live market sells
// processors below the floor price in its terms.
func TestLeast(t *testing.T) {
	t.Parallel()
	const terms = `{"decision":"accept","submit":5,"deadline":90,"max_cpu":1,"floor":0.000001}`
	for _, c := range []struct {
		name, market, terms, verdict string
		paid                         int64
		found                        string
	}{
		{"the floor price", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100}`, 100, ""},
		{"more", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100}`, 180, ""},
		{"all of the budget", "market:lab", terms, `{"state":"fulfilled","work":300,"work_done":300}`, 200, ""},
		{"not started", "market:lab", terms, `{"state":"violated","work":100,"work_done":0}`, 0, ""},
		{"could not be started", "market:lab", terms, `{"state":"violated","work":100,"work_done":50,"fault":"command"}`, 0, ""},
		{"an early end", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100,"unused":60}`, 40, ""},
		{"less until an early end", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100,"unused":60}`, 38, "0.000038 paid for 100 CPU s"},
		{"no floor price", "market:lab", `{"decision":"accept","submit":5,"deadline":90}`, `{"state":"fulfilled","work":100,"work_done":100}`, 0, ""},
		{"a simulated market", "", terms, `{"state":"fulfilled","work":100,"work_done":100}`, 40, ""},
		{"on a host of its owner", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100}`, 100, ""},
		{"less on a host of its owner", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100}`, 98, "0.000098 paid for 100 CPU s"},
		{"less", "market:lab", terms, `{"state":"fulfilled","work":100,"work_done":100}`, 98, "0.000098 paid for 100 CPU s"},
		{"nothing", "market:lab", terms, `{"state":"violated","work":100,"work_done":60}`, 0, "0.000000 paid for 60 CPU s"},
	} {
		fs := vfs.NewMem()
		j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
		check(t, err)
		s := store.NewSequencer(j, bank.New(j))
		escrow := bank.EscrowName(7)
		settle := []bank.Move{{From: escrow, To: "user:ann", Amount: bank.Micros(200 - c.paid)}}
		host := "host:h00"
		if strings.Contains(c.name, "its owner") {
			host = "user:ann"
		}
		if c.paid > 0 {
			settle = append([]bank.Move{{From: escrow, To: host, Amount: bank.Micros(c.paid)}}, settle...)
		}
		if c.paid == 200 {
			settle = settle[:1]
		}
		id := ""
		if c.market != "" {
			id = c.market + "/7/settle"
		}
		for _, e := range []bank.Entry{
			{Kind: bank.Issue, Contract: bank.NoContract, ID: "x", Moves: []bank.Move{{From: "mint", To: "user:ann", Amount: bank.Micros(200)}}},
			{Time: 10, Kind: bank.Admit, Contract: 7, ID: "a", Moves: []bank.Move{{From: "user:ann", To: escrow, Amount: bank.Micros(200)}}, Note: []byte(c.terms)},
			{Time: 50, Kind: bank.Settle, Contract: 7, ID: id, Moves: settle, Note: []byte(c.verdict)},
		} {
			if e.ID == "" {
				e.ID = "s"
			}
			_, err := s.Do(t.Context(), e)
			check(t, err)
		}
		check(t, s.Close())
		r := run(t, fs, audit.Options{Follow: verify.Follow(nil)})
		if r.Clean() != (c.found == "") || c.found != "" && !strings.Contains(r.Findings[0].Found, c.found) {
			t.Errorf("%s: %+v, want %q", c.name, r.Findings, c.found)
		}
	}
}

// TestOwnHosts checks that an audit distinguishes charges of a contract on hosts of its own
// owner from a refund. If such charges reach the budget, the settlement has no refund. A
// settlement that pays nothing for work below the floor price has the same moves. The moves
// count as charges only if the owner may be paid as the owner of a host and the contract can
// have spent its budget.
func TestOwnHosts(t *testing.T) {
	t.Parallel()
	const done = `{"state":"fulfilled","work":100,"work_done":100`
	for _, c := range []struct {
		name    string
		payee   bool
		at      float64 // time of the settlement
		verdict string
		own     []int64 // moves to the owner, micro-dollars of a budget of 200
		nodes   int
		found   string
	}{
		{"all of the budget at the deadline", true, 99, done + `}`, []int64{200}, 1, ""},
		{"all of the budget, exhausted", true, 50, done + `,"exhausted":true}`, []int64{200}, 1, ""},
		{"all of the budget on two hosts", true, 99, done + `}`, []int64{60, 140}, 2, ""},
		{"all of the budget on a host and the one after it", true, 99, done + `,"losses":1}`, []int64{60, 140}, 1, ""},
		{"the floor price, and a refund", true, 99, done + `}`, []int64{100, 100}, 1, ""},
		{"less than the floor price, and a refund", true, 99, done + `}`, []int64{98, 102}, 1, "0.000098 paid for 100 CPU s"},
		{"a refund of all before the deadline", true, 90, done + `}`, []int64{200}, 1, "0.000000 paid for 100 CPU s"},
		{"a refund of all to one who has no host", false, 99, done + `}`, []int64{200}, 1, "0.000000 paid for 100 CPU s"},
		{"a refund of all that is said to be exhausted", false, 50, done + `,"exhausted":true}`, []int64{200}, 1, "0.000000 paid for 100 CPU s"},
	} {
		fs := vfs.NewMem()
		j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
		check(t, err)
		all := ownerstest.Begin()
		if c.payee {
			all = append(all, ownerstest.Says("operator", "right", "p", "operator", "of", "user:0", "right", "payee", "market", "lab"))
		}
		on := `,"on":[1000` + strings.Repeat(`,"h00"`, c.nodes) + `]}`
		contract := ownerstest.Contract(7)
		admit := ownerstest.Admit("a", "user:0", contract, 200, 200)
		admit.Note = append(admit.Note[:bytes.LastIndexByte(admit.Note, '{')], `{"decision":"accept","submit":5,"deadline":90,"max_cpu":1,"floor":0.000001`+on...)
		var moves []bank.Move
		for _, m := range c.own {
			moves = append(moves, ownerstest.Move(bank.EscrowName(contract), "user:0", m))
		}
		settle := ownerstest.Market(bank.Settle, "s", contract, moves...)
		settle.Note, settle.Time = append(settle.Note, c.verdict...), c.at
		for i, e := range append(all, admit, settle) {
			e.Seq = int64(i + 1)
			check(t, j.Append(&e))
		}
		check(t, j.Close())
		r := run(t, fs, audit.Options{Follow: verify.Follow(nil)})
		if r.Clean() != (c.found == "") || c.found != "" && !strings.Contains(r.Findings[0].Found, c.found) {
			t.Errorf("%s: %+v, want %q", c.name, r.Findings, c.found)
		}
	}
}
