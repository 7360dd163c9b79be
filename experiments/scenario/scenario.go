// Package scenario describes an experiment as written in a file: what is run, on which hosts,
// under which rules, and how often.
//
// It reads, checks and prints scenario files. It treats the names of plug-ins as text. The
// caller passes the valid names ([Known]) and decodes their options ([Choice.Decode]).
//
// A library reads YAML, but this package follows paths such as
// configurations.pareto-high.fleet.hosts itself. They identify elements by name or label,
// where goccy's YAMLPath supports only indices, and they may set values that are not in any
// file.
package scenario

// An Experiment runs every configuration under each of its admission policies, with the same
// seeds.
type Experiment struct {
	Name           string          `yaml:"name" validate:"required" doc:"of the experiment; letters, digits and dashes"`
	Title          string          `yaml:"title" doc:"one line for people"`
	Seed           uint64          `yaml:"seed" doc:"every use of chance has a stream derived from it"`
	Replications   int             `yaml:"replications" validate:"min=1,max=1000000" doc:"runs of each configuration, each with its own workload"`
	Until          *Until          `yaml:"until" doc:"when to stop before that; omitted, never"`
	Alphas         []float64       `yaml:"alphas" validate:"min=1,dive,min=0,max=1" doc:"inelasticity of users at which efficiency is computed, in [0,1] (eq. 9)"`
	Sweep          []Axis          `yaml:"sweep" validate:"dive" doc:"fields to vary: every configuration is run at every point of these axes"`
	Figure         *Figure         `yaml:"figure" doc:"what is drawn; omitted, what the market paper draws, or with a sweep its system metrics"`
	Configurations []Configuration `yaml:"configurations" validate:"min=1,dive" doc:"settings to compare"`

	points    []Configuration // at the points of the sweep
	overrides []Override
}

// An Until is the stopping rule of replications: they end as soon as the interval of a
// metric's mean is narrow enough under every policy in every configuration. A file may also
// write it within replications: {min: 5, max: 2000, until: {metric: efficiency_0.5,
// half_width: 0.01}}.
type Until struct {
	Metric    string  `yaml:"metric" validate:"required" doc:"whose interval it is, as 'bourse policies metric' lists them"`
	HalfWidth float64 `yaml:"half_width" validate:"gt=0,max=1e12" doc:"that its 95 % interval is to have, or less: of a confidence sequence, so that stopping keeps its coverage"`
	Min       int     `yaml:"min" validate:"min=2,max=1000000" doc:"replications before it is looked at"`
}

// A Configuration is one setting of everything except the admission policy.
type Configuration struct {
	Name      string   `yaml:"name" validate:"required" doc:"of the configuration; letters, digits and dashes, unique"`
	Fleet     Fleet    `yaml:"fleet" doc:"the hosts"`
	Workload  Workload `yaml:"workload" doc:"who asks for what, when, and what it is worth"`
	Market    Market   `yaml:"market" doc:"how hosts are sold"`
	SLA       SLA      `yaml:"sla" doc:"what a contract promises"`
	Needs     Needs    `yaml:"needs" doc:"resource requirement of every job, per node"`
	Provider  Provider `yaml:"provider" doc:"who sells"`
	Horizon   *float64 `yaml:"horizon" validate:"gt=0,max=1e12" doc:"instant at which the run ends, s: what is open then is cancelled without charge and counts nowhere; omitted, when all is done, or where hosts come and go, with their trace"`
	Admission []Choice `yaml:"admission" validate:"min=1" family:"admission" doc:"policies to compare, each on the same workload"`
}

// A Fleet is a number of hosts that differ only in speed.
type Fleet struct {
	Hosts     int       `yaml:"hosts" validate:"min=1,max=10000000" doc:"number of hosts"`
	CPUs      float64   `yaml:"cpus" validate:"gt=0,max=1e6" doc:"processors a host"`
	Speed     float64   `yaml:"speed" validate:"gt=0,max=1e6" doc:"work per second of a processor; 1 is the reference"`
	Speeds    []float64 `yaml:"speeds" validate:"dive,gt=0,max=1e6" doc:"speeds that hosts take in turn, in place of speed"`
	Cap       float64   `yaml:"cap" validate:"min=0,max=1e6" doc:"processors that one task can use at most; 0 is no cap"`
	Memory    float64   `yaml:"memory" validate:"min=0,max=1e18" doc:"bytes a host"`
	Disk      float64   `yaml:"disk" validate:"min=0,max=1e18" doc:"bytes a host"`
	Bandwidth float64   `yaml:"bandwidth" validate:"min=0,max=1e18" doc:"bytes per second a host"`
	Floor     Floor     `yaml:"floor_per_hour" doc:"what is paid at least, dollars an hour"`

	Availability *Availability `yaml:"availability" doc:"when hosts are there; omitted, always"`
}

// A Floor is the minimum price of resources of a host.
type Floor struct {
	CPU float64 `yaml:"cpu" validate:"min=0,max=1e6" doc:"of each processor that a task gets"`
}

// Second returns the minimum price of a processor, in dollars per second.
func (f Floor) Second() float64 { return f.CPU / 3600 }

// SpeedOf returns the speed of host h.
func (f *Fleet) SpeedOf(h int) float64 {
	if n := len(f.Speeds); n > 0 {
		return f.Speeds[h%n]
	}
	return f.Speed
}

// Capacity returns the work per second of all hosts.
func (f *Fleet) Capacity() float64 {
	if len(f.Speeds) == 0 {
		return float64(f.Hosts) * f.CPUs * f.Speed
	}
	sum := 0.0
	for h := range f.Hosts {
		sum += f.CPUs * f.SpeedOf(h)
	}
	return sum
}

