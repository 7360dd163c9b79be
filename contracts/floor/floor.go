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
	"bourse/hosts/slab"
	"bourse/market"
)

// A Tariff sets what each task on a host is charged, in dollars per second: all bids
// there sum to price, and the host does capacity work per second, each processor of it
// processor.
type Tariff func(on []contracts.Allocation, price market.Rate, capacity, processor float64)

// A Config names the parts of a floor. All are needed but Forecast, NoPrices and Availability.
type Config struct {
	Machines     []hosts.Machine
	Sharing      sharing.Rule
	Tariff       Tariff
	Window       float64           // of the price history, s
	Forecast     market.Forecaster // nil: nobody asks for percentiles, and hosts keep no history
	Ties         *rand.Rand        // breaks ties among hosts of equal price
	NoPrices     bool              // keep no record of the total price
	Spends       bool              // what accrues is paid out of the budget of the contract; a Bidding rule then gives no weight to one that has spent it
	OneByOne     bool              // of what is done at one instant, the contract of the lowest number comes first
	Availability *Availability     // when hosts are there; nil: always
	Least        float64           // what a processor costs at least, dollars per second
}

// A Floor runs contracts on hosts.
type Floor struct {
	Config
	rule rule
	State
	heaps       heaps
	ranking     *market.Ranking
	specs       []*hosts.Spec // by host: what its machine offers
	allocations slab.Slab[contracts.Allocation]
	now         float64
	marks       marks
	scratch     scratch
}

// State is what a floor knows, as plain data. The rest follows from it.
type State struct {
	hosts  []host
	runs   []run
	free   []int32 // places in runs that are not in use
	prices market.Series
	news   news
}

// News are the hosts that have changed since a policy looked.
type news struct {
	hosts []hosts.ID
	old   bool // a policy has looked: the next change begins the list anew
}

// Heaps hold what is due, each by the instant entered in it.
type heaps struct {
	completions eventheap.Heap // hosts, by their host.next
	ends        eventheap.Heap // runs, by their run.next
	changes     eventheap.Heap // hosts, by when they come or leave: their host.change
}

// Marks are what is to be looked at before time passes.
type marks struct {
	touched []hosts.ID  // hosts to be allocated again
	changed []int32     // runs whose rate may have changed
	bid     bool        // a bid has come or gone
	price   market.Rate // what all bids together have changed by
}

// Scratch is memory that is used again.
type scratch struct {
	reports  []hosts.Report
	readings []hosts.Reading
	events   []Event
	ranked   []int32
	fetched  float64
}

// A run is a contract's work and where it is.
type run struct {
	// What every change of a rate touches is in one place, with what the contract begins
	// with.
	next    float64   // instant entered in ends, +Inf if none
	until   float64   // its limit
	goal    float64   // work over all nodes at which it is done, +Inf if its hosts tell when it is
	left    int32     // nodes that are on hosts, vacant if the place is not in use
	changed bool      // it is in marks.changed
	reads   bool      // it is on a host that is metered
	near    bool      // what it has spent is watched: see spend.go
	rates   []float64 // of its nodes, work per second now

	contracts.Contract // as policies and sharing rules see it
	task               hosts.Task
	arrears            []contracts.Placement // host and dollars of work that was lost
	spends             float64               // instant at which its money is looked at, +Inf if never
}

const vacant = -1

// An Event is what has happened to a run or a host.
type Event struct {
	Kind Kind
	Run  int32
	Part int32    // of Done, if it is booked: index in its placements
	Host hosts.ID // of Came and Gone
}

// A Kind says what has happened.
type Kind uint8

// Kinds of events.
const (
	Done    Kind = iota // the work is done; the run has been removed: its Contract is as Remove returns it. Of one that is booked the work of a part is done, and nothing removed
	Left                // a node has left its host; others are still there
	Expired             // the limit of the run has come
	Spent               // the run has spent its budget, and bids nothing from now on
	Lost                // a host has left: the run is off all hosts, and its work so far is lost
	Broken              // a host has left with work that cannot be made up for; the run has been removed
	Came                // Host is there
	Gone                // Host has left
)

