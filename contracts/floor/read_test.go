package floor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/market"
)

// A metre is a machine whose measurements and ends the test sets.
type metre struct {
	spec     hosts.Spec
	deals    int64
	tasks    []hosts.Report // running tasks; Done is the value read last
	shares   map[hosts.Slot]hosts.Share
	readings []hosts.Reading
	ends     []hosts.Report // reported ends, with their times
}

func (m *metre) Spec() *hosts.Spec { return &m.spec }

func (m *metre) Room() hosts.Resources { return m.spec.Room }

func (m *metre) Start(now float64, task hosts.Task, s hosts.Share) (hosts.Slot, error) {
	slot := hosts.Slot(len(m.shares))
	m.shares[slot] = s
	m.tasks = append(m.tasks, hosts.Report{Key: task.Key, Exit: hosts.Exit{Slot: slot}})
	return slot, nil
}

func (m *metre) SetShare(_ float64, slot hosts.Slot, s hosts.Share) { m.shares[slot] = s }

func (m *metre) Stop(now float64, slot hosts.Slot) hosts.Report {
	for i, r := range m.tasks {
		if r.Slot == slot {
			m.tasks = append(m.tasks[:i], m.tasks[i+1:]...)
			r.At, r.Why = now, hosts.Killed
			return r
		}
	}
	panic("no such task")
}

func (m *metre) Rate(slot hosts.Slot) float64 {
	sum := 0.0
	for _, r := range m.tasks {
		sum += m.shares[r.Slot].Weight
	}
	if sum == 0 {
		return 0
	}
	return m.shares[slot].Weight / sum * m.spec.Capacity()
}

func (m *metre) Processors() []float64 { return nil } // the rates are set individually

func (m *metre) Next() float64 {
	next := math.Inf(1)
	for _, r := range m.ends {
		next = min(next, r.At)
	}
	return next
}

func (m *metre) Advance(now float64, out []hosts.Report) []hosts.Report {
	rest := m.ends[:0]
	for _, r := range m.ends {
		if r.At > now {
			rest = append(rest, r)
			continue
		}
		m.Stop(now, r.Slot)
		out = append(out, r)
	}
	m.ends = rest
	return out
}

func (m *metre) Deal() int64 {
	m.deals++
	return m.deals
}

func (m *metre) Readings(out []hosts.Reading) []hosts.Reading {
	out = append(out, m.readings...)
	m.readings = nil
	return out
}

// say makes m report the work of tasks in a span under an allocation: work by slot, where NaN
// means no report.
func (m *metre) say(deal int64, span float64, work ...float64) {
	for slot, w := range work {
		if !math.IsNaN(w) {
			m.readings = append(m.readings, hosts.Reading{Slot: hosts.Slot(slot), Deal: deal, Span: span, Work: w})
		}
	}
}

// tell is like say, but also sets the true work.
func (m *metre) tell(deal int64, span float64, work ...float64) {
	m.say(deal, span, work...)
	for i := range m.tasks {
		if r := &m.tasks[i]; int(r.Slot) < len(work) && !math.IsNaN(work[r.Slot]) {
			r.Done += work[r.Slot]
		}
	}
}

// end makes m report the end of the task in slot.
func (m *metre) end(at float64, slot hosts.Slot, why hosts.End) {
	for _, r := range m.tasks {
		if r.Slot == slot {
			r.At, r.Why = at, why
			m.ends = append(m.ends, r)
		}
	}
}

// metres returns a floor with n metered hosts of two processors. Each task is charged the
// fraction of the host that it used times the price.
func metres(n int, change func(*Config)) (*Floor, []*metre) {
	c := hostConfig(auction)
	c.Tariff = func(on []contracts.Allocation, prices Prices, capacity, _ float64) {
		for i := range on {
			on[i].Paying = prices[hosts.CPU].Float64() * on[i].Rate / capacity
		}
	}
	c.Availability = &Availability{Leaving: Lose}
	var all []*metre
	for h := range n {
		m := &metre{spec: hosts.Spec{Name: fmt.Sprint("h", h), CPUs: 2, Speed: 1}, shares: make(map[hosts.Slot]hosts.Share)}
		all = append(all, m)
		c.Machines = append(c.Machines, m)
	}
	if change != nil {
		change(&c)
	}
	return open(c), all
}

