package sharing

import (
	"fmt"
	"math"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// oneHost is a view of one host with the contracts of its allocations.
type oneHost struct {
	contracts.View
	spec hosts.Spec
	of   []contracts.Contract
}

func (v *oneHost) Spec(hosts.ID) *hosts.Spec            { return &v.spec }
func (v *oneHost) Contract(i int32) *contracts.Contract { return &v.of[i] }

// contract returns a contract with the given work per node, due at the given time.
func contract(work, due float64) contracts.Contract {
	return contracts.Contract{Request: contracts.Request{Work: work, Nodes: 1, PerHost: true, SLA: contracts.SLA{Deadline: due}}}
}

// TestRequired checks Risk eq. 1, share = left / span, and the values in the cases that it does
// not cover: all processors that a task can use after the deadline, and its previous need after
// its estimate is used up. A tick or less counts as 0.
func TestRequired(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct{ left, span, fallback, want float64 }{
		{10, 20, 9, 0.5},
		{30, 20, 9, 1.5},
		{10, 0, 9, inf},
		{10, -5, 9, inf},
		{10, Tick, 9, inf},
		{10, 2 * Tick, 9, 10 / (2 * Tick)},
		{0, 20, 9, 9},
		{-5, 20, 9, 9},
		{Tick, 20, 9, 9},
		{2 * Tick, 20, 9, Tick / 10},
		{0, 0, 9, inf},
	} {
		if got := Required(c.left, c.span, c.fallback); got != c.want {
			t.Errorf("%v s left, %v s until the deadline: %v, want %v", c.left, c.span, got, c.want)
		}
	}
}

// TestRequiredBy checks that the need of a task includes its work up to now, at the speed of
// its host: of 100 units, 10 are done at 5 and 10 more at 10, so 40 s at speed 2 are left.
func TestRequiredBy(t *testing.T) {
	t.Parallel()
	c := contract(100, 90)
	s := contracts.Allocation{Done: 10, Rate: 2, At: 5, Need: 0.125, Target: 110}
	if got := RequiredBy(10, &s, &c, 2); got != 0.5 {
		t.Errorf("%v processors, want 0.5", got)
	}
	p := PromiseOf(10, &s, &c, 2)
	if p.Left != 40 || p.Span != 80 || p.Target != 100 || p.Keep != 0.125 {
		t.Errorf("%+v, want 40 s left, 80 until the deadline, 100 until the target, and 0.125 kept", p)
	}
	if s.Target = 80; PromiseOf(10, &s, &c, 2).Target != 80 {
		t.Error("a target before the deadline moves it")
	}
}

// TestNodeOf checks that a task can use a whole host, or as much as the host's cap permits.
func TestNodeOf(t *testing.T) {
	t.Parallel()
	for most, want := range map[float64]float64{0: 4, 1: 1, 4: 4, 8: 4} {
		if got := NodeOf(&hosts.Spec{CPUs: 4, Speed: 2, Cap: most}); got != (Node{4, want}) {
			t.Errorf("capped at %v: %+v, want 4 and %v", most, got, want)
		}
	}
}

// TestSplitShares checks the shares under each option for spare capacity. Under none, tasks are
// limited to their needs, and equal adds an equal part of the spare capacity to each. No task
// is limited if the needs exceed the host or are all 0.
func TestSplitShares(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct {
		spare  Spare
		needs  []float64
		shares []hosts.Share
	}{
		{Proportional, []float64{0.5, 0.25}, []hosts.Share{{Weight: 0.5}, {Weight: 0.25}}},
		{Unused, []float64{0.5, 0.25}, []hosts.Share{{Weight: 0.5, Limit: 0.5}, {Weight: 0.25, Limit: 0.25}}},
		{Equal, []float64{0.5, 0.25}, []hosts.Share{{Weight: 0.625}, {Weight: 0.375}}},
		{Unused, []float64{0.5, 0.5}, []hosts.Share{{Weight: 0.5, Limit: 0.5}, {Weight: 0.5, Limit: 0.5}}},
		{Unused, []float64{1, 0.25}, []hosts.Share{{Weight: 1}, {Weight: 0.25}}},
		{Equal, []float64{1, 0.25}, []hosts.Share{{Weight: 1}, {Weight: 0.25}}},
		{Unused, []float64{inf, 0.25}, []hosts.Share{{Weight: 1}, {Weight: 0.25}}},
		{Unused, []float64{0, 0}, []hosts.Share{{Weight: 1}, {Weight: 1}}},
		{Equal, []float64{0, 0}, []hosts.Share{{Weight: 1}, {Weight: 1}}},
	} {
		if got := (Node{1, 1}).Split(c.spare, c.needs, nil); fmt.Sprint(got) != fmt.Sprint(c.shares) {
			t.Errorf("%s of needs %v: %v, want %v", c.spare, c.needs, got, c.shares)
		}
	}
}

// TestDeadlineOverrun checks each option for overruns on a task that needed 0.25 of a host, and
// whose estimate is used up or whose deadline has passed. Under keep it retains its need, under
// zero it needs nothing before its deadline, and under kill it is stopped at its estimate.
func TestDeadlineOverrun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		overrun          string
		work, due        float64 // remaining work and deadline at time 0
		weight, remember float64
		limit            float64
	}{
		{"keep", 10, 20, 0.5, 0.5, math.Inf(1)},
		{"zero", 10, 20, 0.5, 0, math.Inf(1)},
		{"kill", 10, 20, 0.5, 0.5, 10},
		{"keep", 80, 20, 4, 2, math.Inf(1)}, // a need above what the task can use is not retained
		{"keep", 0, 20, 0.25, 0.25, math.Inf(1)},
		{"keep", 10, Tick, 2, 0.25, math.Inf(1)}, // the deadline has passed: the task gets all processors that it can use, but its stored need does not change
		{"keep", 10, -1, 2, 0.25, math.Inf(1)},
		{"keep", 2 * Tick, 8, Tick / 4, Tick / 4, math.Inf(1)},
		{"keep", 1e-6, 2e-6, 0.25, 0.25, math.Inf(1)}, // a tick is no work
	} {
		d := deadline{deadlineOptions: deadlineOptions{Spare: Proportional, Overrun: c.overrun}}
		v := &oneHost{spec: hosts.Spec{CPUs: 4, Speed: 1, Cap: 2}, of: []contracts.Contract{contract(c.work, c.due)}}
		on := []contracts.Allocation{{Need: 0.25}}
		if c.overrun == "zero" {
			on[0].Need = 0
		}
		d.Allocate(0, 0, on, v)
		if on[0].Share.Weight != c.weight || on[0].Need != c.remember || d.Limit(&v.of[0].Request) != c.limit {
			t.Errorf("%s, %v of work due at %v: %v, remembered %v, stopped at %v; want %v, %v, %v", c.overrun, c.work, c.due,
				on[0].Share.Weight, on[0].Need, d.Limit(&v.of[0].Request), c.weight, c.remember, c.limit)
		}
	}
}

