package verify_test

import (
	"fmt"
	"slices"
	"testing"

	"bourse/experiments/verify"
)

// ends is a ledger of the first contracts of small, which end at the given times and pay
// the given amounts on their host.
func ends(at, paid []float64) (steps []step, table [][]string) {
	from, rows := small()
	steps, table = slices.Clone(from[:len(at)]), slices.Clone(rows[:len(at)+1])
	for i := range at {
		row := slices.Clone(rows[i+1])
		row[12], row[15] = fmt.Sprint(at[i]), fmt.Sprintf("%.6f", paid[i])
		table[i+1] = row
		steps = append(steps, step{"settle", at[i], int64(i + 1), paid[i], done})
	}
	return steps, table
}

// TestSharing checks charges by usage if bids do not share the host with 2 CPUs. Under
// exclusive, three tasks get 2/3 of a CPU each, which is a third of the host and of its price
// of $0.06/s, but at most the bid. Under turns, the second of two tasks waits until the first,
// which gets half the host, has ended.
func TestSharing(t *testing.T) {
	t.Parallel()
	exclusive, turns := usage, usage
	exclusive.Sharing, turns.Sharing = "exclusive", "turns"
	for _, c := range []struct {
		name     string
		rules    verify.Rules
		at, paid []float64
		clean    bool
	}{
		{"exclusive", exclusive, []float64{150, 150, 150}, []float64{1.5, 3, 3}, true},
		{"exclusive, charged for the bid", exclusive, []float64{150, 150, 150}, []float64{1.5, 4.5, 3}, false},
		{"exclusive, as an auction ends", exclusive, []float64{500.0 / 3, 100, 400.0 / 3}, []float64{1.5, 3, 2.5}, false},
		{"turns", turns, []float64{100, 200}, []float64{1, 1.5}, true},
		{"turns, charged while it waits", turns, []float64{100, 200}, []float64{1, 2}, false},
		{"turns, not in turn", turns, []float64{200, 100}, []float64{0.5, 2}, false},
	} {
		steps, table := ends(c.at, c.paid)
		slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
		if r := held(t, steps, table, c.rules); r.Clean() != c.clean || c.clean && int(r.Computed) != len(c.at) {
			t.Errorf("%s: %d computed, %v", c.name, r.Computed, r.Findings)
		}
	}
}

// TestVolatile checks that budgets are recomputed if hosts come and go, whatever hosts are
// paid in the end: $2 minus 0.01 $/s of delay after a deadline of 90 s. If a host left with
// the work, the delay also includes the work left undone.
func TestVolatile(t *testing.T) {
	t.Parallel()
	rules := verify.Rules{Payment: "budget", Sharing: "exclusive", CPUs: 2, Speeds: []float64{1}, Leave: true}
	for _, c := range []struct {
		name, verdict    string
		at, paid, owed   float64
		losses           int
		elsewhere, clean bool
	}{
		{"kept", "fulfilled", 80, 2, 0, 0, false, true},
		{"kept elsewhere", "fulfilled", 80, 2, 0, 1, true, true},
		{"kept for less", "fulfilled", 80, 1.9, 0, 1, true, false},
		{"late elsewhere", "violated", 120, 1.7, 0, 1, true, true},
		{"late at the whole price", "violated", 120, 2, 0, 1, true, false},
		{"lost for good", "violated", 40, 0, 0.9, 1, false, true},
		{"lost, and no host left", "fulfilled", 80, 2, 0, 1, false, false},
		{"lost for good, and owed less", "violated", 40, 0, 0.5, 1, false, false},
	} {
		work := 100.0
		if c.paid == 0 {
			work = 0
		}
		verdict := fmt.Sprintf(`{"state":%q,"work":100,"work_done":%v,"losses":%d,"wasted":10`, c.verdict, work, c.losses)
		if c.owed > 0 {
			verdict += fmt.Sprintf(`,"penalty_owed":"%.6f"`, c.owed)
		}
		on := "h00"
		if c.elsewhere {
			on = "h01" // admitted on h01, but paid on h00
		}
		steps := []step{
			{"hold", 0, 1, 2, fmt.Sprintf(`{"decision":"accept","submit":0,"deadline":90,"runs_on":true,"penalty_rate":0.01,"on":[1,%q]}`, on)},
			{"settle", c.at, 1, c.paid, verdict + "}"},
		}
		if c.owed > 0 {
			steps = append(steps, step{"penalty", c.at, 1, c.owed, ""})
		}
		_, table := small()
		table = table[:2]
		copy(table[1][12:], []string{fmt.Sprint(c.at), "100", fmt.Sprint(work), fmt.Sprintf("%.6f", c.paid), fmt.Sprintf("%.6f", c.owed), fmt.Sprint(c.verdict == "fulfilled")})
		rules := rules
		rules.Leave = c.name != "lost, and no host left"
		r := held(t, steps, table, rules)
		if r.Clean() != c.clean || c.clean && r.Computed != 1 {
			t.Errorf("%s: %d computed, %v, %v", c.name, r.Computed, r.Findings, r.Beyond)
		}
	}
}
