package experiments

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/metrics"
	"bourse/experiments/optimum"
	"bourse/workloadgen"
)

// measuredOf runs a plan once under be on single-processor hosts, with the given outcomes, and
// returns the study.
func measuredOf(t *testing.T, hosts int, plan string, sets ...string) (*Replication, *Study) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.csv")
	if err := os.WriteFile(file, []byte("arrival,runtime,estimate,deadline,nodes,value\n"+plan), 0o644); err != nil {
		t.Fatal(err)
	}
	e := parsed(t, fmt.Sprintf(`
name: room
replications: 1
base:
  fleet: {hosts: %d, cpus: 1}
  workload: {plan: %s}
  admission: [be]
configurations: [one]
`, hosts, file), sets...)
	var only *Replication
	s := run(t, e, 1, func(r *Replication) { only = r })
	return only, s
}

// efficienciesOf returns the efficiency of the first run at alpha 0, 0.5 and 1.
func efficienciesOf(r *Replication) []float64 {
	return metrics.Efficiency(&r.Runs[0].Outcome, 0, 0.5, 1)
}

// TestRoom checks that U* is a bound over all schedules if, for any reason, a job need not run
// from its arrival for its runtime. Five jobs of two nodes and 100 s arrive at the same time on
// two hosts. Run one after another, all meet their deadlines, so U* is the sum of their values.
// Without such a reason, U* must equal the paper's U*.
func TestRoom(t *testing.T) {
	t.Parallel()
	tight := strings.Repeat("0,100,100,100,2,1\n", 5)
	for name, c := range map[string]struct {
		plan string
		sets []string
		want float64
		room bool
	}{
		"deadlines of the plan":  {"0,100,100,100,2,1\n" + strings.Repeat("0,100,100,1000,2,1\n", 4), nil, 5, true},
		"slack":                  {tight, []string{"base.sla.slack=10"}, 5, true},
		"estimates":              {strings.Repeat("0,100,1000,100,2,1\n", 5), []string{"base.sla.of=estimate"}, 5, true},
		"soft deadlines":         {strings.Repeat("0,100,100,500,2,1\n", 5), []string{"base.sla.deadline=soft"}, 5, true},
		"fast hosts":             {tight, []string{"base.fleet.speed=5"}, 5, true},
		"one fast host":          {tight, []string{"base.fleet.speeds=[1, 9]"}, 5, true},
		"many processors a task": {tight, []string{"base.fleet.cpus=5", "base.fleet.cap=0"}, 5, true},
		"offers of fewer nodes":  {"0,100,100,250,8,1\n", []string{"base.fleet.hosts=1", "base.fleet.cpus=4", "base.admission=[{name: windows, sharing: planned, negotiate: impatient}]"}, 1, true},
		"none":                   {tight, nil, 1, false},
		"none, slow hosts":       {tight, []string{"base.fleet.speed=0.5"}, 1, false},
		"none, early deadlines":  {tight, []string{"base.sla.slack=0.5"}, 1, false},
		"none, short estimates":  {strings.Repeat("0,100,10,100,2,1\n", 5), []string{"base.sla.of=estimate"}, 1, false},
		"a worthless job":        {tight + "0,100,100,1000,2,0\n", nil, 1, false},
	} {
		r, s := measuredOf(t, 2, c.plan, c.sets...)
		if o := r.Optimum; math.Abs(o.Bound-c.want) > 1e-9 || o.Room != c.room {
			t.Errorf("%s: U* is %+v, want %v and room %v", name, o, c.want, c.room)
		}
		if note := strings.Join(s.Measured(), " "); strings.Contains(note, "bound on the value of all schedules that respect arrivals and deadlines") != c.room {
			t.Errorf("%s: told %q, and room is %v", name, note, c.room)
		}
		for i, x := range efficienciesOf(r) {
			if x > 1+1e-9 {
				t.Errorf("%s: efficiency %d is %v, want 1 at most", name, i, x)
			}
		}
	}
}

// TestRoomOfWhatCounts checks that U* covers only the jobs for which efficiency is
// measured. It excludes jobs of the warm-up, jobs that arrive at or after the horizon, and
// jobs that cannot be done by then.
func TestRoomOfWhatCounts(t *testing.T) {
	t.Parallel()
	const tight, loose = "0,10,10,10,1,8\n10,10,10,10,1,4\n20,10,10,10,1,2\n30,10,10,10,1,1\n", "0,10,10,20,1,8\n10,10,10,20,1,4\n20,10,10,20,1,2\n30,10,10,20,1,1\n"
	for name, c := range map[string]struct {
		plan string
		sets []string
		want float64
	}{
		"all":                    {tight, nil, 15},
		"warm-up":                {tight, []string{"base.workload.warmup=0.5"}, 3},
		"warm-up, room":          {loose, []string{"base.workload.warmup=0.5"}, 3},
		"horizon":                {tight, []string{"base.horizon=20.5"}, 12},
		"horizon, room":          {loose, []string{"base.horizon=20.5"}, 12},
		"both":                   {tight, []string{"base.horizon=30.5", "base.workload.warmup=0.25"}, 6},
		"both, room":             {loose, []string{"base.horizon=30.5", "base.workload.warmup=0.25"}, 6},
		"warm-up before horizon": {tight, []string{"base.horizon=20.5", "base.workload.warmup=0.4"}, 4},
	} {
		r, _ := measuredOf(t, 1, c.plan, c.sets...)
		if o := r.Optimum; math.Abs(o.Bound-c.want) > 1e-9 {
			t.Errorf("%s: U* is %+v, want %v", name, o, c.want)
		}
		for i, x := range efficienciesOf(r) {
			if x < 0.99 || x > 1+1e-9 { // a bound may count a part of a job that no user obtains by the horizon
				t.Errorf("%s: efficiency %d is %v, want 1: all that count are fulfilled", name, i, x)
			}
		}
	}
}

