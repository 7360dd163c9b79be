package workloadgen

// A Job is one row of a work plan.
type Job struct {
	ID   int64 `json:"id" doc:"at least 0, unique in its plan"`
	User int64 `json:"user" doc:"at least 0; 0 if the user is unknown"`

	Arrival  float64 `json:"arrival" doc:"seconds since the origin of the plan, at least 0"`
	Runtime  float64 `json:"runtime" doc:"true seconds on processors of speed 1, more than 0"`
	Estimate float64 `json:"estimate" doc:"runtime that the user estimates, in seconds, more than 0"`
	Deadline float64 `json:"deadline" doc:"seconds after arrival, more than 0"`

	// A reservation starts at least Lead after Arrival, and on-demand work as soon as it can.
	// For on-demand work, Deadline only determines how fast the job's value may be spent.
	Lead     float64 `json:"lead" doc:"earliest start of a reservation, in seconds after arrival, at least 0"`
	OnDemand bool    `json:"on_demand" doc:"starts as soon as possible"`

	// If a job has not ended Cancel seconds after Arrival, its owner cancels it. A job that
	// waits for a decision is withdrawn. Any other job pays the accrued charges, the full fixed
	// price or, for a reservation, the cancellation fee of its policy.
	Cancel float64 `json:"cancel" doc:"seconds after arrival; 0 means never"`

	// A job with a predecessor arrives Think seconds after the predecessor ends or is rejected
	// in the run. Arrival then contains the recorded time, which is used if the run does not
	// include the predecessor.
	After int64   `json:"after,omitempty" doc:"number of the job that this one follows, a job above it; 0 means none"`
	Think float64 `json:"think,omitempty" doc:"seconds from the end of that job to the arrival of this one, at least 0"`

	Nodes int     `json:"nodes" doc:"processors needed at the same time, at least 1"`
	Parts int     `json:"parts,omitempty" doc:"number of gangs, each on its own cluster, all starting together; 0 means 1; ignored if clusters keep no reservation books"`
	CPUs  float64 `json:"cpus,omitempty" doc:"maximum number of processors per node; 0 takes the value from the scenario's needs"`
	Needs *Needs  `json:"needs,omitempty" doc:"resources that each node holds; if omitted, those of the scenario's needs"`

	Worth       float64 `json:"worth" doc:"relative value as drawn, at least 0"`
	Value       float64 `json:"value" doc:"budget in dollars, at least 0"`
	Class       string  `json:"class" doc:"admission class that the plan requests; if empty, the scenario decides"`
	Hard        bool    `json:"hard" doc:"completion after the deadline is worth nothing"`
	Urgent      bool    `json:"urgent" doc:"whether the job is in the high urgency class"`
	PenaltyRate float64 `json:"penalty_rate" doc:"dollars per second of delay, at least 0"`
}

// Needs are the resources that each node of a job holds from its start to its end. Jobs may
// share them, so they must not be changed.
type Needs struct {
	Memory    float64        `json:"memory,omitempty" doc:"bytes"`
	Disk      float64        `json:"disk,omitempty" doc:"bytes"`
	Bandwidth float64        `json:"bandwidth,omitempty" doc:"bytes per second"`
	Counts    map[string]int `json:"count,omitempty" doc:"units of each countable resource, such as gpu"`
}

// Work returns the job's true work in processor-seconds.
func (j *Job) Work() float64 { return j.Runtime * float64(j.Nodes) }
