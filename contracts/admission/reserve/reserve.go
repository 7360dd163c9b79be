// Package reserve contains the policy reserve, which sells advance reservations (Farooq,
// Majumdar, Parsons). Each host is a cluster with a timetable, which is called a book.
// Matchmakers choose among the quotes of the books (hosts/timetable, hosts/matchmaking). The
// package is independent of how reservations are carried out.
package reserve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// NoPlan is the reason for which reserve rejects a request that no book can plan without
// breaking a promise.
const NoPlan contracts.Reason = "no plan keeps all promises with it"

// Policies returns the policy of this package, by its name.
func Policies() map[string]admission.Policy {
	asked := []admission.Test{{Reason: contracts.TooDear, Got: "ask", Want: "budget", AtMost: true, Word: "the price asked"}}
	return map[string]admission.Policy{
		"reserve": {Doc: "advance reservations in the books of clusters", New: newReserve, Properties: admission.Properties{Sharing: "planned", Tests: asked, Books: true}},
	}
}

// idle is the position of a pass when there is nothing to decide.
const idle = -1

// reserve sells advance reservations (Farooq, Majumdar, Parsons, "A Framework to Achieve
// Guaranteed QoS for Applications and High System Performance in Multi-Institutional Grid
// Computing"). Every host is a cluster, and its schedule is called a book. The book quotes for
// a request and promises it a start window and a deadline. A matchmaker chooses among the
// quotes.
//
// A request in parts is one contract. Each part is a reservation in the book of a different
// host. All parts start at the same time. The common start is the earliest time at which the
// matchmaker finds a host for each part. Parts have no laxity, so no book can move one of them.
// Books with preemption may still suspend parts separately if estimates are wrong. A part that
// has done its work frees its nodes; the contract ends with its last part. If one part is
// killed, the whole contract is killed. A contract can be withdrawn only as a whole. The price
// of a contract is the sum of the prices that the hosts ask.
//
// Books work in whole seconds. Events within a second are entered at the next full second, in
// the paper's order: completed work, starts, cancellations, requests in order of arrival.
type reserve struct {
	o        Options
	match    matchmaking.Matchmaker
	joint    matchmaking.Matchmaker // chooses the book of each part of a request with several parts
	onDemand matchmaking.Matchmaker
	price    pricing

	books  []*book
	index  index   // index of the books
	again  []int32 // books that have another tick in the same second
	window []matchmaking.Seller
	venues []matchmaking.Venue // books in window, in the form that matchmakers need
	few    bool                // whether p.match needs only the books that index.quoting returns
	sold   map[contracts.ID]*sale
	facts  []timetable.Fact
	wake   int64 // second at which the requests that arrived before it are decided; Forever if there are none

	pass    pass
	chosen  []matchmaking.Choice  // choices for the parts of the most recently decided request
	places  []contracts.Placement // placements of that decision
	said    contracts.Decision
	numbers contracts.Numbers // numbers of that decision
	actions []contracts.Action
}

// A pass is the progress of the policy through the waiting requests.
type pass struct {
	at      int  // position in the queue of the next request, or idle
	pending bool // whether the last decision has not been committed in the books yet
}

// A sale is a contract that has been entered in books.
type sale struct {
	contract int32 // number of the contract
	parts    []part
	begun    bool
	start    int64 // second of the first start of the contract
	span     int64 // estimated seconds from the first start to the end of the last part
}

// A part is a gang of a contract, with its book.
type part struct {
	*book
	begun, over bool
}

// Options are the options of reserve.
type Options struct {
	Match     string `yaml:"match" doc:"matchmaker: ran, ff, nf, imct, minu, maxu, mli, or price (the lowest)"`
	ODMap     string `yaml:"od_map" validate:"oneof=imct same" doc:"matchmaker for on-demand requests: imct, or same (that of reservations; ff and maxu spread jobs badly)"`
	Admission string `yaml:"admission" validate:"oneof=edf edf+insert" doc:"acceptance test of a cluster: edf (earliest deadline first misses no deadline) or edf+insert (or the job fits a hole of the plan)"`
	Preempt   bool   `yaml:"preempt" doc:"clusters suspend and resume running jobs"`

	Overrun   string `yaml:"overrun" validate:"oneof=extend kill" doc:"for jobs that exceed their estimate: extend (more time if that harms no reservation, else kill) or kill"`
	ExtendPct int64  `yaml:"extend_pct" validate:"min=1,max=1000" doc:"length of an extension, in percent of the estimate"`

	ZetaScope string `yaml:"zeta_scope" validate:"oneof=ar all" doc:"jobs whose laxity mli and the price use: ar (reservations) or all (jobs that have not started)"`
	ZetaScale string `yaml:"zeta_scale" validate:"oneof=mul div none" doc:"scaling of laxity by cluster speed: mul (times speed), div or none"`
	Util      string `yaml:"util" validate:"oneof=cumulative instant committed" doc:"utilization used by minu and maxu: cumulative, instant or committed"`

	ODDeadline *float64 `yaml:"od_deadline" validate:"min=0,max=1e6" doc:"factor f: on-demand requests are rejected unless they can end within (1+f) times their estimate; if omitted, they wait for capacity"`

	Base      float64 `yaml:"base" validate:"min=0,max=1e6" doc:"price per node and second, $"`
	Kappa     float64 `yaml:"kappa" validate:"min=0,max=1e6" doc:"price per second of laxity that other jobs lose, $; if this and base are 0, the price of a contract is its budget"`
	CancelFee float64 `yaml:"cancel_fee" validate:"min=0,max=1" doc:"minimum fraction of the price charged for a cancelled contract; more if a larger part of the estimate was used"`
}

