package reserve

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// TestReserveOptions checks that invalid options are rejected by name, even if they are not
// used, and that the defaults are valid.
func TestReserveOptions(t *testing.T) {
	t.Parallel()
	f := -1.0
	for want, change := range map[string]func(*Options){
		"":                                func(*Options) {},
		"od_map: found":                   func(o *Options) { o.ODMap = "ff" },
		"admission: found \"fcfs\"":       func(o *Options) { o.Admission = "fcfs" },
		"want edf: preemptive plans have": func(o *Options) { o.Admission, o.Preempt = "edf+insert", true },
		"overrun: found":                  func(o *Options) { o.Overrun = "wait" },
		"extend_pct: found 0":             func(o *Options) { o.ExtendPct = 0 },
		"od_deadline: found -1":           func(o *Options) { o.ODDeadline = &f },
		"base: found -1":                  func(o *Options) { o.Base = -1 },
		"kappa: found NaN":                func(o *Options) { o.Kappa = math.NaN() },
		"cancel_fee: found 2":             func(o *Options) { o.CancelFee = 2 },
		"zeta_scope":                      func(o *Options) { o.Match, o.ZetaScope = "ff", "od" },
		"util: found \"now\"":             func(o *Options) { o.Match, o.Util = "ff", "now" },
		"unknown matchmaker \"best\"":     func(o *Options) { o.Match = "best" },
	} {
		_, err := made(func(v any) error { change(v.(*Options)); return nil })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestReserveSeconds checks the conversion of times to whole seconds: earliest starts and
// estimates are rounded up, and deadlines down. An on-demand request has no deadline, or one in
// proportion to its estimate.
func TestReserveSeconds(t *testing.T) {
	t.Parallel()
	p, err := made(func(v any) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r := contracts.Request{Submit: 10.4, Lead: 5.2, Work: 20.1, Nodes: 3, SLA: contracts.SLA{Deadline: 50.2}}
	j := p.(*reserve).job(10.4, &r)
	if j.Arrival != 10 || j.Earliest != 16 || j.Estimate != 21 || j.Deadline != 60 || j.Nodes != 3 {
		t.Errorf("%+v", j)
	}
	r.OnDemand, r.Lead = true, 0
	if j := p.(*reserve).job(10.4, &r); j.Earliest != 11 || j.Deadline != math.MaxInt64 {
		t.Errorf("%+v", j)
	}
	f := 0.5
	p.(*reserve).o.ODDeadline = &f
	if j := p.(*reserve).job(10.4, &r); j.Deadline != 11+21+11 {
		t.Errorf("%+v", j)
	}
	great := 1e6
	p.(*reserve).o.ODDeadline = &great
	r.Work = 1e6
	if j := p.(*reserve).job(10.4, &r); j.Deadline != 11+1e6+timetable.Horizon+1 {
		t.Errorf("%+v", j)
	}
	r.SLA.Deadline, r.OnDemand = math.MaxFloat64, false
	if j := p.(*reserve).job(10.4, &r); j.Deadline != timetable.Horizon+1 {
		t.Errorf("%+v", j)
	}
	if j := p.(*reserve).job(10.4, &r); p.(*reserve).why(&j, &r) != contracts.TooFewHosts {
		t.Errorf("%+v", j)
	}
}

// TestReserveBooks checks which hosts have books: those with a whole processor and a speed that
// a book can represent. The speed is rounded down, so that no promise is too optimistic.
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
		{hosts.Spec{CPUs: 4, Speed: 0.01}, 4, timetable.MinSpeed},
		{hosts.Spec{CPUs: 4, Speed: 0.009}, 0, 0},
	} {
		b := newBook(0, &c.spec, &Options{ExtendPct: 20})
		if (b == nil) != (c.nodes == 0) || b != nil && (b.nodes != c.nodes || b.speed != c.speed) {
			t.Errorf("%+v: %+v", c.spec, b)
		}
	}
}

// TestReserveFractions checks that a job that arrives, ends or is cancelled within a second is
// entered at the next full second.
func TestReserveFractions(t *testing.T) {
	t.Parallel()
	policy, err := newReserve(given(Options{
		Match: "mli", ODMap: "imct", Admission: "edf", Overrun: "extend", ExtendPct: 20, ZetaScope: "ar", ZetaScale: "mul", Util: "cumulative",
	}), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := policy.(*reserve)
	b := newBook(0, &hosts.Spec{CPUs: 1, Speed: 1}, &p.o)
	p.add(b)
	r := contracts.Request{ID: 1, Submit: 3.5, Work: 4, Nodes: 1, SLA: contracts.SLA{Deadline: 100}}
	m := &counter{Requests: []contracts.Request{r}}
	tell := func(now float64, kind contracts.EventKind, want ...contracts.Verb) {
		t.Helper()
		var got []contracts.Verb
		for _, a := range p.Handle(now, contracts.Event{Kind: kind}, m) {
			if got = append(got, a.Verb); a.Verb == contracts.Enqueue {
				m.Queue = append(m.Queue, a.Contract)
			}
			if a.Verb == contracts.Book && said(a.Decision, "start") != 4 {
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
	m.Queue = nil
	tell(4, contracts.Continue, contracts.Launch)
	tell(5.2, contracts.Done)
	next(6)
	tell(6, contracts.Tick, contracts.Finish)
	next(math.Inf(1))
}

// bookish opens a reserve policy with options modified by change, on a host of one processor.
// The test sends the events of the policy.
func bookish(t *testing.T, change func(o *Options)) (*reserve, *policytest.Board) {
	t.Helper()
	policy, err := made(func(v any) error { change(v.(*Options)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return policy.(*reserve), &policytest.Board{Speeds: []float64{1}, Gone: []bool{false}}
}

// talk notifies p of an event of contract i of m, and then of completed actions, and returns
// the actions: "book 0, launch 0".
func talk(p *reserve, m *policytest.Board, now float64, kind contracts.EventKind, i int32) string {
	var out []string
	for e := (contracts.Event{Kind: kind, Contract: i}); ; e.Kind = contracts.Continue {
		actions := p.Handle(now, e, m)
		if len(actions) == 0 {
			return strings.Join(out, ", ")
		}
		for _, a := range actions {
			what := map[contracts.Verb]string{
				contracts.Enqueue: "enqueue", contracts.Book: "book", contracts.Refuse: "refuse", contracts.Launch: "launch",
				contracts.Suspend: "suspend", contracts.Finish: "finish", contracts.Stop: "stop", contracts.Release: "release",
			}[a.Verb]
			switch a.Verb {
			case contracts.Enqueue:
				m.Queue = append(m.Queue, a.Contract)
			case contracts.Book, contracts.Refuse:
				m.Queue = slices.DeleteFunc(slices.Clone(m.Queue), func(i int32) bool { return i == a.Contract })
			}
			switch a.Verb {
			case contracts.Refuse:
				what = fmt.Sprintf("%s %d: %v", what, a.Contract, a.Decision.Reason)
			case contracts.Book:
				what = fmt.Sprintf("%s %d from %v to %v", what, a.Contract, said(a.Decision, "start"), said(a.Decision, "completion"))
			case contracts.Release:
				what = fmt.Sprintf("%s %d for %v", what, a.Contract, a.Due/a.Of)
			default:
				what = fmt.Sprintf("%s %d", what, a.Contract)
			}
			out = append(out, what)
		}
		if kind == contracts.Tick || kind == contracts.Withdrawn {
			return strings.Join(out, ", ")
		}
	}
}

// said returns the number with the given name, or -1 if there is none.
func said(d *contracts.Decision, name string) float64 {
	var numbers map[string]any
	if err := json.Unmarshal(d.AppendJSON(nil), &numbers); err != nil {
		panic(err)
	}
	if x, ok := numbers[name].(float64); ok {
		return x
	}
	return -1
}

// askBook submits one more request of 10 s, $10 and one node to p, modified by change.
func askBook(p *reserve, m *policytest.Board, now float64, change func(r *contracts.Request)) string {
	i := int32(len(m.Requests))
	r := contracts.Request{ID: contracts.ID(1 + i), Submit: now, Work: 10, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(10e6), Deadline: 1000}}
	if change != nil {
		change(&r)
	}
	m.Requests = append(m.Requests, r)
	return talk(p, m, now, contracts.Submitted, i)
}

// TestReserveAnswers checks which requests get a host of one processor, and the reasons why
// other requests are rejected: they cannot end in time on any host, do not fit, find no place
// in the plan, or cost more than their budget.
func TestReserveAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		busy   bool // whether the host is busy from 3 to 13
		base   float64
		change func(r *contracts.Request)
		want   string
	}{
		{false, 0, func(*contracts.Request) {}, "book 1 from 3 to 13, launch 1"},
		{false, 0, func(r *contracts.Request) { r.SLA.Deadline = 10 }, "book 1 from 3 to 13, launch 1"},
		{false, 0, func(r *contracts.Request) { r.SLA.Deadline = 9 }, "refuse 1: cannot end by its deadline"},
		{false, 0, func(r *contracts.Request) { r.Lead, r.SLA.Deadline = 5, 14 }, "refuse 1: cannot end by its deadline"},
		{false, 0, func(r *contracts.Request) { r.Nodes = 2 }, "refuse 1: too few hosts"},
		{true, 0, func(r *contracts.Request) { r.SLA.Deadline = 20 }, "book 1 from 13 to 23"},
		{true, 0, func(r *contracts.Request) { r.SLA.Deadline = 19 }, "refuse 1: no plan keeps all promises with it"},
		{true, 0, func(r *contracts.Request) { r.SLA.Deadline = 10 }, "refuse 1: no plan keeps all promises with it"},
		{false, 1, func(*contracts.Request) {}, "book 1 from 3 to 13, launch 1"},
		{false, 1, func(r *contracts.Request) { r.SLA.Budget = bank.Micros(9e6) }, "refuse 1: price above budget"},
	} {
		p, m := bookish(t, func(o *Options) { o.Base = c.base })
		first := askBook(p, m, 3, func(r *contracts.Request) {
			if !c.busy {
				r.Nodes = 9
			}
		})
		if got := askBook(p, m, 3, c.change); got != c.want {
			t.Errorf("after %s: %s, want %s", first, got, c.want)
		}
	}
}

// TestReserveAdmits checks which jobs a book accepts: under edf, those with which earliest
// deadline first misses no deadline; under edf+insert, also those that fit into a hole. One job
// is promised 5 to 15, due by 31. A job that may start at 14 and is due by 30 would come first,
// and the first job would end at 34.
func TestReserveAdmits(t *testing.T) {
	t.Parallel()
	for admission, want := range map[string]string{
		"edf": "refuse 1: no plan keeps all promises with it", "edf+insert": "book 1 from 15 to 25",
	} {
		p, m := bookish(t, func(o *Options) { o.Admission = admission })
		if got := askBook(p, m, 0, func(r *contracts.Request) { r.Lead, r.SLA.Deadline = 5, 31 }); got != "book 0 from 5 to 15" {
			t.Fatal(got)
		}
		if got := askBook(p, m, 0, func(r *contracts.Request) { r.Lead, r.SLA.Deadline = 14, 30 }); got != want {
			t.Errorf("%s: %s, want %s", admission, got, want)
		}
	}
}

// TestReserveOverrun checks that a job that has used up its estimate of 10 s is stopped, or
// extended by a fifth if that harms no other job. At 15, an extension would delay another job,
// which starts then.
func TestReserveOverrun(t *testing.T) {
	t.Parallel()
	for overrun, ends := range map[string][]string{"kill": {"stop 0"}, "extend": {"", "stop 0, launch 1"}} {
		p, m := bookish(t, func(o *Options) { o.Overrun = overrun })
		askBook(p, m, 3, nil)
		askBook(p, m, 3, func(r *contracts.Request) { r.Lead, r.SLA.Deadline = 12, 22 })
		for i, want := range ends {
			now := []float64{13, 15}[i]
			if at, _ := p.Next(); at != now {
				t.Errorf("%s: next at %v, want %v", overrun, at, now)
			}
			if got := talk(p, m, now, contracts.Tick, 0); got != want {
				t.Errorf("%s at %v: %q, want %q", overrun, now, got, want)
			}
		}
	}
}

// TestReserveScope checks whose laxity counts for an impact: only the laxity of reservations,
// or also the laxity of the waiting on-demand request, which would start 10 s later.
func TestReserveScope(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]float64{"ar": 0, "all": 10} {
		p, m := bookish(t, func(o *Options) { o.ZetaScope = scope })
		askBook(p, m, 3, nil)
		askBook(p, m, 3, func(r *contracts.Request) { r.OnDemand = true })
		r := contracts.Request{ID: 9, Submit: 3, Work: 10, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(1), Deadline: 1000}}
		if d := p.decide(3, &r, m); d.Verdict != contracts.Accept || max(0, said(&d, "impact")) != want {
			t.Errorf("%s: %v, costs %v s of laxity, want %v", scope, d.Verdict, said(&d, "impact"), want)
		}
	}
}

// TestReserveChooses checks which of two clusters is chosen, if the second is twice as fast.
// First fit chooses the first, also for on-demand requests under od_map: same. Otherwise imct
// chooses the cluster that ends first. The price rule chooses the cheaper cluster.
func TestReserveChooses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match, odMap string
		base         float64
		onDemand     bool
		want         hosts.ID
	}{
		{"ff", "imct", 0, false, 0}, {"ff", "imct", 0, true, 1}, {"ff", "same", 0, true, 0}, {"price", "imct", 1, false, 1},
	} {
		p, m := bookish(t, func(o *Options) { o.Match, o.ODMap, o.Base = c.match, c.odMap, c.base })
		m.Speeds, m.Gone = []float64{0.5, 1}, make([]bool, 2)
		r := contracts.Request{ID: 1, Work: 10, Nodes: 1, OnDemand: c.onDemand, SLA: contracts.SLA{Budget: bank.Micros(100e6), Deadline: 100}}
		d := p.decide(0, &r, m)
		if d.Verdict != contracts.Accept || d.Placements[0].Host != c.want {
			t.Errorf("%+v: %v on %v", c, d.Verdict, d.Placements)
		}
	}
}

// TestReserveAsks checks that a price is asked only if nodes or laxity cost anything.
func TestReserveAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, kappa float64
		want        bool
	}{{0, 0, false}, {1, 0, true}, {0, 1, true}, {1, 1, true}} {
		p, m := bookish(t, func(o *Options) { o.Base, o.Kappa = c.base, c.kappa })
		r := contracts.Request{ID: 1, Work: 10, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(100e6), Deadline: 100}}
		if d := p.decide(0, &r, m); d.Priced != c.want || d.Ask != 10*c.base {
			t.Errorf("%+v: a price is asked %v, $%v", c, d.Priced, d.Ask)
		}
	}
}

