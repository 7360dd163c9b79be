package reservations

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// A demand specifies random lists of jobs.
type demand struct {
	jobs      int
	share     float64 // fraction of reservations
	laxity    float64 // mean laxity as a fraction of the estimate
	inexact   bool
	nodes     int // number of nodes of each cluster
	clusters  int
	meanGap   float64
	speeds    []int64
	overrun   timetable.Overrun
	admission timetable.Admission
}

func (d demand) draw(seed uint64) []Job {
	rng := rand.New(rand.NewPCG(seed, 1))
	var jobs []Job
	now := 0.0
	for id := range d.jobs {
		now += rng.ExpFloat64() * d.meanGap
		r := 1 + int64(rng.ExpFloat64()*20)
		j := Job{Runtime: r, Job: timetable.Job{
			ID: int64(id), Kind: timetable.OnDemand, Arrival: int64(now), Earliest: int64(now), Deadline: timetable.Forever,
			Estimate: r, Nodes: min(d.nodes, 1+int(rng.ExpFloat64()*2)),
		}}
		lead, kind, lax := rng.Float64(), rng.Float64(), rng.Float64()
		if d.inexact {
			j.Estimate = max(1, int64(float64(r)*(0.5+2*rng.Float64())))
		}
		if kind < d.share {
			j.Kind = timetable.Advance
			j.Earliest += int64(60 * lead)
			j.Deadline = j.Earliest + j.Estimate + int64(2*lax*d.laxity*float64(j.Estimate))
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func (d demand) config(tb rapid.TB, name string) Config {
	var c Config
	for i := range d.clusters {
		cc := timetable.Config{Nodes: d.nodes, Overrun: d.overrun, Admission: d.admission}
		if d.speeds != nil {
			cc.Speed = d.speeds[i%len(d.speeds)]
		}
		c.Clusters = append(c.Clusters, cc)
	}
	maker := func(name string) matchmaking.Matchmaker {
		m, err := matchmaking.Table(rand.New(rand.NewPCG(9, 9))).New(name, func(any) error { return nil })
		if err != nil {
			tb.Fatal(err)
		}
		return m
	}
	c.Matchmaker, c.OnDemand = maker(name), maker("imct")
	return c
}

func (d demand) run(tb rapid.TB, name string, jobs []Job) []Outcome {
	out, err := Run(d.config(tb, name), jobs)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// seeds calls f with several seeds, in place of parallel subtests.
func seeds(t *testing.T, f func(t *rapid.T, seed uint64)) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { f(t, rapid.Uint64().Draw(t, "seed")) })
}

func same(t *rapid.T, what string, a, b []Outcome) {
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Fatalf("%s: job %d\n%+v\n%+v", what, a[i].ID, a[i], b[i])
		}
	}
}

// TestOneCluster checks that all algorithms are the same on one cluster (A.10).
func TestOneCluster(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		d := demand{jobs: 60, share: 0.6, laxity: 1, nodes: 6, clusters: 1, meanGap: 6, inexact: seed%2 == 0}
		jobs := d.draw(seed)
		want := d.run(t, "mli", jobs)
		for _, name := range matchmaking.Table(nil).Names() {
			same(t, name, d.run(t, name, jobs), want)
		}
	})
}

// TestNoLaxity checks that FF, IMCT and MLI are the same if there are only reservations
// without laxity and clusters are equally fast (A.10).
func TestNoLaxity(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		d := demand{jobs: 80, share: 1, laxity: 0, nodes: 6, clusters: 3, meanGap: 3}
		jobs := d.draw(seed)
		want := d.run(t, "mli", jobs)
		same(t, "ff", d.run(t, "ff", jobs), want)
		same(t, "imct", d.run(t, "imct", jobs), want)
	})
}

// TestOnDemandOnly checks that MLI equals IMCT without reservations, and that no job is
// rejected (A.10).
func TestOnDemandOnly(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		d := demand{jobs: 80, share: 0, nodes: 6, clusters: 3, meanGap: 3, speeds: []int64{1000, 1500, 700}}
		jobs := d.draw(seed)
		c := d.config(t, "mli")
		c.OnDemand = nil
		out, err := Run(c, jobs)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "mli", out, d.run(t, "imct", jobs))
		for i := range out {
			if out[i].Status != Done {
				t.Fatalf("job %d %s", out[i].ID, out[i].Status)
			}
		}
	})
}

// TestRenaming checks that other ids in the same order, another order of the list, or a
// second run do not change the results.
func TestRenaming(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		d := demand{jobs: 60, share: 0.5, laxity: 1, nodes: 6, clusters: 3, meanGap: 3, inexact: true, speeds: []int64{1000, 500}}
		jobs := d.draw(seed)
		for _, name := range matchmaking.Table(nil).Names() {
			want := d.run(t, name, jobs)
			same(t, name+" again", d.run(t, name, jobs), want)
			renamed := slices.Clone(jobs)
			slices.Reverse(renamed)
			for i := range renamed {
				renamed[i].ID = 7 + 3*renamed[i].ID
			}
			got := d.run(t, name, renamed)
			slices.Reverse(got)
			for i := range got {
				got[i].ID = (got[i].ID - 7) / 3
			}
			same(t, name+" renamed", got, want)
		}
	})
}

