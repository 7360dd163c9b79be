package libra

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// TestGolden runs every case of a folder: the project's own, or the one that
// BOURSE_GOLDEN_LIBRA names.
func TestGolden(t *testing.T) {
	t.Parallel()
	policytest.Run(t, "testdata", func(c *policytest.Case) func(*testing.T, *policytest.Case) {
		run, ours := kinds[c.Kind]
		if !ours && !slices.Contains(elsewhere, c.Kind) {
			t.Errorf("%s: nobody runs cases of kind %q", c.ID, c.Kind)
		}
		return run
	})
}

// kinds runs cases by kind. Package policies runs the cases of kind sim, and package annotate
// runs the cases about workloads.
var (
	kinds = map[string]func(*testing.T, *policytest.Case){
		"share": goldenShare, "rates": goldenRates, "risk": goldenRisk, "sla_plan": goldenPlan,
		"select": goldenSelect,
	}
	elsewhere = []string{"sim", "annotate", "estimate", "arrivals", "classes"}
)

// A goldenTask is a task on a node at time 0.
type goldenTask struct {
	ID       any      `json:"id"`
	Left     float64  `json:"rr"`
	Span     float64  `json:"rd"`
	Keep     float64  `json:"keep"`
	Hard     bool     `json:"hard"`
	Budget   float64  `json:"budget"`
	Runtime  float64  `json:"runtime"`
	Deadline float64  `json:"deadline"`
	Penalty  float64  `json:"penalty"`
	Target   *float64 `json:"target"`
}

// rating is the rating of a node of speed 1.
const rating = 168

func goldenShare(t *testing.T, c *policytest.Case) {
	var in struct {
		goldenTask
		Estimate, Rating float64
	}
	check(t, json.Unmarshal(c.Input, &in))
	if in.Rating > 0 {
		in.Left = in.Estimate / (in.Rating / rating)
	}
	// A task never keeps more processors than one task can use.
	c.Same(t, "share", sharing.Required(in.Left, in.Span, min(in.Keep, one.Most)))
}

func goldenRates(t *testing.T, c *policytest.Case) {
	var in struct {
		Required []any
		Spare    sharing.Spare
	}
	check(t, json.Unmarshal(c.Input, &in))
	required := make([]float64, len(in.Required))
	for i, x := range in.Required {
		required[i] = number(x)
	}
	rates := make([]float64, len(required))
	hosts.Divide(1, 1, one.Split(in.Spare, required, nil), rates)
	c.Same(t, "rates", rates)
}

var one = sharing.Node{Size: 1, Most: 1}

func goldenRisk(t *testing.T, c *policytest.Case) {
	in := struct {
		Spare      sharing.Spare
		Projection string
		Tasks      []goldenTask
	}{sharing.Proportional, "dynamic", nil}
	check(t, json.Unmarshal(c.Input, &in))
	fill := func() *projection {
		p := &projection{Spare: in.Spare, Shares: in.Projection}
		for _, g := range in.Tasks {
			p.Add(g.Left, g.Span, g.Keep)
		}
		return p
	}
	total, _ := fill().needs()
	c.Same(t, "total_share", total)
	if in.Projection == "dynamic" {
		c.Same(t, "zero_risk", fill().lemmas(one))
	}
	c.Same(t, "zero_risk", fill().project(one))
	p := fill()
	if math.IsInf(total, 1) {
		risk := RiskOf(make([]float64, len(p.Span)), p.Span)
		c.Same(t, "mu", risk.Mean)
		c.Same(t, "sigma", risk.Sigma)
		return
	}
	p.delays(one)
	risk := RiskOf(p.Delay, p.Span)
	var relative []float64
	for i := range p.Delay {
		relative = append(relative, (p.Delay[i]+p.Span[i])/p.Span[i])
	}
	c.Same(t, "delay", p.Delay)
	c.Same(t, "deadline_delay", relative)
	c.Same(t, "mu", risk.Mean)
	c.Same(t, "sigma", risk.Sigma)
}