// A rule is a sharing rule by its properties.
type rule struct {
	sharing.Rule
	bids   bool            // shares are in proportion to bids
	fixed  sharing.Lasting // nil: shares are allocated anew
	limit  sharing.Limiter // nil: tasks are not stopped early
	ending sharing.Ending
}

func properties(r sharing.Rule) rule {
	p := rule{Rule: r}
	_, p.bids = r.(sharing.Bidding)
	p.fixed, _ = r.(sharing.Lasting)
	p.limit, _ = r.(sharing.Limiter)
	if e, ok := r.(sharing.Ender); ok {
		p.ending = e.Ending()
	}
	return p
}

// Reset makes f an empty floor at instant 0, keeping its memory.
func (f *Floor) Reset(c Config) {
	f.Config, f.rule = c, properties(c.Sharing)
	f.rule.bids = f.rule.bids && c.Spends
	f.now, f.runs, f.free = 0, f.runs[:0], f.free[:0]
	f.hosts, f.specs = slices.Grow(f.hosts[:0], len(c.Machines))[:len(c.Machines)], f.specs[:0]
	for h, m := range c.Machines {
		f.specs = append(f.specs, m.Spec())
		f.hosts[h].reset(hosts.ID(h), m, f.auctions())
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
	if c.Availability != nil && c.Availability.Histories != nil {
		f.arrive()
	}
}

// auctions returns the options of the hosts' auctions.
func (c *Config) auctions() market.Config {
	return market.Config{Window: c.Window, NoHistory: c.Forecast == nil}
}

// Place starts task on the hosts of on and returns the number of the run. Work is per
// node. If the run is not over by the instant until, that is an event.
func (f *Floor) Place(now float64, r *contracts.Request, task hosts.Task, on []contracts.Placement, until float64) (int32, error) {
	f.now = now
	i := f.enter(r, task, until)
	return i, f.put(i, on)
}

// PlaceAgain starts run i, which was [Lost], on other hosts.
func (f *Floor) PlaceAgain(now float64, i int32, on []contracts.Placement) error {
	f.now = now
	return f.put(i, on)
}

// Book enters task, which is to run as one gang on each of the hosts of on, all distinct,
// when Resume says so. Work is per node.
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

// Resume starts part n of run i, which is booked, on its host.
func (f *Floor) Resume(now float64, i, n int32) error {
	f.now = now
	c := &f.runs[i]
	c.resume(now, n)
	c.Placements[n].Left = false
	c.left++
	f.change(i)
	return f.start(c, i, n, false)
}

// Pause takes part n of run i, which is booked, off its host, and keeps what has been
// done.
func (f *Floor) Pause(now float64, i, n int32) {
	f.now = now
	c := &f.runs[i]
	if !c.Placements[n].Left {
		f.stop(c, i, n)
	}
	c.Paused = append(c.Paused, contracts.Pause{Part: n, From: now, To: never})
	f.change(i)
}

// Running returns how many tasks of run i are on hosts.
func (f *Floor) Running(i int32) int { return int(f.runs[i].left) }

// Remove takes run i off its hosts and out, and returns its contract with what has
// been done and has accrued on each node. It is good until the next run is placed.
func (f *Floor) Remove(now float64, i int32) *contracts.Contract {
	f.now = now
	c := &f.runs[i]
	f.heaps.ends.Remove(i)
	c.next = math.Inf(1)
	done := 0.0
	f.prefetch(c.Placements)
	for n := range c.Placements {
		pl := &c.Placements[n]
		if !pl.Left {
			f.stop(c, i, int32(n))
		}
		done += pl.Done
	}
	c.Rate, c.Done = 0, done
	c.left = vacant
	f.free = append(f.free, i)
	return &c.Contract
}

// Extend moves the limit of run i, which has expired, and returns the work that it
// has done so far over all nodes, at most what it truly needs.
func (f *Floor) Extend(i int32, until float64) (done float64) {
	c := &f.runs[i]
	c.until = until
	f.change(i)
	return min(c.Done, c.total())
}

// Renew bids anew for run i, which is on hosts: what is left of budget, in dollars, over what
// is left of the time until due, in the proportions in which it bids now. Bids are rounded
// toward zero, but for a hundredth of a nano-dollar per second, and one such at least; what
// is too much for a rate to say is not bid.
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
	if bids == 0 { // its money is gone
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

// mostRenewed is a bid in nano-dollars per second that none is raised to: whole numbers
// below it are exact.
const mostRenewed = 1 << 53

// Arrears returns what run i has accrued on work that was lost: hosts and dollars alone.
func (f *Floor) Arrears(i int32) []contracts.Placement { return f.runs[i].arrears }

// Next returns the earliest instant at which something happens, +Inf if nothing will.
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

// Advance lets happen what happens first, which is due by now, and returns what came
// of it: tasks of an instant before limits, and those before hosts that come or leave.
// The slice is good until the next call.
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

// Prices returns the record of the total price over all hosts.
func (f *Floor) Prices() *market.Series {
	f.record()
	return &f.prices
}

// record adds what bids have changed at this instant to the total price.
func (f *Floor) record() {
	if f.marks.bid {
		f.prices.Add(f.now, f.marks.price)
		f.marks.bid, f.marks.price = false, 0
	}
}

// tell adds an event.
func (f *Floor) tell(k Kind, i int32) {
	f.scratch.events = append(f.scratch.events, Event{Kind: k, Run: i})
}

// enter makes a run that is on no host.
func (f *Floor) enter(r *contracts.Request, task hosts.Task, until float64) int32 {
	i := f.vacancy()
	c := &f.runs[i]
	places := c.Placements
	c.Contract = contracts.Contract{}
	c.Request, c.Admitted, c.At, c.Placements = *r, f.now, f.now, places
	c.Began = never
	c.task, c.task.Key, c.task.Holds = task, int64(i), hosts.Resources{}
	c.left, c.until, c.next, c.arrears = 0, until, math.Inf(1), c.arrears[:0]
	c.spends, c.near = never, false
	return i
}

// vacancy returns a place in runs that is not in use.
func (f *Floor) vacancy() int32 {
	if n := len(f.free); n > 0 {
		i := f.free[n-1]
		f.free = f.free[:n-1]
		return i
	}
	if n := len(f.runs); n < cap(f.runs) {
		f.runs = f.runs[:n+1] // keep the memory of its placements
		f.runs[n].changed = false
	} else {
		f.runs = append(f.runs, run{})
	}
	return int32(len(f.runs) - 1)
}

// occupy makes on the places of c, which is on no host.
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

// resume notes that part n of c starts, for the first time or again: other parts that
// have not started pause from the first start of all.
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
	case k < 0: // it has done its work, and has none left to do
	case c.Paused[k].From == now:
		c.Paused = slices.Delete(c.Paused, k, k+1)
	default:
		c.Paused[k].To = now
	}
}

// begin notes the first start of c.
func (c *run) begin(now float64) { c.Began = min(c.Began, now) }

// put starts run i there.
func (f *Floor) put(i int32, on []contracts.Placement) error {
	c := &f.runs[i]
	c.occupy(on)
	c.left, c.At = int32(len(on)), f.now
	c.begin(f.now)
	holds := !c.Needs.Min.Resources.Zero() || !c.Needs.Max.Resources.Zero()
	f.prefetch(c.Placements)
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

// enter moves item in a from instant *was to at; +Inf is none.
func enter(a *eventheap.Heap, item int32, was *float64, at float64) {
	if at != *was {
		*was = at
		move(a, item, at)
	}
}

// move puts item in a at that instant, whether or not it is there; +Inf is none.
func move(a *eventheap.Heap, item int32, at float64) {
	if math.IsInf(at, 1) {
		a.Remove(item)
	} else {
		a.Set(item, at)
	}
}
