package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/agenda"
	"bourse/hosts/shelf"
	"bourse/market"
)

// A Teller is the part of the bank a broker needs.
type Teller interface {
	Balance(bank.Account) bank.Amount
	Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error
	Settle(now float64, contract int64, pay []bank.Payment, note []byte) (refund bank.Amount, err error)
	Penalty(now float64, contract int64, from, to bank.Account, a bank.Amount, note []byte) error
	Reject(now float64, contract int64, note []byte) error
}

// A Config names the broker's parts. All are needed but flags.
type Config struct {
	Fleet    []hosts.Machine
	Owners   []bank.Account // whom the charges of each host go to
	Provider bank.Account   // who pays penalties
	Policy   contracts.Decider
	Sharing  sharing.Rule
	Payment  Payment
	Window   float64 // of the price history, s
	Forecast market.Forecaster
	Teller   Teller
	Notes    bool       // tell the teller what decided and how contracts ended
	NoPrices bool       // keep no record of the total price
	Ties     *rand.Rand // breaks ties among hosts of equal price
	Presence *Presence  // when hosts are there; nil: always
}

// A Broker owns the auctions and the active contracts.
type Broker struct {
	Config
	limiter sharing.Limiter   // Sharing, if it is one
	lasting sharing.Lasting   // Sharing, if it is one
	ending  sharing.Ending    // of Sharing
	planner contracts.Planner // Policy, if it is one
	now     float64
	venues  []venue

	standings shelf.Shelf[contracts.Standing] // of venues

	contracts []contract // arena; the places in free are not in use
	free      []int32
	due       agenda.Agenda // contracts, by completion or deadline
	finish    agenda.Agenda // hosts, by the completion of a task

	touched []hosts.ID // hosts to deal out again
	news    []hosts.ID // hosts changed since the policy's last decision
	freed   bool       // a task has left its host since the queue was gone through
	changed []int32    // contracts whose rate may have changed
	reports []hosts.Report
	pay     []bank.Payment
	note    []byte

	planned map[contracts.ID]int32 // the planner's contracts: places in the arena
	steps   []contracts.Step

	comings    comings
	absent     int                  // hosts that are away
	dispatcher contracts.Dispatcher // Policy, if it is one
	entrusted  entrusted
	again      map[contracts.ID]int32 // contracts that wait in its queue: places in the arena
	answers    []contracts.Answer

	queue   []waiting          // requests deferred, in the policy's order
	overdue overdue            // those of them that a hard deadline ends
	asked   waiting            // the one that the policy is asked about
	said    contracts.Decision // what it says
	answer  contracts.Decision // what it has said of the one submitted, if that was ordered
	refused []Refusal

	ranking *market.Ranking
	ranked  []int32
	prices  market.Series
	ended   []contracts.Contract
}

// next returns the earliest instant in a, +Inf if it is empty.
func next(a *agenda.Agenda) float64 {
	if _, at, ok := a.Min(); ok {
		return at
	}
	return math.Inf(1)
}

// set enters item in a, or takes it out if at is +Inf.
func set(a *agenda.Agenda, item int32, at float64) {
	if math.IsInf(at, 1) {
		a.Remove(item)
	} else {
		a.Set(item, at)
	}
}

// A contract is the broker's own record of one.
type contract struct {
	rates   []float64 // of its nodes, work per second now
	changed bool
	late    bool // its deadline has passed, and it goes on
	fixed   bool // when to judge it does not depend on rates, and is entered
	holds   bool // it asks for more than processors

	contracts.Contract
	task hosts.Task // what is true, per node
	left int        // nodes still running

	cancelled bool // its owner takes it back

	arrears []arrear // for work lost
}

// New returns a broker with no contracts.
func New(c Config) *Broker {
	b := new(Broker)
	b.Reset(c)
	return b
}

