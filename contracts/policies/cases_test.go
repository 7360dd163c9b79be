package policies

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// brief describes when and where jobs ran: "1: 0-100 on 0 2; 3: never".
func brief(jobs []job, fates map[int64]fate) string {
	var all []string
	for _, j := range jobs {
		f := fates[j.ID]
		if !f.ended {
			all = append(all, fmt.Sprintf("%d: never", j.ID))
			continue
		}
		s := fmt.Sprintf("%d: %.6g-%.6g on %s", j.ID, f.Admitted, f.Ended, strings.Trim(fmt.Sprint(f.on), "[]"))
		if f.Outcome != contracts.Fulfilled {
			s += " broken"
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// TestOverrun checks the treatment of a job that exceeds its estimate (spec 4.1). Job 1 needs
// 0.5 and, as the only job, has used up its estimate at 100. At 110 it has 10 s of work left,
// and job 2 arrives, which needs 0.1. Job 3, which needs 0.6, fits only if job 1 gets no share.
func TestOverrun(t *testing.T) {
	t.Parallel()
	jobs := []job{
		{ID: 1, Submit: 0, Runtime: 120, Estimate: 100, Deadline: 200, Procs: 1},
		{ID: 2, Submit: 110, Runtime: 10, Estimate: 10, Deadline: 100, Procs: 1},
		{ID: 3, Submit: 111, Runtime: 60, Estimate: 60, Deadline: 100, Procs: 1},
	}
	for _, c := range []struct{ policy, overrun, want string }{
		{"libra", "keep", "1: 0-122 on 0; 2: 110-130 on 0; 3: never"},
		{"librarisk", "keep", "1: 0-122 on 0; 2: 110-130 on 0; 3: never"},
		// Job 2 has the host until 111 and then has 9 s left; 9/99 and 60/100 are needed.
		{"libra", "zero", "1: 0-190 on 0; 2: 110-179.4 on 0; 3: 111-180 on 0"},
		{"libra", "kill", "1: 0-100 on 0 broken; 2: 110-179.4 on 0; 3: 111-180 on 0"},
	} {
		w := newWorld(t, policytest.Uniform(1), c.policy, options{"overrun": c.overrun})
		got := brief(jobs, w.run(t, jobs))
		if c.want != got {
			t.Errorf("%s, %s: %s, want %s", c.policy, c.overrun, got, c.want)
		}
	}
}

// TestKilledIsNotPaid checks that a job stopped at its estimate earns nothing, however little
// work is left.
func TestKilledIsNotPaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ runtime, estimate, deadline float64 }{{120, 100, 200}, {1e-6, 1e-7, 2e-6}} {
		jobs := []job{{ID: 1, Runtime: c.runtime, Estimate: c.estimate, Deadline: c.deadline, Procs: 1, Budget: 7}}
		f := newWorld(t, policytest.Uniform(1), "libra", options{"overrun": "kill"}).run(t, jobs)[1]
		if f.Paid.Sign() != 0 || f.Done != c.estimate {
			t.Errorf("%+v: paid %v for %v s of work", c, f.Paid, f.Done)
		}
	}
}

// TestQueues checks the order in which queues are served, on four processors
// unless speeds are given.
func TestQueues(t *testing.T) {
	t.Parallel()
	waiting := []job{ // 2 must wait for 1; 3 is short, 4 is long, 5 requests one processor
		{ID: 1, Submit: 0, Runtime: 100, Estimate: 100, Deadline: 1e4, Procs: 2},
		{ID: 2, Submit: 1, Runtime: 50, Estimate: 50, Deadline: 1e4, Procs: 3},
		{ID: 3, Submit: 2, Runtime: 50, Estimate: 98, Deadline: 1e4, Procs: 2},
		{ID: 4, Submit: 3, Runtime: 400, Estimate: 400, Deadline: 1e4, Procs: 2},
		{ID: 5, Submit: 4, Runtime: 300, Estimate: 300, Deadline: 1e4, Procs: 1},
	}
	uneven := []job{
		{ID: 1, Submit: 0, Runtime: 100, Estimate: 100, Deadline: 1e4, Procs: 2},
		{ID: 2, Submit: 50, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 1},
	}
	instant := []job{ // 3, more urgent than 2, arrives exactly when 1 ends
		{ID: 1, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 3},
		{ID: 2, Submit: 1, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 4},
		{ID: 3, Submit: 10, Runtime: 10, Estimate: 10, Deadline: 500, Procs: 1},
	}
	equal := []job{ // 2 and 3 are due at the same time
		{ID: 1, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 4},
		{ID: 2, Submit: 1, Runtime: 10, Estimate: 10, Deadline: 499, Procs: 4},
		{ID: 3, Submit: 2, Runtime: 10, Estimate: 10, Deadline: 498, Procs: 4},
	}
	late := []job{ // at half the speed, 2 takes 120 s, and 3 takes exactly its estimate of 100 s
		{ID: 1, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 1},
		{ID: 2, Submit: 1, Runtime: 60, Estimate: 60, Deadline: 100, Procs: 2},
		{ID: 3, Submit: 2, Runtime: 50, Estimate: 50, Deadline: 100, Procs: 1},
	}
	behind := []job{ // 2 waits for 1, which ends at 200; 3 takes 150 s, and 4 would take 202 s
		{ID: 1, Submit: 0, Runtime: 100, Estimate: 100, Deadline: 1e4, Procs: 1},
		{ID: 2, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 3},
		{ID: 3, Submit: 0, Runtime: 150, Estimate: 150, Deadline: 1e4, Procs: 1},
		{ID: 4, Submit: 0, Runtime: 101, Estimate: 101, Deadline: 1e4, Procs: 1},
	}
	tick := func(by float64) []job { // 3 ends this long after 1, for which 2 waits
		return []job{
			{ID: 1, Submit: 0, Runtime: 100, Estimate: 100, Deadline: 1e4, Procs: 1},
			{ID: 2, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 2},
			{ID: 3, Submit: 0, Runtime: 90, Estimate: 100 + by, Deadline: 1e4, Procs: 1},
		}
	}
	together := func(by float64) []job { // 2 ends this long after 1; 3 waits for 1 or 2, and 4 waits for none
		return []job{
			{ID: 1, Submit: 0, Runtime: 100, Estimate: 100, Deadline: 1e4, Procs: 1},
			{ID: 2, Submit: 0, Runtime: 100, Estimate: 100 + by, Deadline: 1e4, Procs: 1},
			{ID: 3, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 2},
			{ID: 4, Submit: 0, Runtime: 500, Estimate: 500, Deadline: 1e4, Procs: 1},
		}
	}
	tooMany := []job{
		{ID: 1, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 5},
		{ID: 2, Submit: 0, Runtime: 10, Estimate: 10, Deadline: 1e4, Procs: 4},
	}
	for _, c := range []struct {
		name, policy string
		o            options
		jobs         []job
		speeds       []float64
		first        bool // submissions come before terminations
		want         string
	}{
		{"nobody overtakes", "fcfs", nil, waiting, nil, false,
			"1: 0-100 on 0 1; 2: 100-150 on 0 1 2; 3: 150-200 on 0 1; 4: 150-550 on 2 3; 5: 200-500 on 0"},
		// 3 would end by 100, so it starts at once. When 3 has ended, 5 uses the one processor
		// that 2 does not need, and 4 waits.
		{"the short and the small overtake", "easy", nil, waiting, nil, false,
			"1: 0-100 on 0 1; 2: 100-150 on 0 1 3; 3: 2-52 on 2 3; 4: 150-550 on 0 1; 5: 52-352 on 2"},
		{"tasks of a job keep pace", "edf", nil, uneven, []float64{1, 0.5}, false,
			"1: 0-200 on 0 1; 2: 200-210 on 0"},
		{"terminations first", "edf", nil, instant, nil, false,
			"1: 0-10 on 0 1 2; 2: 10-20 on 0 1 2 3; 3: 20-30 on 0"},
		{"submissions first", "edf", nil, instant, nil, true,
			"1: 0-10 on 0 1 2; 2: 20-30 on 0 1 2 3; 3: 10-20 on 3"},
		{"of equals the first", "edf", nil, equal, nil, false, "1: 0-10 on 0 1 2 3; 2: 10-20 on 0 1 2 3; 3: 20-30 on 0 1 2 3"},
		{"late on slow hosts, seen at the start", "edf", nil, late, []float64{0.5, 0.5}, false, "1: 0-20 on 0; 2: never; 3: never"},
		{"late on slow hosts, seen at once", "edf", options{"check": "select"}, late, []float64{0.5, 0.5}, false,
			"1: 0-20 on 0; 2: never; 3: 2-102 on 1"},
		{"who ends first on slow hosts", "easy", nil, behind, []float64{0.5, 1, 0.5}, false,
			"1: 0-200 on 0; 2: 200-220 on 0 1 2; 3: 0-150 on 1; 4: 220-422 on 0"},
		{"ends at the same tick", "easy", nil, tick(sharing.Tick), []float64{1, 1}, false, "1: 0-100 on 0; 2: 100-110 on 0 1; 3: 0-90 on 1"},
		{"ends after it", "easy", nil, tick(2 * sharing.Tick), []float64{1, 1}, false, "1: 0-100 on 0; 2: 100-110 on 0 1; 3: 110-200 on 0"},
		{"end at the same tick", "easy", nil, together(sharing.Tick), []float64{1, 1, 1}, false,
			"1: 0-100 on 0; 2: 0-100 on 1; 3: 100-110 on 0 1; 4: 0-500 on 2"},
		{"end one after the other", "easy", nil, together(2 * sharing.Tick), []float64{1, 1, 1}, false,
			"1: 0-100 on 0; 2: 0-100 on 1; 3: 100-110 on 0 1; 4: 100-600 on 2"},
		{"never enough processors", "fcfs", nil, tooMany, nil, false, "1: never; 2: 0-10 on 0 1 2 3"},
		{"never enough processors", "edf", options{"admission": "none"}, tooMany, nil, false, "1: never; 2: 0-10 on 0 1 2 3"},
		{"never enough processors", "easy", nil, tooMany, nil, false, "1: never; 2: 0-10 on 0 1 2 3"},
	} {
		fleet := policytest.Uniform(4)
		if c.speeds != nil {
			fleet = fleet[:len(c.speeds)]
			for h := range fleet {
				fleet[h].Speed = c.speeds[h]
			}
		}
		w := newWorld(t, fleet, c.policy, c.o)
		w.submissionsFirst = c.first
		if got := brief(c.jobs, w.run(t, c.jobs)); got != c.want {
			t.Errorf("%s: %s:\n got %s\nwant %s", c.policy, c.name, got, c.want)
		}
	}
}

// TestEasy compares EASY backfilling with a simple implementation that counts processors, with
// wrong estimates: all jobs must start at the same times.
func TestEasy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fleet := rapid.IntRange(1, 8).Draw(t, "processors")
		jobs := drawJobs(t, fleet, rapid.Bool().Draw(t, "accurate"))
		fates := newWorld(t, policytest.Uniform(fleet), "easy", nil).run(t, jobs)
		want := plainEasy(jobs, fleet)
		for _, j := range jobs {
			if got := fates[j.ID].Admitted; math.Abs(got-want[j.ID]) > 1e-6 {
				t.Errorf("job %d starts at %v, want %v", j.ID, got, want[j.ID])
			}
		}
	})
}

