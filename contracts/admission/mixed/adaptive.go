package mixed

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
)

// adaptive delegates each request to one of two policies, depending on the current load ("the
// admission model is chosen dynamically based on the current load", §1; the paper does not
// specify how).
//
// The load is the number of tasks that would exist if the request were admitted, divided by
// the number of processors of the present hosts. At a load of 1, each task has one processor
// if bids spread the tasks evenly. The high-load policy takes over when the load reaches the
// threshold. The low-load policy returns when the load falls below the threshold minus a
// margin. The margin prevents rapid switching.
//
// The default threshold was found with bourse study tune on the market paper's workload, with
// 92 to 260 s between jobs. In that study, a missed deadline halved the value of the work done.
// The default was the best setting, or not significantly different from the best setting.
type adaptive struct {
	low, high contracts.Decider
	above     float64
	margin    float64
	strict    bool                  // whether the high-load policy decides
	admitted  map[contracts.ID]bool // for each active contract, whether the high-load policy admitted it
	load      load
	numbers   contracts.Numbers
}

// adaptiveOptions are the options of adaptive.
type adaptiveOptions struct {
	Low    string  `yaml:"low" validate:"oneof=be sac cac rac" doc:"policy under low load: be, sac, cac or rac"`
	High   string  `yaml:"high" validate:"oneof=be sac cac rac" doc:"policy under high load: be, sac, cac or rac"`
	Above  float64 `yaml:"above" validate:"gt=0,max=1e6" doc:"load at which the policy for high load takes over: (tasks on present hosts + nodes of the request) / processors"`
	Margin float64 `yaml:"margin" validate:"min=0,max=1e6" doc:"how far the load must fall below that before the policy for low load takes over again"`

	admission.Classes `yaml:",inline"`
}

// newAdaptive returns an adaptive policy with the decoded options.
func newAdaptive(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := adaptiveOptions{Low: "be", High: "cac", Above: 0.7, Classes: admission.DefaultClasses()}
	err := decode(&o)
	all := o.Deciders(bid, rng)
	return admission.Immediate(&adaptive{low: all[o.Low], high: all[o.High], above: o.Above, margin: o.Margin, admitted: make(map[contracts.ID]bool)}), err
}

// Decide implements [contracts.Decider]. Decide reports the numbers of the policy that
// decides, preceded by
//
//	load    tasks on the present hosts plus nodes of the request, divided by processors;
//	        omitted if no host is present
//	strict  1 if the high-load policy decides, otherwise 0
func (p *adaptive) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.load.see(v)
	x := p.load.with(r)
	// Between the two limits, the policy that made the last decision decides again.
	switch {
	case x >= p.above:
		p.strict = true
	case x < p.above-p.margin:
		p.strict = false
	}
	strict := 0
	if p.strict {
		strict = 1
	}
	d := p.by(p.strict).Decide(now, r, v)
	if d.Verdict == contracts.Accept {
		p.admitted[r.ID] = p.strict
	}
	if p.numbers = p.numbers[:0]; p.load.there > 0 {
		p.numbers = append(p.numbers, contracts.Measured("load", x))
	}
	p.numbers = append(p.numbers, contracts.Counted("strict", strict))
	p.numbers = append(p.numbers, d.Numbers...)
	d.Numbers = p.numbers
	return d
}

// Rebid implements [contracts.Rebidder] by asking the policy that admitted the contract.
func (p *adaptive) Rebid(now float64, i int32, on []contracts.Placement, v contracts.View) contracts.Decision {
	return admission.Rebid(p.by(p.admitted[v.Contract(i).ID]), now, i, on, v)
}

// Judged is called by [admission.Judged]. It notifies the policy that admitted the contract.
func (p *adaptive) Judged(r *contracts.Request, o contracts.Outcome) {
	strict, ok := p.admitted[r.ID]
	if !ok {
		return
	}
	delete(p.admitted, r.ID)
	admission.Judged(p.by(strict), r, o)
}

// by returns the high-load policy if strict is set, and otherwise the low-load policy.
func (p *adaptive) by(strict bool) contracts.Decider {
	if strict {
		return p.high
	}
	return p.low
}

// A load counts the tasks and the processors of the present hosts.
type load struct {
	tasks      []int // number of processors of each host; 0 if the host is absent
	processors []float64
	all        int
	there      float64
}

// see updates the counts of the hosts that have changed.
func (l *load) see(v contracts.View) {
	changed, all := admission.Changed(v, len(l.tasks))
	if all {
		*l = load{tasks: make([]int, v.Fleet()), processors: make([]float64, v.Fleet())}
	}
	for _, h := range changed {
		tasks, processors := 0, 0.0
		if !v.Unavailable(h) {
			tasks, processors = len(v.On(h)), v.Spec(h).CPUs
		}
		l.all += tasks - l.tasks[h]
		l.there += processors - l.processors[h]
		l.tasks[h], l.processors[h] = tasks, processors
	}
}

// with returns the load if r is admitted, or +Inf if no host is present.
func (l *load) with(r *contracts.Request) float64 { return float64(l.all+r.Nodes) / l.there }
