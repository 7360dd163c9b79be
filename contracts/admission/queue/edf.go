package queue

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
)

// edf runs requests on one processor per node, the earliest deadline first (Risk, §4). The
// first request waits until the number of free processors is at least its number of nodes.
// Only a request with an earlier deadline can overtake it. A request that cannot finish in
// time is rejected only when it is first in the queue.
type edf struct {
	edfOptions
	free
}

// edfOptions are the options of edf.
type edfOptions struct {
	Admission string `yaml:"admission" validate:"oneof=deadline none" doc:"deadline (jobs that cannot end in time are rejected) or none (every job runs)"`
	Check     string `yaml:"check" validate:"oneof=start select" doc:"when deadlines are checked: start (of the job) or select (whenever the job is first in the queue)"`
}

// newEDF returns an edf policy with the decoded options.
func newEDF(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	o := edfOptions{Admission: "deadline", Check: "start"}
	err := decode(&o)
	return admission.Queued(&edf{edfOptions: o}, admission.Order{Less: earlier, Patient: true}), err
}

// earlier reports whether the deadline of a is before that of b.
func earlier(a, b *contracts.Request) bool { return a.Due() < b.Due() }

// Decide implements [contracts.Decider].
func (p *edf) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	p.see(v)
	checked := p.Admission == "deadline"
	// With check: select, a request that cannot finish in time even on the fastest host is
	// rejected immediately, without waiting for free processors.
	if checked && p.Check == "select" && r.Late(now+r.Work/p.fastest) {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	if !p.start(r, v) {
		if !everHolds(r, v) {
			return contracts.Decision{Reason: contracts.TooFewHosts}
		}
		return contracts.Decision{Verdict: contracts.Defer}
	}
	if checked && r.Late(now+r.Work/p.slowest(v)) {
		return contracts.Decision{Reason: contracts.TooLate}
	}
	return p.accept(r)
}
