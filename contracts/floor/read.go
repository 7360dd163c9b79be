package floor

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// A metered machine reports the progress of its tasks, so the floor does not predict the
// progress. Work is charged at the price and shares in force when it was done. The floor
// therefore stores each allocation of such a host until all usage measured under the allocation
// has been read.

// A deal is an allocation of a metered host: the prices and shares in force. Usage measured
// under an allocation is charged at its prices.
type deal struct {
	number int64
	prices Prices
	on     []contracts.Allocation
}

// metered returns the machine of v, which must be metered.
func (f *Floor) metered(v *host) hosts.Metered { return f.Machines[v.id].(hosts.Metered) }

// saveAllocation stores the current allocation of v, which is metered.
func (f *Floor) saveAllocation(v *host) {
	v.deals = append(v.deals, deal{f.metered(v).Deal(), f.pricesOf(v), slices.Clone(v.on)})
}

// Read records the usage that h, which is metered, has measured, and enters the time of its
// next report. The next Advance processes the ends of tasks that h has reported.
func (f *Floor) Read(now float64, h hosts.ID) {
	f.allocate()
	f.now = now
	v := &f.hosts[h]
	f.read(v)
	enter(&f.heaps.completions, int32(h), &v.next, f.Machines[h].Next()) // the shares do not change
}

// read records the usage that v has measured, one span at a time.
//
// A reading is the usage of one task. Consecutive readings with the same allocation and times,
// in ascending order of slots, form one span. A new span begins when the allocation or the
// times change, or when the slot number does not increase.
func (f *Floor) read(v *host) {
	f.scratch.readings = f.metered(v).Readings(f.scratch.readings[:0])
	all := f.scratch.readings
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Deal == all[0].Deal && all[n].Span == all[0].Span && all[n].Slot > all[n-1].Slot {
			n++
		}
		f.book(v, all[:n])
		all = all[n:]
	}
}

// book records the work done on v in one span, and its charges. Usage is not charged if its
// allocation is unknown or does not name the task: the market does not know the task or has
// stopped it.
//
// The tariff is applied to rates, which are the work divided by the span. A metered host is
// therefore charged by the same rules as a simulated one. Allocations older than the one read
// are discarded.
func (f *Floor) book(v *host, done []hosts.Reading) {
	at := slices.IndexFunc(v.deals, func(d deal) bool { return d.number == done[0].Deal })
	if at < 0 || !(done[0].Span > 0) {
		return
	}
	v.deals = slices.Delete(v.deals, 0, at) // readings arrive in order, so earlier allocations will receive no more usage
	d := &v.deals[0]
	for i := range d.on {
		s := &d.on[i]
		s.Rate = 0
		if k, ok := slices.BinarySearchFunc(done, s.Slot, func(r hosts.Reading, slot hosts.Slot) int { return int(r.Slot) - int(slot) }); ok {
			s.Rate = done[k].Work / done[k].Span
		}
	}
	f.charge(v, d.on, d.prices)
	for i := range d.on {
		was := &d.on[i]
		at := slices.IndexFunc(v.on, func(s contracts.Allocation) bool { return s.Slot == was.Slot && s.Contract == was.Contract })
		if at < 0 || was.Rate == 0 && was.Paying == 0 {
			continue
		}
		s, c := &v.on[at], &f.runs[was.Contract]
		work := was.Rate * done[0].Span
		s.Done += work
		s.Owed += was.Paying * done[0].Span
		if s.Vector != nil {
			for k, charge := range was.Divide(was.Paying*done[0].Span, f.FloorOf(v.id, was)) {
				s.Vector.Charged.By[k] += charge
			}
		}
		s.At = f.now
		c.Done += work
		c.At = f.now
		f.change(was.Contract)
	}
}

// missing records that node n of run i, which has left its host, is lost. The consequences are
// the same as if the host had left.
func (f *Floor) missing(i, n int32) {
	if f.Availability == nil || f.Availability.Leaving != Resubmit {
		f.lost(i, n)
		return
	}
	f.recall(i)
}

// Gone makes h leave at now and returns the events. It does nothing if h is already absent.
func (f *Floor) Gone(now float64, h hosts.ID) []Event {
	f.now, f.scratch.events = now, f.scratch.events[:0]
	if v := &f.hosts[h]; !v.away {
		f.leaves(v)
	}
	return f.scratch.events
}

// Came makes h available again at now and returns the events. It does nothing if h is present.
func (f *Floor) Came(now float64, h hosts.ID) []Event {
	f.now, f.scratch.events = now, f.scratch.events[:0]
	if v := &f.hosts[h]; v.away {
		f.come(v)
	}
	return f.scratch.events
}

// Shut sets whether h rejects new tasks. Tasks on h continue. Callers use it to drain a host.
func (f *Floor) Shut(now float64, h hosts.ID, shut bool) {
	f.now = now
	v := &f.hosts[h]
	v.shut = shut
	f.touch(v)
	f.rank(v)
}

// Join adds m at now as the host with the highest number. The host is absent until [Floor.Came]
// is called. Existing hosts keep their numbers; the price order is rebuilt from all hosts.
func (f *Floor) Join(now float64, m hosts.Machine) {
	f.allocate()
	f.now = now
	f.Machines = append(f.Machines, m)
	f.add(m)
	f.hosts = append(f.hosts, host{})
	v := &f.hosts[len(f.hosts)-1]
	v.reset(hosts.ID(len(f.hosts)-1), m, len(f.Resources), f.auctions())
	v.at, v.away = now, true
	f.ranking = market.NewRanking(len(f.hosts))
	for h := range f.hosts {
		f.rank(&f.hosts[h])
	}
	f.touch(v)
}
