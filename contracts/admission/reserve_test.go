package admission

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// TestReserveOptions checks that options that mean nothing are refused by name, used
// or not, and that the defaults are good.
func TestReserveOptions(t *testing.T) {
	t.Parallel()
	f := -1.0
	for want, change := range map[string]func(*ReserveOptions){
		"":                            func(*ReserveOptions) {},
		"od_map is":                   func(o *ReserveOptions) { o.ODMap = "ff" },
		"admission is \"fcfs\"":       func(o *ReserveOptions) { o.Admission = "fcfs" },
		"want edf: such a plan has":   func(o *ReserveOptions) { o.Admission, o.Preempt = "edf+insert", true },
		"overrun is":                  func(o *ReserveOptions) { o.Overrun = "wait" },
		"extend_pct is 0":             func(o *ReserveOptions) { o.ExtendPct = 0 },
		"od_deadline is -1":           func(o *ReserveOptions) { o.ODDeadline = &f },
		"base is -1":                  func(o *ReserveOptions) { o.Base = -1 },
		"kappa is NaN":                func(o *ReserveOptions) { o.Kappa = math.NaN() },
		"cancel_fee is 2":             func(o *ReserveOptions) { o.CancelFee = 2 },
		"zeta_scope":                  func(o *ReserveOptions) { o.Match, o.ZetaScope = "ff", "od" },
		"util \"now\"":                func(o *ReserveOptions) { o.Match, o.Util = "ff", "now" },
		"unknown matchmaker \"best\"": func(o *ReserveOptions) { o.Match = "best" },
	} {
		_, err := New("reserve", func(v any) error { change(v.(*ReserveOptions)); return nil }, nil, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestReserveSeconds checks how instants become seconds: what must not happen before
// an instant is rounded up, a deadline down, an estimate up; an on-demand request has
// no deadline, or one in proportion to its estimate.
func TestReserveSeconds(t *testing.T) {
	t.Parallel()
	p, err := New("reserve", func(v any) error { return nil }, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := contracts.Request{Submit: 10.4, Lead: 5.2, Work: 20.1, Nodes: 3, SLA: contracts.SLA{Deadline: 50.2}}
	j := p.(*Reserve).job(10.4, &r)
	if j.Arrival != 10 || j.Earliest != 16 || j.Estimate != 21 || j.Deadline != 60 || j.Nodes != 3 {
		t.Errorf("%+v", j)
	}
	r.OnDemand, r.Lead = true, 0
	if j := p.(*Reserve).job(10.4, &r); j.Earliest != 11 || j.Deadline != math.MaxInt64 {
		t.Errorf("%+v", j)
	}
	f := 0.5
	p.(*Reserve).o.ODDeadline = &f
	if j := p.(*Reserve).job(10.4, &r); j.Deadline != 11+21+11 {
		t.Errorf("%+v", j)
	}
	r.SLA.Deadline, r.OnDemand = math.MaxFloat64, false
	if j := p.(*Reserve).job(10.4, &r); p.(*Reserve).why(&j) != contracts.TooFewHosts {
		t.Errorf("%+v", j)
	}
}

// TestReserveBooks checks which hosts have books: those with a whole processor and a
// speed that a book can tell, rounded down so that no promise is too good.
func TestReserveBooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec  hosts.Spec
		nodes int
		speed int64
	}{
		{hosts.Spec{CPUs: 2.5, Speed: 1.0 / 3}, 2, 333},
		{hosts.Spec{CPUs: 64, Speed: 0.29}, 64, 290},
		{hosts.Spec{CPUs: 1e6, Speed: 1e6}, 1 << 16, 100_000},
		{hosts.Spec{CPUs: 0.5, Speed: 1}, 0, 0},
		{hosts.Spec{CPUs: 4, Speed: 0.001}, 0, 0},
	} {
		b := newBook(0, &c.spec, &ReserveOptions{ExtendPct: 20})
		if (b == nil) != (c.nodes == 0) || b != nil && (b.nodes != c.nodes || b.speed != c.speed) {
			t.Errorf("%+v: %+v", c.spec, b)
		}
	}
}

// TestReserveFractions checks that what comes, ends or is taken back within a second
// is entered at the next.
func TestReserveFractions(t *testing.T) {
	t.Parallel()
	policy, err := newReserve(given(ReserveOptions{
		Match: "mli", ODMap: "imct", Admission: "edf", Overrun: "extend", ExtendPct: 20, ZetaScope: "ar", ZetaScale: "mul", Util: "cumulative",
	}), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := policy.(*Reserve)
	b := newBook(0, &hosts.Spec{CPUs: 1, Speed: 1}, &p.o)
	p.books, p.window = []*book{b}, []matchmaking.Seller{b}
	r := contracts.Request{ID: 1, Submit: 3.5, Work: 4, Nodes: 1, SLA: contracts.SLA{Deadline: 100}}
	m := &counter{requests: []contracts.Request{r}}
	tell := func(now float64, kind contracts.EventKind, want ...contracts.Verb) {
		t.Helper()
		var got []contracts.Verb
		for _, a := range p.Handle(now, contracts.Event{Kind: kind}, m) {
			if got = append(got, a.Verb); a.Verb == contracts.Enqueue {
				m.waiting = append(m.waiting, a.Contract)
			}
			if a.Verb == contracts.Book && numbers(*a.Decision)["start"] != 4 {
				t.Errorf("%+v", a.Decision)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("at %v: does %v, want %v", now, got, want)
		}
	}
	next := func(want float64) {
		t.Helper()
		if at, last := p.Next(); at != want || last {
			t.Fatalf("next %v, after submissions: %v, want %v", at, last, want)
		}
	}
	tell(3.5, contracts.Submitted, contracts.Enqueue)
	next(4)
	tell(4, contracts.Tick)
	next(math.Inf(1))
	tell(4, contracts.Freed, contracts.Book)
	m.waiting = nil
	tell(4, contracts.Continue, contracts.Launch)
	tell(5.2, contracts.Done)
	next(6)
	tell(6, contracts.Tick, contracts.Finish)
	next(math.Inf(1))
}

// A counter is a market of requests by number.
type counter struct {
	requests []contracts.Request
	waiting  []int32
}

func (m *counter) Hosts() contracts.View              { return nil }
func (m *counter) Waiting() []int32                   { return m.waiting }
func (m *counter) Request(i int32) *contracts.Request { return &m.requests[i] }

// A quoted quotes what it is.
type quoted timetable.Quote

func (q quoted) Quote(int64, timetable.Job) timetable.Quote { return timetable.Quote(q) }

// TestCheapestTies checks that clusters that ask the same tie, whatever the rounding
// of float64 would make of their prices, and that the earlier completion wins.
func TestCheapestTies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, kappa float64
		scale       string
		a, b        quoted
		ask         float64
	}{
		{0, 1, "mul", quoted{Zeta: 39, Speed: 700}, quoted{Zeta: 21, Speed: 1300}, 27.3},
		{0, 0.1, "div", quoted{Zeta: 3, Speed: 900}, quoted{Zeta: 1, Speed: 300}, 1.0 / 3},
		{0.1, 0.2, "none", quoted{Zeta: 1, Start: 85, Speed: 1000}, quoted{Zeta: 0, Start: 82, Speed: 1000}, 1.7}, // 1.5+0.2 and 1.7, with 1 node
	} {
		o := ReserveOptions{Match: "price", Base: c.base, Kappa: c.kappa, ZetaScale: c.scale}
		late, early := c.a, c.b
		late.Feasible, late.Completion, late.Job.Nodes = true, 100, 1
		early.Feasible, early.Completion, early.Job.Nodes = true, 99, 1
		for _, window := range [][]matchmaking.Seller{{late, early}, {early, late}} {
			m := cheapest{newPricing(&o)}
			choice, ok := m.Match(0, timetable.Job{}, window)
			ask, _ := m.of(&choice.Quote).Float64()
			if !ok || choice.Quote.Completion != 99 || ask != c.ask {
				t.Errorf("%+v: completion %d for $%v, want 99 for $%v", c, choice.Quote.Completion, ask, c.ask)
			}
		}
	}
}