// TestReserveWithin checks that a completion and a cancellation within a second, one or both,
// are entered at the next full second, and that other jobs then fit.
func TestReserveWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		done, back bool
		want       string
		then       string // promise to the next contract
	}{
		{false, true, "release 1 for 0.1", "book 2 from 13 to 23"},
		{true, false, "", "book 2 from 16 to 26"},
		{true, true, "release 1 for 0.1", "book 2 from 6 to 16, launch 2"},
	} {
		p, m := bookish(t, func(*Options) {})
		askBook(p, m, 3, nil)
		askBook(p, m, 3, nil)
		if c.done {
			talk(p, m, 5.25, contracts.Done, 0)
		}
		if c.back {
			if got := talk(p, m, 5.5, contracts.Withdrawn, 1); got != c.want {
				t.Errorf("%+v: %s", c, got)
			}
		}
		if at, _ := p.Next(); at != 6 {
			t.Errorf("%+v: next at %v, want 6", c, at)
		}
		talk(p, m, 6, contracts.Tick, 0)
		if got := askBook(p, m, 6, nil); got != c.then {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestReserveTakenBack checks the amount owed for a cancelled contract: the fee or, after its
// start, the elapsed part of its span if that is more. A cancellation has no effect if the
// contract has ended or was cancelled before.
func TestReserveTakenBack(t *testing.T) {
	t.Parallel()
	p, m := bookish(t, func(o *Options) { o.CancelFee = 0.25 })
	for i, want := range []string{"book 0 from 3 to 13, launch 0", "book 1 from 13 to 23", "book 2 from 23 to 33"} {
		if got := askBook(p, m, 3, nil); got != want {
			t.Fatalf("%d: %s, want %s", i, got, want)
		}
	}
	for _, c := range []struct {
		now  float64
		kind contracts.EventKind
		i    int32
		want string
	}{
		{4, contracts.Withdrawn, 2, "release 2 for 0.25"},
		{4, contracts.Withdrawn, 2, ""},
		{7, contracts.Withdrawn, 0, "release 0 for 0.4, launch 1"},
		{8, contracts.Withdrawn, 1, "release 1 for 0.25"},
	} {
		if got := talk(p, m, c.now, c.kind, c.i); got != c.want {
			t.Errorf("%v at %v: %q, want %q", c.i, c.now, got, c.want)
		}
	}
	if got := askBook(p, m, 9, nil); got != "book 3 from 9 to 19, launch 3" {
		t.Errorf("after all are gone: %s", got)
	}
	talk(p, m, 12, contracts.Done, 3)
	if got := talk(p, m, 12, contracts.Withdrawn, 3); got != "" {
		t.Errorf("taken back as it is done: %s", got)
	}
}

// TestReserveWaits checks that requests submitted within a second are decided at the next full
// second, each once and in order. A request whose owner cannot pay is removed from the plan,
// and the next request is decided as if the first had never been submitted.
func TestReserveWaits(t *testing.T) {
	t.Parallel()
	p, m := bookish(t, func(*Options) {})
	for i, now := range []float64{3.25, 3.5, 3.75} {
		deadline := []float64{1000, 9, 1000}[i]
		if got, want := askBook(p, m, now, func(r *contracts.Request) { r.SLA.Deadline = deadline }), fmt.Sprint("enqueue ", i); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	if at, _ := p.Next(); at != 4 {
		t.Errorf("next at %v, want 4", at)
	}
	if got := talk(p, m, 3.875, contracts.Freed, 0); got != "" {
		t.Errorf("within the second: %s", got)
	}
	talk(p, m, 4, contracts.Tick, 0)
	if got, want := talk(p, m, 4, contracts.Freed, 0), "book 0 from 4 to 14, launch 0, refuse 1: cannot end by its deadline, book 2 from 14 to 24"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m.Requests = append(m.Requests, contracts.Request{ID: 9, Submit: 5, Work: 10, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 1000}})
	a := p.Handle(5, contracts.Event{Kind: contracts.Submitted, Contract: 3}, m)
	if len(a) != 1 || a[0].Verb != contracts.Book || said(a[0].Decision, "start") != 24 {
		t.Fatalf("%+v, want it booked from 24", a)
	}
	a[0].Decision.Verdict = contracts.Reject // the owner could not pay
	if a := p.Handle(5, contracts.Event{Kind: contracts.Continue}, m); len(a) > 0 {
		t.Errorf("%+v follows", a)
	}
	if got, want := askBook(p, m, 6, nil), "book 4 from 24 to 34"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestReserveEdges checks the smallest and largest valid options.
func TestReserveEdges(t *testing.T) {
	t.Parallel()
	none, most, more := 0.0, 1e6, 1e6+1
	for want, changes := range map[string][]func(*Options){
		"": {
			func(o *Options) { o.ExtendPct, o.ODDeadline, o.Base, o.Kappa, o.CancelFee = 1, &none, 0, 0, 0 },
			func(o *Options) {
				o.ExtendPct, o.ODDeadline, o.Base, o.Kappa, o.CancelFee = 1000, &most, most, most, 1
			},
		},
		"extend_pct: found 1001": {func(o *Options) { o.ExtendPct = 1001 }},
		"od_deadline: found":     {func(o *Options) { o.ODDeadline = &more }},
		"base: found":            {func(o *Options) { o.Base = more }},
		"kappa: found":           {func(o *Options) { o.Kappa = more }, func(o *Options) { o.Kappa = -1 }},
		"cancel_fee: found":      {func(o *Options) { o.CancelFee = -0.1 }},
	} {
		for _, change := range changes {
			_, err := made(func(v any) error { change(v.(*Options)); return nil })
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// A counter is a market of requests by number.
type counter struct {
	Requests []contracts.Request
	Queue    []int32
}

func (m *counter) Hosts() contracts.View { return nil }

func (m *counter) Waiting() []int32 { return m.Queue }

func (m *counter) Request(i int32) *contracts.Request { return &m.Requests[i] }

// A quoted is a seller that returns itself as its quote.
type quoted timetable.Quote

func (q quoted) Quote(int64, timetable.Job) timetable.Quote { return timetable.Quote(q) }

// TestCheapestTies checks that clusters with equal exact prices tie, even if float64 rounding
// would separate them. The earlier completion then wins, or else the first cluster.
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
		{0.1, 0.2, "none", quoted{Zeta: 1, Start: 85, Speed: 1000}, quoted{Zeta: 0, Start: 82, Speed: 1000}, 1.7}, // prices of 1.5+0.2 and 1.7, with 1 node
	} {
		o := Options{Match: "price", Base: c.base, Kappa: c.kappa, ZetaScale: c.scale}
		late, early := c.a, c.b
		late.Feasible, late.Completion, late.Job.Nodes = true, 100, 1
		early.Feasible, early.Completion, early.Job.Nodes = true, 99, 1
		for first, window := range [][]matchmaking.Seller{{early, late, early}, {late, early, early}} {
			m := cheapest{newPricing(&o)}
			choice, ok := m.Match(0, timetable.Job{}, window)
			ask, _ := m.of(&choice.Quote).Float64()
			if !ok || choice.Seller != first || choice.Quote.Completion != 99 || ask != c.ask {
				t.Errorf("%+v: completion %d for $%v, want 99 for $%v", c, choice.Quote.Completion, ask, c.ask)
			}
		}
	}
}

// given returns a decoder that sets the options to o.
func given[T any](o T) func(any) error {
	return func(v any) error {
		*v.(*T) = o
		return nil
	}
}