// plainEasy returns the start times of jobs on the given number of processors.
func plainEasy(jobs []job, processors int) map[int64]float64 {
	starts := map[int64]float64{}
	var queue, running []job
	free := func() int {
		n := processors
		for _, j := range running {
			n -= j.Procs
		}
		return n
	}
	serve := func(now float64) {
		for i := 0; i < len(queue); i++ {
			j := queue[i]
			fits := j.Procs <= free()
			if fits && i > 0 {
				// Compute when the first request can start and how many processors are then
				// left.
				shadow, left := plainReservation(queue[0].Procs, free(), now, running, starts)
				fits = now+j.Estimate <= shadow+1e-6 || j.Procs <= left
			}
			if fits {
				starts[j.ID] = now
				running = append(running, j)
				queue = append(queue[:i:i], queue[i+1:]...)
				i = -1
			}
		}
	}
	ends := func() float64 {
		at := math.Inf(1)
		for _, j := range running {
			at = min(at, starts[j.ID]+j.Runtime)
		}
		return at
	}
	for len(jobs) > 0 || len(running) > 0 {
		now := ends()
		if len(jobs) > 0 && jobs[0].Submit < now {
			now = jobs[0].Submit
			queue = append(queue, jobs[0])
			jobs = jobs[1:]
		} else {
			var still []job
			for _, j := range running {
				if starts[j.ID]+j.Runtime > now+1e-9 {
					still = append(still, j)
				}
			}
			running = still
		}
		serve(now)
	}
	return starts
}

