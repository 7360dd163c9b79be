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

// TestPromised checks that an audit finds from the ledger alone whether a live market pays the
// penalty that its terms promise: a cause that is none, another amount owed than part and most
// come to, more withheld than is owed, or a penalty that is too small, too large, paid to another
// or not at all.
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
