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

// TestBounds checks that a settlement with impossible values is found from the ledger alone:
// work below zero or above the work needed, or an admission before the submission. Notes
// written by other programs must cause no findings.
func TestBounds(t *testing.T) {
	t.Parallel()
	const asked = `{"decision":"accept","submit":5,"deadline":90}`
	for _, c := range []struct {
		admitted, settled string
		found             string
	}{
		{asked, `{"state":"violated","work":2160,"work_done":0}`, ""},
		{asked, `{"state":"fulfilled","work":2160,"work_done":2160}`, ""},
		{asked, `{"state":"violated","work":2160,"needed":3000,"work_done":2900}`, ""},
		{asked, `{"state":"violated","work":2160,"work_done":-1584}`, "-1584 of 2160"},
		{asked, `{"state":"violated","work":2160,"work_done":2160.5}`, "2160.5 of 2160"},
		{asked, `{"state":"violated","work":2160,"needed":100,"work_done":101}`, "101 of 100"},
		{asked, `{"state":"violated","work":2160,"needed":-1,"work_done":0}`, "0 of -1"},
		{asked, `{"state":"violated","work":2160,"work_done":0,"fault":"command"}`, ""},
		{asked, `{"state":"cancelled","work":2160,"work_done":0,"fault":"command"}`, `the verdict "cancelled"`},
		{asked, `{"state":"violated","work":2160,"work_done":0,"fault":"command","penalty_owed":"0.000001"}`, `owing "0.000001"`},
		{strings.Replace(asked, "5", "11", 1), `{"state":"violated","work":1,"work_done":0}`, "an admission at 10 s of a request submitted at 11 s"},
		{asked, `{"state":"violated","work":2160,"work_done":-1584,"work_done":0}`, `field "work_done" twice`},
		{asked, `{"state":"violated","work":2160,"Work_Done":-1584}`, `field "Work_Done", want "work_done"`},
		{asked, `{"state":"violated","work":2160,"work_done":0}]`, "text after the object"},
		{`{"decision":"accept","submit":5,"deadline":90,"deadline":900}`, `{}`, `field "deadline" twice`},
		{`{"decision":"accept","project":"x","project":"y"}`, `{}`, `field "project" twice`},
		{`{"decision":"accept","project":"x"}`, `{}`, ""},
		{"as agreed by telephone", `{"work":"all"}`, ""},
		{"", "", ""},
	} {
		fs := vfs.NewMem()
		j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
		check(t, err)
		l := bank.New(j)
		ann, err := l.Account("user:ann")
		check(t, err)
		check(t, l.Mint(0, ann, bank.Micros(100)))
		check(t, l.Hold(10, 7, ann, bank.Micros(100), []byte(c.admitted)))
		_, err = l.Settle(20, 7, nil, []byte(c.settled))
		check(t, err)
		check(t, j.Close())
		r := run(t, fs, audit.Options{Follow: verify.Follow(nil)})
		if r.Clean() != (c.found == "") || c.found != "" && !strings.Contains(r.Findings[0].Found, c.found) {
			t.Errorf("%s, %s: %v, want %q", c.admitted, c.settled, r.Findings, c.found)
		}
	}
}

// TestNeeded checks that work beyond the owner's estimate is compared with the table of
// jobs if the ledger does not state the work needed. If the ledger states it, the two must
// agree.
func TestNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdict, work string
		seq           int64
	}{
		{`"work":80,"work_done":100`, "100", 0},
		{`"work":80,"needed":100,"work_done":100`, "100", 0},
		{`"work":80,"work_done":100`, "90", 7},
		{`"work":80,"needed":100,"work_done":100`, "90", 7},
	} {
		steps, table := small()
		for i := range steps {
			if steps[i].contract == 2 && steps[i].kind == "settle" {
				steps[i].note = `{"state":"fulfilled",` + c.verdict + `}`
			}
		}
		table[2][13] = c.work
		rules := usage
		rules.Sharing = "deadline" // charges are not recomputed
		r := held(t, steps, table, rules)
		if r.Clean() != (c.seq == 0) || c.seq > 0 && r.Findings[0].Seq != c.seq {
			t.Errorf("%s, %s in the table: %v, want entry %d named", c.verdict, c.work, r.Findings, c.seq)
		}
	}
}
