package reserve

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// keeping opens a reserve policy on hosts with the given processors and speeds.
func keeping(t rapid.TB, o func(*Options), specs ...hosts.Spec) (*reserve, *policytest.Board) {
	t.Helper()
	policy, err := made(func(v any) error { o(v.(*Options)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	p := policy.(*reserve)
	for h := range specs {
		p.add(newBook(hosts.ID(h), &specs[h], &p.o))
	}
	return p, &policytest.Board{Speeds: make([]float64, len(specs)), Gone: make([]bool, len(specs))}
}

func usual(*Options) {}

// busy enters a job in the book of host h that runs until the given time.
func (p *reserve) busy(t rapid.TB, h int, id int64, nodes int, until int64) {
	t.Helper()
	b := p.books[h]
	q := b.Quote(0, timetable.Job{ID: id, Deadline: until, Estimate: until, Nodes: nodes})
	if _, err := b.Commit(0, q, nil); err != nil {
		t.Fatal(err)
	}
	p.index.update(b)
}

// TestGoldenParts checks two cases of the fit. In the first, two gangs of different sizes and
// lengths get their first common start on books that are busy until then, at a cost to other
// jobs. In the second case, one gang cannot meet the deadline.
func TestGoldenParts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/coalloc.json")
	check(t, err)
	var file struct {
		Cases []struct {
			ID, Why string
			Input   struct {
				Now, Deadline int64
				Earliest      int64 `json:"earliest_start"`
				Components    [][2]int64
				Clusters      []struct {
					Nodes   float64
					Running []struct {
						ID, End int64
						Nodes   int
					}
				}
			}
			Expect struct {
				Feasible bool
				Start    int64
				Clusters []int
				Zeta     []int64
			}
		}
	}
	check(t, json.Unmarshal(text, &file))
	if len(file.Cases) != 2 {
		t.Fatalf("%d cases, want 2", len(file.Cases))
	}
	for _, c := range file.Cases {
		var specs []hosts.Spec
		for _, cl := range c.Input.Clusters {
			specs = append(specs, hosts.Spec{CPUs: cl.Nodes, Speed: 1})
		}
		p, _ := keeping(t, usual, specs...)
		for h, cl := range c.Input.Clusters {
			for _, r := range cl.Running {
				p.busy(t, h, r.ID, r.Nodes, r.End)
			}
		}
		o := matchmaking.Order{ID: 1, Arrival: c.Input.Now, Earliest: c.Input.Earliest, Deadline: c.Input.Deadline}
		for _, part := range c.Input.Components {
			o.Parts = append(o.Parts, matchmaking.Part{Nodes: int(part[0]), Estimate: part[1]})
		}
		choices, ok := matchmaking.Together(c.Input.Now, o, p.venues, p.joint)
		if ok != c.Expect.Feasible {
			t.Errorf("%s: feasible %v; %s", c.ID, ok, c.Why)
		}
		for n, ch := range choices {
			if q := ch.Quote; ch.Seller != c.Expect.Clusters[n] || q.Start != c.Expect.Start || q.Zeta != c.Expect.Zeta[n] {
				t.Errorf("%s, part %d: on %d from %d, impact %d; %s", c.ID, n, ch.Seller, q.Start, q.Zeta, c.Why)
			}
		}
	}
}

// TestPartsAnswers checks which requests get two hosts at the same time, their prices, and the
// reasons why other requests are rejected. The hosts have 2 and 4 processors, and the second
// has half the speed. The first is busy until 10, and three processors of the second are busy
// until 6.
func TestPartsAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base   float64
		change func(r *contracts.Request)
		want   string
		ask    float64
	}{
		{0, func(r *contracts.Request) {}, "book 0 from 10 to 20", -1},
		{0.25, func(r *contracts.Request) {}, "book 0 from 10 to 20", 0.25 * (2*5 + 3*10)},
		{0.25, func(r *contracts.Request) { r.SLA.Budget = bank.Micros(9e6) }, "refuse 0: price above budget", -1},
		{0, func(r *contracts.Request) { r.SLA.Deadline = 20 }, "book 0 from 10 to 20", -1},
		{0, func(r *contracts.Request) { r.SLA.Deadline = 19 }, "refuse 0: no plan keeps all promises with it", -1},
		{0, func(r *contracts.Request) { r.SLA.Deadline = 9 }, "refuse 0: cannot end by its deadline", -1},
		{0, func(r *contracts.Request) { r.Nodes, r.Parts = 6, 2 }, "refuse 0: too few hosts", -1}, // two parts of 3 nodes
		{0, func(r *contracts.Request) { r.Nodes, r.Parts = 3, 3 }, "refuse 0: too few hosts", -1},
		{0, func(r *contracts.Request) { r.OnDemand = true }, "book 0 from 10 to 20", -1},
		{0, func(r *contracts.Request) { r.Lead = 11.5 }, "book 0 from 12 to 22", -1},
		{0, func(r *contracts.Request) { r.Nodes, r.Parts = 1, 1 }, "book 0 from 10 to 15", -1},
	} {
		p, m := keeping(t, func(o *Options) { o.Base = c.base }, hosts.Spec{CPUs: 2, Speed: 1}, hosts.Spec{CPUs: 4, Speed: 0.5})
		p.busy(t, 0, 90, 2, 10)
		q := p.books[1].Quote(0, timetable.Job{ID: 91, Deadline: 6, Estimate: 3, Nodes: 4})
		_, err := p.books[1].Commit(0, q, nil)
		check(t, err)
		r := contracts.Request{Work: 5, Nodes: 5, Parts: 2, SLA: contracts.SLA{Budget: bank.Micros(10e6), Deadline: 50}}
		c.change(&r)
		m.Requests = append(m.Requests, r)
		if got := talk(p, m, 0, contracts.Submitted, 0); got != c.want {
			t.Errorf("%+v: %s, want %s", r, got, c.want)
		} else if ask := said(&p.said, "ask"); p.said.Verdict == contracts.Accept && ask != c.ask {
			t.Errorf("%+v: asks %v, want %v", r, ask, c.ask)
		}
	}
}

