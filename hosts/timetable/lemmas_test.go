package timetable

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reopen returns the plan that a rebuild of b from scratch gives.
func reopen(t *rapid.T, b *Book) []Start {
	s := State{Now: b.now}
	for _, e := range b.running {
		s.Running = append(s.Running, Running{Job: e.Job, Start: e.start, End: e.end})
	}
	for _, e := range b.plan {
		s.Planned = append(s.Planned, e.Job)
	}
	fresh, err := Open(b.config, s)
	if err != nil {
		t.Fatal(err)
	}
	return fresh.Plan(nil)
}

// TestLemmas checks, with exact estimates: the stability lemma (a rebuild at any later second
// gives the same plan), the prefix lemma (a new job moves no job with a smaller key), that no
// accepted reservation ends late or is killed, and that jobs run on the predicted nodes.
func TestLemmas(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		config := drawConfig(t)
		config.Admission = EDF
		c, err := NewCluster(config)
		if err != nil {
			t.Fatal(err)
		}
		b := c.book.(*Book)
		deadline := map[int64]int64{}
		foreseen := map[int64][]int32{}
		pass := func(to int64) {
			for now := c.Next(); now <= to && now < Forever; now = c.Next() {
				before := b.Plan(nil)
				for _, f := range c.Advance(now, nil) {
					switch {
					case f.What == Started && !slices.Equal(c.Nodes(f.Job), foreseen[f.Job]):
						t.Fatalf("job %d on nodes %v, foreseen %v", f.Job, c.Nodes(f.Job), foreseen[f.Job])
					case f.What == Killed || f.What == Extended || f.What == Ended && f.At > deadline[f.Job]:
						t.Fatalf("%+v, deadline %d", f, deadline[f.Job])
					}
				}
				before = slices.DeleteFunc(before, func(s Start) bool { return s.At <= now })
				if got := b.Plan(nil); !slices.Equal(got, before) || !slices.Equal(reopen(t, b), before) {
					t.Fatalf("at %d: plan %v, anew %v, before %v", now, got, reopen(t, b), before)
				}
			}
		}
		for _, j := range drawJobs(t, config.Nodes, true) {
			pass(j.Arrival)
			q := c.Quote(j.Arrival, j.Job)
			if !q.Feasible {
				continue
			}
			before := b.Plan(nil)
			after, err := b.PlanIf(&q, nil)
			if err != nil {
				t.Fatal(err)
			}
			k := b.position(&j.Job)
			if !slices.Equal(after[:k], before[:k]) {
				t.Fatalf("job %d moved smaller keys: %v, before %v", j.ID, after[:k], before[:k])
			}
			if _, err := c.Commit(j.Arrival, q, j.runtime, nil); err != nil {
				t.Fatal(err)
			}
			deadline[j.ID] = j.Deadline
			for _, s := range b.Map() {
				foreseen[s.Job] = s.Nodes
			}
		}
		pass(Forever - 1)
	})
}

// TestCancel checks that a cancellation leaves a rebuilt plan, or the old plan if the rebuilt
// one would miss a deadline, and that the job's nodes become free.
func TestCancel(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		config := drawConfig(t)
		b, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range drawJobs(t, config.Nodes, true) {
			if j.Arrival >= b.Next() {
				break
			}
			if q := b.Quote(j.Arrival, j.Job); q.Feasible {
				if _, err := b.Commit(j.Arrival, q, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		now := b.now
		for len(b.byID) > 0 {
			var ids []int64
			for _, s := range b.Map() {
				ids = append(ids, s.Job)
			}
			id := rapid.SampledFrom(ids).Draw(t, "cancelled")
			old := slices.DeleteFunc(b.Plan(nil), func(s Start) bool { return s.Job == id })
			facts, err := b.Cancel(now, id, nil)
			if err != nil || facts[0] != (Fact{now, id, Cancelled}) {
				t.Fatalf("%v %v", facts, err)
			}
			started := map[int64]bool{}
			for _, f := range facts {
				started[f.Job] = true
			}
			old = slices.DeleteFunc(old, func(s Start) bool { return started[s.Job] })
			if got := b.Plan(nil); b.canonical && !slices.Equal(got, reopen(t, b)) || !b.canonical && !slices.Equal(got, old) {
				t.Fatalf("plan %v, canonical %v, before %v", got, b.canonical, old)
			}
		}
		if len(b.nodes.idle) != config.Nodes || b.usage.busy != 0 || b.usage.planned != 0 || b.Next() != Forever {
			t.Fatalf("not empty: %+v", b.usage)
		}
		b.steps.trim(now)
		if len(b.steps.at) != 1 || int(b.steps.free[0]) != config.Nodes {
			t.Fatalf("steps left: %v", b.steps)
		}
		if _, err := b.Cancel(now, 7, nil); !errors.Is(err, ErrUnknown) {
			t.Fatalf("cancelled nothing: %v", err)
		}
	})
}