// plainReservation returns the time at which the given number of processors will be free
// according to estimates, and how many more will then be free.
func plainReservation(wanted, free int, now float64, running []job, starts map[int64]float64) (at float64, left int) {
	end := func(j job) float64 { return max(now, starts[j.ID]+j.Estimate) }
	at = math.Inf(1)
	for _, j := range running {
		n := free
		for _, other := range running {
			if end(other) <= end(j)+1e-6 {
				n += other.Procs
			}
		}
		if n >= wanted && end(j) < at {
			at, left = end(j), n-wanted
		}
	}
	return at, left
}

// TestStoredReturn checks that, under late: shift, comparing with the return of the last event
// gives the same decisions as comparing with the current return (spec 6.3).
func TestStoredReturn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		specs := policytest.Uniform(rapid.IntRange(1, 5).Draw(t, "hosts"))
		jobs := drawJobs(t, len(specs), true)
		now := brief(jobs, newWorld(t, specs, "librasla", nil).run(t, jobs))
		stored := brief(jobs, newWorld(t, specs, "librasla", options{"current": "stored"}).run(t, jobs))
		if now != stored {
			t.Errorf("recomputed: %s\nstored: %s", now, stored)
		}
	})
}

// TestRoom checks that policies that choose hosts themselves place no task on a host without
// enough memory.
func TestRoom(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"libra", "librarisk", "librasla", "edf", "fcfs", "easy"} {
		specs := policytest.Uniform(3)
		specs[2].Room = hosts.Resources{Memory: 10}
		w := newWorld(t, specs, policy, nil)
		j := job{Runtime: 10, Estimate: 10, Deadline: 100, Procs: 1}
		r := j.Request()
		r.Owner, r.Needs.Min.Memory = w.user, 8
		for n, want := range []contracts.Verdict{contracts.Accept, contracts.Reject} {
			r.ID, r.Nodes = contracts.ID(n), n+1
			d := must(w.broker.Submit(0, &r, hosts.Task{Work: 10}))
			if d.Verdict != want || want == contracts.Accept && d.Placements[0].Host != 2 {
				t.Errorf("%s, %d nodes: %v on %v", policy, r.Nodes, d.Verdict, d.Placements)
			}
		}
	}
}