// A Workload is a model, a plan or a log, with its annotations.
type Workload struct {
	Model    *Choice  `yaml:"model" family:"model" doc:"workload model that draws a plan for each replication"`
	Plan     string   `yaml:"plan" doc:"plan file (CSV, plain or gzip) to run as it is, in place of a model"`
	SWF      string   `yaml:"swf" doc:"recorded log (SWF, plain or gzip) to run, in place of a model"`
	Filter   string   `yaml:"filter" doc:"records of the log to take, such as ran,first:2000; beside a model, of the log that --trace puts in its place"`
	Estimate *Choice  `yaml:"estimate" family:"law" doc:"law of estimate over runtime, 1 where it falls below, for jobs of a model; omitted, as the model says"`
	Annotate Options  `yaml:"annotate" doc:"what is done to the jobs: sizes, delay, restore, arrivals, load, inaccuracy, reservations, value, budget, price, urgency"`
	Warmup   float64  `yaml:"warmup" validate:"min=0,max=0.9" doc:"part of the jobs, the first, that run and are not measured"`
	Funds    *float64 `yaml:"funds" validate:"min=0,max=1e12" doc:"what each user has at the start, $; omitted, what its jobs are worth together"`
}

// A Market describes how hosts are sold.
type Market struct {
	Sharing    Choice  `yaml:"sharing" family:"sharing" doc:"what share of a host a contract gets"`
	Bidding    Choice  `yaml:"bidding" family:"bidding" doc:"how a contract chooses hosts and bids"`
	Payment    string  `yaml:"payment" doc:"what is charged"`
	Reserve    float64 `yaml:"reserve" validate:"min=0,max=1e6" doc:"of payment scarce: $ per processor-second on a host whose tasks are not cut, at most what a contract bids"`
	Renew      float64 `yaml:"renew" validate:"min=0,max=1e9" doc:"seconds after which a contract of the spot market (be) bids again, what is left of its budget over what is left of the time until its deadline, in the same proportions; 0 is never"`
	Forecaster Choice  `yaml:"forecaster" family:"forecaster" doc:"estimate of the price percentile"`
	Window     float64 `yaml:"window" validate:"gt=0,max=1e9" doc:"price history that it looks at, s"`
	Instant    string  `yaml:"instant" validate:"oneof=ends-first submissions-first one-by-one" doc:"order of what happens at one instant: ends-first, so that what is freed can be used; submissions-first, and then all ends together; or one-by-one, submissions and then ends in the order of the log, each followed by a look at the queue, as simulators of EASY do"`
}

// An SLA describes what a contract promises, and what a broken promise costs.
type SLA struct {
	Enforcement string   `yaml:"enforcement" validate:"oneof=total per-host" doc:"total: a fast host makes up for a slow one; per-host: each node does its own work"`
	Slack       float64  `yaml:"slack" validate:"gt=0,max=1e6" doc:"deadline = slack x what of names"`
	Of          string   `yaml:"of" validate:"oneof=plan estimate runtime" doc:"what the deadline is a multiple of: the plan's deadline, the user's estimate, or the true runtime"`
	Deadline    string   `yaml:"deadline" validate:"oneof=hard soft plan none" doc:"hard: work stops at the deadline; soft: it goes on; plan: soft where a job is not hard and has a penalty rate; none: jobs have no deadline, which only says over what time a bid spends the budget"`
	RunsOn      bool     `yaml:"runs_on" doc:"work goes on after a hard deadline too, and the promise is broken all the same"`
	Penalty     *Penalty `yaml:"penalty" doc:"linear penalty for delay; omitted, as the plan says"`
}

// A Penalty is linear in the delay.
type Penalty struct {
	Rate float64  `yaml:"rate" validate:"min=0,max=1e6" doc:"$/s of delay"`
	Max  *float64 `yaml:"max" validate:"min=0,max=1e12" doc:"the most that is paid, $; omitted, unbounded"`
}

// Needs are the minimum and maximum resources of one node.
type Needs struct {
	Min Bound `yaml:"min" doc:"at least"`
	Max Bound `yaml:"max" doc:"at most"`
}

// A Bound is one side of a requirement.
type Bound struct {
	CPU       float64 `yaml:"cpu" validate:"min=0,max=1e6" doc:"processors; 0 is no bound"`
	Memory    float64 `yaml:"memory" validate:"min=0,max=1e18" doc:"bytes"`
	Disk      float64 `yaml:"disk" validate:"min=0,max=1e18" doc:"bytes"`
	Bandwidth float64 `yaml:"bandwidth" validate:"min=0,max=1e18" doc:"bytes per second"`
}

// A Provider sells capacity and pays penalties.
type Provider struct {
	Funds *float64 `yaml:"funds" validate:"min=0,max=1e12" doc:"what the provider has for penalties, $; omitted, as much as all users together where there are penalties, else nothing"`
}

// Default returns the default configuration: the cluster and the rules of the paper (§4.1).
func Default() Configuration {
	return Configuration{
		Fleet:  Fleet{Hosts: 15, CPUs: 2, Speed: 1, Cap: 1},
		Market: Market{Sharing: Named("auction"), Bidding: Named("cheapest"), Payment: "spot", Forecaster: Named("chebyshev"), Window: 300, Instant: "ends-first"},
		SLA:    SLA{Enforcement: "total", Slack: 1, Of: "plan", Deadline: "plan"},
	}
}
