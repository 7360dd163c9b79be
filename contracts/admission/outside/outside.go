// Package outside connects external admission policies, such as scripts and other programs. It
// defines the parts of the market that such a policy can read ([Question]), and checks each
// answer before the market carries out the answer. It also writes questions as JSON, so that
// they can be sent to a program or answered again later ([Recorded]).
//
// The package is independent of how a policy computes its answer, which is the task of a
// [Mind].
package outside

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/market"
)

// A Mind computes the answers of a policy. It has no memory between calls and is safe for
// concurrent use.
type Mind interface {
	Decide(q *Question) (Answer, error)
	Ended(q *Question) (state []byte, err error) // called when the contract of q.Request has ended with q.Outcome
	Key(q *Question) ([]float64, error)          // sort key of q.Request in the queue; the smallest comes first
}

// Terms are the properties that a policy declares.
type Terms struct {
	admission.Properties
	Waiting  string // treatment of waiting requests: "own" (decided at submission), "queue" or "scan"
	Ordered  bool   // whether the queue has an order, for which Key is called
	Reported bool   // whether Ended is called
	Start    []byte // initial state as JSON; nil if the policy has no state
	Source   string // SHA-256 of the script; empty for a program
}

// Ways of waiting.
const (
	Own   = "own"   // requests are decided at submission; deferred requests wait
	Queue = "queue" // the first request in the queue blocks all other requests
	Scan  = "scan"  // the policy is asked about each waiting request, in order
)

// A Guard is called with the computation of a decision. It may cancel the computation from
// another goroutine. It returns a function that must be called when the decision is made.
type Guard func(interface{ Cancel(reason string) }) (done func())

// Start starts g, unless it is nil.
func (g Guard) Start(c interface{ Cancel(reason string) }) (done func()) {
	if g == nil {
		return func() {}
	}
	return g(c)
}

// A Policy asks a mind for its decisions. After an error it returns no more actions, and the
// run is void.
type Policy struct {
	contracts.Policy // asks the decider
	*decider
}

// A decider asks its mind about one request at a time. A copy of a decider makes the same
// decisions as the original, because mind, terms and guard never change and the other fields
// are plain data.
type decider struct {
	mind   func() (Mind, *Terms)
	guard  Guard
	bid    bidding.Strategy
	rng    *rand.Rand
	state  []byte // state of the policy as JSON
	asked  int    // number of questions
	source string // hash of the script that created the state

	placed  []contracts.Placement
	numbers contracts.Numbers
	err     error
	forgave func(error)                              // called with each error that rejects a request; if nil, an error ends the policy
	heard   [sha256.Size]byte                        // hash of the questions to a program and its answers
	twice   bool                                     // whether each question is asked twice
	took    func(q *Question, a *contracts.Decision) // called with each answer; may be nil

	market   contracts.Market    // market during a call of Handle
	said     *contracts.Decision // an acceptance that the broker may still reject
	accepted contracts.Request   // request of the accepted decision
}

// New returns a policy that asks m. The strategy bid proposes placements, and rng is the
// policy's own random stream.
func New(m Mind, t Terms, bid bidding.Strategy, rng *rand.Rand) *Policy {
	d := &decider{mind: func() (Mind, *Terms) { return m, &t }, bid: bid, rng: rng, state: t.Start, source: t.Source}
	if t.Waiting == Own || t.Waiting == "" {
		return &Policy{admission.Immediate(d), d}
	}
	o := admission.Order{}
	if t.Waiting == Scan {
		o.Scan = d
	}
	if t.Ordered {
		// The function must not refer to the decider, because copies of the decider share it.
		// A key that cannot be computed is reported when its request arrives.
		o.Less = func(a, b *contracts.Request) bool {
			of, _ := m.Key(&Question{Request: a})
			other, _ := m.Key(&Question{Request: b})
			return slices.Compare(of, other) < 0
		}
	}
	return &Policy{admission.Queued(d, o), d}
}

// Scan implements [admission.Scanner].
func (d *decider) Scan() {}

// Properties returns the declared properties of the policy.
func (d *decider) Properties() admission.Properties {
	_, t := d.mind()
	return t.Properties
}

// AskTwice makes the policy ask each question twice and fail if the answers differ.
func (d *decider) AskTwice() { d.twice = true }

// Observe makes the policy call took with each question and its decision, after the answer.
func (d *decider) Observe(took func(q *Question, a *contracts.Decision)) { d.took = took }

// again asks q a second time and compares the answer with a.
func (d *decider) again(m Mind, q *Question, a *Answer) error {
	other := *q
	other.given, other.drawn, other.calls = q.drawn, nil, nil
	b, err := m.Decide(&other)
	if err == nil && !reflect.DeepEqual(*a, b) {
		err = errors.New("found two answers to one question, want the same")
	}
	return err
}

// Heard returns the SHA-256 of all questions to a program and its answers, or zero if there
// were none.
func (d *decider) Heard() [sha256.Size]byte { return d.heard }

// SetGuard makes g guard each decision.
func (d *decider) SetGuard(g Guard) { d.guard = g }

