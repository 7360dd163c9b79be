package admission

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// Reasons of reserve.
const (
	NoPlan  contracts.Reason = "no plan keeps all promises with it"
	TooDear contracts.Reason = "price above budget" // the one asked
)

// askTests are the tests of reserve.
var askTests = []Test{{TooDear, "ask", "budget", true, "the price asked"}}

// reserve sells reservations (Farooq, Majumdar, Parsons, "A Framework to Achieve
// Guaranteed QoS for Applications and High System Performance in
// Multi-Institutional Grid Computing"): every host is a cluster that keeps a book,
// quotes for a request and promises it a start window and a deadline; a matchmaker
// chooses among the quotes.
//
// A request in parts is one contract: each part is a reservation without laxity in the
// book of another host, from the earliest common start at which the matchmaker finds a
// host for each. So no book can move it, and they start together. Books that suspend what
// runs do so part by part, if estimates are wrong. A part that has done its work gives
// its nodes back; the contract ends with the last. It is killed as a whole when one part
// is, and taken back as a whole. Its price is the sum of what the hosts ask.
//
// Books have whole seconds. What comes, ends or is taken back within a second is
// entered at the next, in that order of the paper's events: work that is done, what
// starts, cancellations, requests in order of arrival.
type reserve struct {
	o        ReserveOptions
	match    matchmaking.Matchmaker
	joint    matchmaking.Matchmaker // of each part, where there are several
	onDemand matchmaking.Matchmaker
	price    pricing

	books  []*book
	window []matchmaking.Seller
	venues []matchmaking.Venue // the same
	sold   map[contracts.ID]*sale
	facts  []timetable.Fact
	wake   int64 // second at which to decide what came before it, Forever if nothing did

	pass    pass
	chosen  []matchmaking.Choice  // of the request decided last, one per part
	places  []contracts.Placement // of its decision
	said    contracts.Decision
	numbers contracts.Numbers // of it
	actions []contracts.Action
}

// A pass is how far those who wait have been asked about.
type pass struct {
	at      int  // place in the queue of the next, or idle
	pending bool // what was decided last is to be entered in its book
}

// A sale is a contract in books.
type sale struct {
	contract int32 // its number
	parts    []part
	begun    bool
	start    int64 // second of its first start
	span     int64 // that it is estimated to take, from then to the end of its last part
}

// A part is a gang of a contract in its book.
type part struct {
	*book
	begun, over bool
}

// ReserveOptions are the options of reserve.
type ReserveOptions struct {
	Match     string `yaml:"match" doc:"matchmaker: ran, ff, nf, imct, minu, maxu, mli, or price (the lowest)"`
	ODMap     string `yaml:"od_map" validate:"oneof=imct same" doc:"matchmaker of on-demand requests: imct, or same, that of the others (spread badly by ff and maxu)"`
	Admission string `yaml:"admission" validate:"oneof=edf edf+insert" doc:"whom a cluster accepts: edf (with whom earliest deadline first misses none) or edf+insert (who fits a hole of the plan, too)"`
	Preempt   bool   `yaml:"preempt" doc:"clusters suspend and resume what runs"`

	Overrun   string `yaml:"overrun" validate:"oneof=extend kill" doc:"when an estimate is used up: extend (more time if that harms no reservation, else kill) or kill"`
	ExtendPct int64  `yaml:"extend_pct" validate:"min=1,max=1000" doc:"percent of the estimate by which a job is extended"`

	ZetaScope string `yaml:"zeta_scope" validate:"oneof=ar all" doc:"whose laxity mli and the price look at: ar (of reservations) or all (that are still to start)"`
	ZetaScale string `yaml:"zeta_scale" validate:"oneof=mul div none" doc:"laxity of clusters of different speed: mul (times speed), div or none"`
	Util      string `yaml:"util" validate:"oneof=cumulative instant committed" doc:"utilization to minu and maxu: cumulative, instant or committed"`

	ODDeadline *float64 `yaml:"od_deadline" validate:"min=0,max=1e6" doc:"factor f: on-demand requests are to be planned to end within (1+f) times their estimate, or rejected; omitted, whenever there is room"`

	Base      float64 `yaml:"base" validate:"min=0,max=1e6" doc:"price of a node and second, $"`
	Kappa     float64 `yaml:"kappa" validate:"min=0,max=1e6" doc:"price of a second of laxity that others lose, $; with base 0, too, the price of a contract is its budget"`
	CancelFee float64 `yaml:"cancel_fee" validate:"min=0,max=1" doc:"part of the price that who cancels owes at least; more once more of the estimate has been used"`
}

