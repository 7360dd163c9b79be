package experiments

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/hosts/eventheap"
	"bourse/workloadgen"
)

// followers describes a plan in which some jobs follow other jobs. A job that follows another
// one arrives when its think time has passed after the other job was completed or rejected in
// the run [D]. Job logs do not specify what happens after a rejected or killed job. This
// package assumes that the user notices the rejection and continues. A job whose predecessor
// never ends does not arrive. If the predecessor is not in the plan, the job arrives at the
// time stated in the plan.
//
// During the run, the plan of the workspace starts with the submitted jobs, in the order of
// their arrivals in this run. All other data refer to jobs by their positions in the recorded
// plan. These positions decide ties.
type followers struct {
	ids   []int64           // job numbers, by position
	think []float64         // think times, by position
	of    map[int64][]int32 // positions of the jobs that follow a job, by the number of that job
}

// due is the part of the state of followers that changes during a run.
type due struct {
	ready          eventheap.Heap // jobs that have not been submitted but whose arrival time is known
	last           int32          // job that was removed last from ready
	ended, refused int            // numbers of ended and of rejected contracts whose followers have been added to ready
}

// follows reports whether any job of plan follows another job.
func follows(plan workloadgen.Plan) bool {
	return slices.ContainsFunc(plan, func(j workloadgen.Job) bool { return j.After != 0 })
}

// follow prepares the run of a plan in which some jobs follow others. The run has its own copy
// of the plan, because arrivals depend on the policy.
func (a *workspace) follow() {
	if a.followers = nil; !follows(a.plan) {
		return
	}
	a.plan = slices.Clone(a.plan)
	f := &followers{of: make(map[int64][]int32)}
	a.due = due{}
	for i := range a.plan {
		j := &a.plan[i]
		f.ids, f.think = append(f.ids, j.ID), append(f.think, j.Think)
		if j.After != 0 && a.places.Find(j.After) >= 0 {
			f.of[j.After] = append(f.of[j.After], int32(i))
		} else {
			a.due.ready.Set(int32(i), j.Arrival)
		}
	}
	a.followers = f
}

// released makes the followers of a job ready. The job ended or was rejected at the given
// time.
func (a *workspace) released(id int64, at float64) {
	for _, i := range a.followers.of[id] {
		a.due.ready.Set(i, at+a.followers.think[i])
	}
}

// arriving returns the time of the next arrival. It first makes the followers of recently
// ended jobs ready.
func (a *workspace) arriving() float64 {
	ended, refused := a.broker.Ended(), a.broker.Refused()
	for ; a.due.ended < len(ended); a.due.ended++ {
		c := &ended[a.due.ended]
		a.released(int64(c.ID), c.Ended)
	}
	for ; a.due.refused < len(refused); a.due.refused++ {
		r := &refused[a.due.refused]
		a.released(int64(r.ID), r.At)
	}
	return a.due.ready.First()
}

// bring moves the next arriving job to position n of the plan and sets its arrival in this
// run.
func (a *workspace) bring(n int) {
	i, at, _ := a.due.ready.Min()
	a.due.ready.Remove(i)
	a.due.last = i
	from := a.places.Find(a.followers.ids[i])
	a.plan[n], a.plan[from] = a.plan[from], a.plan[n]
	a.bills[n], a.bills[from] = a.bills[from], a.bills[n]
	a.places.Put(a.plan[n].ID, n)
	a.places.Put(a.plan[from].ID, from)
	a.plan[n].Arrival = at
}

// recorded sets the arrival times of jobs to the planned times, if the scenario requests it.
// It must not change a plan that is shared with other runs.
func (a *workspace) recorded(w *scenario.Workload, shared workloadgen.Plan) {
	if w.Preceding != "ignored" || !follows(a.plan) {
		return
	}
	a.own(shared)
	for i := range a.plan {
		a.plan[i].After, a.plan[i].Think = 0, 0
	}
}

// own replaces the plan of the workspace by a copy if the plan is shared with other runs.
func (a *workspace) own(shared workloadgen.Plan) {
	if len(a.plan) > 0 && len(shared) > 0 && &a.plan[0] == &shared[0] {
		a.drawn = append(a.drawn[:0], shared...)
		a.plan = a.drawn
	}
}

// A chain recomputes the arrivals of jobs that follow others. It uses the result rows of a
// run.
type chain struct {
	ended map[int64]ended // by job number
	seen  map[int]bool    // positions of the jobs that have rows
	last  float64         // arrival time of the last row
}

// An ended is the end of a job. The table does not contain the time at which a job was
// rejected, which can be later than the arrival of the job.
type ended struct {
	at      float64
	exactly bool // whether the job ended exactly at this time; if false, it ended then or later
}

// arrival returns the earliest arrival time of a job in the workspace's plan. It is +Inf if
// the job's predecessor has not ended or was rejected at an unknown time.
func (c *chain) arrival(a *workspace, j *workloadgen.Job) float64 {
	if j.After == 0 || a.places.Find(j.After) < 0 {
		return j.Arrival
	}
	if e, ok := c.ended[j.After]; ok && e.exactly {
		return e.at + j.Think
	}
	return math.Inf(1)
}

// arrive returns job j with the arrival time that follows from the earlier rows. It records
// the end of the job from the row of the job. Rows must be in the order of arrival.
func (c *chain) arrive(a *workspace, j workloadgen.Job, row *results.Job) *workloadgen.Job {
	e, ok := c.ended[j.After]
	if j.Arrival = c.arrival(a, &j); ok && !e.exactly && row.Arrival >= e.at+j.Think {
		j.Arrival = row.Arrival
	}
	if j.Arrival < c.last {
		j.Arrival = c.last
	}
	c.last = max(c.last, row.Arrival)
	switch row.Decision {
	case contracts.Accept.String():
		if row.Finish != nil {
			c.ended[j.ID] = ended{*row.Finish, true}
		}
	case contracts.Reject.String():
		c.ended[j.ID] = ended{row.Arrival, false}
	}
	return &j
}
