package workloadgen

// A Job is one row of a work plan.
type Job struct {
	ID   int64 `json:"id" doc:"at least 0, unique in its plan"`
	User int64 `json:"user" doc:"at least 0; 0 where the user is not known"`

	Arrival  float64 `json:"arrival" doc:"seconds since the origin of the plan, at least 0"`
	Runtime  float64 `json:"runtime" doc:"true seconds on processors of speed 1, more than 0"`
	Estimate float64 `json:"estimate" doc:"seconds that the user believes the runtime to be, more than 0"`
	Deadline float64 `json:"deadline" doc:"seconds after arrival, more than 0"`

	// A reservation starts at least Lead after Arrival, and on-demand work as soon as it can.
	// For on-demand work, Deadline only determines how fast its value may be spent.
	Lead     float64 `json:"lead" doc:"seconds after arrival, at least 0: a reservation does not start before"`
	OnDemand bool    `json:"on_demand" doc:"starts as soon as it can"`

	// If a job has not ended Cancel after Arrival, its owner cancels it. If it waits for a
	// decision, it is withdrawn. Otherwise it pays what has accrued, a fixed price in full,
	// or, for a reservation, the fee of its policy.
	Cancel float64 `json:"cancel" doc:"seconds after arrival; 0 is never"`

	Nodes int     `json:"nodes" doc:"processors needed at the same time, at least 1"`
	Parts int     `json:"parts,omitempty" doc:"gangs that the nodes are in, each on a cluster of its own, all with one start; 0 is one, and so it is where clusters keep no books"`
	CPUs  float64 `json:"cpus,omitempty" doc:"processors that a node uses at most; 0 is what the scenario's needs say"`

	Worth       float64 `json:"worth" doc:"relative value as drawn, at least 0"`
	Value       float64 `json:"value" doc:"budget in dollars, at least 0"`
	Class       string  `json:"class" doc:"admission class that the plan asks for; empty leaves it to the scenario"`
	Hard        bool    `json:"hard" doc:"completion after the deadline is worth nothing"`
	Urgent      bool    `json:"urgent" doc:"of the high urgency class"`
	PenaltyRate float64 `json:"penalty_rate" doc:"dollars per second of delay, at least 0"`
}

// Work returns the job's true work in processor-seconds.
func (j *Job) Work() float64 { return j.Runtime * float64(j.Nodes) }