// TestPartsLife checks a contract in two parts on hosts of two processors, of which the second
// has half the speed. Both parts start at once, and the first part frees its nodes when it is
// done. If the contract is killed in one book, it leaves the other. If it is cancelled while a
// part has work left, it leaves both.
func TestPartsLife(t *testing.T) {
	t.Parallel()
	type event struct {
		now  float64
		kind contracts.EventKind
		part int32
		want string
	}
	for _, events := range [][]event{
		{{5, contracts.Done, 0, ""}, {5, contracts.Tick, 0, "suspend 0.0, launch 1.0"}, {9.5, contracts.Done, 1, ""}, {10, contracts.Tick, 0, "stop 1, finish 0"}},
		{{5, contracts.Tick, 0, "stop 0, launch 1.0"}, {10, contracts.Tick, 0, "stop 1"}}, // the nodes of part 1 are free as well
		{{4, contracts.Done, 0, ""}, {4, contracts.Tick, 0, "suspend 0.0, launch 1.0"}, {7.5, contracts.Withdrawn, 0, "release 0 for 0.75"}, {8, contracts.Tick, 0, ""}},
		{{2, contracts.Withdrawn, 0, "release 0 for 0.2, launch 1.0"}, {7, contracts.Tick, 0, "stop 1"}},
		{{2.5, contracts.Withdrawn, 0, "release 0 for 0.25"}, {3, contracts.Tick, 0, "launch 1.0"}},
		{{4, contracts.Done, 0, ""}, {4, contracts.Done, 1, ""}, {4, contracts.Withdrawn, 0, ""}, {4, contracts.Tick, 0, "suspend 0.0, launch 1.0, finish 0"}},
	} {
		p, m := keeping(t, func(o *Options) { o.Overrun = "kill" }, hosts.Spec{CPUs: 2, Speed: 1}, hosts.Spec{CPUs: 2, Speed: 0.5})
		for i, r := range []contracts.Request{
			{ID: 7, Work: 5, Nodes: 4, Parts: 2, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 10}},
			{ID: 8, Work: 5, Nodes: 1, OnDemand: true, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 5}},
		} {
			m.Requests = append(m.Requests, r)
			want := []string{"book 0 from 0 to 10, launch 0.0, launch 0.1", "book 1 from 5 to 10"}[i]
			if got := parted(p, m, 0, contracts.Event{Kind: contracts.Submitted, Contract: int32(i)}); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
		for _, e := range events {
			if got := parted(p, m, e.now, contracts.Event{Kind: e.kind, Part: e.part}); got != e.want {
				t.Errorf("%v: %q, want %q", e, got, e.want)
			}
		}
	}
}

