package broker

import (
	"math"
	"math/rand/v2"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/floor"

	"bourse/contracts/settlement"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/market"
)

// A Teller is the part of the bank that a broker needs. Each call is one entry, or none:
// nothing is asked before that could be otherwise when it is booked.
type Teller interface {
	// Hold returns a [*bank.Shortfall] if owner has less, and an error wrapping
	// [bank.ErrRefused] if it has not asked for that.
	Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error
	Settle(now float64, contract int64, pay []bank.Payment, note []byte) (refund bank.Amount, err error)
	Penalty(now float64, contract int64, from []bank.Debit, to bank.Account, note []byte) (paid bank.Amount, err error)
	Reject(now float64, contract int64, note []byte) error
}

// A sparing Teller needs some bytes of each note for itself.
type sparing interface{ Spare() int }

// A Config names the broker's parts. All are needed but the flags and Availability.
type Config struct {
	Fleet        []hosts.Machine
	Owners       []bank.Account // whom the charges of each host go to
	Provider     bank.Account   // who pays penalties, or what of them hosts do not pay
	Policy       contracts.Policy
	Sharing      sharing.Rule
	Payment      Payment
	Window       float64           // of the price history, s
	Forecast     market.Forecaster // nil: the policy asks for no percentile
	Teller       Teller
	Notes        bool                // tell the teller what decided and how contracts ended
	NoPrices     bool                // keep no record of the total price
	OneByOne     bool                // the policy is told of room after each end of an instant, not after all
	Ties         *rand.Rand          // breaks ties among hosts of equal price
	Availability *floor.Availability // when hosts are there; nil: always
	Spans
}

// Spans are those of time that a broker lets pass, what it costs at least, and what is owed if
// less is delivered.
type Spans struct {
	// Patience is how long the last word of metered hosts on a contract is awaited after
	// its deadline, at which they stop it by themselves, s.
	Patience float64

	// Least is what a processor costs at least, dollars per second, but where budgets are paid
	// whole.
	Least float64

	// Renew is after how many seconds a contract bids again what is left of its budget over
	// what is left of the time until its deadline; 0 is never.
	Renew float64

	// Promise returns what a market of real hosts owes a class if it delivers too little, as
	// terms say it: see [note.Terms]. Nil promises nothing.
	Promise func(class string) (part, most float64)
}

// floor returns what of c is the floor's.
func (c *Config) floor() floor.Config {
	least := c.Least
	if c.Payment.Whole {
		least = 0
	}
	return floor.Config{
		Machines: c.Fleet, Spends: !c.Payment.Whole, Sharing: c.Sharing, Tariff: c.Payment.Charge, Window: c.Window, Forecast: c.Forecast,
		Ties: c.Ties, NoPrices: c.NoPrices, OneByOne: c.OneByOne, Availability: c.Availability, Least: least,
	}
}

// A Broker carries contracts through their lives.
type Broker struct {
	Config
	floor floor.Floor
	State

	timers   eventheap.Heap // contracts that wait undecided, by their hard deadlines
	renewals eventheap.Heap // contracts that run, by when they bid again
	index    index
	hosts    []settlement.Host

	now     float64
	asked   int32              // the contract that is being submitted, none if there is none
	answer  contracts.Decision // what has been decided of it
	scratch scratch
}

// State is what a broker knows beside its floor, as plain data. The rest follows
// from it.
type State struct {
	contracts []contract
	free      []int32 // places in contracts that are not in use
	waiting   []int32 // contracts that wait for a decision, in the order of the policy
	freed     bool    // there may be room for them since the policy was told
	ended     []contracts.Settled
	refused   []Refusal
}

// An index finds contracts.
type index struct {
	byRun []int32                // by run of the floor
	byID  map[contracts.ID]int32 // nil until one is asked for
}

// Scratch is memory that is used again.
type scratch struct {
	pay    []bank.Payment
	debits []bank.Debit
	note   []byte
}

// A contract is the broker's record of one.
type contract struct {
	contracts.Request
	task  hosts.Task
	price bank.Amount
	byDue float64 // work at the deadline, if it goes on after it
	alarm float64 // while it waits undecided: instant entered in timers, +Inf if none
	renew float64 // while it runs: instant entered in renewals, +Inf if none
	phase contracts.Phase
	run   int32 // of the floor, none before it is accepted
}

const none = -1

// A Refusal is the rejection of a request that had waited.
type Refusal struct {
	ID       contracts.ID
	At       float64 // instant
	Decision contracts.Decision
}

