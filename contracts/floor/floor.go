package floor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/market"
)

// A Tariff sets the field Paying of each task on a host, in dollars per second. The argument
// capacity is the work per second of the whole host, and processor is the work per second of
// one of its processors.
type Tariff func(on []contracts.Allocation, prices Prices, capacity, processor float64)

// Prices are the sums of the bids on a host by kind of resource; kinds without a price are 0.
type Prices [hosts.Kinds]market.Rate

// Charges specify what tasks pay. Tariff is required.
type Charges struct {
	Tariff   Tariff
	Spends   bool // whether charges are paid from the contract's budget; under a Bidding rule, a contract that has spent its budget has weight 0
	Promised bool // whether the price that applies to a task is the price promised at its placement
	NoFloor  bool // whether no floor price applies, neither Least nor the floor prices of hosts
}

// A Config names the parts of a floor. Machines, Sharing, Charges, Window and Ties are required.
type Config struct {
	Charges
	Machines     []hosts.Machine
	Sharing      sharing.Rule
	Window       float64           // length of the price history, s
	Forecast     market.Forecaster // forecaster; if nil, percentiles are not available, and hosts store no price history
	Ties         *rand.Rand        // breaks ties among hosts of equal price
	NoPrices     bool              // whether not to record the total price
	HostPrices   bool              // whether to record the price of each host
	OneByOne     bool              // whether to process completions of the same time in order of contract number
	Availability *Availability     // times at which hosts are available; nil means always
	Least        hosts.Floor       // floor prices on hosts whose own floor prices are lower
	Resources    []hosts.Kind      // kinds that have a price in addition to processors, in order
	Counts       []string          // names of the countable resources
	Licensed     bool              // whether some licence has a floor price
}

// A Floor runs contracts on hosts. Its zero value is ready for [Floor.Reset]. It is not safe
// for concurrent use.
type Floor struct {
	Config
	rule rule
	State
	heaps   heaps
	ranking *market.Ranking
	specs   []*hosts.Spec // specification of each machine, by host
	floors  []hosts.Floor // floor prices of each host
	whole   bool          // whether some host allocates whole cores only
	vectors bool          // whether tasks can have vectors
	floored bool          // whether some host has a floor price
	now     float64
	marks   marks
	scratch scratch
}

// State is the state of a floor as plain data. The other fields of a [Floor] are derived from
// it and from the Config.
type State struct {
	hosts  []host
	runs   []run
	free   []int32 // unused indexes in runs
	prices market.Series
	each   []market.Series // price of each host, if HostPrices is set
	news   news
}

// A news lists the hosts that have changed since a policy last called Changed.
type news struct {
	hosts []hosts.ID
	old   bool // whether a policy has read the list, so that the next change starts a new list
}

// A heaps contains pending events, ordered by time.
type heaps struct {
	completions eventheap.Heap // hosts, by host.next
	ends        eventheap.Heap // runs, by run.next
	changes     eventheap.Heap // hosts, by host.change: the time when they arrive or leave
}

// A marks records the hosts and runs that must be processed before time advances.
type marks struct {
	touched []hosts.ID  // hosts to reallocate
	changed []int32     // runs whose rate may have changed
	bid     bool        // whether a bid was added or removed
	price   market.Rate // change in the sum of all bids
}

// A scratch is memory reused between calls.
type scratch struct {
	reports  []hosts.Report
	readings []hosts.Reading
	events   []Event
	ranked   []int32
	met      []met
	placed   []contracts.Placement
}

// A run is the work of a contract and its placement.
type run struct {
	// These fields are updated at each change in a rate. They are at the front, next to the
	// first fields of the contract, to reduce cache misses.
	next    float64   // time entered in heaps.ends; +Inf if none
	until   float64   // limit of the run, s
	goal    float64   // total work at which the run is done; +Inf if each node has its own work or if the hosts report the end
	left    int32     // number of nodes that are on hosts; vacant if the index is unused
	changed bool      // whether the run is in marks.changed
	reads   bool      // whether the run is on a metered host
	near    bool      // whether the spending of the run is monitored: see spend.go
	rates   []float64 // current work per second of each node

	contracts.Contract // contract in the form that policies and sharing rules read
	task               hosts.Task
	arrears            []contracts.Placement // hosts and charges of work done before the current placement
	kept               []kept                // saved work by node; nil before the first call of Keep
	spends             float64               // time of the next check of the run's money, +Inf if none
}

