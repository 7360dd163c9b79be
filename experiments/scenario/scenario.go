// Package scenario describes an experiment as written in a file: the workloads, the hosts,
// the rules and the number of repetitions.
//
// It reads, checks and prints scenario files. It treats the names of plug-ins as text. The
// caller passes the valid names ([Known]) and decodes the options of plug-ins
// ([Choice.Decode]).
//
// [bourse/workloadgen/config] parses the text. This package follows paths such as
// configurations.pareto-high.fleet.hosts. Such a path identifies an element by name or
// label, and it may set a value that is not in any file.
package scenario

import (
	"maps"
	"slices"
)

// An Experiment runs every configuration under each of its admission policies with the same
// seeds.
type Experiment struct {
	Name           string          `yaml:"name" validate:"required" doc:"name of the experiment: letters, digits and dashes"`
	Title          string          `yaml:"title" doc:"description in one line"`
	Seed           uint64          `yaml:"seed" doc:"seed from which every random stream is derived"`
	Replications   int             `yaml:"replications" validate:"min=1,max=1000000" doc:"number of runs of each configuration, each with a different workload"`
	Until          *Until          `yaml:"until" doc:"precision at which the run stops; if omitted, all replications are run"`
	Alphas         []float64       `yaml:"alphas" validate:"min=1,dive,min=0,max=1" doc:"inelasticities of users for which efficiency is computed, in [0,1] (eq. 9)"`
	Sweep          []Axis          `yaml:"sweep" validate:"dive" doc:"fields to vary; every configuration is run at every point of these axes"`
	Figure         *Figure         `yaml:"figure" doc:"figure to draw; if omitted, the market paper's figures or, for a sweep, its system metrics"`
	Judge          *Judge          `yaml:"judge" doc:"settings for 'bourse judge', which compares two policies"`
	Configurations []Configuration `yaml:"configurations" validate:"min=1,dive" doc:"configurations to compare"`

	points    []Configuration // whether the configurations are those at the points of the sweep
	overrides []Override
}

// An Until is a stopping rule for replications. The replications end as soon as the interval
// of a metric's mean is sufficiently narrow under every policy in every configuration. A file
// may also contain this rule inside replications: {min: 5, max: 2000, until: {metric:
// efficiency_0.5, half_width: 0.01}}.
type Until struct {
	Metric    string  `yaml:"metric" validate:"required" doc:"metric whose interval is checked, as listed by 'bourse scenario options metric'"`
	HalfWidth float64 `yaml:"half_width" validate:"gt=0,max=1e12" doc:"largest acceptable half-width of the 95 % interval, which is a confidence sequence and so remains valid after early stopping"`
	Min       int     `yaml:"min" validate:"min=2,max=1000000" doc:"number of replications before the first check"`
}

// A Configuration is a choice of all settings except the admission policy.
type Configuration struct {
	Name      string   `yaml:"name" validate:"required" doc:"unique name of the configuration: letters, digits and dashes"`
	Fleet     Fleet    `yaml:"fleet" doc:"hosts"`
	Workload  Workload `yaml:"workload" doc:"jobs with their arrivals and values"`
	Market    Market   `yaml:"market" doc:"rules of the market"`
	SLA       SLA      `yaml:"sla" doc:"terms of a contract"`
	Needs     Needs    `yaml:"needs" doc:"resource requirements of each job, per node"`
	Provider  Provider `yaml:"provider" doc:"seller"`
	Horizon   *float64 `yaml:"horizon" validate:"gt=0,max=1e12" doc:"end of the run, s; open contracts are then cancelled without charge and not measured; if omitted, the run ends when all jobs are done or the availability trace ends"`
	Admission []Choice `yaml:"admission" validate:"min=1" family:"admission" doc:"policies to compare on the same workload"`
}

// SetDefaults sets the fields that the file omits.
func (c *Configuration) SetDefaults() { *c = Default() }

