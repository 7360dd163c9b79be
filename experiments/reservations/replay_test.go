// Package reservations compares the market's reservations with an oracle. The oracle
// replays a list of jobs on clusters that quote and with a matchmaker that chooses, and
// measures the outcomes. The oracle is independent of how a cluster plans and how a
// matchmaker chooses.
//
// Reference: Farooq, Majumdar, Parsons, "A Framework to Achieve Guaranteed QoS for
// Applications and High System Performance in Multi-Institutional Grid Computing", §4.
//
// Times and durations are whole seconds, as in hosts/timetable.
package reservations

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// A Job has the user's statements and the true values.
type Job struct {
	timetable.Job
	Runtime int64 // r >= 1, seconds at reference speed
}

// Work returns n × r in node-seconds at reference speed.
func (j *Job) Work() int64 { return int64(j.Nodes) * j.Runtime }

// validate returns an error that names the invalid field, or nil.
func (j *Job) validate() error {
	if err := j.Validate(); err != nil {
		return err
	}
	if j.Runtime < 1 || j.Runtime > timetable.Horizon {
		return fmt.Errorf("job %d: runtime %d, want 1 to %d", j.ID, j.Runtime, int64(timetable.Horizon))
	}
	return nil
}

// Status states the outcome of a job.
type Status string

// The possible statuses.
const (
	Rejected Status = "rejected"
	Done     Status = "done"
	Late     Status = "late"   // completed after its deadline
	Killed   Status = "killed" // killed by the cluster, because it exceeded its estimate
)

// An Outcome is a job and its outcome. If the job was rejected, only the job and the status
// are defined, and the cluster is -1.
type Outcome struct {
	Job
	Status  Status
	Cluster int // index of the cluster that accepted it
	Zeta    int64
	ZetaAll int64

	InitialStart      int64 // start in the quote
	InitialCompletion int64 // completion in the quote
	Start             int64 // first start
	End               int64
	NodeIDs           []int32 // increasing; nil on a preemptive cluster
}

// A Config describes the clusters on which a list of jobs is replayed.
type Config struct {
	Clusters   []timetable.Config
	Preempt    bool                   // whether clusters may suspend and resume jobs
	Matchmaker matchmaking.Matchmaker // chooses the clusters of reservations

	// OnDemand maps the on-demand jobs; nil means the Matchmaker. The paper applies its
	// algorithms to all jobs, but an on-demand job has no deadline to miss, so ff and maxu
	// then send every one to the same cluster.
	OnDemand matchmaking.Matchmaker

	// OnDemandFactor f > 0 gives on-demand jobs the deadline a + q + f*q, rounded up. 0
	// means no deadline.
	OnDemandFactor float64
}

// Run replays jobs until the last has ended and returns one outcome per job, in the order
// of jobs. Within one second, events on the clusters are processed before arrivals, and
// arrivals in the order of their ids.
func Run(c Config, jobs []Job) ([]Outcome, error) {
	r, err := newReplay(c, jobs)
	if err != nil {
		return nil, err
	}
	for _, i := range byArrival(r.outcomes) {
		o := &r.outcomes[i]
		r.advance(o.Arrival)
		if err := r.submit(o); err != nil {
			return nil, err
		}
	}
	r.advance(math.MaxInt64)
	for i := range r.outcomes {
		if r.outcomes[i].Status == "" {
			panic(fmt.Sprintf("reservations: job %d never ended", r.outcomes[i].ID))
		}
	}
	return r.outcomes, nil
}

// A replay is a run in progress.
type replay struct {
	config   Config
	clusters []*cluster
	window   []matchmaking.Seller
	outcomes []Outcome
	byID     map[int64]*Outcome
	facts    []timetable.Fact
}

func newReplay(c Config, jobs []Job) (*replay, error) {
	r := &replay{config: c, outcomes: make([]Outcome, len(jobs)), byID: make(map[int64]*Outcome, len(jobs))}
	if c.Matchmaker == nil || len(c.Clusters) == 0 {
		return nil, fmt.Errorf("reservations: no matchmaker or no cluster")
	}
	if math.IsNaN(c.OnDemandFactor) || c.OnDemandFactor < 0 || c.OnDemandFactor > 1e6 {
		return nil, fmt.Errorf("reservations: on-demand factor %v, want 0 to 1e6", c.OnDemandFactor)
	}
	if c.OnDemand == nil {
		r.config.OnDemand = c.Matchmaker
	}
	for i, cc := range c.Clusters {
		cl, err := open(cc, c.Preempt)
		if err != nil {
			return nil, fmt.Errorf("cluster %d: %w", i, err)
		}
		r.clusters = append(r.clusters, cl)
		r.window = append(r.window, cl)
	}
	for i, j := range jobs {
		if f := c.OnDemandFactor; f > 0 && j.Kind == timetable.OnDemand {
			j.Deadline = j.Arrival + j.Estimate + timetable.Times(f, j.Estimate)
		}
		if err := j.validate(); err != nil {
			return nil, fmt.Errorf("reservations: %w", err)
		}
		if r.byID[j.ID] != nil {
			return nil, fmt.Errorf("reservations: job %d: given twice", j.ID)
		}
		r.outcomes[i].Job = j
		r.byID[j.ID] = &r.outcomes[i]
	}
	return r, nil
}

// submit maps o to a cluster and commits it there.
func (r *replay) submit(o *Outcome) error {
	m := r.config.Matchmaker
	if o.Kind == timetable.OnDemand {
		m = r.config.OnDemand
	}
	choice, ok := m.Match(o.Arrival, o.Job.Job, r.window)
	if !ok {
		o.Status, o.Cluster = Rejected, -1
		return nil
	}
	q := choice.Quote
	o.Cluster, o.Zeta, o.ZetaAll = choice.Seller, q.Zeta, q.ZetaAll
	o.InitialStart, o.InitialCompletion = q.Start, q.Completion
	cl := r.clusters[choice.Seller]
	facts, err := cl.accept(o.Arrival, q, o.Runtime, r.facts[:0])
	if err != nil {
		return fmt.Errorf("reservations: cluster %d: %w", choice.Seller, err)
	}
	r.note(cl, facts)
	return nil
}

// advance processes every event due by now, second by second, so that the nodes of a job
// are read while it is running.
func (r *replay) advance(now int64) {
	for _, cl := range r.clusters {
		for next := cl.next(); next <= now && next != timetable.Forever; next = cl.next() {
			r.note(cl, cl.pass(next, r.facts[:0]))
		}
	}
}

// note records the events in the outcomes of their jobs.
func (r *replay) note(cl *cluster, facts []timetable.Fact) {
	r.facts = facts
	for _, f := range facts {
		o := r.byID[f.Job]
		switch f.What {
		case timetable.Started:
			o.Start = f.At
			o.NodeIDs = slices.Clone(cl.Nodes(f.Job))
		case timetable.Ended:
			o.End, o.Status = f.At, Done
			if f.At > o.Deadline {
				o.Status = Late
			}
		case timetable.Killed:
			o.End, o.Status = f.At, Killed
		}
	}
}

// byArrival returns the indices of outcomes ordered by arrival and then id.
func byArrival(outcomes []Outcome) []int {
	order := make([]int, len(outcomes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &outcomes[a], &outcomes[b]
		return cmp.Or(cmp.Compare(x.Arrival, y.Arrival), cmp.Compare(x.ID, y.ID))
	})
	return order
}