const vacant = -1

// An Event describes a change in a run or a host.
type Event struct {
	Kind Kind
	Run  int32
	Part int32    // index in the placements, for Done of a booked run
	Host hosts.ID // host, for Came and Gone
}

// A Kind is the kind of an [Event].
type Kind uint8

// Kinds of events.
const (
	Done    Kind = iota // the work is done and the run has been removed; Contract still returns its contract. For a booked run, only the work of Part is done, and nothing has been removed
	Left                // a node has left its host; other nodes remain
	Expired             // the run has reached its limit
	Spent               // the run has spent its budget and no longer bids
	Lost                // a host has left: the run has been removed from all hosts and its work so far is lost
	Broken              // a host has left with work that other nodes cannot replace; the run has been removed
	Came                // Host has arrived
	Gone                // Host has left
)

// A rule is a sharing rule with its optional interfaces resolved once, so that inner loops
// need no type assertions.
type rule struct {
	sharing.Rule
	bids   bool                // whether shares are proportional to bids, and charges are deducted from budgets
	fixed  sharing.FixedShares // rule as FixedShares; if nil, each change on a host requires a reallocation
	limit  sharing.Limiter     // rule as Limiter; if nil, tasks are not stopped early
	ending sharing.Ending
}

// properties resolves the optional interfaces of r.
func properties(r sharing.Rule) rule {
	p := rule{Rule: r}
	_, p.bids = r.(sharing.Bidding)
	p.fixed, _ = r.(sharing.FixedShares)
	p.limit, _ = r.(sharing.Limiter)
	if e, ok := r.(sharing.Ender); ok {
		p.ending = e.Ending()
	}
	return p
}

// Reset makes f an empty floor at time 0 and reuses its memory. Simulations reset one floor
// for each replication instead of creating a new floor, which avoids most allocations.
func (f *Floor) Reset(c Config) {
	f.Config, f.rule = c, properties(c.Sharing)
	f.rule.bids = f.rule.bids && c.Spends
	f.now, f.runs, f.free = 0, f.runs[:0], f.free[:0]
	f.hosts, f.specs = slices.Grow(f.hosts[:0], len(c.Machines))[:len(c.Machines)], f.specs[:0]
	f.floors, f.whole, f.floored, f.vectors = f.floors[:0], false, c.Licensed, c.Licensed || len(c.Resources) > 0
	for h, m := range c.Machines {
		f.add(m)
		f.hosts[h].reset(hosts.ID(h), m, len(c.Resources), f.auctions())
	}
	f.news.hosts, f.news.old = f.news.hosts[:0], false
	f.marks = marks{touched: f.marks.touched[:0], changed: f.marks.changed[:0]}
	f.heaps.completions.Reset()
	f.heaps.ends.Reset()
	f.heaps.changes.Reset()
	if f.ranking == nil || f.ranking.Len() != len(c.Machines) {
		f.ranking = market.NewRanking(len(c.Machines))
	} else {
		f.ranking.Reset()
	}
	f.prices.Reset()
	f.each = nil
	if c.HostPrices {
		f.each = make([]market.Series, len(c.Machines))
	}
	if c.Availability != nil && c.Availability.Histories != nil {
		f.arrive()
	}
}

// add records the specification and the floor prices of the next host.
func (f *Floor) add(m hosts.Machine) {
	spec, least := m.Spec(), hosts.Floor{}
	if !f.NoFloor {
		for k := range least {
			least[k] = max(spec.Floor[k], f.Least[k])
		}
	}
	f.specs, f.floors = append(f.specs, spec), append(f.floors, least)
	f.whole, f.floored, f.vectors = f.whole || spec.Whole, f.floored || least != hosts.Floor{}, f.vectors || least.OnHeld()
}