// Forgive makes an error reject only the current request, without a change to the policy's
// state. Each such error is passed to report.
func (d *decider) Forgive(report func(error)) { d.forgave = report }

// State returns the policy's state as JSON, or nil.
func (d *decider) State() []byte { return d.state }

// Source returns the hash of the script that created the policy's state.
func (d *decider) Source() string { return d.source }

// Err returns the error that ended the policy, if any. The broker calls it after each event.
func (d *decider) Err() error { return d.err }

// Handle implements [contracts.Policy].
func (p *Policy) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	d := p.decider
	if d.market = m; d.said != nil && d.said.Verdict == contracts.Reject {
		d.ended(now, &d.accepted, string(d.said.Reason))
	}
	d.said = nil
	mind, t := d.mind()
	if t.Ordered && (e.Kind == contracts.Submitted || e.Kind == contracts.Lost) {
		q := &Question{Now: now, Request: m.Request(e.Contract), decider: d}
		if _, err := mind.Key(q); err != nil {
			q.View = m.Hosts() // for the record
			if decision := d.fail(q, err); e.Kind == contracts.Submitted && decision.Verdict == contracts.Reject {
				return []contracts.Action{{Verb: contracts.Refuse, Contract: e.Contract, Decision: &decision}}
			}
		}
	}
	if d.err != nil {
		return nil
	}
	actions := p.Policy.Handle(now, e, m)
	if d.err != nil {
		actions = nil
	}
	if t.Reported && len(actions) > 0 && actions[0].Verb == contracts.Admit {
		d.said, d.accepted = actions[0].Decision, *m.Request(actions[0].Contract)
	}
	d.market = nil
	return actions
}

// Decide implements [contracts.Decider].
func (d *decider) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if d.err != nil {
		return contracts.Decision{Verdict: contracts.Defer}
	}
	q := d.question(now, r, v)
	m, _ := d.mind()
	a, err := m.Decide(q)
	if err == nil && d.twice {
		err = d.again(m, q, &a)
	}
	if err == nil {
		var checked contracts.Decision
		if checked, err = q.Check(&a); err == nil {
			d.state, d.placed, d.numbers = a.State, a.Placements, a.Numbers
			if d.took != nil {
				d.took(q, &checked)
			}
			return checked
		}
	}
	return d.fail(q, err)
}

// Judged is called with the outcome of a contract that the policy accepted.
func (d *decider) Judged(r *contracts.Request, o contracts.Outcome) {
	d.ended(0, r, o.String())
}

// ended notifies the mind of an outcome.
func (d *decider) ended(now float64, r *contracts.Request, outcome string) {
	m, t := d.mind()
	if !t.Reported || d.err != nil {
		return
	}
	q := d.question(now, r, nil)
	q.Outcome = outcome
	state, err := m.Ended(q)
	if err != nil {
		d.fail(q, err)
		return
	}
	d.state = state
}

func (d *decider) question(now float64, r *contracts.Request, v contracts.View) *Question {
	d.asked++
	return &Question{Number: d.asked, Now: now, Request: r, View: v, State: d.state, decider: d}
}

// fail returns the decision about a request for which the policy failed.
func (d *decider) fail(q *Question, err error) contracts.Decision {
	e := &Error{Job: int64(q.Request.ID), At: q.Now, Err: err}
	if d.forgave != nil {
		d.forgave(e)
		return contracts.Decision{Verdict: contracts.Reject, Reason: Failed}
	}
	if d.err == nil {
		e.Question = q.Record()
		d.err = e
	}
	return contracts.Decision{Verdict: contracts.Defer}
}

// Failed is the reason for rejecting a request if the policy failed to decide it and such
// errors do not end the policy.
const Failed contracts.Reason = "the policy failed"

// An Error is a failure of an external policy. The run is void unless [Policy.Forgive] was
// called.
type Error struct {
	Job      int64   // ID of the request in the question
	At       float64 // time of the question, s
	Question *Line
	Err      error
}

