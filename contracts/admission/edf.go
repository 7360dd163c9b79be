package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// edf runs requests one to a processor, the one with the earliest deadline first
// (Risk, §4). It waits until as many processors are free as it has nodes, and
// nobody overtakes it but who has an earlier deadline. A request that cannot end
// in time is rejected only then, when it is first in the queue.
type edf struct {
	edfOptions
	chooser
	free
}

// edfOptions are the options of edf.
type edfOptions struct {
	Admission string `yaml:"admission" validate:"oneof=deadline none" doc:"deadline (what cannot end in time is rejected) or none (everything runs)"`
	Check     string `yaml:"check" validate:"oneof=start select" doc:"when that is looked at: start (of its execution) or select (whenever it is first in the queue)"`
}

func newEDF(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := edfOptions{Admission: "deadline", Check: "start"}
	err := decode(&o)
	return Queued(&edf{edfOptions: o}, Order{Less: earlier, Patient: true}), err
}

// earlier reports whether the deadline of a is before that of b.
func earlier(a, b *contracts.Request) bool { return a.Due() < b.Due() }

// Decide implements [contracts.Decider].
func (p *edf) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(v)
	checked := p.Admission == "deadline"
	if checked && p.Check == "select" && r.Late(now+r.Work/p.fastest) {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	if !p.start(r, v, &p.chooser) {
		if !everHolds(r, v) {
			return contracts.Decision{Reason: contracts.TooFewHosts}
		}
		return contracts.Decision{Verdict: contracts.Defer}
	}
	if checked && r.Late(now+r.Work/p.slowest(v)) {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	return accept(p.first(r))
}
