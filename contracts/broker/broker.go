package broker

import (
	"math"
	"math/rand/v2"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/floor"

	"bourse/contracts/settlement"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/market"
)

// A Teller is the part of the bank that a broker uses. Each successful call books one entry,
// and a failed call books none. There is no method to query a balance, because the balance
// could change before the entry is booked. Times are in seconds, and the argument contract is
// a [contracts.ID].
type Teller interface {
	// Hold moves a from owner into the escrow of contract. It returns a [*bank.Shortfall] if
	// owner has less than a, and an error wrapping [bank.ErrRefused] if owner has not
	// authorized the contract.
	Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error

	// Adjust changes the amount in the escrow of contract to budget. The owner pays the
	// difference, or receives it if the budget is lower. Adjust returns the same errors as
	// Hold.
	Adjust(now float64, contract int64, budget bank.Amount, note []byte) error

	// Settle makes the given payments out of the escrow of contract and refunds the rest to its
	// owner.
	Settle(now float64, contract int64, pay []bank.Payment, note []byte) (refund bank.Amount, err error)

	// Penalty moves a penalty from the debited accounts to one account, and returns the amount
	// paid. This is less than the penalty if the debited accounts do not have enough.
	Penalty(now float64, contract int64, from []bank.Debit, to bank.Account, note []byte) (paid bank.Amount, err error)

	// Reject records in the ledger that a request was rejected. It moves no money.
	Reject(now float64, contract int64, note []byte) error
}

// A recording is a Teller that also records events that move no money. For the result of an
// auction clearing, the number of the contract is [bank.NoContract].
type recording interface {
	Record(now float64, kind bank.Kind, contract int64, note []byte) error
}

// A sparing is a Teller that reserves some bytes of each note for its own use.
type sparing interface{ Spare() int }

// A Config names the broker's parts. The Boolean fields, Forecast, Availability and Spans are
// optional.
type Config struct {
	Fleet        []hosts.Machine
	Owners       []bank.Account // owner of each host, who receives its charges
	Provider     bank.Account   // account that pays the part of a penalty that hosts do not pay
	Policy       contracts.Policy
	Sharing      sharing.Rule
	Payment      Payment
	Window       float64           // length of the price history, s
	Forecast     market.Forecaster // forecaster, required by policies that use percentiles; nil for other policies
	Teller       Teller
	Notes        bool                // whether entries have notes: terms, reasons and verdicts
	NoPrices     bool                // whether not to record the total price
	HostPrices   bool                // whether to record the price of each host
	OneByOne     bool                // whether to notify the policy of free resources after each event rather than once after all events of the same time
	Ties         *rand.Rand          // breaks ties among hosts of equal price
	Availability *floor.Availability // times at which hosts are available; nil means always
	Spans
}

// Spans holds the durations and limits that a market configures, the priced resources, the
// floor prices and the penalties for failed delivery. The zero value disables all of these
// features.
type Spans struct {
	Resources []hosts.Kind // kinds that have a price in addition to processors, in order
	Counts    []string     // names of the countable resources of hosts
	Licences  contracts.Licences

	// Patience is the time after a deadline for which the broker waits for the last report of
	// metered hosts, in seconds. These hosts stop a contract at its deadline by themselves, but
	// their reports arrive later.
	Patience float64

	// Least contains the market's floor prices of resources. They apply on hosts whose own
	// floor prices are lower. No floor price applies if contracts pay their whole budget or
	// nothing.
	Least hosts.Floor

	// Reserve is the price, in dollars per processor-second, on a host that can give all of
	// its tasks all the processors they can use. Only the payment rule scarce uses it.
	Reserve float64

	// Renew is the interval between renewals of bids, in seconds. A renewal sets the bids of a
	// contract to the rest of its budget divided by the time until its deadline. 0 means no
	// renewals.
	Renew float64

	// Promise returns the penalty that a market of real hosts owes to contracts of a class for
	// delivering too little work, as two fractions of the budget: see [note.Terms]. If Promise
	// is nil, no penalty is owed.
	Promise func(class string) (part, most float64)
}