// TestPromises checks every algorithm. With exact estimates, no reservation ends late and
// no job is killed. With wrong estimates, a late job has underestimated its own runtime. No
// node runs two jobs at once, every gang has its nodes, and the identity for Q holds.
func TestPromises(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 2))
		d := demand{
			jobs: 70, share: []float64{0.2, 0.6, 1}[rng.IntN(3)], laxity: []float64{0, 0.5, 2}[rng.IntN(3)], nodes: 6, clusters: 3, meanGap: 2,
			inexact: rng.IntN(2) == 0, overrun: timetable.Overrun(rng.IntN(2)), admission: timetable.Admission(rng.IntN(2)), speeds: []int64{1000, 1300},
		}
		jobs := d.draw(seed)
		for _, name := range matchmaking.Table(nil).Names() {
			out := d.run(t, name, jobs)
			type use struct {
				cluster int
				node    int32
			}
			last := map[use][]Outcome{}
			for _, o := range out {
				switch {
				case o.Status == Rejected:
					continue
				case !d.inexact && o.Status != Done:
					t.Fatalf("%s: job %d %s with exact estimates", name, o.ID, o.Status)
				case o.Status == Late && o.Estimate >= o.Runtime:
					t.Fatalf("%s: job %d late, but not by its own estimate", name, o.ID)
				case o.Start < o.Earliest || o.End <= o.Start || len(o.NodeIDs) != o.Nodes:
					t.Fatalf("%s: job %+v", name, o)
				}
				for _, n := range o.NodeIDs {
					at := use{o.Cluster, n}
					for _, other := range last[at] {
						if o.Start < other.End && other.Start < o.End {
							t.Fatalf("%s: node %v runs jobs %d and %d at once", name, at, o.ID, other.ID)
						}
					}
					last[at] = append(last[at], o)
				}
			}
			m := MeasureAfter([]int{6, 6, 6}, out, len(out)/10)
			if (m.Q == nil) != (m.Rejected == 0) || m.Q != nil && abs(*m.Q-m.WR/(100*m.PB)) > 1e-9**m.Q {
				t.Fatalf("%s: Q %v, W_R %v, P_b %v", name, m.Q, m.WR, m.PB)
			}
			if *m.U > 1 || *m.UMin > *m.U || *m.UMax < *m.U {
				t.Fatalf("%s: U %v, %v to %v", name, *m.U, *m.UMin, *m.UMax)
			}
		}
	})
}

func abs(x float64) float64 { return max(x, -x) }

// TestLaxityHelps checks that less work is rejected with more laxity: W_R, averaged over 20
// lists of 300 jobs, is highest without laxity, lower if the laxity is half the estimate, and
// lowest if it is twice the estimate.
func TestLaxityHelps(t *testing.T) {
	t.Parallel()
	var wr []float64
	for _, laxity := range []float64{0, 0.5, 2} {
		d := demand{jobs: 300, share: 1, laxity: laxity, nodes: 6, clusters: 2, meanGap: 6}
		sum := 0.0
		for seed := range uint64(20) {
			out := d.run(t, "mli", d.draw(seed))
			sum += Measure([]int{6, 6}, out, Measured(out)).WR
		}
		wr = append(wr, sum/20)
	}
	if wr[0] <= wr[1] || wr[1] <= wr[2] {
		t.Errorf("W_R = %v, want it to fall", wr)
	}
}

// TestPreemptive checks that clusters that suspend jobs keep every promise.
func TestPreemptive(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		d := demand{jobs: 50, share: 0.6, laxity: 1, nodes: 6, clusters: 2, meanGap: 3}
		c := d.config(t, "mli")
		c.Preempt = true
		out, err := Run(c, d.draw(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			if o.Status != Done && o.Status != Rejected || o.NodeIDs != nil {
				t.Fatalf("job %d %s on %v", o.ID, o.Status, o.NodeIDs)
			}
		}
	})
}

// TestOnDemandDeadline checks that with a factor f, on-demand jobs have the deadline a + q +
// f*q and are rejected if they cannot meet it.
func TestOnDemandDeadline(t *testing.T) {
	t.Parallel()
	d := demand{nodes: 1, clusters: 1}
	c := d.config(t, "ff")
	c.OnDemandFactor = 0.5
	od := func(id, q int64) Job {
		return Job{timetable.Job{ID: id, Kind: timetable.OnDemand, Deadline: timetable.Forever, Estimate: q, Nodes: 1}, q}
	}
	out, err := Run(c, []Job{od(0, 3), od(1, 5), od(2, 5)})
	if err != nil {
		t.Fatal(err)
	}
	// The second job ends at 3+5 = 8, its deadline 0+5+ceil(2.5). The third would end at 13.
	if out[0].Status != Done || out[1].Status != Done || out[1].Deadline != 8 || out[2].Status != Rejected {
		t.Errorf("%+v", out)
	}
}

// TestRefuses checks that a run names the error in its input.
func TestRefuses(t *testing.T) {
	t.Parallel()
	d := demand{jobs: 3, nodes: 2, clusters: 1, meanGap: 1}
	for why, change := range map[string]func(*Config, []Job){
		"no matchmaker":  func(c *Config, _ []Job) { c.Matchmaker = nil },
		"no cluster":     func(c *Config, _ []Job) { c.Clusters = nil },
		"no nodes":       func(c *Config, _ []Job) { c.Clusters[0].Nodes = 0 },
		"bad factor":     func(c *Config, _ []Job) { c.OnDemandFactor = -1 },
		"twice":          func(_ *Config, j []Job) { j[1].ID = j[0].ID },
		"no runtime":     func(_ *Config, j []Job) { j[1].Runtime = 0 },
		"no estimate":    func(_ *Config, j []Job) { j[1].Estimate = 0 },
		"insert suspend": func(c *Config, _ []Job) { c.Preempt, c.Clusters[0].Admission = true, timetable.EDFInsert },
	} {
		c, jobs := d.config(t, "ff"), d.draw(1)
		change(&c, jobs)
		if _, err := Run(c, jobs); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}
