package timetable

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A drawn is a random job with its true runtime.
type drawn struct {
	Job
	runtime int64
}

// check checks a property on a thousand cases.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 10 {
		rapid.Check(t, property)
	}
}

// drawJobs draws jobs for a cluster of n nodes, in order of arrival but not of id. If exact is
// true, runtimes equal estimates.
func drawJobs(t *rapid.T, n int, exact bool) []drawn {
	var jobs []drawn
	now := int64(0)
	share := rapid.SampledFrom([]int{1, 5, 9}).Draw(t, "tenths on demand")
	gap := rapid.SampledFrom([]int64{1, 3, 6}).Draw(t, "most gap")
	for i := range rapid.IntRange(1, 25).Draw(t, "jobs") {
		now += rapid.Int64Range(0, gap).Draw(t, "gap")
		j := drawn{Job: Job{
			ID: int64(i) * 17 % 53, Arrival: now, Earliest: now, Deadline: Forever,
			Estimate: rapid.Int64Range(1, 12).Draw(t, "estimate"),
			Nodes:    rapid.IntRange(1, n+n/4).Draw(t, "nodes"),
		}}
		j.runtime = j.Estimate
		if !exact {
			j.runtime = rapid.Int64Range(1, 18).Draw(t, "runtime")
		}
		if rapid.IntRange(0, 9).Draw(t, "on demand") < share {
			j.Kind = OnDemand
		} else {
			j.Earliest += rapid.Int64Range(0, 15).Draw(t, "lead")
			j.Deadline = j.Earliest + j.Estimate + rapid.SampledFrom([]int64{0, 1, 4, 8, 12, 16, 20, 25}).Draw(t, "laxity")
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func drawConfig(t *rapid.T) Config {
	return Config{
		Nodes:     rapid.IntRange(1, 5).Draw(t, "cluster"),
		Speed:     rapid.SampledFrom([]int64{0, 700, 1000, 1500}).Draw(t, "speed"),
		Admission: rapid.SampledFrom([]Admission{EDF, EDFInsert}).Draw(t, "admission"),
		Overrun:   rapid.SampledFrom([]Overrun{Extend, Kill}).Draw(t, "overrun"),
		Brief:     rapid.Bool().Draw(t, "brief"),
	}
}

// TestReference checks every quote, fact and node against a second-by-second rebuild (A.2 to
// A.4), with exact and with wrong estimates, and that a quote changes nothing.
func TestReference(t *testing.T) {
	t.Parallel()
	check(t, func(t *rapid.T) {
		config := drawConfig(t)
		c, err := NewCluster(config)
		if err != nil {
			t.Fatal(err)
		}
		ref := newNaive(config)
		jobs := drawJobs(t, config.Nodes, rapid.Bool().Draw(t, "exact"))

		// both advances both plans to now and compares their facts.
		both := func(now int64) {
			for ref.now < now {
				want := ref.step(nil)
				got := c.Advance(ref.now, nil)
				if !slices.Equal(got, want) {
					t.Fatalf("at %d: %v, want %v", ref.now, got, want)
				}
				checkNodes(t, c, ref)
			}
		}
		for i, j := range jobs {
			both(j.Arrival)
			cancelOne(t, c, ref, false)
			want, plan := ref.quote(j.Job)
			got := c.Quote(j.Arrival, j.Job)
			checkQuote(t, c.book.(*Book), got, want, plan)
			other := j.Job
			other.ID, other.Nodes = -1-other.ID, 1
			c.Quote(j.Arrival, other) // another quote between two quotes changes nothing
			if again := c.Quote(j.Arrival, j.Job); again.Start != got.Start || again.Zeta != got.Zeta || again.Feasible != got.Feasible {
				t.Fatalf("job %d: asked again: %+v, before %+v", i, again, got)
			}
			if !got.Feasible {
				continue
			}
			facts, err := c.Commit(j.Arrival, got, j.runtime, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := ref.commit(plan, j.ID, j.runtime, nil); !slices.Equal(facts, want) {
				t.Fatalf("job %d: on commitment %v, want %v", i, facts, want)
			}
			checkNodes(t, c, ref)
			checkPlan(t, c.book.(*Book), ref)
		}
		both(ref.now + 600)
		if c.Next() != Forever || len(c.truth) > 0 {
			t.Fatalf("not all ended: next %d, %v", c.Next(), c.truth)
		}
	})
}

// cancelOne cancels a job after about every tenth arrival and compares the effects.
func cancelOne(t *rapid.T, c *Cluster, ref *naive, preempt bool) {
	ids := ref.present()
	if len(ids) == 0 || rapid.IntRange(0, 9).Draw(t, "cancel") > 0 {
		return
	}
	id := rapid.SampledFrom(ids).Draw(t, "cancelled")
	got, err := c.Cancel(ref.now, id, nil)
	if want := ref.cancel(id, preempt); err != nil || !slices.Equal(got, want) {
		t.Fatalf("cancel %d: %v, %v, want %v", id, got, err, want)
	}
}

func checkQuote(t *rapid.T, b *Book, got, want Quote, plan []naiveJob) {
	if got.Feasible {
		starts, err := b.PlanIf(&got, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range starts {
			if s.Job != plan[i].ID || s.At != plan[i].start {
				t.Fatalf("plan with job %d: %v at %d, want %d at %d", got.Job.ID, s.Job, s.At, plan[i].ID, plan[i].start)
			}
		}
	} else {
		want.Start, want.Completion, want.Zeta, want.ZetaAll = 0, 0, 0, 0
	}
	if b.config.Brief {
		want.ZetaAll = 0
	}
	got.Reason, got.version, got.serial = "", 0, 0
	if got != want {
		t.Fatalf("quote %+v, want %+v", got, want)
	}
}

func checkPlan(t *rapid.T, b *Book, ref *naive) {
	plan := b.Plan(nil)
	if len(plan) != len(ref.planned) {
		t.Fatalf("%d planned, want %d", len(plan), len(ref.planned))
	}
	for i, s := range plan {
		if p := ref.planned[i]; s.Job != p.ID || s.At != p.start {
			t.Fatalf("planned %v, want job %d at %d", s, p.ID, p.start)
		}
	}
}

func checkNodes(t *rapid.T, c *Cluster, ref *naive) {
	for _, r := range ref.running {
		if got := c.Nodes(r.ID); !slices.Equal(got, r.nodes) {
			t.Fatalf("at %d job %d on nodes %v, want %v", ref.now, r.ID, got, r.nodes)
		}
	}
}
