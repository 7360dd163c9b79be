package workloadgen

// A Job is one row of a work plan.
type Job struct {
	ID   int64 // at least 0, unique in its plan
	User int64 // at least 0; 0 where the user is not known

	Arrival  float64 // seconds since the origin of the plan, at least 0
	Runtime  float64 // true seconds on processors of speed 1, more than 0
	Estimate float64 // seconds that the user believes Runtime to be, more than 0
	Deadline float64 // seconds after Arrival, more than 0

	// A reservation starts Lead or more after Arrival, on-demand work as soon as it
	// can: Deadline then only says how fast its value may be spent.
	Lead     float64 // seconds, at least 0
	OnDemand bool

	// A job that has not ended Cancel after Arrival is taken back by its owner then:
	// one that waits for a decision is gone, another pays what has accrued, a fixed
	// price in whole, and a reservation the fee of its policy.
	Cancel float64 // seconds; 0 is never

	Nodes int // processors needed at the same time, at least 1
	Parts int // gangs that the nodes are in, each on a cluster of its own, all with one start; 0 is one, and so it is where clusters keep no books

	Worth       float64 // relative value as drawn, at least 0
	Value       float64 // budget in dollars, at least 0
	Class       string  // admission class that the plan asks for; empty leaves it to the scenario
	Hard        bool    // completion after the deadline is worth nothing
	Urgent      bool    // of the high urgency class
	PenaltyRate float64 // dollars per second of delay, at least 0
}

// Work returns the job's true work in processor-seconds.
func (j *Job) Work() float64 { return j.Runtime * float64(j.Nodes) }
