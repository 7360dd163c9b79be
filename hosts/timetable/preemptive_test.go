package timetable

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// grants is the reference for [Preemptive]: it reallocates the nodes in key order every second.
func (n *naive) grants(facts []Fact) []Fact {
	free := n.config.Nodes
	var gains []Fact
	for i := range n.planned {
		j := &n.planned[i]
		runs := j.Earliest <= n.now && j.Nodes <= free
		if runs {
			free -= j.Nodes
		}
		switch {
		case runs && !j.begun:
			gains = append(gains, Fact{n.now, j.ID, Started})
		case runs && !j.runs:
			gains = append(gains, Fact{n.now, j.ID, Resumed})
		case j.runs && !runs:
			facts = append(facts, Fact{n.now, j.ID, Suspended})
		}
		j.runs, j.begun = runs, runs || j.begun
	}
	return append(facts, gains...)
}

// tick advances a preemptive cluster to the next second.
func (n *naive) tick(facts []Fact) []Fact {
	n.now++
	for i := range n.planned {
		if j := &n.planned[i]; j.runs {
			j.left--
			j.spent++
			n.done += int64(j.Nodes)
		}
	}
	byID := slices.Clone(n.planned)
	slices.SortFunc(byID, func(a, b naiveJob) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range byID {
		if j.spent == j.true {
			facts = append(facts, Fact{n.now, j.ID, Ended})
		}
	}
	n.planned = slices.DeleteFunc(n.planned, func(j naiveJob) bool { return j.spent == j.true })
	if n.config.Overrun == Kill {
		n.planned = slices.DeleteFunc(n.planned, func(j naiveJob) bool {
			if j.left == 0 {
				facts = append(facts, Fact{n.now, j.ID, Killed})
			}
			return j.left == 0
		})
	}
	for i := range n.planned {
		if j := &n.planned[i]; j.left == 0 {
			j.left = max(1, (j.span*n.config.ExtendPct+99)/100)
			facts = append(facts, Fact{n.now, j.ID, Extended})
		}
	}
	return n.grants(facts)
}

// forward returns the completion of every job, assuming exact estimates.
func (n *naive) forward(jobs []naiveJob) map[int64]int64 {
	f := &naive{config: n.config, now: n.now, planned: slices.Clone(jobs)}
	for i := range f.planned {
		j := &f.planned[i]
		j.spent, j.true = 0, j.left
	}
	ends := map[int64]int64{}
	for f.grants(nil); len(f.planned) > 0; {
		for _, fact := range f.tick(nil) {
			if fact.What == Ended {
				ends[fact.Job] = fact.At
			}
		}
	}
	return ends
}

// TestPreemptive checks every quote and fact of a preemptive cluster against a second-by-second
// allocation, and that with exact estimates no reservation ends late.
func TestPreemptive(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		config := drawConfig(t)
		config.Admission = EDF
		c, err := NewPreemptiveCluster(config)
		if err != nil {
			t.Fatal(err)
		}
		ref := newNaive(config)
		exact := rapid.Bool().Draw(t, "exact")
		deadlines := map[int64]int64{}
		both := func(now int64) {
			for ref.now < now {
				want := ref.tick(nil)
				got := c.Advance(ref.now, nil)
				if !slices.Equal(got, want) {
					t.Fatalf("at %d: %v, want %v", ref.now, got, want)
				}
				for _, f := range got {
					if f.What == Ended && exact && f.At > deadlines[f.Job] {
						t.Fatalf("job %d ended at %d, deadline %d", f.Job, f.At, deadlines[f.Job])
					}
				}
			}
		}
		for _, j := range drawJobs(t, config.Nodes, exact) {
			both(j.Arrival)
			cancelOne(t, c, ref, true)
			span := Span(j.Estimate, c.Speed())
			nj := naiveJob{Job: j.Job, span: span, left: span, true: Span(j.runtime, c.Speed())}
			feasible := j.Nodes <= config.Nodes
			var zeta, zetaAll int64
			var after map[int64]int64
			if feasible {
				before := ref.forward(ref.planned)
				with := append(slices.Clone(ref.planned), nj)
				slices.SortFunc(with, func(a, b naiveJob) int { return compare(&a.Job, &b.Job) })
				after = ref.forward(with)
				for _, o := range with {
					feasible = feasible && after[o.ID] <= o.Deadline
					if o.ID != j.ID {
						zetaAll += after[o.ID] - before[o.ID]
						if o.Kind == Advance {
							zeta += after[o.ID] - before[o.ID]
						}
					}
				}
				if feasible {
					ref.planned = with
				}
			}
			q := c.Quote(j.Arrival, j.Job)
			if q.Feasible != feasible || q.Executed != ref.done {
				t.Fatalf("job %d: feasible %v, executed %d, want %v, %d", j.ID, q.Feasible, q.Executed, feasible, ref.done)
			}
			if !feasible {
				continue
			}
			if q.Completion != after[j.ID] || q.Start != q.Completion-span || q.Zeta != zeta || q.ZetaAll != zetaAll {
				t.Fatalf("job %d: %+v, want completion %d, zeta %d, %d", j.ID, q, after[j.ID], zeta, zetaAll)
			}
			deadlines[j.ID] = j.Deadline
			facts, err := c.Commit(j.Arrival, q, j.runtime, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := ref.grants(nil); !slices.Equal(facts, want) {
				t.Fatalf("job %d: on commitment %v, want %v", j.ID, facts, want)
			}
			if _, err := c.Commit(j.Arrival, q, j.runtime, nil); !errors.Is(err, ErrStale) {
				t.Fatalf("committed twice: %v", err)
			}
		}
		both(ref.now + 900)
		if c.Next() != Forever || len(c.truth) > 0 {
			t.Fatalf("not all ended: next %d, %v", c.Next(), c.truth)
		}
	})
}

