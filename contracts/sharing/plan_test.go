package sharing

import (
	"fmt"
	"math"
	"testing"

	"bourse/contracts"
)

// TestTerms checks the value of a promise: budget / runtime / deadline if it is kept (SLA, line
// 6), budget - penalty if it is late (eq. 1), and the lowest possible value if the work never
// ends.
func TestTerms(t *testing.T) {
	t.Parallel()
	terms := Terms{Runtime: 2, Deadline: 4, Budget: 24, Penalty: contracts.Penalty{Rate: 2, Max: math.Inf(1)}}
	free := Terms{Budget: 24}
	for name, c := range map[string]struct{ got, want float64 }{
		"rank":                       {terms.Rank(), 3},
		"return of 48":               {terms.Return(48), 6},
		"in time":                    {terms.Utility(0), 24},
		"10 s late":                  {terms.Utility(10), 4},
		"20 s late":                  {terms.Utility(20), -16},
		"never":                      {terms.Utility(math.Inf(1)), math.Inf(-1)},
		"never, without penalty":     {free.Utility(math.Inf(1)), math.Inf(-1)},
		"late, without penalty":      {free.Utility(1e9), 24},
		"offered: budget is dollars": {Offer(&contracts.Request{Work: 8}, 2).Left, 4},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// TestDelay checks SLA lines 21 and 22: the delay of a task is left/share - span. A tick of
// work counts as 0, and a delay up to a tick plus 1e-9 of the deadline counts as 0.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ left, span, share, deadline, want float64 }{
		{5, 10, 0.5, 100, 0},
		{5, 10, 1, 100, 0},
		{5, 10, 0.25, 100, 10},
		{0, 10, 0, 100, 0},
		{0, -3, 0, 100, 3},
		{5, -3, 0.5, 100, 13},
		{5, 10, 0, 100, math.Inf(1)},
		{Tick, 10, 1e-9, 100, 0},
		{3 * Tick, 1, 1e-6, 100, 2},
		{0, -Tick, 1, 0, 0},
		{0, -1.5e-6, 1, 1000, 0},
		{0, -2.5e-6, 1, 1000, 2.5e-6},
		{5, math.Inf(1), 0, 100, 0},
	} {
		terms := Terms{Deadline: c.deadline}
		if got := terms.Delay(c.left, c.span, c.share); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v s left and %v to go with %v: %v s late, want %v", c.left, c.span, c.share, got, c.want)
		}
	}
}

// promise returns a task that needs the given processors for 10 s. It is hard, or soft with the
// given budget.
func promise(need, budget float64) Promise {
	return Promise{Left: 10 * need, Span: 10, Target: 10, Terms: Terms{Hard: budget == 0, Runtime: 10, Deadline: 10, Budget: budget}}
}

