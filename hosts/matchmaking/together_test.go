package matchmaking

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/timetable"
)

func drawJob(t *rapid.T, id int64, now int64) timetable.Job {
	j := timetable.Job{
		ID: id, Arrival: now, Earliest: now + rapid.Int64Range(0, 15).Draw(t, "lead"),
		Estimate: rapid.Int64Range(1, 12).Draw(t, "estimate"), Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"),
	}
	j.Deadline = j.Earliest + 2*j.Estimate + rapid.Int64Range(0, 25).Draw(t, "laxity")
	return j
}

// An exact is a book whose jobs take exactly their estimates.
type exact struct {
	*timetable.Book
	spans, ends map[int64]int64 // spans: duration of each job; ends: end of each running job
	begun       map[int64]int64
}

func newExact(t rapid.TB, c timetable.Config) *exact {
	b, err := timetable.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &exact{b, make(map[int64]int64), make(map[int64]int64), make(map[int64]int64)}
}

// take commits the quote q.
func (x *exact) take(t rapid.TB, q timetable.Quote) {
	x.spans[q.Job.ID] = q.Completion - q.Start
	facts, err := x.Commit(0, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.learn(facts)
}

// pass advances the book to the given time, until no event is left.
func (x *exact) pass() {
	for now := x.Next(); now < timetable.Forever; now = x.Next() {
		var ended []int64
		for id, end := range x.ends {
			if end == now {
				ended = append(ended, id)
			}
		}
		x.learn(x.Advance(now, ended, nil))
	}
}

func (x *exact) learn(facts []timetable.Fact) {
	for _, f := range facts {
		if f.What == timetable.Started {
			x.begun[f.Job], x.ends[f.Job] = f.At, f.At+x.spans[f.Job]
		} else {
			delete(x.ends, f.Job)
		}
	}
}

// TestTogether checks that an order's parts get distinct sellers and one start in its window,
// that all its quotes can be committed, and that later jobs never move the parts. Trying every
// second must not find an earlier start than trying only the times at which a seller changes
// (A.7).
func TestTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var clusters []*exact
		var venues []Venue
		id := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "clusters") {
			c := newExact(t, timetable.Config{Nodes: 4, Speed: rapid.SampledFrom([]int64{500, 1000, 1500}).Draw(t, "speed")})
			for range rapid.IntRange(0, 6).Draw(t, "jobs") {
				id++
				j := drawJob(t, id, 0)
				if q := c.Quote(0, j); q.Feasible {
					c.take(t, q)
				}
			}
			clusters = append(clusters, c)
			venues = append(venues, c)
		}
		o := Order{ID: 1000, Earliest: rapid.Int64Range(0, 10).Draw(t, "earliest")}
		o.Deadline = o.Earliest + rapid.Int64Range(5, 60).Draw(t, "window")
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			o.Parts = append(o.Parts, Part{rapid.IntRange(1, 4).Draw(t, "part nodes"), rapid.Int64Range(1, 10).Draw(t, "part estimate")})
		}
		m, err := Table(nil).New("mli", func(into any) error { into.(*ImpactOptions).Ties = "index"; return nil })
		if err != nil {
			t.Fatal(err)
		}
		choices, ok := Together(0, o, venues, m)
		every := o
		every.Step = 1
		if dense, found := Together(0, every, venues, m); ok && (!found || dense[0].Quote.Start > choices[0].Quote.Start) {
			t.Fatalf("every second: %v %v, want at most %d", found, dense, choices[0].Quote.Start)
		}
		if !ok {
			return
		}
		start := choices[0].Quote.Start
		used := map[int]bool{}
		for i, c := range choices {
			q := c.Quote
			if used[c.Seller] || q.Start != start || q.Start < o.Earliest || q.Completion > o.Deadline || q.Job.Nodes != o.Parts[i].Nodes {
				t.Fatalf("part %d: seller %d, %+v", i, c.Seller, q)
			}
			used[c.Seller] = true
			clusters[c.Seller].take(t, q)
		}
		for range 10 {
			id++
			j := drawJob(t, id, 0)
			c := clusters[int(id)%len(clusters)]
			if q := c.Quote(0, j); q.Feasible {
				c.take(t, q)
			}
		}
		for _, ch := range choices {
			clusters[ch.Seller].pass()
			at, begun := clusters[ch.Seller].begun[o.ID]
			if !begun || at != start {
				t.Fatalf("seller %d: part started at %d, promised %d", ch.Seller, at, start)
			}
		}
	})
}