// TestPreemptiveParts checks a preemptive book that is opened with a partial job: the job uses
// both nodes for its remaining 4 s, until 14, or until a reservation arrives.
func TestPreemptiveParts(t *testing.T) {
	t.Parallel()
	half := Part{Job{ID: 1, Kind: OnDemand, Deadline: Forever, Estimate: 9, Nodes: 2}, 4}
	p, err := NewPreemptive(Config{Nodes: 2}, 10, 30, []Part{half})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Instants(nil); !slices.Equal(got, []int64{14}) {
		t.Errorf("instants = %v, want 14", got)
	}
	q := p.Quote(10, Job{ID: 2, Arrival: 10, Earliest: 11, Deadline: 14, Estimate: 3, Nodes: 1})
	if !q.Feasible || q.Start != 11 || q.Zeta != 0 || q.ZetaAll != 3 || q.Executed != 30 || q.Committed != 8 {
		t.Errorf("quote %+v", q)
	}
	for why, c := range map[string]struct {
		config Config
		parts  []Part
	}{
		"no nodes":      {Config{}, nil},
		"insertion":     {Config{Nodes: 2, Admission: EDFInsert}, nil},
		"twice":         {Config{Nodes: 2}, []Part{half, half}},
		"too wide":      {Config{Nodes: 1}, []Part{half}},
		"too much left": {Config{Nodes: 2}, []Part{{half.Job, 10}}},
		"no estimate":   {Config{Nodes: 2}, []Part{{Job{ID: 1, Nodes: 1, Deadline: 4}, 0}}},
	} {
		if _, err := NewPreemptive(c.config, 0, 0, c.parts); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
	if _, err := p.Cancel(10, 7, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("cancelled nothing: %v", err)
	}
	if again := p.Quote(10, half.Job); again.Reason != Known {
		t.Errorf("the job that it has: %q", again.Reason)
	}
	whole, err := NewPreemptive(Config{Nodes: 2}, 10, 30, []Part{{half.Job, half.Job.Estimate}})
	if err != nil || whole.Next() != 10 {
		t.Errorf("with all of a job left: next at %d, %v", whole.Next(), err)
	}
	if empty, err := NewPreemptive(Config{Nodes: 2}, 10, 30, nil); err != nil || empty.Next() != Forever {
		t.Errorf("without jobs: next at %d, %v", empty.Next(), err)
	}
}

// TestPreemptiveLoad checks the load in a quote: work done and remaining at its second,
// including jobs that run until then. A part with 0 s remaining is a job that has not started.
func TestPreemptiveLoad(t *testing.T) {
	t.Parallel()
	all := Part{Job: Job{ID: 1, Kind: OnDemand, Deadline: Forever, Estimate: 9, Nodes: 2}}
	p, err := NewPreemptive(Config{Nodes: 3}, 10, 30, []Part{all})
	if err != nil {
		t.Fatal(err)
	}
	p.Advance(10, nil, nil)
	for _, c := range []struct{ now, executed, committed int64 }{{10, 30, 18}, {12, 34, 14}, {18, 46, 2}} {
		q := p.Quote(c.now, Job{ID: 2, Arrival: 10, Earliest: 20, Deadline: 90, Estimate: 3, Nodes: 1})
		if q.Busy != 2 || q.Executed != c.executed || q.Committed != c.committed {
			t.Errorf("at %d: %d busy, %d done, %d to do, want 2, %d, %d", c.now, q.Busy, q.Executed, q.Committed, c.executed, c.committed)
		}
	}
}