// A Fleet is a number of hosts that differ only in their speeds, in their numbers of processors
// and in the resources that tasks hold.
type Fleet struct {
	Hosts     int            `yaml:"hosts" validate:"min=1,max=10000000" doc:"number of hosts"`
	CPUs      float64        `yaml:"cpus" validate:"gt=0,max=1e6" doc:"processors per host"`
	Sizes     []float64      `yaml:"sizes" validate:"dive,gt=0,max=1e6" doc:"numbers of processors, assigned to hosts in turn, instead of cpus"`
	Speed     float64        `yaml:"speed" validate:"gt=0,max=1e6" doc:"speed of each processor, relative to a reference processor of speed 1"`
	Speeds    []float64      `yaml:"speeds" validate:"dive,gt=0,max=1e6" doc:"list of speeds assigned to hosts in turn, instead of speed"`
	Cap       float64        `yaml:"cap" validate:"min=0,max=1e6" doc:"maximum number of processors per task; 0 means no limit"`
	Memory    float64        `yaml:"memory" validate:"min=0,max=1e18" doc:"bytes per host"`
	Disk      float64        `yaml:"disk" validate:"min=0,max=1e18" doc:"bytes per host"`
	Bandwidth float64        `yaml:"bandwidth" validate:"min=0,max=1e18" doc:"bandwidth per host, bytes per second"`
	Count     map[string]int `yaml:"count" doc:"number of units of each countable resource per host, by name, such as gpu: 4; at most 8 names in a market"`
	Held      []Held         `yaml:"held" validate:"omitempty,dive" doc:"list of amounts assigned to hosts in turn, instead of memory, disk, bandwidth and count"`
	Whole     []bool         `yaml:"whole" validate:"omitempty" doc:"list of flags assigned to hosts in turn: whether a host sells only whole cores, as a node of Slurm; a task holds them from its start to its end"`
	Floor     Floor          `yaml:"floor_per_hour" doc:"minimum charges, in dollars per hour"`

	Availability *Availability `yaml:"availability" doc:"availability of hosts; if omitted, hosts are always available"`
}

// A Held contains the resources of one host that tasks can hold.
type Held struct {
	Memory    float64        `yaml:"memory" validate:"min=0,max=1e18" doc:"bytes"`
	Disk      float64        `yaml:"disk" validate:"min=0,max=1e18" doc:"bytes"`
	Bandwidth float64        `yaml:"bandwidth" validate:"min=0,max=1e18" doc:"bytes per second"`
	Count     map[string]int `yaml:"count" doc:"number of units of each countable resource, by name"`
}

// A Floor is the minimum price of a host's resources.
type Floor struct {
	CPU float64 `yaml:"cpu" validate:"min=0,max=1e6" doc:"minimum charge per allocated processor, in dollars per hour"`

	// Held are the minimum charges of held resources by name: per GB (1e9 bytes) of memory and disk,
	// per GB/s of bandwidth, and per unit of a countable resource.
	Held map[string]float64 `yaml:",inline"`
}

// Second returns the minimum price of a processor in dollars per second.
func (f *Floor) Second() float64 { return f.CPU / 3600 }

// OnHeld reports whether resources other than processors have a minimum price.
func (f *Floor) OnHeld() bool { return len(f.Held) > 0 }

// SpeedOf returns the speed of host h.
func (f *Fleet) SpeedOf(h int) float64 {
	if n := len(f.Speeds); n > 0 {
		return f.Speeds[h%n]
	}
	return f.Speed
}

// CPUsOf returns the number of processors of host h.
func (f *Fleet) CPUsOf(h int) float64 {
	if n := len(f.Sizes); n > 0 {
		return f.Sizes[h%n]
	}
	return f.CPUs
}

// WholeOf reports whether host h sells only whole cores.
func (f *Fleet) WholeOf(h int) bool { return len(f.Whole) > 0 && f.Whole[h%len(f.Whole)] }

