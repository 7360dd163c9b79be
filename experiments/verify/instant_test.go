package verify_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/experiments/verify"
)

// alone audits a run with a single contract on its own host that continues after its
// deadline.
func alone(t *testing.T, submit, deadline, start, end, work, byDue float64, state string, rules verify.Rules) *audit.Report {
	t.Helper()
	note := strings.NewReplacer(`"submit":0`, fmt.Sprintf(`"submit":%v`, submit), `"deadline":200`, fmt.Sprintf(`"deadline":%v`, deadline)).
		Replace(terms(10000000, `,"runs_on":true`))
	verdict := fmt.Sprintf(`{"state":%q,"work":%v,"work_done":%v}`, state, work, byDue)
	_, table := small()
	table = table[:2]
	copy(table[1][5:], []string{fmt.Sprint(submit), "100", "1", "2.000000", "accept", "", fmt.Sprint(start), fmt.Sprint(end),
		fmt.Sprint(work), fmt.Sprint(byDue), "0.000000", "0.000000", fmt.Sprint(state == "fulfilled")})
	return held(t, []step{{"hold", start, 1, 2, note}, {"settle", end, 1, 0, verdict}}, table, rules)
}

// TestInstantLate checks that the audit and contracts.Request.Late agree on the time after
// which an end is late: 1e-6 s after the deadline, at 10.000001 s here.
func TestInstantLate(t *testing.T) {
	t.Parallel()
	const submit, deadline = 10, 1e-6
	rules := verify.Rules{Payment: "bid", Sharing: "auction", CPUs: 0.5, Speeds: []float64{1}}
	late := 10.000002
	for _, c := range []struct {
		end   float64
		state string
		clean bool
	}{
		{late, "violated", true}, {late, "fulfilled", false},
		{math.Nextafter(late, 0), "fulfilled", true}, {math.Nextafter(late, 0), "violated", false},
	} {
		work := rules.CPUs * (c.end - submit)
		byDue := work
		if c.state == "violated" {
			byDue = rules.CPUs * ((submit + float64(deadline)) - submit)
		}
		if r := alone(t, submit, deadline, submit, c.end, work, byDue, c.state, rules); r.Clean() != c.clean {
			t.Errorf("%+v: %v", c, r.Findings)
		}
	}
}

// TestInstantWork checks the work of a contract that starts long after its deadline and
// ends a microsecond later. The precision of such late times is 1.5e-11 s, which is also
// the tolerance for the work. None of the work was done by the deadline.
func TestInstantWork(t *testing.T) {
	t.Parallel()
	const start, work = 86460, 1e-6
	rules := verify.Rules{Payment: "bid", Sharing: "auction", CPUs: 1, Speeds: []float64{0.7}}
	ends := start + float64(work)/0.7
	for _, c := range []struct {
		end, byDue float64
		clean      bool
	}{
		{ends, 0, true}, {math.Nextafter(ends, math.Inf(1)), 0, true},
		{ends + 1e-9, 0, false}, {ends, 1e-12, false},
	} {
		if r := alone(t, 60, 4e-6, start, c.end, work, c.byDue, "violated", rules); r.Clean() != c.clean {
			t.Errorf("%+v: %v", c, r.Findings)
		}
	}
}

// TestHighPrices checks the price of an interval after an interval that contained, for a
// microsecond, a bid a hundred million times as high as the others. The high bid must leave no
// rounding error.
func TestHighPrices(t *testing.T) {
	t.Parallel()
	const others, high, low = 12, 1200000e9, 10000005 // bids in nano-dollars per second
	rules := verify.Rules{Payment: "bid", Sharing: "auction", CPUs: 100, Cap: 1, Speeds: []float64{1}, Hosts: 1}
	_, table := small()
	table = table[:1]
	row := func(id int, value, end, work, paid string) {
		table = append(table, []string{"small", "cac", "0", fmt.Sprint(id), "ann", "0", "100", "1", value, "accept", "", "0", end, work, work, paid, "0.000000", "true"})
	}
	steps := []step{{"hold", 0, 1, 1.2, strings.Replace(terms(high, ""), "200", "1e-6", 1)}}
	row(1, "1.200000", "1e-6", "1e-6", "1.200000")
	for id := 2; id < 2+others; id++ {
		steps = append(steps, step{"hold", 0, int64(id), 5.1, strings.Replace(terms(low, ""), "200", "500", 1)})
		row(id, "5.100000", "400", "400", "4.000002")
	}
	steps = append(steps, step{"settle", 1e-6, 1, 1.2, strings.ReplaceAll(done, "100", "1e-6")})
	for id := 2; id < 2+others; id++ {
		steps = append(steps, step{"settle", 400, int64(id), 4.000002, strings.ReplaceAll(done, "100", "400")})
	}
	level := others * low / 1e9
	for off, clean := range map[float64]bool{0: true, 1e-9: false, -1e-9: false} {
		if r := held(t, steps, table, rules, 1.2/300+level, level+off); r.Clean() != clean {
			t.Errorf("off by %v: %v", off, r.Findings)
		}
	}
}

// TestInstantAdmitted checks the charge under the price at admission if a task of a contract
// with separate promises per node leaves the host at exactly that time. The price may include
// the bid of that task or not, but no other amount is valid.
func TestInstantAdmitted(t *testing.T) {
	t.Parallel()
	const each = `,"per_host":true`
	rules := verify.Rules{Payment: "admission", Sharing: "auction", CPUs: 1, Speeds: []float64{1}}
	for _, c := range []struct {
		start, paid float64 // start of the second contract, and its charge
		clean       bool
	}{{100, 0, true}, {100, 1, true}, {100, 1.000001, false}, {100.000001, 0, true}, {100.000001, 0.999999, false}} {
		end := c.start + 100
		_, table := small()
		table = table[:3]
		paid := fmt.Sprintf("%.6f", c.paid)
		copy(table[1][11:], []string{"0", "100", "100", "100", "0.000000", "0.000000", "true"})
		copy(table[2][11:], []string{fmt.Sprint(c.start), fmt.Sprint(end), "100", "100", paid, "0.000000", "true"})
		steps := []step{
			{"hold", 0, 1, 2, terms(10000000, each)},
			{"settle", 100, 1, 0, done},
			{"hold", c.start, 2, 6, strings.Replace(terms(20000000, each), "200", "201", 1)},
			{"settle", end, 2, c.paid, done},
		}
		if c.start == 100 { // with the order of the two events reversed
			steps[1], steps[2] = steps[2], steps[1]
		}
		if r := held(t, steps, table, rules); r.Clean() != c.clean {
			t.Errorf("%+v: %v", c, r.Findings)
		}
	}
}