// TestEasyCounts checks that a free processor without enough memory for the first request in
// the queue counts as a processor that this request does not need.
func TestEasyCounts(t *testing.T) {
	t.Parallel()
	specs := policytest.Uniform(2)
	specs[1].Room = hosts.Resources{Memory: 10}
	w := newWorld(t, specs, "easy", nil)
	for id, want := range []contracts.Verdict{contracts.Accept, contracts.Defer, contracts.Accept} {
		j := job{ID: int64(id), Runtime: 100, Estimate: 100, Deadline: 1e4, Procs: 1}
		r := j.Request()
		r.Owner = w.user
		if id < 2 {
			r.Needs.Min.Memory = 8
		}
		if d := must(w.broker.Submit(0, &r, hosts.Task{Work: 100})); d.Verdict != want {
			t.Errorf("request %d: %v, want %v", id, d.Verdict, want)
		}
	}
}

// TestWords checks that the error for an invalid word in an option lists the valid ones, and
// that every policy names an existing sharing rule.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policy, option, want string }{
		{"edf", "admission", "want one of deadline, none"},
		{"edf", "check", "want one of start, select"},
		{"librarisk", "order", "want one of index, bestfit"},
		{"librarisk", "projection", "want one of dynamic, incumbent, static"},
		{"librarisk", "spare", "want one of proportional, equal, none"},
		{"librasla", "late", "want one of shift, pressure"},
		{"librasla", "protect", "want one of strict, printed"},
		{"librasla", "current", "want one of recompute, stored"},
	} {
		_, err := Table(nil, nil).New(c.policy, options{c.option: "wrong"}.Decode)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %s", c.policy, c.option, err, c.want)
		}
	}
	for _, name := range Table(nil, nil).Names() {
		if rule := Of(name).Sharing; !slices.Contains(sharing.Table().Names(), rule) {
			t.Errorf("%s is made for sharing rule %q, which there is not", name, rule)
		}
	}
}