// TestPlan compares Algorithm 2 of SLA on a host of one processor with values computed by hand.
// Spare capacity goes to the task with the highest return. If the needs do not fit, the shares
// of the other soft tasks are reduced in proportion, and then the share of that task. If the
// hard tasks do not fit, all shares are reduced by the same factor.
func TestPlan(t *testing.T) {
	t.Parallel()
	const hard = 0
	full := Node{Size: 1, Most: 1}.Size + Sliver // largest need that still fits, in the order in which Make adds needs
	exactly := func(need, budget float64) Promise {
		p := promise(need, budget)
		p.Left, p.Span, p.Target = need, 1, 1
		return p
	}
	for _, c := range []struct {
		name     string
		node     Node
		tasks    []Promise
		top      int
		feasible bool
		want     []float64
	}{
		{"nobody", Node{1, 1}, nil, 0, true, []float64{}},
		{"spare goes to the best paid", Node{1, 1}, []Promise{promise(0.25, 1), promise(0.25, 2)}, 1, true, []float64{0.25, 0.75}},
		{"to the first of equals", Node{1, 1}, []Promise{promise(0.25, 2), promise(0.25, 2)}, 0, true, []float64{0.75, 0.25}},
		{"no more than it can use", Node{4, 1}, []Promise{promise(0.25, 2), promise(0.25, 1)}, 0, true, []float64{1, 0.25}},
		{"others are cut", Node{1, 1}, []Promise{promise(0.5, 9), promise(0.75, 2), promise(0.25, 2)}, 0, true, []float64{0.5, 0.375, 0.125}},
		{"hard ones are not", Node{1, 1}, []Promise{promise(0.25, hard), promise(0.5, 9), promise(0.5, 2)}, 1, true, []float64{0.25, 0.5, 0.25}},
		{"the best paid is, where they leave less", Node{1, 1}, []Promise{promise(0.75, hard), promise(0.5, 9), promise(0.5, 2)}, 1, false, []float64{0.75, 0.25, 0}},
		{"those without deadline need nothing", Node{1, 1}, []Promise{{Left: 5, Span: math.Inf(1), Target: math.Inf(1), Terms: Terms{Runtime: 1, Deadline: 1}}, promise(0.75, hard), promise(0.5, 9)}, 2, false, []float64{0, 0.75, 0.25}},
		{"all are, where hard ones do not fit", Node{1, 1}, []Promise{promise(0.75, hard), promise(0.75, hard), promise(0.5, 9)}, 2, false, []float64{0.375, 0.375, 0.25}},
		{"one that stops now needs what it did", Node{1, 1}, []Promise{{Left: 9, Span: Tick, Target: Tick, Keep: 0.25, Stops: true, Terms: Terms{Hard: true, Runtime: 1, Deadline: 1}}, promise(0.5, 9)}, 1, true, []float64{0.25, 0.75}},
		{"one that goes on needs all", Node{1, 1}, []Promise{{Left: 9, Span: Tick, Target: Tick, Keep: 0.25, Terms: Terms{Hard: true, Runtime: 1, Deadline: 1}}, promise(0.5, 9)}, 1, false, []float64{1, 0}},
		{"a sliver more fits", Node{1, 2}, []Promise{exactly(full, 1)}, 0, true, []float64{full}},
		{"two slivers are cut", Node{1, 2}, []Promise{exactly(full+Sliver, 1)}, 0, false, []float64{1}},
		{"hard and best paid fit with a sliver", Node{1, 2}, []Promise{exactly(0.5, hard), exactly(full-0.5, 9), exactly(0.5, 1)}, 1, true, []float64{0.5, 0.5, 0}},
		{"hard ones fit with a sliver", Node{1, 2}, []Promise{exactly(full, hard), exactly(0.5, 9)}, 1, false, []float64{full, 0}},
		{"hard ones fit but for a sliver", Node{1, 2}, []Promise{exactly(full+Sliver, hard), exactly(0.5, 9)}, 1, false, []float64{(full + Sliver) / (full + Sliver + 0.5), 0.5 / (full + Sliver + 0.5)}},
	} {
		p := Plan{SLAOptions: DefaultSLA()}
		p.Make(c.node, c.tasks)
		near := len(p.Share) == len(c.want)
		for i := range c.want {
			near = near && math.Abs(p.Share[i]-c.want[i]) < 1e-12
		}
		if !near || p.Top != c.top || p.Feasible != c.feasible {
			t.Errorf("%s: shares %v, top %d, feasible %v; want %v, %d, %v", c.name, p.Share, p.Top, p.Feasible, c.want, c.top, c.feasible)
		}
	}
	if got := part(1, 0, 0); got != 0 {
		t.Errorf("those that need nothing get %v of it", got)
	}
	for _, c := range []struct{ room, top, want float64 }{{1, 0.25, 0.75}, {0.25, 1, 0}, {Sliver, 0, 0}, {3 * Sliver, Sliver, 2 * Sliver}} {
		if got := part(c.room, c.top, 2) * 2; math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%v of %v leaves %v, want %v", c.top, c.room, got, c.want)
		}
	}
}

// TestReadings checks the interpretations of the paper. A delayed task needs the share with
// which it ends at its target, or by its deadline. The utility of a late hard task, or of the
// late top task, includes its penalty, or is computed as if it were in time.
func TestReadings(t *testing.T) {
	t.Parallel()
	delayed := promise(0.5, 1)
	delayed.Target = 20
	for late, want := range map[string]float64{"shift": 0.25, "pressure": 0.5} {
		p := Plan{SLAOptions: SLAOptions{Late: late, Protect: "strict"}}
		if p.Make(Node{1, 1}, []Promise{delayed}); p.Need[0] != want {
			t.Errorf("%s: needs %v, want %v", late, p.Need[0], want)
		}
	}
	hard, best, other := promise(0.75, 0), promise(0.5, 9), promise(0.5, 2)
	hard.Budget = 4
	for i := range 3 {
		[]*Promise{&hard, &best, &other}[i].Penalty = contracts.Penalty{Rate: 0.5, Max: 20}
	}
	fits := []Promise{promise(0.5, 9), promise(0.5, 2), promise(0.5, 2)}
	for i := range fits {
		fits[i].Penalty = contracts.Penalty{Rate: 0.5, Max: 20}
	}
	for _, c := range []struct {
		protect string
		tasks   []Promise
		want    string
	}{
		// With 0.75, 0.25 and 0: in time, 5 / 0.25 - 10 = 10 s late, and never done.
		{"strict", []Promise{hard, best, other}, "[0 10 +Inf] [4 4 -Inf] -Inf"},
		{"printed", []Promise{hard, best, other}, "[0 10 +Inf] [4 9 -Inf] -Inf"},
		// With 0.5, 0.25 and 0.25: the two soft tasks are 10 s late under either option.
		{"printed", fits, "[0 10 10] [9 -3 -3] 0.03"},
	} {
		p := Plan{SLAOptions: SLAOptions{Late: "shift", Protect: c.protect}}
		p.Make(Node{1, 1}, c.tasks)
		if got := fmt.Sprint(p.Delay, p.Utility, math.Round(p.Return*1e12)/1e12); got != c.want {
			t.Errorf("%s: %s, want %s", c.protect, got, c.want)
		}
	}
}
