package whatif

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/misuse"
)

// An AdviceJob is the job that a user wants to run.
type AdviceJob struct {
	Work     float64 `json:"work" doc:"work per node, in processor-seconds"`
	Nodes    int     `json:"nodes"`
	Deadline float64 `json:"deadline" doc:"time limit in seconds after the submission"`
	Value    float64 `json:"value,omitempty" doc:"value of the job if the work is done by the deadline, $; 0 if not stated"`
}

// ParseJob parses a job such as work=3600,nodes=2,deadline=7200,value=5. The default is one
// node.
func ParseJob(text string) (AdviceJob, error) {
	j := AdviceJob{Nodes: 1}
	fields := map[string]*float64{"work": &j.Work, "deadline": &j.Deadline, "value": &j.Value}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "nodes" {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 1e6 {
				return j, misuse.Errorf("job: nodes: found %.40q, want a whole number from 1 to 1000000", value)
			}
			j.Nodes = n
			continue
		}
		to := fields[name]
		if to == nil {
			return j, misuse.Errorf("job: found %.40q, want work=S,nodes=N,deadline=S and, for a recommendation, value=$", part)
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0) || x > 1e12 {
			return j, misuse.Errorf("job: %s: found %.40q, want a number above 0, at most 1e12", name, value)
		}
		*to = x
	}
	if j.Work == 0 || j.Deadline == 0 {
		return j, misuse.Errorf("job: found %.80q, want work and deadline, such as work=3600,deadline=7200", text)
	}
	return j, nil
}

// String describes the request.
func (j *AdviceJob) String() string {
	s := fmt.Sprintf("%.6g processor-seconds on each of %d nodes", j.Work, j.Nodes)
	if j.Nodes == 1 {
		s = fmt.Sprintf("%.6g processor-seconds on 1 node", j.Work)
	}
	s += fmt.Sprintf(" within %.6g s", j.Deadline)
	if j.Value > 0 {
		s += fmt.Sprintf(", worth $%.6g", j.Value)
	}
	return s
}

// total returns the work of all nodes.
func (j *AdviceJob) total() float64 { return j.Work * float64(j.Nodes) }

// A meanOutcome is the outcome of the job with one budget in one market. A meanOutcome may also
// be the mean over several attempts in one unit. Admitted and Done are fractions in [0,1].
type meanOutcome struct {
	Admitted float64
	Done     float64 // fraction of the work done by the deadline
	Paid     float64 // payment minus penalties received, in dollars
}

// plus adds the outcome of another attempt, with the given weight, to f.
func (f *meanOutcome) plus(g meanOutcome, weight float64) {
	f.Admitted += weight * g.Admitted
	f.Done += weight * g.Done
	f.Paid += weight * g.Paid
}

// A unit is one independent observation, such as a replication or a period of the history. It
// contains the outcome of the job for each budget, on the spot market and as a reservation.
type unit struct{ Spot, Reservation []meanOutcome }

// budgetsFrom returns n budgets from lo to hi in geometric progression.
func budgetsFrom(lo, hi float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		x := lo * math.Pow(hi/lo, float64(i)/float64(n-1))
		all[i] = math.Ceil(x*1e6-1e-6) / 1e6 // round up to micro-dollars
	}
	return slices.Compact(all)
}

// ParseBudgets parses a range of budgets such as 0.1..10.
func ParseBudgets(text string) (lo, hi float64, err error) {
	from, to, ok := strings.Cut(text, "..")
	lo, err1 := strconv.ParseFloat(from, 64)
	hi, err2 := strconv.ParseFloat(to, 64)
	if !ok || err1 != nil || err2 != nil || !(lo >= 1e-6 && lo < hi && hi <= 1e9) {
		return 0, 0, misuse.Errorf("budgets: found %.40q, want FROM..TO in dollars, such as 0.1..10", text)
	}
	return lo, hi, nil
}
