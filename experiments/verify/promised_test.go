package verify_test

import (
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/experiments/verify"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPromised checks that an audit finds from the ledger alone whether a live market pays
// the promised penalty. Faults are an unknown cause, a wrong amount owed, more withheld
// than is owed, and a penalty that is too small, too large, paid to someone else or not
// paid.
func TestPromised(t *testing.T) {
	t.Parallel()
	const terms = `{"decision":"accept","submit":5,"deadline":90,"penalty_part":1,"penalty_most":0.5}`
	verdict := func(more string) string {
		return `{"state":"violated","work":100,"work_done":70,` + more + `}`
	}
	const owed = `"cause":"host","payer":"host:h00","penalty_owed":"0.000300"`
	for _, c := range []struct {
		name           string
		terms, verdict string
		host           int64 // micro-dollars paid to it
		has, penalty   int64 // of the market
		to             string
		found          string
	}{
		{name: "kept", terms: terms, verdict: `{"state":"fulfilled","work":100,"work_done":100}`, host: 200},
		{name: "asked", terms: terms, verdict: verdict(`"cause":"asked"`), host: 200, has: 500},
		{name: "by the market", terms: terms, verdict: verdict(owed), has: 500, penalty: 300},
		{name: "by both", terms: terms, verdict: verdict(owed + `,"withheld":"0.000100"`), has: 500, penalty: 200},
		{name: "by the host", terms: terms, verdict: verdict(owed + `,"withheld":"0.000300"`), host: 50, has: 500},
		{name: "poor", terms: terms, verdict: verdict(owed), has: 40, penalty: 40},
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
