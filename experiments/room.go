package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/experiments/optimum"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// A yardstick is U*, or a bound on U*, with the jobs that the optimal schedule completes.
type yardstick struct {
	Optimum
	chosen []bool           // one element per job
	plan   workloadgen.Plan // the plan, in which jobs that do not count have value 0
}

// yardstick returns the yardstick for the jobs on which efficiency is measured. These are the
// jobs of the workspace's plan that arrive before the horizon and after the warm-up. The
// yardstick is zero in two cases. First, if users pay their whole budget, no schedule leaves
// them any utility. Second, if jobs follow other jobs, their arrivals depend on the schedule.
//
// If deadlines leave no slack, a job completed in time must run from its arrival without a
// pause. U* is then defined as in the paper: the highest total value of a set of jobs that can
// all run in this way. If deadlines leave slack, U* is a bound over all schedules that respect
// arrivals and deadlines.
func (a *workspace) yardstick(s *setting, warmup float64) yardstick {
	if s.payment.Whole || follows(a.plan) {
		return yardstick{Optimum: Optimum{Proven: true}}
	}
	r := s.room()
	if r.plan = a.counted(s, warmup); r.leavesRoom(s) {
		b := a.relax(s, &r)
		return yardstick{Optimum{Value: b.Reached, Bound: b.Whole, Parts: b.Parts, Room: true}, b.Chosen, r.plan}
	}
	// If a task may use only part of a fast processor, one processor can run several tasks at
	// the same time.
	processors := int(min(max(s.conf.Fleet.Processors(), r.capacity), math.MaxInt32))
	plan, horizon := r.plan, s.horizon()
	if !math.IsInf(horizon, 1) {
		plan = worthless(plan, func(_ int, j *workloadgen.Job) bool { return j.Arrival+j.Runtime > horizon+sharing.Tick })
	}
	if len(plan) > manyJobs {
		return planned(r.plan, new(optimum.Solver).Solve(plan, processors, r.widest, optimum.Limits{}))
	}
	if p := &a.solved; p.processors != processors || p.widest != r.widest || !slices.Equal(p.plan, plan) {
		p.processors, p.widest, p.plan = processors, r.widest, append(p.plan[:0], plan...)
		p.best = a.solver.Solve(plan, processors, r.widest, optimum.Limits{})
	}
	return planned(r.plan, a.solved.best)
}

func planned(plan workloadgen.Plan, s optimum.Solution) yardstick {
	return yardstick{Optimum{Value: s.Value, Bound: s.Bound, Parts: s.Bound, Proven: s.Proven}, s.Chosen, plan}
}

// counted returns the workspace's plan with the value 0 for jobs on which efficiency is not
// measured.
func (a *workspace) counted(s *setting, warmup float64) workloadgen.Plan {
	horizon := s.horizon()
	if warmup == 0 && math.IsInf(horizon, 1) {
		return a.plan
	}
	submitted := 0
	for i := range a.plan {
		if a.plan[i].Arrival < horizon {
			submitted++
		}
	}
	warm := int(warmup * float64(submitted))
	return worthless(a.plan, func(i int, j *workloadgen.Job) bool { return i < warm || j.Arrival >= horizon })
}

// worthless returns a copy of plan in which every job for which are returns true has the value
// 0.
func worthless(plan workloadgen.Plan, are func(i int, j *workloadgen.Job) bool) workloadgen.Plan {
	plan = slices.Clone(plan)
	for i := range plan {
		if are(i, &plan[i]) {
			plan[i].Value = 0
		}
	}
	return plan
}

// cover raises the bounds in y if users with alpha 0 obtained a higher total utility. U*
// counts whole jobs. If deadlines leave no slack, users who value partial results may obtain
// more than U* from parts of jobs. In that case, the bound for divisible jobs applies.
func (a *workspace) cover(s *setting, y *yardstick, got float64) {
	if y.Bound > 0 && got > y.Parts && !y.Room {
		r := s.room()
		r.plan = y.plan
		y.Parts = max(y.Bound, a.relax(s, &r).Parts)
	}
}

// A solved contains the last problem of a workspace and its solution. Configurations that
// differ only in their policies share the solution. Large problems are not stored, because
// they take about 100 bytes per job.
type solved struct {
	plan               workloadgen.Plan
	processors, widest int
	best               optimum.Solution

	windows  []optimum.Window
	capacity float64
	bounds   optimum.Bounds
}

