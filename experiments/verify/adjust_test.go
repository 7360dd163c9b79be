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