// auctions returns the configuration of the hosts' auctions.
func (c *Config) auctions() market.Config {
	return market.Config{Window: c.Window, NoHistory: c.Forecast == nil}
}

// Place starts task on the hosts of the given placements and returns the number of the run. The
// work of task is per node. If the run has not ended at the time until, Advance reports it as
// [Expired]. The caller decides how to continue, because the floor has no information about
// promises.
func (f *Floor) Place(now float64, r *contracts.Request, task hosts.Task, on []contracts.Placement, until float64) (int32, error) {
	f.now = now
	i := f.enter(r, task, until)
	return i, f.put(i, on)
}

// PlaceAgain starts run i, which was [Lost], on other hosts. The run starts from the beginning,
// or from its saved work. Its number and its limit do not change.
func (f *Floor) PlaceAgain(now float64, i int32, on []contracts.Placement) error {
	f.now = now
	c := &f.runs[i]
	if c.kept == nil {
		return f.put(i, on)
	}
	f.scratch.placed = append(f.scratch.placed[:0], on...)
	for n := range f.scratch.placed {
		f.scratch.placed[n].Done = c.Placements[n].Done
	}
	return f.put(i, f.scratch.placed)
}

// Book enters task as a run that consists of gangs, one on the host of each placement. All
// hosts differ. No part starts until the caller calls Resume for that part. The work of task is
// per node.
func (f *Floor) Book(now float64, r *contracts.Request, task hosts.Task, on []contracts.Placement, until float64) int32 {
	f.now = now
	i := f.enter(r, task, until)
	c := &f.runs[i]
	c.Gang, c.Host = true, on[0].Host
	c.occupy(on)
	for n := range c.Placements {
		c.Placements[n].Left = true
	}
	f.change(i)
	return i
}

// Resume starts part n of run i, which is booked, on its host. If the part was paused, it
// continues.
func (f *Floor) Resume(now float64, i, n int32) error {
	f.now = now
	c := &f.runs[i]
	c.resume(now, n)
	c.Placements[n].Left = false
	c.left++
	f.change(i)
	return f.start(c, i, n, false)
}

// Pause stops part n of run i, which is booked, on its host. The work done so far counts.
func (f *Floor) Pause(now float64, i, n int32) {
	f.now = now
	c := &f.runs[i]
	if !c.Placements[n].Left {
		f.stop(c, i, n)
	}
	c.Paused = append(c.Paused, contracts.Pause{Part: n, From: now, To: never})
	f.change(i)
}

// Running returns the number of tasks of run i that are on hosts.
func (f *Floor) Running(i int32) int { return int(f.runs[i].left) }

// Remove stops run i on all hosts, deletes it, and returns its contract with the work done and
// the charges accrued on each node. The result is valid until the next run is placed.
//
// Hosts are only marked, not reallocated. If several runs end at the same time, each host is
// therefore reallocated only once.
func (f *Floor) Remove(now float64, i int32) *contracts.Contract {
	f.now = now
	c := &f.runs[i]
	f.heaps.ends.Remove(i)
	c.next = math.Inf(1)
	done := 0.0
	for n := range c.Placements {
		pl := &c.Placements[n]
		if !pl.Left {
			f.stop(c, i, int32(n))
		}
		pl.Done = max(0, pl.Done) // below 0 if the node was still doing its extra work
		done += pl.Done
	}
	c.Rate, c.Done = 0, done
	c.left = vacant
	f.free = append(f.free, i)
	return &c.Contract
}

// Extend moves the limit of run i, which has expired, to until. It returns the work done so
// far over all nodes, at most the true work. The broker calls it for contracts that may
// continue after their deadline.
func (f *Floor) Extend(i int32, until float64) (done float64) {
	c := &f.runs[i]
	c.until = until
	f.change(i)
	return max(0, min(c.Done, c.total()))
}

