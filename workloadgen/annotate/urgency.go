package annotate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/bank/exact"
	"bourse/workloadgen"
	"bourse/workloadgen/dist"
)

// Urgency assigns every job a class, high or low urgency. The class determines the factors of
// its deadline and, with SLA, of its budget and penalty rate (Risk §4, SLA §5). Factors are
// normally distributed within a class. The papers do not state the standard deviation; it is
// CV times the mean.
type Urgency struct {
	High     float64 `yaml:"high" validate:"min=0,max=1" doc:"fraction of jobs in the high class"`
	CV       float64 `yaml:"cv" validate:"min=0,max=10" doc:"coefficient of variation of each factor (standard deviation / mean)"`
	Deadline Factor  `yaml:"deadline" doc:"deadline as a multiple of the runtime, above 1"`

	// SLA adds the classes of the second paper. High urgency means a hard deadline with a high
	// budget and penalty; low urgency means a soft deadline with a low budget and penalty. Set
	// Deadline.Ratio to 7 as in that paper.
	SLA       bool    `yaml:"sla" doc:"also sets hardness, budget and penalty"`
	Budget    Factor  `yaml:"budget" doc:"factor of the budget"`
	Penalty   Factor  `yaml:"penalty" doc:"factor of the penalty rate"`
	BudgetOf  string  `yaml:"budget_of" validate:"oneof=runtime runtime_procs" doc:"quantity that budgets are proportional to"`
	PenaltyOf string  `yaml:"penalty_of" validate:"oneof=one procs runtime inv_runtime" doc:"quantity that penalties are proportional to"`
	Price     float64 `yaml:"price" validate:"min=0,max=1e6" doc:"dollars per unit of budget_of"`
	Rate      float64 `yaml:"rate" validate:"min=0,max=1e6" doc:"dollars per second per unit of penalty_of"`
}

// A Factor is the distribution of one parameter over the two classes.
type Factor struct {
	Low   float64 `yaml:"low" validate:"gt=0,max=1e6" doc:"mean of the lower class"`
	Ratio float64 `yaml:"ratio" validate:"min=1,max=1e6" doc:"ratio of the higher class's mean to the lower class's"`
	Mean  float64 `yaml:"mean" validate:"gt=0,max=1e6" doc:"factor on both means (the papers' mean factor)"`
}

// defaultUrgency returns the values of the first paper, and for SLA the values of the second
// paper.
func defaultUrgency() Urgency {
	return Urgency{
		High: 0.2, CV: 0.25, Deadline: Factor{4, 4, 1},
		Budget: Factor{1, 7, 1}, Penalty: Factor{1, 4, 1},
		BudgetOf: "runtime", PenaltyOf: "one", Price: 1, Rate: 0.1,
	}
}

// SetDefaults sets the values of fields that the file omits.
func (u *Urgency) SetDefaults() { *u = defaultUrgency() }

// annotate sets Urgent and Deadline of every job, and with SLA also Hard, Value and
// PenaltyRate. Values are exact products; Value is rounded toward zero to micro-dollars. It
// draws four uniforms per job, in the order of the plan, whether or not they are used: class,
// deadline, budget, penalty.
func (u *Urgency) annotate(plan workloadgen.Plan, src rand.Source) error {
	class := make([]float64, len(plan))
	rest := make([][3]float64, len(plan))
	for i := range plan {
		class[i] = dist.Open(src)
		rest[i] = [3]float64{dist.Open(src), dist.Open(src), dist.Open(src)}
	}
	for i, urgent := range classes(class, u.High) {
		j := &plan[i]
		j.Urgent = urgent
		// High urgency has the low factor for the deadline, and the high factors for all other
		// quantities.
		j.Deadline = j.Runtime * u.draw(u.Deadline, !urgent, 1, rest[i][0])
		if u.SLA {
			j.Hard = urgent
			budget := u.draw(u.Budget, urgent, 0, rest[i][1])
			value, ok := dollars(u.Price, j.Runtime, u.nodes(j), budget)
			if !ok {
				value = exact.Product(u.Price, j.Runtime, u.nodes(j), budget)
			}
			j.Value = value
			j.PenaltyRate = exact.Product(u.Rate, u.penaltyOf(j), u.draw(u.Penalty, urgent, 0, rest[i][2]))
		}
		if !(j.Deadline <= workloadgen.MaxSeconds && j.Value <= workloadgen.MaxDollars && j.PenaltyRate <= workloadgen.MaxRate) {
			return fmt.Errorf("job %d: deadline %v s, value $%v, penalty $%v per second exceed a plan's limits",
				j.ID, j.Deadline, j.Value, j.PenaltyRate)
		}
	}
	return nil
}

// draw returns the p-quantile of factor f: a normal variable above floor.
func (u *Urgency) draw(f Factor, high bool, floor, p float64) float64 {
	mean := exact.Product(f.Low, f.Mean)
	if high {
		mean = exact.Product(f.Low, f.Mean, f.Ratio)
	}
	if u.CV == 0 {
		return math.Max(mean, floor)
	}
	return dist.TruncNormal{Mu: mean, SD: u.CV * mean, Lo: floor}.Quantile(p)
}

// nodes returns the factor by which a job's budget is multiplied in addition to the runtime:
// the number of nodes, or 1.
func (u *Urgency) nodes(j *workloadgen.Job) float64 {
	if u.BudgetOf == "runtime_procs" {
		return float64(j.Nodes)
	}
	return 1
}

func (u *Urgency) penaltyOf(j *workloadgen.Job) float64 {
	switch u.PenaltyOf {
	case "procs":
		return float64(j.Nodes)
	case "runtime":
		return j.Runtime
	case "inv_runtime":
		return 1 / j.Runtime
	}
	return 1
}

// classes returns which jobs have high urgency: the floor(high n + 1/2) jobs with the smallest
// uniforms, and if uniforms are equal, those of earlier jobs. A job of high urgency at one
// fraction also has it at every larger fraction.
func classes(uniforms []float64, high float64) []bool {
	order := make([]int, len(uniforms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(uniforms[a], uniforms[b]) })
	urgent := make([]bool, len(uniforms))
	for _, i := range order[:int(math.Floor(high*float64(len(order))+0.5))] {
		urgent[i] = true
	}
	return urgent
}