// TestDeadlineSpeed checks that a need is in processors of the task's own host: at speed 2, a
// job of 10 that is due in 20 s, at 25, needs a quarter of a processor.
func TestDeadlineSpeed(t *testing.T) {
	t.Parallel()
	d := deadline{deadlineOptions: deadlineOptions{Spare: Proportional, Overrun: "keep"}}
	v := &oneHost{spec: hosts.Spec{CPUs: 1, Speed: 2}, of: []contracts.Contract{contract(10, 25)}}
	on := []contracts.Allocation{{At: 5}}
	if d.Allocate(5, 0, on, v); on[0].Need != 0.25 {
		t.Errorf("%v processors, want 0.25", on[0].Need)
	}
}

// TestPlaces checks the rules that do not use needs. Under turns, the first task has a
// processor and the other tasks wait. Under exclusive, each task has a processor. A gang has
// one processor per node. Under auction, the weight of a task is its bid.
func TestPlaces(t *testing.T) {
	t.Parallel()
	on := make([]contracts.Allocation, 3)
	turns{}.Allocate(0, 0, on, nil)
	for i, want := range []hosts.Share{{Weight: 1, Limit: 1}, {}, {}} {
		if got := on[i].Share; got != want {
			t.Errorf("in turn %d: %+v, want %+v", i, got, want)
		}
	}
	v := &oneHost{spec: hosts.Spec{CPUs: 8, Speed: 1}}
	c := contract(1, 1)
	c.Nodes, c.Needs.Max.CPU = 4, 3
	booked := c
	booked.Gang = true
	at := &contracts.Placement{Bid: 250, Nodes: 2}
	for _, of := range []struct {
		rule FixedShares
		c    *contracts.Contract
		want hosts.Share
	}{
		{&exclusive{}, &c, hosts.Share{Weight: 1, Limit: 1}},
		{gang{}, &c, hosts.Share{Weight: 4, Limit: 4}},
		{gang{}, &booked, hosts.Share{Weight: 2, Limit: 2}},
		{&auction{}, &c, hosts.Share{Weight: 250, Limit: 3}},
	} {
		if got := of.rule.Share(of.c, at, v); got != of.want {
			t.Errorf("%T: %+v, want %+v", of.rule, got, of.want)
		}
	}
}

