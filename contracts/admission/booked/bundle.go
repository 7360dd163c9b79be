package booked

import (
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/market"
	"bourse/market/clearing"
)

// BundleOptions are the options of bundle.
type BundleOptions struct {
	Every                  float64 `yaml:"every" validate:"min=1e-3,max=1e9" doc:"time between clearings, s"`
	Rule                   string  `yaml:"rule" validate:"oneof=vcg greedy" doc:"vcg (the most valuable set; winners pay what the others lose) or greedy (by value per size; winners pay critical values)"`
	clearing.BundleOptions `yaml:",inline"`
	Losers                 string `yaml:"losers" validate:"oneof=wait leave" doc:"bids that lose: wait (bid again) or leave (are rejected)"`
}

// bundle sells bundles by auction. At regular times, each waiting job bids for n nodes during
// an interval. The interval starts at the clearing or at the earliest start of the job,
// whichever is later. Its length is the estimated runtime. The value of a bid is the budget of
// the job. Awards are booked and never move. A winner whose work is done, or that cancels its
// contract, owes the price set by the auction.
//
// The rule is truthful if each job belongs to a different user, bids once, and leaves if it
// loses. It is not truthful if losers bid again: a bid may gain by losing to a rival that does
// not bid in the next clearing. It is also not truthful if one user has several jobs.
type bundle struct {
	bookings
	o         BundleOptions
	reserve   market.Rate
	mechanism clearing.Mechanism
	waiting   []*bid  // in order of arrival
	at        float64 // time of the next clearing; +Inf if no job waits
	last      float64 // time of the last clearing
	book      clearing.Book
	result    clearing.Result
	awards    []award // bookings that the policy has returned in Book actions
}

// An award is a booking for which the broker will hold the budget, unless it rejects the
// decision.
type award struct {
	decision *contracts.Decision
	*booking
}

// A bid is a job that waits.
type bid struct {
	contract      int32
	id            contracts.ID
	user          int32
	units         int
	length        float64 // estimated runtime, in seconds
	submit, opens float64
	due           float64           // deadline; +Inf unless it is hard
	value         int64             // value of the bid, in micro-dollars
	numbers       contracts.Numbers // numbers of the last clearing in which the job took part
}

// newBundle returns a bundle policy with the decoded options.
func newBundle(decode func(any) error, _ bidding.Strategy, _ *rand.Rand) (contracts.Policy, error) {
	p := &bundle{o: BundleOptions{Every: 300, Rule: "vcg", BundleOptions: clearing.DefaultBundle(), Losers: "wait"}, at: math.Inf(1)}
	if err := decode(&p.o); err != nil {
		return nil, err
	}
	var err error
	if p.reserve, err = market.Dollars(p.o.Reserve); err != nil {
		return nil, err
	}
	rule := clearing.NewVCG
	if p.o.Rule == "greedy" {
		rule = clearing.NewGreedy
	}
	p.mechanism, err = rule(p.o.BundleOptions)
	return p, err
}

// Next implements [contracts.Policy]. Clearings come after the requests submitted at the same
// time.
func (p *bundle) Next() (at float64, last bool) { return min(p.at, p.next()), true }

// Handle implements [contracts.Policy].
func (p *bundle) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	p.actions = p.actions[:0]
	switch e.Kind {
	case contracts.Submitted:
		p.see(m.Hosts())
		p.submitted(now, e.Contract, m)
	case contracts.Overdue:
		p.refuse(p.waits(e.Contract), contracts.TooLate)
	case contracts.Tick:
		if p.carry(now, nil); p.at <= now {
			p.clear(now)
		}
	case contracts.Continue:
		for i := range p.awards {
			if a := &p.awards[i]; a.decision.Verdict == contracts.Accept {
				p.add(a.booking)
			}
		}
		if len(p.awards) > 0 {
			p.carry(now, nil)
		}
		p.awards = p.awards[:0]
	case contracts.Done:
		p.finished(now, e.Contract)
	case contracts.Withdrawn:
		p.withdraw(now, e.Contract, 1)
	case contracts.Over:
		p.waits(e.Contract)
	}
	return p.actions
}

// submitted handles a new request. It rejects a request that can never win.
func (p *bundle) submitted(now float64, i int32, m contracts.Market) {
	r := m.Request(i)
	j := &bid{
		contract: i, id: r.ID, user: int32(r.Owner), units: r.Nodes, length: p.span(r), submit: r.Submit, opens: r.Opens(),
		due: math.Inf(1), value: r.SLA.Budget.Micros(),
	}
	if !r.SLA.GoesOn() {
		j.due = r.Due()
	}
	reason := p.wide(r)
	if reason == contracts.None {
		reason = p.cannot(j, now)
	}
	if reason != contracts.None {
		p.refuse(j, reason)
		return
	}
	p.waiting = append(p.waiting, j)
	p.actions = append(p.actions, contracts.Action{Verb: contracts.Enqueue, Contract: i, Place: len(m.Waiting())})
	p.await(now)
}