// TestPartsLate checks that books with preemption start the parts of a contract at different
// times if an estimate was wrong, here the estimate of contract 0 on the first host. If the
// contract is cancelled, its owner owes for the time since the start of the first part.
func TestPartsLate(t *testing.T) {
	t.Parallel()
	p, m := keeping(t, func(o *Options) { o.Preempt = true }, hosts.Spec{CPUs: 1, Speed: 1}, hosts.Spec{CPUs: 1, Speed: 1})
	for i, r := range []contracts.Request{
		{ID: 7, Work: 2, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 3}},
		{ID: 8, Work: 4, Nodes: 2, Parts: 2, Lead: 2, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 10}},
	} {
		m.Requests = append(m.Requests, r)
		want := []string{"book 0 from 0 to 2, launch 0.0", "book 1 from 2 to 6"}[i]
		if got := parted(p, m, 0, contracts.Event{Kind: contracts.Submitted, Contract: int32(i)}); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	for _, e := range []struct {
		now  float64
		kind contracts.EventKind
		want string
	}{
		{2, contracts.Tick, "launch 1.1"},
		{3, contracts.Done, ""},
		{3, contracts.Tick, "finish 0, launch 1.0"},
		{4, contracts.Withdrawn, "release 1 for 0.5"},
	} {
		i := int32(0)
		if e.kind == contracts.Withdrawn {
			i = 1
		}
		if got := parted(p, m, e.now, contracts.Event{Kind: e.kind, Contract: i}); got != e.want {
			t.Errorf("at %v: %q, want %q", e.now, got, e.want)
		}
	}
}

// TestPartsMatch checks which of three hosts the matchmakers choose for a contract in two
// parts. The first host has half the speed. mli chooses the first hosts on which no other job
// loses laxity, because the completion of one part does not matter. imct, the default for
// on-demand requests, chooses the fastest.
func TestPartsMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match, od string
		onDemand  bool
		want      string
	}{
		{"mli", "imct", false, "[0 1]"}, {"imct", "imct", false, "[1 2]"}, {"mli", "imct", true, "[1 2]"}, {"mli", "same", true, "[0 1]"},
	} {
		slow, fast := hosts.Spec{CPUs: 1, Speed: 0.5}, hosts.Spec{CPUs: 1, Speed: 1}
		p, m := keeping(t, func(o *Options) { o.Match, o.ODMap = c.match, c.od }, slow, fast, fast)
		m.Requests = append(m.Requests, contracts.Request{
			Work: 2, Nodes: 2, Parts: 2, OnDemand: c.onDemand, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 30},
		})
		talk(p, m, 0, contracts.Submitted, 0)
		var on []hosts.ID
		for _, pl := range p.said.Placements {
			on = append(on, pl.Host)
		}
		if fmt.Sprint(on) != c.want {
			t.Errorf("%+v: on %v", c, on)
		}
	}
}

// TestPartsImpact checks that the impact of a contract in parts is the laxity that other jobs
// lose in all books: here two jobs lose 5 s each.
func TestPartsImpact(t *testing.T) {
	t.Parallel()
	p, m := keeping(t, usual, hosts.Spec{CPUs: 1, Speed: 1}, hosts.Spec{CPUs: 1, Speed: 1})
	for h, b := range p.books {
		q := b.Quote(0, timetable.Job{ID: int64(90 + h), Earliest: 5, Deadline: 30, Estimate: 5, Nodes: 1})
		_, err := b.Commit(0, q, nil)
		check(t, err)
	}
	m.Requests = append(m.Requests, contracts.Request{
		Work: 5, Nodes: 2, Parts: 2, Lead: 5, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 10},
	})
	if got := talk(p, m, 0, contracts.Submitted, 0); got != "book 0 from 5 to 10" || said(&p.said, "impact") != 10 {
		t.Errorf("%s with impact %v, want 10", got, said(&p.said, "impact"))
	}
}

