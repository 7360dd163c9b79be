package audit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// datedAt makes a ledger with transfers at the given times, after an issue at second 0. It
// returns the ledger, its log of lines, and the head after each entry.
func datedAt(t testing.TB, at ...float64) (fs vfs.FS, log []byte, heads []string) {
	t.Helper()
	fs = vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	l := bank.New(j)
	for i, time := range append([]float64{0, 0}, at...) {
		e := bank.Entry{Time: time, Kind: bank.Transfer, Contract: bank.NoContract, Moves: []bank.Move{{From: "user:a", To: "user:b", Amount: bank.Micros(1)}}}
		if i == 0 {
			e.Kind, e.Moves[0] = bank.Issue, bank.Move{From: "mint", To: "user:a", Amount: bank.Micros(1e6)}
		}
		check(t, l.Book(&e))
		heads = append(heads, j.Head().String())
	}
	check(t, j.Close())
	r, err := store.OpenReader("ledger", store.Options{FS: fs})
	check(t, err)
	var text bytes.Buffer
	check(t, export.Write(&text, "json", r.Entries(), export.Options{}))
	check(t, r.Close())
	return fs, text.Bytes(), heads
}

// TestTimes checks that an audit names entries dated later than its own clock, and the time
// difference. The times of cosignatures bound the times of entries from both sides. Each fault
// is found both in a ledger and in its log of lines.
func TestTimes(t *testing.T) {
	t.Parallel()
	const hour = 3600
	now := 30 * hour * 1000.0
	seen := func(heads []string, size int, ago float64) audit.Seen {
		return audit.Seen{Head: heads[size-1], Time: now - ago, By: "w.example"}
	}
	for name, c := range map[string]struct {
		at    []float64 // times of the entries from 3 on, in seconds before now
		seen  []struct{ size, ago float64 }
		fresh float64
		want  string // text in the finding; empty if there must be none
	}{
		"all before":           {[]float64{5 * hour, 10, 0}, nil, 0, ""},
		"clocks differ":        {[]float64{-59}, nil, 0, ""},
		"one ahead":            {[]float64{10, -5 * hour}, nil, 0, "entry 4: found a date 5h0m0s later than the clock of this audit"},
		"six ahead":            {[]float64{-hour, -2 * hour, -3 * hour, -4 * hour, -5 * hour, -6 * hour}, nil, 0, "entries 3 to 8: found dates up to 6h0m0s later"},
		"seen, as it was":      {[]float64{3 * hour, hour}, []struct{ size, ago float64 }{{3, 2 * hour}, {4, 0}}, hour, ""},
		"published meanwhile":  {[]float64{2*hour + 300}, []struct{ size, ago float64 }{{2, 2 * hour}}, 0, ""},
		"dated before":         {[]float64{5 * hour, 4 * hour, 3 * hour}, []struct{ size, ago float64 }{{2, hour}}, 0, "entry 3: found an entry dated 2003-06-03T19:00:00Z, 4h0m0s before w.example cosigned the ledger without it"},
		"dated after":          {[]float64{3 * hour, 1 * hour}, []struct{ size, ago float64 }{{4, 2 * hour}}, 0, "entry 4: found an entry dated 2003-06-03T23:00:00Z, 1h0m0s after w.example had cosigned it"},
		"cosigned long ago":    {[]float64{3 * hour}, []struct{ size, ago float64 }{{3, 2 * hour}}, hour, "found the last cosignature dated 2003-06-03T22:00:00Z, 2h0m0s ago, want one from the last 1h0m0s"},
		"cosigned by nobody":   {[]float64{3 * hour}, nil, hour, "found no cosignature"},
		"cosigned in the time": {[]float64{3 * hour}, []struct{ size, ago float64 }{{3, 2 * hour}, {3, 30}}, 60, ""},
		"a witness ahead":      {[]float64{3 * hour}, []struct{ size, ago float64 }{{3, -2 * hour}}, 0, "a cosignature by w.example dated 2003-06-04T02:00:00Z, 2h0m0s later"},
		"of another ledger":    {[]float64{3 * hour}, []struct{ size, ago float64 }{{-1, hour}}, 0, "the checkpoint that w.example cosigned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at []float64
			for _, ago := range c.at {
				at = append(at, now-ago)
			}
			fs, log, heads := datedAt(t, at...)
			opts := audit.Options{FS: fs, Now: now, Fresh: c.fresh}
			for _, s := range c.seen {
				if s.size < 0 {
					_, _, others := datedAt(t, 1, 2)
					opts.Seen = append(opts.Seen, seen(others, 3, s.ago))
					continue
				}
				opts.Seen = append(opts.Seen, seen(heads, int(s.size), s.ago))
			}
			for what, report := range map[string]func() (*audit.Report, error){
				"ledger": func() (*audit.Report, error) { return audit.Audit("ledger", opts) },
				"log":    func() (*audit.Report, error) { return audit.Log(bytes.NewReader(log), opts) },
			} {
				r, err := report()
				check(t, err)
				if r.Clean() != (c.want == "") || c.want != "" && !strings.Contains(fmt.Sprint(r.Findings), c.want) {
					t.Errorf("%s: %v, want %q", what, r.Findings, c.want)
				}
				if len(r.Cosigned) != len(c.seen) {
					t.Errorf("%s: %v", what, r.Cosigned)
				}
			}
			r, err := audit.Audit("ledger", audit.Options{FS: fs})
			if err != nil || !r.Clean() { // a cosignature without a known time changes nothing
				t.Errorf("%v %v", r, err)
			}
		})
	}
}