func newReserve(decode func(any) error, _ bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := ReserveOptions{
		Match: "mli", ODMap: "imct", Admission: "edf", Overrun: "extend", ExtendPct: 20,
		ZetaScope: "ar", ZetaScale: "mul", Util: "cumulative", CancelFee: 0.1,
	}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Preempt && o.Admission != "edf" {
		return nil, fmt.Errorf("admission: found %q with preempt, want edf: such a plan has no holes to insert into", o.Admission)
	}
	p := &reserve{o: o, price: newPricing(&o), sold: make(map[contracts.ID]*sale), wake: timetable.Forever, pass: pass{at: idle}}
	var err error
	if p.match, err = o.matchmaker(o.Match, "completion", rng); err != nil {
		return nil, err
	}
	if p.onDemand = p.match; o.ODMap != "same" {
		if p.onDemand, err = o.matchmaker("imct", "", nil); err != nil {
			return nil, err
		}
	}
	if p.joint = p.match; o.Match == "mli" { // a part's own completion does not matter
		p.joint, err = o.matchmaker("mli", "index", nil)
	}
	return p, err
}

// impact says whose laxity counts, how, and who wins among equals.
func (o *ReserveOptions) impact(ties string) matchmaking.ImpactOptions {
	return matchmaking.ImpactOptions{Scope: o.ZetaScope, Scale: o.ZetaScale, Ties: ties}
}

// matchmaker makes the named one with its part of the options.
func (o *ReserveOptions) matchmaker(name, ties string, rng *rand.Rand) (matchmaking.Matchmaker, error) {
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

// see makes the books when it first sees the fleet. A host has as many nodes as
// whole processors; one that has none has no book.
func (p *reserve) see(v contracts.View) {
	if p.books != nil {
		return
	}
	for h := range hosts.ID(v.Fleet()) {
		if b := newBook(h, v.Spec(h), &p.o); b != nil {
			p.books = append(p.books, b)
			p.window, p.venues = append(p.window, b), append(p.venues, b)
		}
	}
}

// job is r in whole seconds: what must not happen before an instant is rounded up,
// a deadline down, a span up.
func (p *reserve) job(now float64, r *contracts.Request) timetable.Job {
	j := timetable.Job{
		ID: int64(r.ID), Arrival: second(now), Earliest: second(math.Ceil(max(now, r.Opens()))),
		Deadline: timetable.Forever, Estimate: second(math.Ceil(r.Work)), Nodes: r.Nodes,
	}
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

// second is x as whole seconds; what is beyond the horizon of books is too late for
// them all.
func second(x float64) int64 { return int64(min(x, timetable.Horizon+1)) }

// order is r, which is j in whole seconds, in parts.
func (p *reserve) order(j *timetable.Job, r *contracts.Request) matchmaking.Order {
	o := matchmaking.Order{ID: j.ID, Arrival: j.Arrival, Earliest: j.Earliest, Deadline: j.Deadline}
	for n := range r.Gangs() {
		o.Parts = append(o.Parts, matchmaking.Part{Nodes: r.Gang(n), Estimate: j.Estimate})
	}
	return o
}

// why says why no books take r, which is j in whole seconds.
func (p *reserve) why(j *timetable.Job, r *contracts.Request) contracts.Reason {
	switch {
	case !p.room(r, func(*book) bool { return true }):
		return contracts.TooFewHosts
	case !p.room(r, func(b *book) bool { return j.Earliest+timetable.Span(j.Estimate, b.speed) <= j.Deadline }):
		return contracts.TooLate
	}
	return NoPlan
}

// room reports whether there is a book for each part of r, wide enough for it, among
// those that would do.
func (p *reserve) room(r *contracts.Request, do func(*book) bool) bool {
	for n := range r.Gangs() {
		wide := 0
		for _, b := range p.books {
			if do(b) && b.nodes >= r.Gang(n) {
				wide++
			}
		}
		if wide <= n { // the n before it are as wide at least
			return false
		}
	}
	return true
}