// TestMetered checks that nothing is predicted for a metered host: work and charges are what it
// reports, at the price and allocation in force when the work was done.
func TestMetered(t *testing.T) {
	t.Parallel()
	f, m := metres(1, nil)
	one := place(t, f, 0, request(1, 1, true), 10, on(0))
	check(t, "nothing is due", f.Next(), math.Inf(1)) // allocation 1: one task
	two, err := f.Place(4, request(2, 1, true), hosts.Task{Work: 10}, []contracts.Placement{{Bid: 3 * dollar}}, 100)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "its limit is due", f.Next(), 100.0) // allocation 2: one quarter and three quarters
	check(t, "entitled", fmt.Sprint(f.On(0)[0].Rate, f.On(0)[1].Rate), "0.5 1.5")
	check(t, "before it tells", fmt.Sprint(f.Contract(one).Done, f.On(0)[0].Owed), "0 0")

	m[0].tell(1, 4, 6)      // the task used 1.5 of 2 processors; at a price of 1 $/s it pays 0.75 $/s
	m[0].tell(2, 2, 1, 2)   // the tasks used a quarter and a half of the host; the price is 4 $/s
	m[0].say(2, 0, 1, 1)    // A report of a span without length is ignored.
	m[0].tell(2, 2, 0, 2)   // The first task made no progress.
	m[0].say(7, 2, 100, 99) // This allocation does not exist.
	f.Read(9, 0)
	check(t, "done", fmt.Sprint(f.Contract(one).Done, f.Contract(two).Done), "7 4")
	check(t, "done there", fmt.Sprint(f.On(0)[0].Done, f.On(0)[1].Done), "7 4")
	check(t, "owed", fmt.Sprint(f.On(0)[0].Owed, f.On(0)[1].Owed), "5 8")
	check(t, "as of", fmt.Sprint(f.On(0)[0].At, f.Contract(two).At), "9 9")
	m[0].say(1, 3, 3) // the allocation has ended, because readings arrive in order
	f.Read(10, 0)
	check(t, "what comes late", fmt.Sprint(f.Contract(one).Done, f.On(0)[0].Owed), "7 5")

	m[0].tell(2, 1, math.NaN(), 1)
	f.Read(11, 0)
	check(t, "a slot that is not named", fmt.Sprint(f.Contract(one).Done, f.Contract(two).Done, f.On(0)[1].Owed), "7 5 10")

	m[0].tell(2, 2, 2, 2)
	m[0].end(12, 0, hosts.Exited)
	f.Read(12, 0)
	check(t, "the end is due", f.Next(), 12.0)
	check(t, "the end", play(f, 20), "12 done 0")
	pl := f.Contract(one).Placements[0]
	check(t, "as it ended", fmt.Sprint(pl.End, pl.Done, pl.Owed), "exited 9 9")
	check(t, "shares anew", f.On(0)[0].Rate, 2.0)

	m[0].say(m[0].deals, 1, 2, math.NaN()) // a slot that is no longer in use
	m[0].tell(m[0].deals, 1, math.NaN(), 2)
	f.Read(14, 0)
	c := f.Remove(15, two)
	check(t, "removed", fmt.Sprint(c.Done, c.Placements[0].Owed, c.Placements[0].End), "9 17 killed")
}

// TestMeteredLost checks a task that is unknown to its metered host: the run is broken, or must
// start again elsewhere.
func TestMeteredLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		availability *Availability
		want         string
		done, owed   float64
	}{
		{"lost", &Availability{Leaving: Lose}, "5 broken 0", 0, 0},
		{"lost, charged", &Availability{Leaving: Lose, Charged: true}, "5 broken 0", 0, 2},
		{"begins again", &Availability{Leaving: Resubmit}, "5 lost 0", 0, 0},
		{"no rule", nil, "5 broken 0", 0, 0},
	} {
		f, m := metres(1, func(c *Config) { c.Availability = test.availability })
		i := place(t, f, 0, request(1, 1, true), 10, on(0))
		f.MoveTo(1)
		m[0].tell(1, 4, 4)
		m[0].end(5, 0, hosts.Lost)
		f.Read(5, 0)
		check(t, test.name, play(f, 9), test.want)
		c := f.Contract(i)
		check(t, test.name+": losses", fmt.Sprint(c.Losses, c.Wasted, c.Done), "1 4 0")
		check(t, test.name+": owed", c.Placements[0].Owed, test.owed)
	}
}