// HeldOf returns the resources of host h that tasks can hold.
func (f *Fleet) HeldOf(h int) Held {
	if n := len(f.Held); n > 0 {
		return f.Held[h%n]
	}
	return Held{f.Memory, f.Disk, f.Bandwidth, f.Count}
}

// Counts returns the names of the countable resources of all hosts, sorted.
func (f *Fleet) Counts() (all []string) {
	for h := range max(1, len(f.Held)) {
		all = slices.AppendSeq(all, maps.Keys(f.HeldOf(h).Count))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Processors returns the total number of processors of all hosts.
func (f *Fleet) Processors() (sum float64) {
	if len(f.Sizes) == 0 {
		return float64(f.Hosts) * f.CPUs
	}
	for h := range f.Hosts {
		sum += f.CPUsOf(h)
	}
	return sum
}

// Capacity returns the total work per second of all hosts.
func (f *Fleet) Capacity() (sum float64) {
	if len(f.Speeds)+len(f.Sizes) == 0 {
		return float64(f.Hosts) * f.CPUs * f.Speed
	}
	for h := range f.Hosts {
		sum += f.CPUsOf(h) * f.SpeedOf(h)
	}
	return sum
}

// A Workload is a model, a plan or a log, with annotations.
type Workload struct {
	Model     *Choice  `yaml:"model" family:"model" doc:"workload model that draws a plan for each replication"`
	Plan      string   `yaml:"plan" doc:"plan file (CSV, plain or gzip) to run unchanged, instead of a model"`
	SWF       string   `yaml:"swf" doc:"recorded log (SWF, plain or gzip) to run, instead of a model"`
	Filter    string   `yaml:"filter" doc:"filter for the records of the log, such as ran,first:2000; with a model, the filter applies to a log given with --trace"`
	Memory    string   `yaml:"memory" validate:"omitempty,oneof=none request used" doc:"log field with the memory of each node: none (the default), request (field 10) or used (field 7). If the value of this field is unknown, the other field is used"`
	Preceding string   `yaml:"preceding" validate:"omitempty,oneof=followed ignored" doc:"arrival of jobs with a predecessor (fields 17 and 18 of a log, columns after and think of a plan). It is followed (think seconds after the predecessor's end or rejection; the default) or ignored (as recorded)"`
	Estimate  *Choice  `yaml:"estimate" family:"law" doc:"distribution of the ratio estimate / runtime (at least 1) for jobs of a model; if omitted, the model's estimates are used"`
	Annotate  Options  `yaml:"annotate" doc:"rules that change the jobs: sizes, delay, restore, arrivals, load, inaccuracy, reservations, value, budget, price and urgency"`
	Warmup    float64  `yaml:"warmup" validate:"min=0,max=0.9" doc:"fraction of the jobs, from the first one, that run but are not measured"`
	Funds     *float64 `yaml:"funds" validate:"min=0,max=1e12" doc:"initial balance of each user, $; if omitted, the total value of the user's jobs"`
}

// A Market describes how hosts are sold.
type Market struct {
	Sharing    Choice         `yaml:"sharing" family:"sharing" doc:"rule that sets each contract's share of a host"`
	Bidding    Choice         `yaml:"bidding" family:"bidding" doc:"strategy by which a contract chooses hosts and bids"`
	Payment    string         `yaml:"payment" doc:"payment rule"`
	Reserve    float64        `yaml:"reserve" validate:"min=0,max=1e6" doc:"reserve price under payment scarce, in $ per processor-second, on a host where every task receives all the capacity that it can use; no contract pays more than its bid"`
	Resources  []string       `yaml:"resources" validate:"omitempty" doc:"resources with a price, other than processors: memory, disk, bandwidth, or names of countable resources"`
	Licences   map[string]int `yaml:"licences" doc:"number of units of each licence by name, such as matlab: 10; a contract holds the units in column count.NAME of the plan until its end"`
	Renew      float64        `yaml:"renew" validate:"min=0,max=1e9" doc:"time between renewals of the bids of spot contracts (policy be), in seconds; 0 means never. A renewal spreads the remaining budget over the remaining time, in the same proportions"`
	Forecaster Choice         `yaml:"forecaster" family:"forecaster" doc:"forecaster of the price percentile"`
	Window     float64        `yaml:"window" validate:"gt=0,max=1e9" doc:"length of the price history that forecasts use, s"`
	Instant    string         `yaml:"instant" validate:"oneof=ends-first submissions-first one-by-one" doc:"order of simultaneous events: ends-first (freed processors can be used at once), submissions-first (all ends follow together), or one-by-one. The order one-by-one processes submissions, then ends in the order of the log, and scans the queue after each event"`
}

// An SLA describes the promise of a contract, and the penalty if the promise is broken.
type SLA struct {
	Enforcement string   `yaml:"enforcement" validate:"oneof=total per-host" doc:"total (fast hosts compensate for slow hosts) or per-host (each node does its own work)"`
	Slack       float64  `yaml:"slack" validate:"gt=0,max=1e6" doc:"factor by which the quantity in 'of' is multiplied to obtain the deadline"`
	Of          string   `yaml:"of" validate:"oneof=plan estimate runtime" doc:"quantity that slack multiplies: plan (the plan's deadline), estimate (the user's estimate) or runtime (the true runtime)"`
	Deadline    string   `yaml:"deadline" validate:"oneof=hard soft plan none" doc:"hard (work stops at the deadline), soft (work continues), plan (soft for jobs with a penalty rate that are not marked hard), or none. With none, the plan's deadline only sets the period over which a bid spends the budget"`
	RunsOn      bool     `yaml:"runs_on" doc:"whether work continues after a hard deadline; the promise counts as broken in any case"`
	Penalty     *Penalty `yaml:"penalty" doc:"linear penalty for delay; if omitted, the plan's penalty"`
}

// A Penalty is a linear function of the delay.
type Penalty struct {
	Rate float64  `yaml:"rate" validate:"min=0,max=1e6" doc:"$/s of delay"`
	Max  *float64 `yaml:"max" validate:"min=0,max=1e12" doc:"maximum penalty, $; if omitted, unlimited"`
}

// Needs are the minimum and maximum resources of one node.
type Needs struct {
	Min Bound `yaml:"min" doc:"minimum"`
	Max Bound `yaml:"max" doc:"maximum"`
}

// A Bound contains the minimum or the maximum of each resource.
type Bound struct {
	CPU       float64 `yaml:"cpu" validate:"min=0,max=1e6" doc:"number of processors; 0 means no bound"`
	Memory    float64 `yaml:"memory" validate:"min=0,max=1e18" doc:"bytes"`
	Disk      float64 `yaml:"disk" validate:"min=0,max=1e18" doc:"bytes"`
	Bandwidth float64 `yaml:"bandwidth" validate:"min=0,max=1e18" doc:"bytes per second"`
}

// A Provider sells capacity and pays penalties.
type Provider struct {
	Funds *float64 `yaml:"funds" validate:"min=0,max=1e12" doc:"provider's funds for penalties, $; if omitted, the total of all users' funds, or 0 without penalties"`
}

// Default returns the default configuration: the paper's cluster and rules (§4.1).
func Default() Configuration {
	return Configuration{
		Fleet:  Fleet{Hosts: 15, CPUs: 2, Speed: 1, Cap: 1},
		Market: Market{Sharing: Named("auction"), Bidding: Named("cheapest"), Payment: "spot", Forecaster: Named("chebyshev"), Window: 300, Instant: "ends-first"},
		SLA:    SLA{Enforcement: "total", Slack: 1, Of: "plan", Deadline: "plan"},
	}
}