// newReserve returns a reserve policy with the decoded options.
func newReserve(decode func(any) error, _ bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := Options{
		Match: "mli", ODMap: "imct", Admission: "edf", Overrun: "extend", ExtendPct: 20,
		ZetaScope: "ar", ZetaScale: "mul", Util: "cumulative", CancelFee: 0.1,
	}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Preempt && o.Admission != "edf" {
		return nil, fmt.Errorf("admission: found %q with preempt, want edf: preemptive plans have no holes", o.Admission)
	}
	p := &reserve{o: o, price: newPricing(&o), sold: make(map[contracts.ID]*sale), wake: timetable.Forever, pass: pass{at: idle}}
	p.few = slices.Contains([]string{"ff", "imct", "mli", "price"}, o.Match)
	var err error
	if p.match, err = o.matchmaker(o.Match, "completion", rng); err != nil {
		return nil, err
	}
	if p.onDemand = p.match; o.ODMap != "same" {
		if p.onDemand, err = o.matchmaker("imct", "", nil); err != nil {
			return nil, err
		}
	}
	if p.joint = p.match; o.Match == "mli" { // the completion of a single part does not matter
		p.joint, err = o.matchmaker("mli", "index", nil)
	}
	return p, err
}

// impact returns the options that determine whose laxity counts, how it is scaled, and how
// ties are broken.
func (o *Options) impact(ties string) matchmaking.ImpactOptions {
	return matchmaking.ImpactOptions{Scope: o.ZetaScope, Scale: o.ZetaScale, Ties: ties}
}

// matchmaker creates the matchmaker with the given name and its options.
func (o *Options) matchmaker(name, ties string, rng *rand.Rand) (matchmaking.Matchmaker, error) {
	if name == "price" {
		return cheapest{newPricing(o)}, nil
	}
	return matchmaking.Table(rng).New(name, func(v any) error {
		switch v := v.(type) {
		case *matchmaking.ImpactOptions:
			*v = o.impact(ties)
		case *matchmaking.UtilizationOptions:
			v.Util = o.Util
		}
		return nil
	})
}

// see creates the books when the policy first sees the fleet. The number of nodes of a book is
// the number of whole processors of its host; a host without a whole processor has no book.
func (p *reserve) see(v contracts.View) {
	if p.books != nil {
		return
	}
	for h := range hosts.ID(v.Fleet()) {
		if b := newBook(h, v.Spec(h), &p.o); b != nil {
			p.add(b)
		}
	}
}

func (p *reserve) add(b *book) {
	b.number = int32(len(p.books))
	p.books, p.window, p.venues = append(p.books, b), append(p.window, b), append(p.venues, b)
	p.index.add(b)
}

// job returns the job of a book for request r, in whole seconds. It rounds the earliest start
// and the estimate up and the deadline down, so that the job never promises more than r allows.
func (p *reserve) job(now float64, r *contracts.Request) timetable.Job {
	j := timetable.Job{
		ID: int64(r.ID), Arrival: second(now), Earliest: second(math.Ceil(max(now, r.Opens()))),
		Deadline: timetable.Forever, Estimate: second(math.Ceil(r.Work)), Nodes: r.Nodes,
	}
	// On-demand requests have no deadline unless the option od_deadline limits their end.
	switch {
	case !r.OnDemand:
		j.Deadline = second(math.Floor(r.Due()))
	case p.o.ODDeadline != nil:
		j.Kind = timetable.OnDemand
		j.Deadline = j.Earliest + j.Estimate + min(timetable.Times(*p.o.ODDeadline, j.Estimate), timetable.Horizon+1)
	default:
		j.Kind = timetable.OnDemand
	}
	return j
}

// second converts x to whole seconds. Times beyond the horizon of books become one second
// after the horizon, which is too late for every book.
func second(x float64) int64 { return int64(min(x, timetable.Horizon+1)) }

// order returns r as an order with parts. The argument j is r in whole seconds.
func (p *reserve) order(j *timetable.Job, r *contracts.Request) matchmaking.Order {
	o := matchmaking.Order{ID: j.ID, Arrival: j.Arrival, Earliest: j.Earliest, Deadline: j.Deadline}
	for n := range r.Gangs() {
		o.Parts = append(o.Parts, matchmaking.Part{Nodes: r.Gang(n), Estimate: j.Estimate})
	}
	return o
}

// why returns the reason why no books accept r. The argument j is r in whole seconds.
func (p *reserve) why(j *timetable.Job, r *contracts.Request) contracts.Reason {
	switch {
	case !p.room(r, func(*kind) bool { return true }):
		return contracts.TooFewHosts
	case !p.room(r, func(k *kind) bool { return j.Earliest+timetable.Span(j.Estimate, k.speed) <= j.Deadline }):
		return contracts.TooLate
	}
	return NoPlan
}

// room reports whether the books for which do returns true are wide enough for all parts of r,
// with a different book for each part.
func (p *reserve) room(r *contracts.Request, do func(*kind) bool) bool {
	for n := range r.Gangs() {
		wide := 0
		for i := range p.index.kinds {
			if k := &p.index.kinds[i]; do(k) && k.nodes >= r.Gang(n) {
				wide += k.books
			}
		}
		if wide <= n { // each of the n parts before it is at least as wide
			return false
		}
	}
	return true
}