// TestNoRoom checks with random jobs that, without slack, U* is exactly the value of the
// planner of whole jobs, whatever users got from parts of jobs.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	e := paper(t, 6)
	run(t, e, 2, func(r *Replication) {
		o := r.Optimum
		var plan workloadgen.Plan
		for i := range r.Runs[0].Jobs {
			plan = append(plan, *r.Runs[0].Jobs[i].Job)
		}
		best := new(optimum.Solver).Solve(plan, 30, 15, optimum.Limits{})
		if o.Room || o.Bound != best.Bound || o.Value != best.Value || o.Parts != best.Bound {
			t.Errorf("configuration %d, replication %d: U* is %+v, want the planner's, %v", r.Configuration, r.Rep, o, best.Bound)
		}
	})
}

// TestPartsOfJobs checks the bound if parts of jobs are worth more than any set of whole jobs.
// Of two gangs of three nodes, only one fits on the five hosts.
func TestPartsOfJobs(t *testing.T) {
	t.Parallel()
	r, s := measuredOf(t, 5, "0,10,10,10,3,3\n0,10,10,10,3,3\n")
	if o := r.Optimum; o.Room || o.Bound != 3 || math.Abs(o.Parts-5) > 1e-5 {
		t.Errorf("U* is %+v, want 3, and 5 of parts", o)
	}
	// Each gang has done 25 of 30 node-seconds, worth $2.50, and pays $0.50 for the host that
	// both use.
	got, want := efficienciesOf(r), []float64{4. / 5, 1.5 / 4, -1. / 3}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("efficiencies %v, want %v", got, want)
			break
		}
	}
	if note := strings.Join(s.Measured(), " "); !strings.Contains(note, "one: in 1 of 1 replications users gained more from partly completed jobs") {
		t.Errorf("told %q", note)
	}
}

// TestWideJobs checks that the planner may use a job that a policy with books can admit,
// such as a gang of four on one host with eight processors.
func TestWideJobs(t *testing.T) {
	t.Parallel()
	r, _ := measuredOf(t, 1, "0,100,100,100,4,1\n0,100,100,100,4,1\n", "base.fleet.cpus=8", "base.market.sharing=planned", "base.admission=[{name: reserve, base: 0.000001}]")
	if o := r.Optimum; o.Bound != 2 {
		t.Errorf("U* is %+v, want 2", o)
	}
}

// TestRate checks the maximum rate of work of a number of nodes on hosts with several
// speeds.
func TestRate(t *testing.T) {
	t.Parallel()
	e := parsed(t, `
name: rates
base:
  fleet: {hosts: 5, cpus: 2, cap: 1.5, speeds: [1, 3]}
  workload: {model: paper}
  admission: [be]
configurations: [one]
`)
	all, err := settings(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := all[0].room()
	var got []float64
	for n := 1; n <= 5; n++ {
		got = append(got, r.rate(n))
	}
	// The speeds are 1, 3, 1, 3, 1, with one and a half processors each.
	if want := []float64{4.5, 9, 10.5, 12, 13.5}; !slices.Equal(got, want) {
		t.Errorf("rates %v, want %v", got, want)
	}
	if r.capacity != 2*(3*1+2*3) {
		t.Errorf("capacity %v", r.capacity)
	}
}

// TestPartOfFastProcessor checks that U* counts jobs that run at the same time on a
// processor so fast that each task may use only part of it. Of five jobs on one processor
// of speed 4, where a task gets a quarter, four are done in time.
func TestPartOfFastProcessor(t *testing.T) {
	t.Parallel()
	only, _ := measuredOf(t, 1, strings.Repeat("0,10,10,10,1,1\n", 5), "base.fleet.speed=4", "base.fleet.cap=0.25")
	if got := only.Runs[0].Outcome.Optimum; got != 4 {
		t.Errorf("U* is %v, want 4", got)
	}
	for _, x := range efficienciesOf(only) {
		if x > 1 {
			t.Errorf("efficiency is %v, want 1 at most", x)
		}
	}
}