// Renew changes the bids of run i, which is on hosts, so that the rest of its budget (in
// dollars) lasts until due. Renew adds 0.01 nano-dollars per second to each bid and rounds the
// sum toward zero, but to at least 1 nano-dollar per second. It does not enter bids of 2^53 or
// more.
//
// For example, a run bids 10 and 30 nano-dollars per second, has 8,000 nano-dollars left and is
// due in 100 s. Its new bids are 20 and 60. A run without bids has spent its money and does not
// change. The added 0.01 compensates for rounding errors, so that a bid whose exact value is an
// integer is not lowered by 1.
func (f *Floor) Renew(now float64, i int32, budget, due float64) {
	f.now = now
	c := &f.runs[i]
	left, bids := budget, market.Rate(0)
	for _, a := range c.arrears {
		left -= a.Owed
	}
	for n := range c.Placements {
		pl := &c.Placements[n]
		if pl.Left {
			left -= pl.Owed
			continue
		}
		v := &f.hosts[pl.Host]
		f.touch(v)
		s := &v.on[v.find(i, int32(n))]
		left -= s.Owed
		bids += s.Bid
	}
	if bids == 0 { // the run has spent its money
		return
	}
	factor := max(0, left) / (due - now) / bids.Float64()
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			if bid := float64(pl.Bid)*factor + 0.01; bid < mostRenewed {
				f.raise(i, int32(n), max(1, market.Rate(bid)))
			}
		}
	}
	bids = 0
	for n := range c.Placements {
		if pl := &c.Placements[n]; !pl.Left {
			bids += pl.Bid
		}
	}
	f.lasts(i, budget-left, bids)
	f.change(i)
}

// mostRenewed is the exclusive upper bound of renewed bids, in nano-dollars per second. Below
// it, a float64 represents every integer exactly.
const mostRenewed = 1 << 53

// Arrears returns the charges of run i for work that was lost. In the result, only Host and
// Owed are set.
func (f *Floor) Arrears(i int32) []contracts.Placement { return f.runs[i].arrears }

// Next returns the time of the earliest pending event, or +Inf if there is none. It reallocates
// marked hosts first.
//
// The result can become earlier when the caller places a run or changes a bid. Callers must
// not reuse it after such a call.
func (f *Floor) Next() float64 {
	if f.stale() {
		f.allocate()
	}
	at := f.heaps.completions.First()
	if end := f.heaps.ends.First(); end < at {
		at = end
	}
	if change := f.heaps.changes.First(); change < at {
		at = change
	}
	return at
}

// Advance processes the earliest events due by now, and returns them. Among events at the same
// time, completions of tasks come before limits, and limits before hosts that arrive or leave.
// The slice is valid until the next call.
//
// One call processes only one group of events, because its consequences can change the next
// events. Callers repeat the call until Next returns a time after now.
func (f *Floor) Advance(now float64) []Event {
	f.now, f.scratch.events = now, f.scratch.events[:0]
	switch {
	case f.heaps.completions.First() <= now:
		f.complete()
	case f.heaps.ends.First() <= now:
		f.end()
	default:
		f.alter()
	}
	return f.scratch.events
}

// Prices returns the history of the total price over all hosts.
func (f *Floor) Prices() *market.Series {
	f.record()
	return &f.prices
}

// HostPrice returns the history of the price of h. It requires HostPrices.
func (f *Floor) HostPrice(h hosts.ID) *market.Series { return &f.each[h] }

// record adds one sample to the history of the total price: the change of all bids since the
// last call.
func (f *Floor) record() {
	if f.marks.bid {
		f.prices.Add(f.now, f.marks.price)
		f.marks.bid, f.marks.price = false, 0
	}
}

// emit adds an event of kind k for run i.
func (f *Floor) emit(k Kind, i int32) {
	f.scratch.events = append(f.scratch.events, Event{Kind: k, Run: i})
}