// Error describes the failure, followed by the job and the time.
func (e *Error) Error() string { return fmt.Sprintf("%v (job %d at %.6g s)", e.Err, e.Job, e.At) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A Question is a question to a policy, with the data that the policy can read until the call
// ends.
type Question struct {
	Number  int     // position among the questions of the run, counted from 1
	Now     float64 // time of the question, s
	Request *contracts.Request
	View    contracts.View // nil if Outcome is set
	Outcome string         // outcome of the contract that has ended; empty if the question is whether to accept Request
	Steps   uint64         // number of computation steps of the answer, if the mind counts them
	State   []byte         // state as JSON; nil if the policy has no state

	decider  *decider
	proposed bool
	place    []contracts.Placement
	why      contracts.Reason
	drawn    []float64
	calls    []call               // answers of the view
	given    []float64            // recorded random numbers
	waiting  []*contracts.Request // recorded waiting requests
}

// Said adds the line of q and a program's answer to the hash of questions and answers.
func (q *Question) Said(line, answer []byte) {
	if d := q.decider; d != nil {
		d.heard = sha256.Sum256(slices.Concat(d.heard[:], line, answer))
	}
}

// Guard starts the guard of a decision. The caller must call done at its end.
func (q *Question) Guard(c interface{ Cancel(reason string) }) (done func()) {
	if q.decider == nil {
		return func() {}
	}
	return q.decider.guard.Start(c)
}

// Place returns the placements proposed by the bidding strategy or, if it proposes none, the
// reason. Each question has only one proposal.
func (q *Question) Place() ([]contracts.Placement, contracts.Reason) {
	if !q.proposed {
		q.proposed = true
		q.place, q.why = q.decider.bid.Place(q.Request, q.View, q.decider.placed[:0])
	}
	return q.place, q.why
}

// Random returns the next number of the policy's random stream, in [0,1).
func (q *Question) Random() float64 {
	var x float64
	if n := len(q.drawn); n < len(q.given) {
		x = q.given[n]
	} else {
		x = q.decider.rng.Float64()
	}
	q.drawn = append(q.drawn, x)
	return x
}

// Waiting returns the requests that wait for a decision, in order.
func (q *Question) Waiting() (all []*contracts.Request) {
	if m := q.decider.market; m == nil {
		all = q.waiting
	} else {
		for _, i := range m.Waiting() {
			all = append(all, m.Request(i))
		}
	}
	return all
}

// Contracts returns the numbers of the contracts that have tasks on hosts, in order of host.
func (q *Question) Contracts() (all []int32) {
	seen := make(map[int32]bool)
	for h := range hosts.ID(q.View.Fleet()) {
		for _, a := range q.View.On(h) {
			if !seen[a.Contract] {
				seen[a.Contract] = true
				all = append(all, a.Contract)
			}
		}
	}
	return all
}

// An Answer is the decision of a policy. State is the policy's new state.
type Answer struct {
	Verdict    contracts.Verdict
	Reason     string
	Placements []contracts.Placement
	Numbers    contracts.Numbers
	State      []byte
}

// MaxState is the largest size of a state as JSON, in bytes.
const MaxState = 64 << 10

// Check converts a to a decision. If the market must not carry out the decision, it returns an
// error.
func (q *Question) Check(a *Answer) (d contracts.Decision, err error) {
	if most := maxNumbers + perPriced*len(q.Priced()); len(a.Numbers) > most {
		return d, fmt.Errorf("found %d numbers, want at most %d", len(a.Numbers), most)
	}
	seen := make(map[string]bool, len(a.Numbers))
	for i := range a.Numbers {
		if err := checkNumber(&a.Numbers[i], seen); err != nil {
			return d, err
		}
	}
	if len(a.State) > MaxState {
		return d, fmt.Errorf("the state has %d bytes as JSON, want at most %d", len(a.State), MaxState)
	}
	if a.State != nil && !json.Valid(a.State) {
		return d, fmt.Errorf("the state is not JSON")
	}
	d.Verdict, d.Numbers = a.Verdict, a.Numbers
	switch a.Verdict {
	case contracts.Reject:
		if !validReason(a.Reason) {
			return d, fmt.Errorf("found the reason %q, want 1 to 60 characters of a-z, 0-9, space and , . - : _", clip(a.Reason))
		}
		d.Reason = contracts.Reason(a.Reason)
	case contracts.Accept:
		d.Placements = a.Placements
		err = q.checkPlacements(a.Placements)
	}
	return d, err
}

// checkPlacements returns an error unless the request can start on the placements.
func (q *Question) checkPlacements(on []contracts.Placement) error {
	r := q.Request
	if len(on) != r.Nodes {
		return fmt.Errorf("accepted on %d hosts, want %d, one per node", len(on), r.Nodes)
	}
	// The strategy's own proposal is valid, although rounding can raise it above the rate.
	sum, most, proposed := market.Rate(0), max(r.Rate(), market.Rate(r.Nodes)), market.Rate(0)
	for i := range q.place {
		proposed += q.place[i].Bid
	}
	most = max(most, proposed)
	for i := range on {
		p := &on[i]
		switch {
		case int(p.Host) < 0 || int(p.Host) >= q.View.Fleet():
			return fmt.Errorf("accepted on host %d, want 0 to %d", p.Host, q.View.Fleet()-1)
		case q.View.Unavailable(p.Host):
			return fmt.Errorf("accepted on host %d, which is away", p.Host)
		case !contracts.Eligible(p.Host, r, q.View):
			return fmt.Errorf("accepted on host %d, which lacks the room that a node needs", p.Host)
		case p.Bid < 1:
			return fmt.Errorf("found a bid of %v $/s on host %d, want at least 0.000000001", p.Bid.Float64(), p.Host)
		}
		for j := range i {
			if on[j].Host == p.Host {
				return fmt.Errorf("accepted on host %d twice, want a different host for each node", p.Host)
			}
		}
		if p.Bid > most-sum {
			return fmt.Errorf("the bids are more than the rate of the request, %v $/s", most.Float64())
		}
		sum += p.Bid
	}
	return nil
}
