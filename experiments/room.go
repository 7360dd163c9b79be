package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/sharing"
	"bourse/experiments/optimum"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// A yardstick is U*, or a bound on it, and the jobs that are completed for it.
type yardstick struct {
	Optimum
	chosen []bool           // one per job
	plan   workloadgen.Plan // in which jobs that do not count are worth nothing
}

// yardstick returns that of the jobs of the arena's plan that efficiency is measured of: those
// that arrive before the horizon, without the first that warm up. There is none where users
// pay their whole budget: no value is left to them, whatever is run.
//
// If deadlines leave no room, every job that is completed in time runs from its arrival on
// and for its runtime, and U* is the paper's: the best set of jobs of which all run like that.
// If they leave room it is a bound over all schedules that respect arrivals and deadlines.
func (a *arena) yardstick(s *setting, warmup float64) yardstick {
	if s.payment.Whole {
		return yardstick{Optimum: Optimum{Proven: true}}
	}
	r := s.room()
	if r.plan = a.counted(s, warmup); r.leavesRoom(s) {
		b := a.relax(s, &r)
		return yardstick{Optimum{Value: b.Reached, Bound: b.Whole, Parts: b.Parts, Room: true}, b.Chosen, r.plan}
	}
	// Where tasks are kept to part of a fast processor, a processor runs several at once.
	processors := int(min(max(float64(s.conf.Fleet.Hosts)*s.conf.Fleet.CPUs, r.capacity), math.MaxInt32))
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

// counted returns the arena's plan, in which jobs that efficiency is not measured of are worth
// nothing.
func (a *arena) counted(s *setting, warmup float64) workloadgen.Plan {
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

// worthless returns a copy of plan in which the jobs that are so have no value.
func worthless(plan workloadgen.Plan, are func(i int, j *workloadgen.Job) bool) workloadgen.Plan {
	plan = slices.Clone(plan)
	for i := range plan {
		if are(i, &plan[i]) {
			plan[i].Value = 0
		}
	}
	return plan
}

// cover makes y a bound on what the users of a run had who got so much at alpha 0. U* is of
// whole jobs; if deadlines leave no room, users to whom part of a job is worth something may
// get more than that from parts. Then their bound is that of divisible jobs.
func (a *arena) cover(s *setting, y *yardstick, got float64) {
	if y.Bound > 0 && got > y.Parts && !y.Room {
		r := s.room()
		r.plan = y.plan
		y.Parts = max(y.Bound, a.relax(s, &r).Parts)
	}
}

// Solved is the last problem of an arena and its solution: configurations that differ in
// policies have one. It is none of many jobs, for which that would be memory of a hundred
// bytes a job.
type solved struct {
	plan               workloadgen.Plan
	processors, widest int
	best               optimum.Solution

	windows  []optimum.Window
	capacity float64
	bounds   optimum.Bounds
}

// manyJobs is beyond how many jobs a problem is solved anew rather than remembered.
const manyJobs = 1 << 15

// A room is how the jobs of a setting may run.
type room struct {
	plan     workloadgen.Plan // the jobs
	fleet    *scenario.Fleet
	task     float64 // processors of a task, at most
	fastest  float64 // speed of the fastest host
	bySpeed  []int   // the first hosts of each speed in turn, the fastest first
	capacity float64 // work per second of the fleet
	widest   int     // nodes, of that a job may have to be admitted
	books    bool    // some policy keeps books: nodes may have one host in common
	offers   bool    // under some policy owners may take offers: nodes may be others
}

func (s *setting) room() room {
	f := &s.conf.Fleet
	r := room{fleet: f, task: f.CPUs, capacity: f.Capacity(), widest: f.Hosts}
	if f.Cap > 0 {
		r.task = min(r.task, f.Cap)
	}
	for h := range max(1, len(f.Speeds)) {
		r.bySpeed = append(r.bySpeed, h)
	}
	slices.SortFunc(r.bySpeed, func(a, b int) int { return cmp.Compare(f.SpeedOf(b), f.SpeedOf(a)) })
	r.fastest = f.SpeedOf(r.bySpeed[0])
	for i := range s.offers {
		o := &s.offers[i]
		r.books = r.books || admission.Books(o.Name)
		r.offers = r.offers || negotiates(&o.Choice)
	}
	if r.books {
		r.widest = max(r.widest, int(min(float64(f.Hosts)*math.Floor(f.CPUs), math.MaxInt32)))
	}
	return r
}

// rate returns the work per second that so many nodes can do at most, each on a host of its
// own, or on a processor of its own where there are books.
func (r *room) rate(nodes int) (sum float64) {
	left, speeds := nodes, len(r.bySpeed)
	for _, i := range r.bySpeed {
		hosts := max(0, min(left, (r.fleet.Hosts-i+speeds-1)/speeds))
		sum += float64(hosts) * r.fleet.SpeedOf(i) * r.task
		if left -= hosts; left == 0 {
			break
		}
	}
	if r.books {
		sum = max(sum, float64(nodes)*r.fastest)
	}
	return min(sum, r.capacity)
}

// leavesRoom reports whether some job that is worth something may be completed in time
// otherwise than by running from its arrival on and for its runtime: it is due later, whatever
// its deadline is made of; or it is due at no time; or its nodes can do more than a processor
// of the reference speed; or its owner may take an offer of other nodes.
func (r *room) leavesRoom(s *setting) bool {
	if r.offers || r.task*r.fastest > 1 || r.books && r.fastest > 1 {
		return true
	}
	var asked contracts.Request
	return slices.ContainsFunc(r.plan, func(j workloadgen.Job) bool {
		s.request(&j, &asked)
		return j.Value > 0 && (asked.OnDemand || asked.SLA.Deadline > j.Runtime)
	})
}

// windows returns when each job of r can do how much, by the horizon.
func (r *room) windows(s *setting) []optimum.Window {
	windows, horizon := make([]optimum.Window, len(r.plan)), s.horizon()
	var asked contracts.Request
	for i := range r.plan {
		j, nodes := &r.plan[i], r.plan[i].Nodes
		if r.offers {
			nodes = r.fleet.Hosts
		}
		if j.Value <= 0 || nodes > r.widest {
			continue
		}
		s.request(j, &asked)
		// What is late, or undone, by no more than rounding counts as done in time (package
		// settlement).
		closes, rounding := asked.Due(), sharing.Tick
		if !asked.OnDemand {
			closes += sharing.Tick + contracts.Tolerance*asked.SLA.Deadline
			rounding += 2 * contracts.Moment(closes) * r.fleet.CPUs * r.fastest
		}
		windows[i] = optimum.Window{
			Opens: j.Arrival, Closes: min(closes, horizon), Value: j.Value,
			Work: j.Work()*(1-contracts.Tolerance) - float64(nodes)*rounding, Rate: r.rate(nodes),
		}
	}
	return windows
}

// relax returns the bounds of r, remembered if they were the last.
func (a *arena) relax(s *setting, r *room) optimum.Bounds {
	windows := r.windows(s)
	if len(windows) > manyJobs {
		return optimum.Relax(windows, r.capacity)
	}
	if p := &a.solved; p.capacity != r.capacity || !slices.Equal(p.windows, windows) {
		p.windows, p.capacity, p.bounds = windows, r.capacity, optimum.Relax(windows, r.capacity)
	}
	return a.solved.bounds
}

// A kind says what stands for U* in a replication.
type kind int

const (
	planner  kind = iota // U* as the paper has it, or none
	unproven             // a bound that no plan was proven to reach
	anyhow               // a bound over all schedules: deadlines leave room
	inParts              // U*, below alpha 1 a bound over parts of jobs

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

// measured says what efficiency is measured by in a study.
func (s *Study) measured() (notes []string) {
	e := s.Experiment
	var all [kinds]int
	for i := range s.bounds {
		for k, n := range s.bounds[i] {
			all[k] += n
		}
	}
	const what = "Efficiency is the sum of utilities over U*"
	switch total := len(e.Configurations) * e.Replications; all[anyhow] {
	case 0:
		notes = append(notes, what+", the best total value that a planner who knows all jobs could fulfil.")
	case total:
		notes = append(notes, what+", a bound: no schedule that respects arrivals and deadlines is worth more.")
	default:
		notes = append(notes, what+", the best total value that a planner who knows all jobs could fulfil, or a bound on it.")
	}
	tell := func(where string, by [kinds]int, of int) {
		say := func(k kind, text string) {
			if by[k] > 0 {
				notes = append(notes, fmt.Sprintf("%s: in %d of %d replications %s", where, by[k], of, text))
			}
		}
		say(unproven, "U* is an upper bound that no plan was proven to reach, so efficiency there is a lower bound.")
		say(anyhow, "deadlines leave room, and U* is an upper bound over all schedules that respect arrivals and deadlines, preemptive and divisible ones included; efficiency there is a lower bound.")
		say(inParts, "users got more from parts of jobs than any set of whole jobs is worth; below alpha 1 U* there is an upper bound that counts parts of jobs, and efficiency a lower bound.")
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