// enter creates a run that is on no host, and returns its number.
//
// It reuses the memory of the placements of a removed run. The task holds no memory, disk or
// bandwidth until it is placed, because the reserved amount depends on the host.
func (f *Floor) enter(r *contracts.Request, task hosts.Task, until float64) int32 {
	i := f.vacancy()
	c := &f.runs[i]
	places := c.Placements
	c.Contract = contracts.Contract{}
	c.Request, c.Admitted, c.At, c.Placements = *r, f.now, f.now, places
	c.Began = never
	c.task, c.task.Key, c.task.Holds = task, int64(i), hosts.Resources{}
	c.left, c.until, c.next, c.arrears, c.kept = 0, until, math.Inf(1), c.arrears[:0], nil
	c.spends, c.near = never, false
	return i
}

// vacancy returns an unused index in runs. If there is none, it extends runs.
func (f *Floor) vacancy() int32 {
	if n := len(f.free); n > 0 {
		i := f.free[n-1]
		f.free = f.free[:n-1]
		return i
	}
	if n := len(f.runs); n < cap(f.runs) {
		f.runs = f.runs[:n+1] // reuse the memory of the placements
		f.runs[n].changed = false
	} else {
		f.runs = append(f.runs, run{})
	}
	return int32(len(f.runs) - 1)
}

// occupy sets the placements of c, which is on no host, to a copy of the given placements, and
// resets the rates and the goal of c.
func (c *run) occupy(on []contracts.Placement) {
	c.Placements = append(c.Placements[:0], on...)
	c.rates = slices.Grow(c.rates[:0], len(on))[:len(on)]
	clear(c.rates)
	c.reads = false
	c.goal = math.Inf(1)
	if !c.PerHost {
		c.goal = c.total()
	}
}

// resume records that part n of c starts or continues. At the first start of any part, a pause
// begins for each other part.
func (c *run) resume(now float64, n int32) {
	if c.Began == never {
		c.begin(now)
		for k := range c.Placements {
			if k != int(n) {
				c.Paused = append(c.Paused, contracts.Pause{Part: int32(k), From: now, To: never})
			}
		}
		return
	}
	switch k := slices.IndexFunc(c.Paused, func(p contracts.Pause) bool { return p.Part == n && p.To == never }); {
	case k < 0: // the part is done and has no work left
	case c.Paused[k].From == now:
		c.Paused = slices.Delete(c.Paused, k, k+1)
	default:
		c.Paused[k].To = now
	}
}

// begin records the first start of c.
func (c *run) begin(now float64) { c.Began = min(c.Began, now) }

// put starts run i on the hosts of the given placements.
func (f *Floor) put(i int32, on []contracts.Placement) error {
	c := &f.runs[i]
	c.occupy(on)
	c.left, c.At = int32(len(on)), f.now
	c.begin(f.now)
	holds := !c.Needs.Min.Resources.Zero() || !c.Needs.Max.Resources.Zero() || f.whole
	for n := range c.Placements {
		if err := f.start(c, i, int32(n), holds); err != nil {
			return fmt.Errorf("on %s: %w", f.Spec(c.Placements[n].Host).Name, err)
		}
	}
	if f.rule.bids {
		spent, bids := 0.0, market.Rate(0)
		for _, a := range c.arrears {
			spent += a.Owed
		}
		for n := range on {
			bids += on[n].Bid
		}
		f.lasts(i, spent, bids)
	}
	f.change(i)
	return nil
}

// enter moves item in a from its old time, *was, to the time at, and updates *was. A time of
// +Inf removes the item from the heap.
func enter(a *eventheap.Heap, item int32, was *float64, at float64) {
	if at != *was {
		*was = at
		move(a, item, at)
	}
}

// move sets the time of item in a to at, whether or not the item is already in a. If at is
// +Inf, move removes the item.
func move(a *eventheap.Heap, item int32, at float64) {
	if math.IsInf(at, 1) {
		a.Remove(item)
	} else {
		a.Set(item, at)
	}
}