// Reset makes b as New would, keeping its memory.
func (b *Broker) Reset(c Config) {
	b.Config, b.now = c, 0
	b.limiter, _ = c.Sharing.(sharing.Limiter)
	b.lasting, _ = c.Sharing.(sharing.Lasting)
	b.ending = sharing.ByItself
	if e, ok := c.Sharing.(sharing.Ender); ok {
		b.ending = e.Ending()
	}
	b.planner, _ = c.Policy.(contracts.Planner)
	b.dispatcher, _ = c.Policy.(contracts.Dispatcher)
	clear(b.planned)
	for len(b.venues) < len(c.Fleet) {
		b.venues = append(b.venues, venue{})
	}
	b.venues = b.venues[:len(c.Fleet)]
	for h := range b.venues {
		b.venues[h].reset(hosts.ID(h), c.Fleet[h], c.Window)
	}
	b.contracts, b.free = b.contracts[:0], b.free[:0]
	b.due.Reset()
	b.finish.Reset()
	b.touched, b.changed = b.touched[:0], b.changed[:0]
	b.news, b.freed = b.news[:0], false
	if b.ranking == nil || b.ranking.Len() != len(c.Fleet) {
		b.ranking = market.NewRanking(len(c.Fleet))
	} else {
		b.ranking.Reset()
	}
	b.prices.Reset()
	b.ended = b.ended[:0]
	b.queue, b.refused = b.queue[:0], b.refused[:0]
	b.overdue.reset()
	b.entrusted.reset()
	clear(b.again)
	b.absent = 0
	if c.Presence != nil {
		if b.planner != nil {
			panic("broker: a planner needs hosts that stay")
		}
		b.arrive()
	}
	if b.dispatcher != nil {
		b.dispatcher.Open(0, view{b})
	}
}

// Submit decides r and, if it is accepted, starts task on every node. The
// policy sees r alone; task, which holds the truth, goes to the machines. Its
// work is per node. The broker has been advanced to now.
//
// A rejection is a decision, not an error. A request that is deferred is decided
// later: see [Broker.Refused] and [Broker.Ended]. The decision is valid until the
// next call.
func (b *Broker) Submit(now float64, r *contracts.Request, task hosts.Task) (*contracts.Decision, error) {
	b.now = now
	if order, ok := b.Policy.(contracts.Orderer); ok {
		b.enqueue(order, waiting{request: *r, task: task})
		b.answer = contracts.Decision{Verdict: contracts.Defer}
		err := b.offer(now, r.ID)
		return &b.answer, err
	}
	b.asked.request, b.asked.task, b.asked.repeat = *r, task, 0
	d, err := b.decide(now, &b.asked)
	switch {
	case d.Verdict != contracts.Defer:
	case b.dispatcher != nil:
		b.entrusted.put(b.asked)
	default:
		b.wait(len(b.queue), b.asked)
	}
	return d, err
}

// decide asks the policy about w and carries out what it says, unless that is to
// wait.
func (b *Broker) decide(now float64, w *waiting) (*contracts.Decision, error) {
	b.said = b.Policy.Decide(now, &w.request, view{b})
	b.seen()
	err := b.carry(now, w, &b.said)
	return &b.said, err
}

// seen forgets what the policy has been shown as new.
func (b *Broker) seen() {
	for _, h := range b.news {
		b.venues[h].news = false
	}
	b.news = b.news[:0]
}

// carry carries out what has been decided of w, unless that is to wait.
func (b *Broker) carry(now float64, w *waiting, d *contracts.Decision) error {
	if w.repeat > 0 {
		return b.repeat(now, w, d)
	}
	r, task := &w.request, w.task
	switch has := b.Teller.Balance(r.Owner); {
	case d.Verdict != contracts.Accept:
	case r.SLA.Budget.Sign() <= 0:
		d.Verdict, d.Reason, d.Placements = contracts.Reject, contracts.NoRate, nil
	case has.Cmp(r.SLA.Budget) < 0:
		d.Verdict, d.Reason, d.Placements = contracts.Reject, contracts.Unfunded, nil
		d.Balance, d.Budget = has, r.SLA.Budget
	case b.planner == nil && !r.SLA.GoesOn() && r.Due() <= now:
		d.Verdict, d.Reason, d.Placements = contracts.Reject, contracts.TooLate, nil
	}
	b.note = b.note[:0]
	if b.Notes {
		b.note = d.AppendJSON(b.note)
	}
	switch d.Verdict {
	case contracts.Defer:
		return nil
	case contracts.Reject:
		return b.Teller.Reject(now, int64(r.ID), b.note)
	}
	if b.Notes {
		b.note = b.appendTerms(b.note, r, d)
	}
	if err := b.Teller.Hold(now, int64(r.ID), r.Owner, r.SLA.Budget, b.note); err != nil {
		return fmt.Errorf("admit %d: %w", r.ID, err)
	}
	if b.planner != nil {
		return b.promise(now, r, task, d)
	}
	return b.begin(now, r, task, d.Placements)
}