// parted notifies p of an event and returns its actions, with the part: "launch 0.1".
func parted(p *reserve, m *policytest.Board, now float64, e contracts.Event) (out string) {
	for again := true; again; again = e.Kind == contracts.Continue || e.Kind == contracts.Tick && p.due(now) {
		actions := p.Handle(now, e, m)
		for _, a := range actions {
			if out != "" {
				out += ", "
			}
			switch a.Verb {
			case contracts.Launch, contracts.Suspend:
				out += fmt.Sprintf("%s %d.%d", map[contracts.Verb]string{contracts.Launch: "launch", contracts.Suspend: "suspend"}[a.Verb], a.Contract, a.Part)
			case contracts.Book:
				out += fmt.Sprintf("book %d from %v to %v", a.Contract, max(0, said(a.Decision, "start")), said(a.Decision, "completion"))
			case contracts.Release:
				out += fmt.Sprintf("release %d for %v", a.Contract, a.Due/a.Of)
			default:
				out += fmt.Sprintf("%s %d", map[contracts.Verb]string{contracts.Finish: "finish", contracts.Stop: "stop"}[a.Verb], a.Contract)
			}
		}
		switch {
		case e.Kind == contracts.Submitted:
			e.Kind = contracts.Continue
		case e.Kind == contracts.Continue && len(actions) == 0:
			return out
		}
	}
	return out
}

// due reports whether p must be notified of the time now again.
func (p *reserve) due(now float64) bool {
	next, _ := p.Next()
	return next <= now
}

// TestPartsTogether uses random requests, exact estimates and hosts of several speeds. Without
// preemption, the parts of a contract must start in the same second, each on its own host,
// within the window of the request. With preemption and exact estimates, the same must hold,
// and all parts must end in time (A.7).
func TestPartsTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var specs []hosts.Spec
		for range rapid.IntRange(2, 4).Draw(t, "hosts") {
			specs = append(specs, hosts.Spec{CPUs: 4, Speed: rapid.SampledFrom([]float64{0.5, 1, 1.5}).Draw(t, "speed")})
		}
		preempt, exact := rapid.Bool().Draw(t, "preempt"), true
		p, m := keeping(t, func(o *Options) {
			o.Preempt, o.Match = preempt, rapid.SampledFrom([]string{"mli", "imct", "ff", "nf", "minu", "price"}).Draw(t, "match")
		}, specs...)
		if !preempt {
			exact = rapid.Bool().Draw(t, "exact")
		}
		w := newPartsWorld(p, m)
		asks := rapid.Int64Range(1, 30).Draw(t, "seconds")
		for now := range asks {
			w.pass(t, now)
			for range rapid.IntRange(0, 2).Draw(t, "requests") {
				r := contracts.Request{ID: contracts.ID(len(m.Requests)), Submit: float64(now), Nodes: rapid.IntRange(1, 6).Draw(t, "nodes")}
				r.Parts = min(r.Nodes, rapid.IntRange(0, 3).Draw(t, "parts"))
				r.Work, r.Lead = float64(rapid.IntRange(1, 9).Draw(t, "work")), float64(rapid.IntRange(0, 9).Draw(t, "lead"))
				r.OnDemand = rapid.IntRange(0, 3).Draw(t, "kind") == 0
				r.SLA = contracts.SLA{Budget: bank.Micros(1e9), Deadline: r.Lead + r.Work*float64(rapid.IntRange(1, 5).Draw(t, "laxity"))}
				if r.OnDemand {
					r.Lead = 0
				}
				m.Requests = append(m.Requests, r)
				truth := int64(r.Work)
				if !exact {
					truth = rapid.Int64Range(1, 12).Draw(t, "truth")
				}
				w.truth = append(w.truth, truth)
				w.on = append(w.on, nil)
				w.submit(t, now, int32(len(m.Requests)-1))
			}
		}
		for now := asks; now < 2000 && !w.idle(); now++ {
			w.pass(t, now)
		}
		if !w.idle() {
			t.Fatalf("contracts %v never end", w.started)
		}
		w.check(t, exact)
	})
}

// A partsWorld runs the contracts that a reserve policy books, second by second.
type partsWorld struct {
	p       *reserve
	m       *policytest.Board
	truth   []int64                 // true runtime of each contract
	on      [][]contracts.Placement // placements of each contract; nil if the contract was rejected
	left    map[[2]int32]int64      // remaining seconds of running parts, by contract and part
	paused  map[[2]int32]int64      // remaining seconds of suspended jobs, by contract and part
	started map[[2]int32]int64      // second of the first start, by contract and part
	ended   map[int32]int64         // end of each contract
	killed  map[int32]bool
}