// TestTogetherNobody checks that Together fails for orders that no seller can accept.
func TestTogetherNobody(t *testing.T) {
	t.Parallel()
	c := newExact(t, timetable.Config{Nodes: 2})
	for why, o := range map[string]Order{
		"no parts":            {Deadline: 10},
		"more parts than one": {Deadline: 10, Parts: []Part{{1, 1}, {1, 1}}},
		"too wide":            {Deadline: 10, Parts: []Part{{3, 1}}},
		"too long":            {Deadline: 10, Parts: []Part{{1, 11}}},
		"too wide for ever":   {Deadline: timetable.Forever, Parts: []Part{{3, 1}}},
	} {
		if got, ok := Together(0, o, []Venue{c}, firstFit{}); ok {
			t.Errorf("%s: %v", why, got)
		}
	}
}

// A closed is a venue that accepts no job, and records the starts for which a quote is
// requested.
type closed struct {
	instants []int64
	asked    *[]int64
}

func (c closed) Speed() int64                 { return 1000 }
func (c closed) Instants(out []int64) []int64 { return append(out, c.instants...) }
func (c closed) Quote(_ int64, j timetable.Job) timetable.Quote {
	*c.asked = append(*c.asked, j.Earliest)
	return timetable.Quote{Job: j, Reason: timetable.NoPlan}
}

// TestTogetherStarts checks which starts Together tries: the earliest possible one, the times
// at which a seller changes, and every Step seconds from Earliest on, as long as the part ends
// by the deadline.
func TestTogetherStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now, step int64
		instants  []int64
		want      []int64
	}{
		{0, 0, nil, []int64{5}},
		{9, 0, []int64{7, 30, 9, 12}, []int64{9, 12, 30}},
		{0, 10, nil, []int64{5, 15, 25, 35}},
		{12, 10, nil, []int64{12, 15, 25, 35}},
		{0, 10, []int64{15, 28, 3, 33, 34, 35, 36, 40, 41}, []int64{5, 15, 25, 28, 33, 34, 35}},
	} {
		var got []int64
		o := Order{Earliest: 5, Deadline: 40, Step: c.step, Parts: []Part{{1, 5}}}
		if _, ok := Together(c.now, o, []Venue{closed{c.instants, &got}}, firstFit{}); ok || !slices.Equal(got, c.want) {
			t.Errorf("at %d, step %d, instants %d: tried %d, want %d", c.now, c.step, c.instants, got, c.want)
		}
	}
}

// TestTogetherOrder checks that the widest part chooses first, and that starts are tried in order
// of time, regardless of the cluster that causes them.
func TestTogetherOrder(t *testing.T) {
	t.Parallel()
	var venues []Venue
	for _, c := range []struct {
		nodes int
		busy  int64
	}{{2, 10}, {1, 6}} {
		all := timetable.Job{ID: 1, Nodes: c.nodes}
		b, err := timetable.Open(timetable.Config{Nodes: c.nodes}, timetable.State{Running: []timetable.Running{{Job: all, End: c.busy}}})
		if err != nil {
			t.Fatal(err)
		}
		venues = append(venues, b)
	}
	for _, c := range []struct {
		parts []Part
		start int64
		want  []int
	}{
		{[]Part{{1, 3}}, 6, []int{1}},
		{[]Part{{1, 3}, {2, 3}}, 10, []int{1, 0}},
		{[]Part{{1, 3}, {1, 3}}, 10, []int{0, 1}},
	} {
		choices, ok := Together(0, Order{ID: 9, Deadline: 20, Parts: c.parts}, venues, firstFit{})
		if !ok {
			t.Fatalf("%v: nobody", c.parts)
		}
		for i, ch := range choices {
			if ch.Seller != c.want[i] || ch.Quote.Start != c.start {
				t.Errorf("%v: part %d to %d at %d, want %v at %d", c.parts, i, ch.Seller, ch.Quote.Start, c.want, c.start)
			}
		}
	}
}