// manyJobs is the largest number of jobs for which solutions are stored.
const manyJobs = 1 << 15

// A room describes the hosts and times that the jobs of a setting may use.
type room struct {
	plan     workloadgen.Plan // the jobs
	fleet    *scenario.Fleet
	cpus     float64 // processors of the largest host
	fastest  float64 // speed of the fastest host
	byRate   []int   // first host of each combination of speed and size, in descending order of the rate at which a task can work there
	capacity float64 // total work per second of the fleet
	widest   int     // maximum number of nodes with which any policy can admit a job
	books    bool    // at least one policy uses a reservation book, so nodes may share a host
	packs    bool    // at least one policy packs nodes, each on its own processor
	offers   bool    // under at least one policy, owners may accept offers that change the number of nodes
}

func (s *setting) room() room {
	f := &s.conf.Fleet
	r := room{fleet: f, capacity: f.Capacity(), widest: f.Hosts}
	kinds := max(1, len(f.Speeds))
	if len(f.Sizes) > 0 {
		kinds = f.Hosts
	}
	for h := range kinds {
		r.byRate = append(r.byRate, h)
		r.cpus, r.fastest = max(r.cpus, f.CPUsOf(h)), max(r.fastest, f.SpeedOf(h))
	}
	slices.SortFunc(r.byRate, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.SpeedOf(b)*r.task(b), f.SpeedOf(a)*r.task(a)), cmp.Compare(a, b))
	})
	for i := range s.offers {
		o := &s.offers[i]
		r.books = r.books || o.about.Books
		r.packs = r.packs || s.packs(o)
		r.offers = r.offers || Negotiates(&o.Choice)
		r.widest = max(r.widest, s.widest(o))
	}
	return r
}

// packs reports whether several nodes of a job may share a host under o.
func (s *setting) packs(o *offer) bool { return s.common.Packed && o.about.Packs }

// widest returns the maximum number of nodes with which a job can be admitted under o.
func (s *setting) widest(o *offer) int {
	f := &s.conf.Fleet
	most := 0.0
	switch {
	case o.about.Books:
		most = float64(f.Hosts) * math.Floor(f.CPUs)
	case s.packs(o):
		for h := range f.Hosts {
			most += max(1, math.Floor(f.CPUsOf(h)))
		}
	}
	return max(f.Hosts, int(min(most, math.MaxInt32)))
}

// task returns the maximum number of processors that a task can use on host h.
func (r *room) task(h int) float64 {
	if most := r.fleet.Cap; most > 0 {
		return min(r.fleet.CPUsOf(h), most)
	}
	return r.fleet.CPUsOf(h)
}

// rate returns the highest rate of work of the given number of nodes, in processor-seconds
// per second. Each node has its own host or, with a reservation book, its own processor.
func (r *room) rate(nodes int) (sum float64) {
	left, kinds := nodes, len(r.byRate)
	for _, i := range r.byRate {
		hosts := max(0, min(left, (r.fleet.Hosts-i+kinds-1)/kinds))
		sum += float64(hosts) * r.fleet.SpeedOf(i) * r.task(i)
		if left -= hosts; left == 0 {
			break
		}
	}
	if r.books {
		sum = max(sum, float64(nodes)*r.fastest)
	}
	if r.packs {
		sum = max(sum, float64(nodes)*r.fleet.SpeedOf(r.byRate[0])*r.task(r.byRate[0]))
	}
	return min(sum, r.capacity)
}

// leavesRoom reports whether some job with a positive value could be completed in time in more
// than one way, not only by running from its arrival for exactly its runtime. This is the case
// if the job's deadline leaves slack or does not exist, or if its nodes can work faster than
// one processor of the reference speed. It is also the case if the owner may accept an offer
// with another number of nodes.
func (r *room) leavesRoom(s *setting) bool {
	if r.offers || r.fleet.SpeedOf(r.byRate[0])*r.task(r.byRate[0]) > 1 || r.books && r.fastest > 1 {
		return true
	}
	var asked contracts.Request
	return slices.ContainsFunc(r.plan, func(j workloadgen.Job) bool {
		s.request(&j, &asked)
		return j.Value > 0 && (asked.OnDemand || asked.SLA.Deadline > j.Runtime)
	})
}