// await sets the time of the next clearing, which is the first regular time at now or later.
// There is one clearing per time. A job may follow a job that ends at this time and arrive
// after the clearing; it then waits for the next clearing.
func (p *bundle) await(now float64) {
	k := max(1, math.Floor(now/p.o.Every))
	for k*p.o.Every < now || k*p.o.Every <= p.last {
		k++
	}
	p.at = k * p.o.Every
}

// cannot returns the reason for which j cannot win a clearing at the given time, or None.
func (p *bundle) cannot(j *bid, at float64) contracts.Reason {
	switch {
	case max(at, j.opens)+j.length > j.due:
		return contracts.TooLate
	case j.value < clearing.Least(p.reserve, j.units, j.length):
		return contracts.BelowReserve
	}
	return contracts.None
}

// clear clears the bids that wait.
func (p *bundle) clear(now float64) {
	p.last = now
	for _, j := range slices.Clone(p.waiting) {
		if reason := p.cannot(j, now); reason != contracts.None {
			p.waits(j.contract)
			p.refuse(j, reason)
		}
	}
	if p.at = math.Inf(1); len(p.waiting) == 0 {
		return
	}
	p.book.Capacity, p.book.Held, p.book.Bids = p.units, p.held(p.book.Held[:0], now), p.book.Bids[:0]
	for _, j := range p.waiting {
		from := max(now, j.opens)
		p.book.Bids = append(p.book.Bids, clearing.Bid{ID: int64(j.id), User: j.user, Units: j.units, Submit: j.submit, From: from, To: from + j.length, Seconds: j.length, Value: j.value})
	}
	if err := p.mechanism.Clear(&p.book, &p.result); err != nil {
		panic("booked: " + err.Error())
	}
	p.announce()
	rest := p.waiting[:0]
	for i, j := range p.waiting {
		switch at := &p.book.Bids[i]; {
		case p.result.Units[i] > 0:
			d := contracts.Decision{Verdict: contracts.Accept, Placements: []contracts.Placement{{Nodes: j.units}}, Numbers: append(slices.Clone(j.numbers), contracts.Measured("start", at.From))}
			d.Price(float64(p.result.Pay[i]) / 1e6)
			p.awards = append(p.awards, award{p.say(contracts.Book, j, d), &booking{contract: j.contract, units: j.units, from: at.From, to: at.To}})
		case p.o.Losers == "leave":
			p.refuse(j, contracts.Outbid)
		default:
			rest = append(rest, j)
		}
	}
	if len(rest) > 0 && len(p.awards)+len(p.book.Held) == 0 {
		// No job outbid these bids, so they are below the reserve price and can never win.
		for _, j := range rest {
			p.refuse(j, contracts.BelowReserve)
		}
		rest = rest[:0]
	}
	if p.waiting = rest; len(rest) > 0 {
		p.await(now)
	}
}

// announce records the result of a clearing, and sets the numbers of its bids: bids, the number
// of bids, and welfare, the sum of the values of the winning bids in $.
func (p *bundle) announce() {
	units, welfare, approximate := 0, int64(0), 0
	for i, n := range p.result.Units {
		if n > 0 {
			units, welfare = units+n, welfare+p.book.Bids[i].Value
		}
	}
	if p.result.Approximate {
		approximate = 1
	}
	p.say(contracts.Announce, &bid{}, contracts.Decision{Numbers: contracts.Numbers{
		contracts.Counted("market", 0), contracts.Counted("units", units), contracts.Counted("offered", p.units),
		contracts.Counted("bids", len(p.waiting)), contracts.Counted("approximate", approximate),
	}})
	for _, j := range p.waiting {
		j.numbers = contracts.Numbers{contracts.Counted("bids", len(p.waiting)), contracts.Measured("welfare", float64(welfare)/1e6)}
	}
}

// waits removes the waiting bid of contract i and returns it, or nil if there is none.
func (p *bundle) waits(i int32) *bid {
	at := slices.IndexFunc(p.waiting, func(j *bid) bool { return j.contract == i })
	if at < 0 {
		return nil
	}
	j := p.waiting[at]
	p.waiting = slices.Delete(p.waiting, at, at+1)
	return j
}

// refuse rejects j. A bid that has taken part in a clearing and is now too late was outbid.
func (p *bundle) refuse(j *bid, reason contracts.Reason) {
	if reason == contracts.TooLate && j.numbers != nil {
		reason = contracts.Outbid
	}
	p.say(contracts.Refuse, j, contracts.Decision{Reason: reason, Numbers: j.numbers})
}

// say appends an action about j, with its decision.
func (p *bundle) say(verb contracts.Verb, j *bid, d contracts.Decision) *contracts.Decision {
	p.actions = append(p.actions, contracts.Action{Verb: verb, Contract: j.contract, Decision: &d})
	return &d
}