// TestComeAndGo checks hosts that arrive, leave, join or are shut at the caller's request. An
// absent or closed host gets no work, and no event is reported twice.
func TestComeAndGo(t *testing.T) {
	t.Parallel()
	c := hostConfig(auction, 1, 1)
	c.Availability = &Availability{Leaving: Suspend}
	f := open(c)
	told := func(events []Event) (text string) {
		for _, e := range events {
			text += fmt.Sprintf("%s h%d,", kinds[e.Kind], e.Host)
		}
		return text
	}
	cheapest := func() string { return fmt.Sprint(slices.Sorted(slices.Values(f.Cheapest(request(9, 3, true), nil)))) }
	i := place(t, f, 0, request(1, 1, true), 10, on(1))
	check(t, "all are there", cheapest(), "[0 1]")

	check(t, "gone", told(f.Gone(2, 1)), "gone h1,")
	check(t, "gone again", told(f.Gone(2, 1)), "")
	check(t, "without one", cheapest(), "[0]")
	check(t, "it stands", f.Next(), math.Inf(1))
	check(t, "came", told(f.Came(5, 1)), "came h1,")
	check(t, "came again", told(f.Came(5, 1)), "")
	check(t, "it goes on", f.Next(), 13.0)

	f.Shut(6, 1, true)
	check(t, "shut", cheapest(), "[0]")
	check(t, "what is on it goes on", f.Next(), 13.0)
	check(t, "away", f.Unavailable(1), true)
	f.Shut(7, 1, false)
	check(t, "open", cheapest(), "[0 1]")

	f.Join(8, hostConfig(auction, 4).Machines[0])
	check(t, "fleet", f.Fleet(), 3)
	check(t, "not yet there", cheapest(), "[0 1]")
	check(t, "joined", told(f.Came(9, 2)), "came h2,")
	check(t, "there", cheapest(), "[0 1 2]")
	j := place(t, f, 9, request(2, 1, true), 8, on(2))
	check(t, "both", play(f, 20), fmt.Sprintf("11 done %d, 13 done %d", j, i))
}

// TestJoinMetered checks that a host that joins is metered if its machine is metered, and has
// the price history of an idle host.
func TestJoinMetered(t *testing.T) {
	t.Parallel()
	f, m := metres(1, nil)
	place(t, f, 0, request(1, 1, true), 10, on(0))
	f.Join(50, &metre{spec: m[0].spec, shares: make(map[hosts.Slot]hosts.Share)})
	f.Came(60, 1)
	i := place(t, f, 60, request(2, 1, true), 4, on(1))
	joined := f.Machines[1].(*metre)
	f.MoveTo(61)
	joined.tell(joined.deals, 1, 2)
	f.Read(62, 1)
	check(t, "done", f.Contract(i).Done, 2.0)
	check(t, "nothing is predicted", f.Next(), math.Inf(1))
	check(t, "price record", fmt.Sprint(f.Prices().Steps()), fmt.Sprint([]market.Step{{At: 0, Total: dollar}, {At: 60, Total: 2 * dollar}}))
}