// floor returns the configuration of the floor.
func (c *Config) floor() floor.Config {
	return floor.Config{
		Charges: floor.Charges{
			Tariff: c.Payment.tariff(c.Resources, c.Reserve),
			Spends: !c.Payment.Whole, Promised: c.Payment.Promised, NoFloor: c.Payment.noFloor(),
		},
		Machines: c.Fleet, Sharing: c.Sharing, Window: c.Window, Forecast: c.Forecast,
		Ties: c.Ties, NoPrices: c.NoPrices, HostPrices: c.HostPrices, OneByOne: c.OneByOne, Availability: c.Availability, Least: c.Least,
		Resources: c.Resources, Counts: c.Counts, Licensed: !c.Payment.noFloor() && slices.Max(append(c.Licences.Floors, 0)) > 0,
	}
}

// A Broker manages contracts from their submission to their settlement. It is deterministic:
// the same calls with the same configuration give the same results. It is not safe for
// concurrent use.
type Broker struct {
	Config
	floor floor.Floor
	State

	timers   eventheap.Heap // undecided waiting contracts, by hard deadline
	renewals eventheap.Heap // running contracts, by the time of their next renewal
	index    index
	hosts    []settlement.Host
	licensed []int32 // units of each licence that contracts hold

	now     float64
	asked   int32              // contract being submitted, or none
	answer  contracts.Decision // decision about this contract
	scratch scratch
	failing failing // policy, if it implements failing
}

// A failing is a policy that can report the error that stopped it. After such an error the run
// is void.
type failing interface{ Err() error }

// State is the state of a broker, without its floor, as plain data. The other fields of a
// [Broker] are derived from it.
type State struct {
	contracts []contract
	free      []int32 // unused indexes in contracts
	waiting   []int32 // contracts that wait for a decision, in the order set by the policy
	freed     bool    // whether resources may be free of which the policy has not been notified
	ended     []contracts.Settled
	refused   []Refusal
}

// An index finds contracts by their run or their ID.
type index struct {
	byRun []int32                // contract of each run on the floor
	byID  map[contracts.ID]int32 // nil until the first lookup by ID
}

// A scratch is memory reused between calls.
type scratch struct {
	pay    []bank.Payment
	debits []bank.Debit
	note   []byte
}

// A contract is the broker's record of one contract, from its request on.
type contract struct {
	contracts.Request
	task  hosts.Task
	price bank.Amount
	byDue float64 // work done by the deadline, if the contract continued after it
	alarm float64 // hard deadline entered in timers while the contract waits for a decision; +Inf if none
	renew float64 // time entered in renewals while the contract runs; +Inf if none
	rated bool    // whether the bids are agreed rates: see [contracts.Decision]
	phase contracts.Phase
	run   int32 // number of the run on the floor; none before the contract is accepted
}

const none = -1

// A Refusal is the rejection of a request that had been waiting.
type Refusal struct {
	ID       contracts.ID
	At       float64 // time of the rejection, s
	Decision contracts.Decision
}

// New returns a broker without contracts. It sends [contracts.Opened] to the policy.
func New(c Config) *Broker {
	b := new(Broker)
	b.Reset(c)
	return b
}

// Reset makes b like a new broker with configuration c, and reuses its memory. It panics if
// the policy returns actions before the first request.
func (b *Broker) Reset(c Config) {
	b.clear(c)
	if actions := c.Policy.Handle(0, contracts.Event{Kind: contracts.Opened}, view{b}); len(actions) > 0 {
		panic("broker: a policy acts before the first request")
	}
}