// begin makes the contract and starts its tasks.
func (b *Broker) begin(now float64, r *contracts.Request, task hosts.Task, on []contracts.Placement) error {
	i := b.place()
	c := &b.contracts[i]
	places := c.Placements
	c.Contract = contracts.Contract{}
	c.Request = *r
	c.Placements = places
	c.Admitted, c.At, c.Price, c.Began, c.Begun = now, now, r.SLA.Budget, now, true
	c.task, c.changed, c.cancelled, c.arrears = task, false, false, c.arrears[:0]
	c.late = c.Due() <= now // it has waited that long, and nothing is done by its deadline
	c.task.Key, c.task.Holds = int64(i), hosts.Resources{}
	return b.put(now, i, on)
}

// put starts the tasks of contract i there.
func (b *Broker) put(now float64, i int32, on []contracts.Placement) error {
	c := &b.contracts[i]
	c.occupy(on)
	c.left, c.At = len(on), now
	work := c.task.Work
	if !c.PerHost {
		c.task.Work = math.Inf(1) // the contract is judged as a whole
	}
	for n := range c.Placements {
		if err := b.start(now, i, int32(n)); err != nil {
			return fmt.Errorf("admit %d on %s: %w", c.ID, b.venues[c.Placements[n].Host].machine.Spec().Name, err)
		}
	}
	c.task.Work = work
	b.change(i)
	b.deal(now)
	return nil
}

// occupy makes on the places of c, which does not run there yet.
func (c *contract) occupy(on []contracts.Placement) {
	c.Placements = append(c.Placements[:0], on...)
	c.rates = slices.Grow(c.rates[:0], len(on))[:len(on)]
	clear(c.rates)
	c.fixed = false
	c.holds = !c.Needs.Min.Resources.Zero() || !c.Needs.Max.Resources.Zero()
}

// place returns a free place in the arena.
func (b *Broker) place() int32 {
	if n := len(b.free); n > 0 {
		i := b.free[n-1]
		b.free = b.free[:n-1]
		return i
	}
	if n := len(b.contracts); n < cap(b.contracts) {
		b.contracts = b.contracts[:n+1] // keep the memory of its placements
	} else {
		b.contracts = append(b.contracts, contract{})
	}
	return int32(len(b.contracts) - 1)
}

// Next returns the earliest instant at which something ends or is planned to
// happen, +Inf if nothing will.
func (b *Broker) Next() float64 {
	at := min(next(&b.due), next(&b.finish), next(&b.overdue.Agenda))
	if b.planner != nil {
		at = min(at, b.planner.Next())
	}
	if b.Presence != nil {
		at = min(at, next(&b.comings.change))
	}
	return at
}

// Advance brings the market to now: what has completed or run out of time by
// then is ended and settled, each at its own instant, and the hosts are dealt
// out again. Completions of an instant come before its deadlines, those before hosts
// that come or leave, those before the deadlines of what waits, and those before the
// steps of a planner.
func (b *Broker) Advance(now float64) error {
	for soonest := b.Next(); soonest <= now; {
		at := soonest
		b.now = at
		for soonest <= at {
			var err error
			switch {
			case next(&b.finish) <= at:
				err = b.complete(at)
			case next(&b.due) <= at:
				err = b.judge(at)
			case b.Presence != nil && next(&b.comings.change) <= at:
				err = b.alter(at)
			case next(&b.overdue.Agenda) <= at:
				err = b.lapse(at)
			default:
				b.steps = b.planner.Advance(at, b.steps[:0])
				err = b.follow(at, b.steps)
				b.freed = true // what waits for a step is asked again
			}
			if err != nil {
				return err
			}
			soonest = b.Next()
		}
		if b.freed {
			if err := b.offer(at, nobody); err != nil {
				return err
			}
			soonest = b.Next()
		}
	}
	b.now = now
	if b.ending != sharing.ByItself {
		return b.nearly(now)
	}
	return nil
}

// Ended returns the contracts that have ended, in the order of their ends. The
// slice is the broker's own until Reset.
func (b *Broker) Ended() []contracts.Contract { return b.ended }

// Forget drops what Ended and Refused return, for a run that is too long to keep:
// the broker then needs memory for what is active and no more, if it keeps no
// record of prices.
func (b *Broker) Forget() {
	if cap(b.ended) > 8*len(b.ended)+64 {
		b.ended = nil // a burst of ends is over
	}
	b.ended, b.refused = b.ended[:0], b.refused[:0]
}

// Active returns the number of active contracts.
func (b *Broker) Active() int { return len(b.contracts) - len(b.free) }

// Prices returns the record of the total price over all hosts.
func (b *Broker) Prices() *market.Series { return &b.prices }