func newPartsWorld(p *reserve, m *policytest.Board) *partsWorld {
	return &partsWorld{
		p: p, m: m, left: map[[2]int32]int64{}, paused: map[[2]int32]int64{}, started: map[[2]int32]int64{},
		ended: map[int32]int64{}, killed: map[int32]bool{},
	}
}

func (w *partsWorld) submit(t *rapid.T, now int64, i int32) {
	actions := w.p.Handle(float64(now), contracts.Event{Kind: contracts.Submitted, Contract: i}, w.m)
	for len(actions) > 0 {
		w.do(t, now, actions)
		actions = w.p.Handle(float64(now), contracts.Event{Kind: contracts.Continue}, w.m)
	}
}

// pass ends the parts that are done by now, and notifies the policy of the time now.
func (w *partsWorld) pass(t *rapid.T, now int64) {
	var done [][2]int32
	for k, left := range w.left {
		if w.left[k] = left - 1; left == 1 {
			done = append(done, k)
		}
	}
	slices.SortFunc(done, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	for _, k := range done {
		delete(w.left, k)
		w.p.Handle(float64(now), contracts.Event{Kind: contracts.Done, Contract: k[0], Part: k[1]}, w.m)
	}
	for w.p.due(float64(now)) {
		w.do(t, now, w.p.Handle(float64(now), contracts.Event{Kind: contracts.Tick}, w.m))
	}
}

func (w *partsWorld) do(t *rapid.T, now int64, actions []contracts.Action) {
	for _, a := range actions {
		k := [2]int32{a.Contract, a.Part}
		switch a.Verb {
		case contracts.Book:
			w.on[a.Contract] = slices.Clone(a.Decision.Placements)
		case contracts.Launch:
			if left, ok := w.paused[k]; ok {
				w.left[k] = left
				delete(w.paused, k)
				continue
			}
			w.started[k] = now
			w.left[k] = timetable.Span(w.truth[a.Contract], w.p.books[w.on[a.Contract][a.Part].Host].speed)
		case contracts.Suspend:
			if left, runs := w.left[k]; runs {
				w.paused[k] = left
				delete(w.left, k)
			}
		case contracts.Finish, contracts.Stop:
			w.ended[a.Contract], w.killed[a.Contract] = now, a.Verb == contracts.Stop
			for n := range w.on[a.Contract] {
				k := [2]int32{a.Contract, int32(n)}
				if left, runs := w.left[k]; runs && a.Verb == contracts.Finish {
					t.Fatalf("at %d contract %d is finished, and part %d has %d s left", now, a.Contract, n, left)
				}
				delete(w.left, k)
				delete(w.paused, k)
			}
		}
	}
}

// idle reports whether all booked contracts have ended.
func (w *partsWorld) idle() bool {
	for i, on := range w.on {
		if _, over := w.ended[int32(i)]; on != nil && !over {
			return false
		}
	}
	return true
}

// check checks the outcome of each contract.
func (w *partsWorld) check(t *rapid.T, exact bool) {
	for i, on := range w.on {
		r, nodes := &w.m.Requests[i], 0
		if on == nil {
			continue
		}
		var used []hosts.ID
		for n, pl := range on {
			nodes += pl.Nodes
			start := w.started[[2]int32{int32(i), int32(n)}]
			switch {
			case slices.Contains(used, pl.Host):
				t.Fatalf("%+v has two parts on h%d", r, pl.Host)
			case len(on) > 1 && start != w.started[[2]int32{int32(i), 0}]:
				t.Fatalf("%+v starts part %d at %d, the first at %d", r, n, start, w.started[[2]int32{int32(i), 0}])
			case float64(start) < r.Opens():
				t.Fatalf("%+v starts at %d", r, start)
			}
			used = append(used, pl.Host)
		}
		if len(on) != r.Gangs() || nodes != r.Nodes {
			t.Fatalf("%+v on %+v", r, on)
		}
		if exact && (w.killed[int32(i)] || float64(w.ended[int32(i)]) > r.Due()) {
			t.Fatalf("%+v ends at %d, killed %v", r, w.ended[int32(i)], w.killed[int32(i)])
		}
	}
}