// clear makes b an empty broker at time 0 without notifying the policy.
func (b *Broker) clear(c Config) {
	b.Config, b.now, b.asked = c, 0, none
	b.failing, _ = c.Policy.(failing)
	b.floor.Reset(c.floor())
	b.hosts = b.hosts[:0]
	for h, owner := range c.Owners {
		b.hosts = append(b.hosts, settlement.Host{Owner: owner, Capacity: b.floor.Capacity(hosts.ID(h))})
	}
	b.licensed = make([]int32, len(c.Licences.Units))
	b.timers.Reset()
	b.renewals.Reset()
	b.index.byRun, b.index.byID = b.index.byRun[:0], nil
	b.State = State{b.contracts[:0], b.free[:0], b.waiting[:0], false, b.ended[:0], b.refused[:0]}
}

// Submit submits request r and returns the decision. The policy receives only r. Only the
// machines receive the task, which contains the true work per node. The broker must already
// have been advanced to now.
//
// A rejection is a decision, not an error. A deferred request is decided later: see
// [Broker.Refused] and [Broker.Ended]. The decision is valid until the next call.
func (b *Broker) Submit(now float64, r *contracts.Request, task hosts.Task) (*contracts.Decision, error) {
	b.now = now
	i := b.place()
	c := &b.contracts[i]
	c.Request, c.task, c.price, c.byDue = *r, task, r.SLA.Budget, 0
	c.LicenceFloor = b.licenceFloor(r)
	c.phase, c.alarm, c.renew, c.run = contracts.Asked, math.Inf(1), math.Inf(1), none
	c.rated = false
	if b.index.byID != nil {
		b.index.byID[r.ID] = i
	}
	b.asked, b.answer.Verdict = i, contracts.Defer
	err := b.notify(contracts.Event{Kind: contracts.Submitted, Contract: i})
	b.asked = none
	if b.answer.Verdict == contracts.Defer {
		b.answer = contracts.Decision{Verdict: contracts.Defer}
	}
	return &b.answer, err
}

// place returns an unused index in contracts. If there is none, it extends contracts.
func (b *Broker) place() int32 {
	if n := len(b.free); n > 0 {
		i := b.free[n-1]
		b.free = b.free[:n-1]
		return i
	}
	b.contracts = append(b.contracts, contract{})
	return int32(len(b.contracts) - 1)
}

// gone records that contract i has ended, so that its index can be reused.
func (b *Broker) gone(i int32) {
	b.rests(i)
	b.free = append(b.free, i)
	b.contracts[i].Licences = nil
	if b.index.byID != nil {
		delete(b.index.byID, b.contracts[i].ID)
	}
}

// Ended returns the contracts that have ended, in the order of their ends. The slice belongs
// to the broker and is valid until Reset.
func (b *Broker) Ended() []contracts.Settled { return b.ended }

// Refused returns the requests that waited and were then rejected, in order of rejection. The
// slice belongs to the broker and is valid until Reset.
func (b *Broker) Refused() []Refusal { return b.refused }

// Forget discards the contents of Ended and Refused. A long run should call it regularly. If
// the broker also records no prices, its memory then depends only on the number of active
// contracts.
func (b *Broker) Forget() {
	if cap(b.ended) > 8*len(b.ended)+64 {
		b.ended = nil // release the memory that a burst of ends needed
	}
	b.ended, b.refused = b.ended[:0], b.refused[:0]
}

// Active returns the number of contracts that have been accepted and have not ended.
func (b *Broker) Active() int { return len(b.contracts) - len(b.free) - b.Waiting() }

// Waiting returns the number of undecided requests that wait. It does not count contracts that
// wait to be placed again.
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

// Prices returns the history of the total price over all hosts.
func (b *Broker) Prices() *market.Series { return b.floor.Prices() }

// HostPrice returns the history of the price of host h. It requires HostPrices.
func (b *Broker) HostPrice(h hosts.ID) *market.Series { return b.floor.HostPrice(h) }

// A view gives policies read access to the broker.
type view struct{ *Broker }

func (v view) Hosts() contracts.View              { return &v.floor }
func (v view) Waiting() []int32                   { return v.waiting }
func (v view) Request(i int32) *contracts.Request { return &v.contracts[i].Request }
