package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/experiments/verify"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestAdjusted checks that an audit finds from the ledger alone whether the bids of a contract follow
// from its changed budget. The contract bids 1,000 and 3,000 nano-dollars per second and owes 20
// micro-dollars 50 s before its deadline, as in the golden case raise.
func TestAdjusted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, note string
		budget     int64
		found      string
	}{
		{"right", `{"owed":"0.000020","on":[900,"h00",2700,"h01"]}`, 200, ""},
		{"one node left", `{"owed":"0.000020","on":[3600,"h01"]}`, 200, ""},
		{"the old budget", `{"owed":"0.000020","on":[400,"h00",1200,"h01"]}`, 100, ""},
		{"a bid too high", `{"owed":"0.000020","on":[902,"h00",2700,"h01"]}`, 200, "a bid of 902"},
		{"a bid too low", `{"owed":"0.000020","on":[900,"h00",2690,"h01"]}`, 200, "a bid of 2690"},
		{"a bid of 0", `{"owed":"0.000020","on":[0,"h00",3600,"h01"]}`, 200, "a bid of 0"},
		{"other proportions", `{"owed":"0.000020","on":[1800,"h00","h01"]}`, 200, "a bid of 1800"},
		{"another budget", `{"owed":"0.000020","on":[900,"h00",2700,"h01"]}`, 300, "a bid of"},
		{"more owed", `{"owed":"0.000200","on":[900,"h00",2700,"h01"]}`, 200, "a budget of 0.000200 with 0.000200 owed"},
		{"another host", `{"owed":"0.000020","on":[900,"h00",2700,"h02"]}`, 200, `a bid on "h02"`},
		{"no bids", `{"owed":"0.000020"}`, 200, "bids []"},
		{"nothing owed is stated", `{"on":[900,"h00",2700,"h01"]}`, 200, "owed"},
		{"twice", `{"owed":"0.000020","owed":"0.000020","on":[900,"h00",2700,"h01"]}`, 200, "programs can interpret differently"},
	} {
		fs := vfs.NewMem()
		j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
		check(t, err)
		l := bank.New(j)
		ann, err := l.Account("user:ann")
		check(t, err)
		check(t, l.Mint(0, ann, bank.Micros(1000)))
		check(t, l.Hold(10, 7, ann, bank.Micros(100), []byte(`{"decision":"accept","submit":10,"deadline":90,"on":[1000,"h00",3000,"h01"]}`)))
		check(t, l.Adjust(50, 7, bank.Micros(c.budget), []byte(c.note)))
		check(t, j.Close())
		r, err := audit.Audit("ledger", audit.Options{FS: fs, Follow: verify.Follow(nil)})
		check(t, err)
		switch f := r.Findings; {
		case c.found == "" && !r.Clean():
			t.Errorf("%s: %v", c.name, f)
		case c.found != "" && (len(f) == 0 || f[0].Seq != 3 || !strings.Contains(f[0].Found, c.found)):
			t.Errorf("%s: %v, want %q", c.name, f, c.found)
		}
	}
}

// TestAdjustedRun checks that the audit of a run recomputes the amount owed when a budget
// changes, and the charges afterwards. Two contracts bid 0.01 and 0.03 dollars per second on a
// host with one processor, which gives 1/4 of its time to the first and 3/4 to the second. Both
// pay their bids. After 50 s, the first owes 0.5 and has done 12.5 CPU s. With a budget of 5
// for the remaining 150 s, the first bids 0.03 and gets one half. After 150 s, the first has
// done 62.5 CPU s, and the second 87.5.
func TestAdjustedRun(t *testing.T) {
	t.Parallel()
	rules := usage
	rules.Payment, rules.CPUs = "bid", 1
	_, table := small()
	row := func(id, work, value, end, paid string) []string {
		return []string{"small", "cac", "0", id, "ann", "0", work, "1", value, "accept", "", "0", end, work, work, paid, "0.000000", "true"}
	}
	for _, c := range []struct {
		name, owed   string
		bid          int
		budget       float64
		first, other float64 // charges of the two contracts
		found        string
	}{
		{"right", "0.500000", 30000000, 5, 3.5, 4.5, ""},
		{"owed too little", "0.350000", 31000000, 5, 3.6, 4.5, `"0.350000" owed`},
		{"owed too much", "0.650000", 29000000, 5, 3.4, 4.5, `"0.650000" owed`},
		{"a charge at the former bid", "0.500000", 30000000, 5, 1.5, 4.5, "1.5"},
		{"a charge of another", "0.500000", 30000000, 5, 3.5, 4.4, "4.4"},
	} {
		steps := []step{
			{"hold", 0, 1, 2, terms(10000000, "")},
			{"hold", 0, 2, 6, terms(30000000, "")},
			{"adjust", 50, 1, c.budget, fmt.Sprintf(`{"owed":%q,"on":[%d,"h00"]}`, c.owed, c.bid)},
			{"settle", 150, 1, c.first, `{"state":"fulfilled","work":62.5,"work_done":62.5}`},
			{"settle", 150, 2, c.other, `{"state":"fulfilled","work":87.5,"work_done":87.5}`},
		}
		rows := [][]string{table[0], row("1", "62.5", "2.000000", "150", fmt.Sprintf("%.6f", c.first)), row("2", "87.5", "6.000000", "150", fmt.Sprintf("%.6f", c.other))}
		r := held(t, steps, rows, rules)
		switch {
		case c.found == "" && (!r.Clean() || strings.Contains(fmt.Sprint(r.Beyond), "not recomputed")):
			t.Errorf("%s: %v, %v", c.name, r.Findings, r.Beyond)
		case c.found != "" && !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool { return strings.Contains(f.Found, c.found) }):
			t.Errorf("%s: %v, want %q", c.name, r.Findings, c.found)
		}
	}
}