// windows returns the time window, the work and the maximum rate of each job of r. Each window
// ends at the horizon or earlier.
func (r *room) windows(s *setting) []optimum.Window {
	windows, horizon := make([]optimum.Window, len(r.plan)), s.horizon()
	var asked contracts.Request
	for i := range r.plan {
		j, nodes := &r.plan[i], r.plan[i].Nodes
		if r.offers {
			nodes = r.widest
		}
		if j.Value <= 0 || nodes > r.widest {
			continue
		}
		s.request(j, &asked)
		// A job counts as done in time if only rounding errors make it late or incomplete (see
		// package settlement).
		closes, rounding := asked.Due(), sharing.Tick
		if !asked.OnDemand {
			closes += sharing.Tick + contracts.Tolerance*asked.SLA.Deadline
			rounding += 2 * contracts.Moment(closes) * r.cpus * r.fastest
		}
		windows[i] = optimum.Window{
			Opens: j.Arrival, Closes: min(closes, horizon), Value: j.Value,
			Work: j.Work()*(1-contracts.Tolerance) - float64(nodes)*rounding, Rate: r.rate(nodes),
		}
	}
	return windows
}

// relax returns the bounds on the total value of r's jobs. If the problem is the same as the
// last one, it returns the previous result.
func (a *workspace) relax(s *setting, r *room) optimum.Bounds {
	windows := r.windows(s)
	if len(windows) > manyJobs {
		return optimum.Relax(windows, r.capacity)
	}
	if p := &a.solved; p.capacity != r.capacity || !slices.Equal(p.windows, windows) {
		p.windows, p.capacity, p.bounds = windows, r.capacity, optimum.Relax(windows, r.capacity)
	}
	return a.solved.bounds
}

// A kind states how the reference value U* of a replication was obtained.
type kind int

const (
	planner  kind = iota // U* as defined in the paper, or none
	unproven             // an upper bound; no plan has been proven to reach it
	anyhow               // a bound over all schedules, because deadlines leave slack
	inParts              // U*; for users with alpha below 1, a bound over parts of jobs

	kinds = iota
)

func (o *Optimum) kind() kind {
	switch {
	case o.Room:
		return anyhow
	case o.Parts > o.Bound:
		return inParts
	case !o.Proven:
		return unproven
	}
	return planner
}

// Measured describes the reference value by which a study measures efficiency.
func (s *Study) Measured() (notes []string) {
	e := s.Experiment
	var all [kinds]int
	for i := range s.bounds {
		for k, n := range s.bounds[i] {
			all[k] += n
		}
	}
	const what = "Efficiency is the sum of utilities divided by U*"
	switch total := len(e.Configurations) * e.Replications; all[anyhow] {
	case 0:
		notes = append(notes, what+", the highest total value that a planner who knows all jobs in advance could achieve.")
	case total:
		notes = append(notes, what+", which is a bound: no schedule that respects arrivals and deadlines has a higher value.")
	default:
		notes = append(notes, what+", the highest total value that a planner who knows all jobs in advance could achieve, or a bound on this value.")
	}
	tell := func(where string, by [kinds]int, of int) {
		say := func(k kind, text string) {
			if by[k] > 0 {
				notes = append(notes, fmt.Sprintf("%s: in %d of %d replications %s", where, by[k], of, text))
			}
		}
		say(unproven, "U* is an upper bound that may not be attainable, so efficiency is then a lower bound.")
		say(anyhow, "deadlines leave slack, so U* is an upper bound on the value of all schedules that respect arrivals and deadlines. This includes preemptive and divisible schedules. Efficiency is then a lower bound.")
		say(inParts, "users gained more from partly completed jobs than any set of completed jobs is worth. For alpha below 1, U* is therefore an upper bound that includes partly completed jobs, and efficiency is a lower bound.")
	}
	if len(e.Sweep) > 0 {
		tell(fmt.Sprintf("%d points", len(e.Configurations)), all, len(e.Configurations)*e.Replications)
		return notes
	}
	for i, c := range e.Configurations {
		tell(c.Name, s.bounds[i], e.Replications)
	}
	return notes
}
