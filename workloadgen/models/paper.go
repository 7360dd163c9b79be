package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/workloadgen"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/value"
)

// PaperOptions are the options of the model "paper". The defaults are the paper's high load.
type PaperOptions struct {
	Jobs   int     `yaml:"jobs" validate:"min=1,max=1e8" doc:"jobs per plan"`
	Users  int     `yaml:"users" validate:"min=1,max=1e8" doc:"users, who submit equal numbers of jobs (to within one)"`
	Budget float64 `yaml:"budget" validate:"min=0,max=1e8" doc:"dollars that each user splits among its jobs"`
	Split  string  `yaml:"split" validate:"omitempty,oneof=work worth" doc:"what budgets are proportional to: work (worth times processor-seconds, the default) or worth"`

	// The defaults of IAT are 30, 92.36 and 480 s. For low load, use a minimum of 90 and a
	// mean of 153.66 s.
	IAT struct {
		Min  float64 `yaml:"min" validate:"min=0" doc:"minimum seconds between arrivals"`
		Mean float64 `yaml:"mean" validate:"gt=0" doc:"mean seconds between arrivals"`
		Max  float64 `yaml:"max" validate:"gt=0,max=1e9" doc:"maximum seconds between arrivals: longer gaps are cut"`
		Of   string  `yaml:"of" validate:"omitempty,oneof=plan law" doc:"scope of the mean: plan (default), each plan has it; or law, the distribution has it, and plans differ"`
		Run  int     `yaml:"run" validate:"min=0,max=1e8" doc:"correlated gaps: sort the gaps, divide them into runs of this many, and permute the runs; 0 or 1 is independent"`
	} `yaml:"iat"`

	Runtime struct {
		Min float64 `yaml:"min" validate:"gt=0" doc:"shortest runtime in seconds"`
		Max float64 `yaml:"max" validate:"gt=0,max=1e11" doc:"longest runtime in seconds"`
	} `yaml:"runtime"`

	Nodes struct {
		Min int `yaml:"min" validate:"min=1" doc:"processors of the smallest job"`
		Max int `yaml:"max" validate:"min=1,max=16777216" doc:"processors of the largest job"`
	} `yaml:"nodes"`

	Value config.Spec `yaml:"value" doc:"value model"`
}

// DefaultPaper returns the paper's configuration under high load.
func DefaultPaper() PaperOptions {
	o := PaperOptions{Jobs: 50, Users: 10, Budget: 100, Value: config.Spec{Name: "pareto"}}
	o.IAT.Min, o.IAT.Mean, o.IAT.Max = 30, 92.36, 480
	o.Runtime.Min, o.Runtime.Max = 120, 960
	o.Nodes.Min, o.Nodes.Max = 4, 10
	return o
}

// Paper is the workload of the market paper (§2 and §4.1). A job draws five uniforms, in this
// order: gap, runtime, nodes, worth, user. The first job arrives at 0, so its gap is drawn but
// not used.
//
//   - The gap before a job is min(Min + k Z, Max), Z ~ HypWeib. By default, each plan has its
//     own k, which makes the mean of its gaps, including those cut at Max, exactly Mean. With
//     "law", one k for all plans makes the mean of the distribution equal to Mean. With Run,
//     the gaps are then sorted and divided into runs, and the runs are permuted (§2, "sort and
//     permute").
//   - Runtime ~ PolyLin given that it lies in [Min, Max]. It is also the estimate and the
//     deadline, so there is no slack.
//   - Nodes = round(Min + (Max-Min)(X-1)/5), where X = 1..6 is the BinBin exponent.
//   - Users are assigned to jobs at random.
//   - A user's budget is split over its jobs in proportion to worth x runtime x
//     nodes, or worth, rounded down to micro-dollars.
type Paper struct {
	o       PaperOptions
	gap     dist.Distribution
	runtime dist.Distribution
	size    *dist.Discrete
	worth   value.Model
	k       float64 // for Of "law"; 0 if each plan has its own
}

func newPaper(decode func(any) error) (workloadgen.Model, error) {
	o := DefaultPaper()
	if err := decode(&o); err != nil {
		return nil, err
	}
	return NewPaper(o)
}

// NewPaper creates the model.
func NewPaper(o PaperOptions) (*Paper, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	gap, err := dist.NewHypWeib(dist.BlueHorizonIAT())
	if err != nil {
		return nil, err
	}
	polylin, err := dist.NewPolyLin(dist.BlueHorizonRuntime())
	if err != nil {
		return nil, err
	}
	runtime, err := dist.Within(polylin, o.Runtime.Min, o.Runtime.Max)
	if err != nil {
		return nil, fmt.Errorf("runtime: %w", err)
	}
	size, err := dist.NewBinBin(dist.BlueHorizonSize())
	if err != nil {
		return nil, err
	}
	worth, err := value.Table().New(o.Value.Name, o.Value.Decode)
	if err != nil {
		return nil, err
	}
	p := &Paper{o: o, gap: gap, runtime: runtime, size: size, worth: worth}
	if o.IAT.Of == "law" {
		quantiles := make(workloadgen.Plan, 20_000)
		for i := range quantiles {
			quantiles[i].Arrival = gap.Quantile((float64(i) + 0.5) / float64(len(quantiles)))
		}
		p.k, err = stretch(quantiles, o.IAT.Mean-o.IAT.Min, o.IAT.Max-o.IAT.Min)
	}
	return p, err
}