// TestPaceOfEach checks that each parallel program has the pace of its own slowest host, for
// any previously computed program and any contract number.
func TestPaceOfEach(t *testing.T) {
	t.Parallel()
	slow := contracts.Contract{Request: contracts.Request{PerHost: true}, Placements: []contracts.Placement{{Host: 0}, {Host: 1}}}
	fast := contracts.Contract{Request: contracts.Request{ID: 1, PerHost: true}, Placements: []contracts.Placement{{Host: 1}, {Host: 2}}}
	whole := contracts.Contract{Request: contracts.Request{ID: 2}, Placements: slow.Placements}
	rule := new(exclusive)
	for _, c := range []struct {
		of   *contracts.Contract
		want float64
	}{{&slow, 0.5}, {&fast, 1}, {&slow, 0.5}, {&whole, 1}} { // the fast host of whole compensates for its slow one
		if got := rule.Share(c.of, &contracts.Placement{Host: 1}, twoSpeeds{c: c.of}).Limit; got != c.want {
			t.Errorf("contract %d: limit %v, want %v", c.of.ID, got, c.want)
		}
	}
}

// TestPlanned checks that the planned rule stores the need of each task until its estimate is
// used up or its target has passed. When the share of a task is reduced, its target becomes the
// time at which the task completes with this share.
func TestPlanned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		work, due    float64 // work and deadline at time 0 of the soft task, next to a hard task that needs 0.5
		had          contracts.Allocation
		share        float64
		need, target float64
	}{
		{"it fits, and has what is spare", 2, 10, contracts.Allocation{}, 0.5, 0.2, 0},
		{"cut by half", 5, 5, contracts.Allocation{}, 0.5, 1, 10},
		{"cut, and put off before", 5, 5, contracts.Allocation{Target: 8}, 0.5, 0.625, 10},
		{"put off long before", 5, 5, contracts.Allocation{Target: 50}, 0.5, 0.1, 50},
		{"its estimate is used up", 0, 5, contracts.Allocation{Need: 0.25}, 0.5, 0.25, 0},
		{"a tick is no work", Tick, 5, contracts.Allocation{Need: 0.25}, 0.5, 0.25, 0},
		{"its deadline has passed", 5, Tick, contracts.Allocation{Need: 0.25}, 0.5, 0.25, 10},
	} {
		rule := must(newPlanned(func(any) error { return nil })).(*planned)
		hard, soft := contract(5, 10), contract(c.work, c.due)
		soft.SLA.Soft, soft.SLA.Budget = true, bank.Micros(1e6)
		v := &oneHost{spec: hosts.Spec{CPUs: 1, Speed: 1}, of: []contracts.Contract{hard, soft}}
		on := []contracts.Allocation{{}, c.had}
		on[1].Contract = 1
		rule.Allocate(0, 0, on, v)
		if s := on[1]; s.Share.Weight != c.share || s.Need != c.need || math.Abs(s.Target-c.target) > 1e-12 {
			t.Errorf("%s: share %v, need %v, target %v; want %v, %v, %v", c.name, s.Share.Weight, s.Need, s.Target, c.share, c.need, c.target)
		}
	}
	if must(newPlanned(func(any) error { return nil })).(Ender).Ending() != WithHost {
		t.Error("tasks of a plan do not end with their host")
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