// TestRenew checks that the new bids of a run sum to its remaining budget divided by its
// remaining time, in the proportions of its current bids, and are at least a nano-dollar per
// second.
func TestRenew(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1, 1))
	i := place(t, f, 0, request(1, 2, true), 100, []contracts.Placement{{Host: 0, Bid: dollar}, {Host: 1, Bid: 3 * dollar}})
	other := place(t, f, 0, request(2, 1, true), 100, on(0))
	f.MoveTo(0)
	f.Renew(10, i, 120, 50) // 40 are owed, so 80 are left for 40 s
	check(t, "bids", fmt.Sprint(f.On(0)[0].Bid, f.On(1)[0].Bid), fmt.Sprint(dollar/2, 3*dollar/2))
	check(t, "placements", fmt.Sprint(f.Contract(i).Placements[0].Bid, f.Contract(i).Placements[1].Bid), fmt.Sprint(dollar/2, 3*dollar/2))
	check(t, "price", f.Price(0), 3*dollar/2)
	check(t, "rank", fmt.Sprint(f.Cheapest(request(3, 2, true), nil)), "[0 1]")
	f.MoveTo(11)
	check(t, "shares", f.On(0)[0].Rate, 1/3.0)
	check(t, "of others", f.On(0)[1].Rate, 2/3.0)
	check(t, "owed", f.On(1)[0].Owed, 30.0)

	f.Renew(20, i, 10, 50) // the amount owed exceeds the budget
	check(t, "nothing is left", fmt.Sprint(f.On(0)[0].Bid, f.On(1)[0].Bid), fmt.Sprint(market.Rate(1), market.Rate(1)))
	f.Renew(20, i, 1e12, 20.001)
	check(t, "too much to say", fmt.Sprint(f.On(0)[0].Bid, f.On(1)[0].Bid), fmt.Sprint(market.Rate(1), market.Rate(1)))
	f.Remove(21, other)
}

// TestRenewFixed checks that fixed shares are set again when a run renews its bid, and that an
// absent host receives them when it comes back.
func TestRenewFixed(t *testing.T) {
	t.Parallel()
	c := hostConfig(byBid{auction}, 1, 1)
	c.Availability = &Availability{Leaving: Suspend}
	f := open(c)
	i := place(t, f, 0, request(1, 1, true), 100, on(0))
	f.MoveTo(1)
	f.Renew(10, i, 10+80, 50)
	check(t, "share", f.On(0)[0].Share.Weight, 2.0)
	check(t, "told", f.On(0)[0].Told.Weight, 2.0)
	f.MoveTo(10)
	f.Gone(20, 0)
	f.MoveTo(20)
	f.Renew(20, i, 10+20+90, 50)
	check(t, "away", f.On(0)[0].Told.Weight, 0.0)
	share := f.On(0)[0].Share.Weight
	check(t, "its share when it comes", share, 3.0)
	f.Came(30, 0)
	check(t, "come", f.On(0)[0].Told.Weight, share)
}

// byBid gives a task its bid as a fixed weight.
type byBid struct{ sharing.Rule }

func (byBid) Share(_ *contracts.Contract, pl *contracts.Placement, _ contracts.View) hosts.Share {
	return hosts.Share{Weight: pl.Bid.Float64()}
}

// TestOneByOne checks that, of several completions at the same time, the completion of the
// contract with the lowest number is processed first, on any host.
func TestOneByOne(t *testing.T) {
	t.Parallel()
	for _, oneByOne := range []bool{false, true} {
		c := hostConfig(auction, 1, 1, 1, 1)
		c.OneByOne = oneByOne
		f := open(c)
		for k, id := range []contracts.ID{7, 3, 5, 4} {
			work := 10.0
			if id == 4 {
				work = 11
			}
			place(t, f, 0, request(id, 1, true), work, on(hosts.ID(k)))
		}
		want := "10 done 0, 10 done 1, 10 done 2, 11 done 3"
		if oneByOne {
			want = "10 done 1, 10 done 2, 10 done 0, 11 done 3"
		}
		check(t, fmt.Sprint(oneByOne), play(f, 20), want)
	}
}

// TestTouchAll checks that allocating every host again changes nothing.
func TestTouchAll(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1, 2))
	i := place(t, f, 0, request(1, 2, true), 10, on(0, 1))
	j := place(t, f, 0, request(2, 1, true), 10, on(1))
	f.MoveTo(3)
	f.TouchAll(4)
	check(t, "next", f.Next(), 10.0)
	check(t, "metered", fmt.Sprint(f.On(0)[0].Done, f.On(1)[1].Owed), "4 4")
	check(t, "all", play(f, 20), fmt.Sprintf("10 left %d, 10 done %d, 10 done %d", i, i, j))
}