func (o *PaperOptions) validate() error {
	if err := config.Check(o); err != nil {
		return err
	}
	switch {
	case o.IAT.Mean <= o.IAT.Min:
		return fmt.Errorf("iat.mean: found %v, want more than iat.min, %v", o.IAT.Mean, o.IAT.Min)
	case o.IAT.Max <= o.IAT.Mean:
		return fmt.Errorf("iat.max: found %v, want more than iat.mean, %v", o.IAT.Max, o.IAT.Mean)
	case o.Runtime.Max <= o.Runtime.Min:
		return fmt.Errorf("runtime.max: found %v, want more than runtime.min, %v", o.Runtime.Max, o.Runtime.Min)
	case o.Nodes.Max < o.Nodes.Min:
		return fmt.Errorf("nodes.max: found %d, want at least nodes.min, %d", o.Nodes.Max, o.Nodes.Min)
	}
	return nil
}

const maxJobs = 100_000_000

// Plan implements [workloadgen.Model].
func (p *Paper) Plan(src rand.Source, n int, into workloadgen.Plan) (workloadgen.Plan, error) {
	if n == 0 {
		n = p.o.Jobs
	}
	if n < 0 || n > maxJobs {
		return nil, fmt.Errorf("%d jobs is not in 1..%d", n, maxJobs)
	}
	plan := resize(into, n)
	for i := range plan {
		gap, run, size, worth, user := dist.Open(src), dist.Open(src), dist.Open(src), dist.Open(src), dist.Open(src)
		runtime := p.runtime.Quantile(run)
		plan[i] = workloadgen.Job{
			ID:       int64(i + 1),
			Arrival:  p.gap.Quantile(gap),
			Runtime:  runtime,
			Estimate: runtime,
			Deadline: runtime,
			Nodes:    p.nodes(size),
			Worth:    math.Min(p.worth.Quantile(worth), workloadgen.MaxWorth),
		}
		deal(plan, i, p.o.Users, user)
	}
	if p.o.IAT.Run > 1 {
		correlate(plan[1:], p.o.IAT.Run, src)
	}
	if err := p.arrive(plan); err != nil {
		return nil, err
	}
	p.split(plan)
	return plan, nil
}

// correlate sorts the gaps, which are stored in Arrival, divides them into runs of n, and
// permutes the runs. Consecutive gaps are then similar.
func correlate(plan workloadgen.Plan, n int, src rand.Source) {
	gaps := make([]float64, len(plan))
	for i := range plan {
		gaps[i] = plan[i].Arrival
	}
	slices.Sort(gaps)
	runs := slices.Collect(slices.Chunk(gaps, n))
	for i := range runs {
		j := min(int(dist.Open(src)*float64(i+1)), i)
		runs[i], runs[j] = runs[j], runs[i]
	}
	at := 0
	for _, run := range runs {
		for _, gap := range run {
			plan[at].Arrival = gap
			at++
		}
	}
}

// resize returns a plan of n jobs. It reuses the memory of into if that is large enough.
func resize(into workloadgen.Plan, n int) workloadgen.Plan {
	if cap(into) < n {
		return make(workloadgen.Plan, n)
	}
	return into[:n]
}

func (p *Paper) nodes(u float64) int {
	const last = 5 // the rank of the largest exponent
	span := float64(p.o.Nodes.Max - p.o.Nodes.Min)
	return int(math.Round(float64(p.o.Nodes.Min) + span*float64(p.size.Rank(u))/last))
}

// deal assigns a user to job i after the earlier jobs have their users. It is one step of a
// shuffle of the deck 1, 2, ..., users, 1, 2, ....
func deal(plan workloadgen.Plan, i, users int, u float64) {
	j := min(int(u*float64(i+1)), i)
	plan[i].User = plan[j].User
	plan[j].User = int64(i%users) + 1
}

// arrive converts the Z stored in Arrival to arrival times.
func (p *Paper) arrive(plan workloadgen.Plan) error {
	lo, hi := p.o.IAT.Min, p.o.IAT.Max
	k := p.k
	if k == 0 {
		var err error
		if k, err = stretch(plan[1:], p.o.IAT.Mean-lo, hi-lo); err != nil {
			return err
		}
	}
	now := 0.0
	plan[0].Arrival = 0
	for i := 1; i < len(plan); i++ {
		now += math.Min(lo+k*plan[i].Arrival, hi)
		plan[i].Arrival = now
	}
	return nil
}

// stretch returns the k for which the mean of min(k Z, top) is mean, where Z is the Arrival of
// each job.
//
// The mean is concave in k, and linear between the points at which another Z is cut. The search
// starts at the k at which no Z would be cut. Each round fixes the Z that are cut at the
// current k, and solves for the k that gives the mean. The value k never decreases and never
// exceeds the solution, and reaches it when a round cuts no more.
func stretch(plan workloadgen.Plan, mean, top float64) (float64, error) {
	k, cut := 0.0, -1
	for {
		sum, over := 0.0, 0
		for i := range plan {
			if z := plan[i].Arrival; k*z >= top {
				over++
			} else {
				sum += z
			}
		}
		if over == cut || len(plan) == 0 {
			return k, nil
		}
		need := mean*float64(len(plan)) - top*float64(over)
		if sum <= 0 || need <= 0 {
			return 0, errNoStretch
		}
		k, cut = need/sum, over
	}
}

var errNoStretch = errors.New("the drawn gaps cannot be scaled to the requested mean")

// split divides each user's budget among its jobs.
func (p *Paper) split(plan workloadgen.Plan) {
	weights := (*workloadgen.Job).Weights
	if p.o.Split == "worth" {
		weights = func(j *workloadgen.Job) [3]float64 { return [3]float64{j.Worth, 1, 1} }
	}
	plan.Split(p.o.Budget, weights)
}