func goldenPlan(t *testing.T, c *policytest.Case) {
	var in struct {
		Options options
		Tasks   []goldenTask
	}
	check(t, json.Unmarshal(c.Input, &in))
	plan := sharing.Plan{SLAOptions: sharing.DefaultSLA()}
	check(t, in.Options.Decode(&plan.SLAOptions))
	var tasks []sharing.Promise
	for _, g := range in.Tasks {
		p := sharing.Promise{
			Left: g.Left, Span: g.Span, Target: g.Span, Keep: g.Keep,
			Terms: sharing.Terms{
				Hard: g.Hard, Runtime: g.Runtime, Deadline: g.Deadline, Budget: g.Budget,
				Penalty: contracts.Penalty{Rate: g.Penalty, Max: math.Inf(1)},
			},
		}
		if g.Target != nil {
			p.Target = *g.Target
		}
		tasks = append(tasks, p)
	}
	plan.Make(one, tasks)
	returns := make([]float64, len(tasks))
	for i := range tasks {
		returns[i] = plan.Utility[i] / tasks[i].Runtime / tasks[i].Deadline
	}
	c.Same(t, "need", plan.Need)
	c.Same(t, "total_share", plan.Total)
	c.Same(t, "top", float64(plan.Top))
	c.Same(t, "shares", plan.Share)
	c.Same(t, "delay", plan.Delay)
	c.Same(t, "utility", plan.Utility)
	c.Same(t, "return", returns)
	c.Same(t, "node_return", plan.Return)
	c.Same(t, "feasible", plan.Feasible)
}

// goldenSelect asks a policy to decide about one job on the given hosts.
func goldenSelect(t *testing.T, c *policytest.Case) {
	var in struct {
		Policy  string
		Options options
		Hosts   int `json:"m"`
		Ratings []float64
		Nodes   [][]goldenTask
		Job     job
	}
	check(t, json.Unmarshal(c.Input, &in))
	v := &still{policytest.Still{Specs: specs(max(in.Hosts, len(in.Nodes)), in.Ratings), Allocations: make([][]contracts.Allocation, len(in.Nodes))}}
	for h, tasks := range in.Nodes {
		for _, g := range tasks {
			v.add(h, g)
		}
	}
	r := in.Job.Request()
	p := newDecider(t, strings.ToLower(in.Policy), in.Options)
	d := p.Decide(0, &r, v)
	c.Same(t, "accepted", d.Verdict == contracts.Accept)
	var on []float64
	for _, pl := range d.Placements {
		on = append(on, float64(pl.Host))
	}
	slices.Sort(on)
	c.Same(t, "nodes", on)

	available, zero, suitable := map[string]any{}, map[string]any{}, map[string]any{}
	current, renewed := map[string]any{}, map[string]any{}
	for h := range hosts.ID(v.Fleet()) {
		key := strconv.Itoa(int(h))
		switch p := p.(type) {
		case *Libra:
			if left, ok := after(0, &r, v, h); ok {
				available[key] = left
			}
		case *LibraRisk:
			zero[key] = p.safe(0, &r, v, h)
		case *LibraSLA:
			p.see(0, v)
			p.offer = offer(0, &r)
			suitable[key] = p.suits(0, &r, v, h)
			spec := v.Spec(h)
			tasks := p.standing(0, h, spec.Speed)
			p.old.Make(sharing.NodeOf(spec), tasks)
			p.new.Make(sharing.NodeOf(spec), append(tasks, p.offer))
			current[key], renewed[key] = p.old.Return, p.new.Return
		}
	}
	switch p.(type) {
	case *Libra:
		c.Same(t, "available_after", available)
	case *LibraRisk:
		c.Same(t, "zero_risk", zero)
	case *LibraSLA:
		c.Same(t, "suitable", suitable)
		c.Same(t, "current_return", current)
		c.Same(t, "new_return", renewed)
	}
}

func specs(n int, ratings []float64) []hosts.Spec {
	all := policytest.Uniform(max(n, len(ratings)))
	for h := range ratings {
		all[h].Speed = ratings[h] / rating
	}
	return all
}

// number returns x as a number, or +Inf if x is not a number.
func number(x any) float64 {
	if x, ok := x.(float64); ok {
		return x
	}
	return math.Inf(1)
}