// New returns a broker with no contracts.
func New(c Config) *Broker {
	b := new(Broker)
	b.Reset(c)
	return b
}

// Reset makes b as New would, keeping its memory.
func (b *Broker) Reset(c Config) {
	b.clear(c)
	if actions := c.Policy.Handle(0, contracts.Event{Kind: contracts.Opened}, view{b}); len(actions) > 0 {
		panic("broker: a policy acts before anything is asked for")
	}
}

// clear makes b an empty broker at instant 0, of which the policy is not told.
func (b *Broker) clear(c Config) {
	b.Config, b.now, b.asked = c, 0, none
	b.floor.Reset(c.floor())
	b.hosts = b.hosts[:0]
	for h, owner := range c.Owners {
		b.hosts = append(b.hosts, settlement.Host{Owner: owner, Capacity: b.floor.Capacity(hosts.ID(h))})
	}
	b.timers.Reset()
	b.renewals.Reset()
	b.index.byRun, b.index.byID = b.index.byRun[:0], nil
	b.State = State{b.contracts[:0], b.free[:0], b.waiting[:0], false, b.ended[:0], b.refused[:0]}
}

// Submit asks for a contract. The policy sees r alone; task, which holds the truth,
// goes to the machines. Its work is per node. The broker has been advanced to now.
//
// A rejection is a decision, not an error. What is deferred is decided later: see
// [Broker.Refused] and [Broker.Ended]. The decision is good until the next call.
func (b *Broker) Submit(now float64, r *contracts.Request, task hosts.Task) (*contracts.Decision, error) {
	b.now = now
	i := b.place()
	c := &b.contracts[i]
	c.Request, c.task, c.price, c.byDue = *r, task, r.SLA.Budget, 0
	c.phase, c.alarm, c.renew, c.run = contracts.Asked, math.Inf(1), math.Inf(1), none
	if b.index.byID != nil {
		b.index.byID[r.ID] = i
	}
	b.asked, b.answer.Verdict = i, contracts.Defer
	err := b.tell(contracts.Event{Kind: contracts.Submitted, Contract: i})
	b.asked = none
	if b.answer.Verdict == contracts.Defer {
		b.answer = contracts.Decision{Verdict: contracts.Defer}
	}
	return &b.answer, err
}

// place returns a place in contracts that is not in use.
func (b *Broker) place() int32 {
	if n := len(b.free); n > 0 {
		i := b.free[n-1]
		b.free = b.free[:n-1]
		return i
	}
	b.contracts = append(b.contracts, contract{})
	return int32(len(b.contracts) - 1)
}

// gone notes that contract i is over: its place may be used again.
func (b *Broker) gone(i int32) {
	b.rests(i)
	b.free = append(b.free, i)
	if b.index.byID != nil {
		delete(b.index.byID, b.contracts[i].ID)
	}
}

// Ended returns the contracts that have ended, in the order of their ends. The slice
// is the broker's own until Reset.
func (b *Broker) Ended() []contracts.Settled { return b.ended }

// Refused returns the requests that waited and were then rejected, in that order. The
// slice is the broker's own until Reset.
func (b *Broker) Refused() []Refusal { return b.refused }

// Forget drops what Ended and Refused return, for a run that is too long to keep:
// the broker then needs memory for what is active and no more, if it keeps no
// record of prices.
func (b *Broker) Forget() {
	if cap(b.ended) > 8*len(b.ended)+64 {
		b.ended = nil // a burst of ends is over
	}
	b.ended, b.refused = b.ended[:0], b.refused[:0]
}

// Active returns the number of contracts that are accepted and have not ended.
func (b *Broker) Active() int { return len(b.contracts) - len(b.free) - b.Waiting() }

// Waiting returns the number of requests that wait and are no contracts yet.
func (b *Broker) Waiting() (n int) {
	for _, i := range b.waiting {
		if b.contracts[i].phase == contracts.Asked {
			n++
		}
	}
	return n
}

// Idle reports whether no contract is active and no request waits.
func (b *Broker) Idle() bool { return len(b.contracts) == len(b.free) }

// Prices returns the record of the total price over all hosts.
func (b *Broker) Prices() *market.Series { return b.floor.Prices() }

// A view is what policies are shown.
type view struct{ *Broker }

func (v view) Hosts() contracts.View              { return &v.floor }
func (v view) Waiting() []int32                   { return v.waiting }
func (v view) Request(i int32) *contracts.Request { return &v.contracts[i].Request }
