package floor

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// What tasks do on a machine that is metered is not predicted but read. It is charged by
// the shares and the price that stood when it was done, so these are kept, as deals,
// until all that was done under them has been read.

// A deal is what a metered host was dealt out as.
type deal struct {
	number int64
	price  market.Rate
	on     []contracts.Allocation
}

// metered returns the machine of v, which is metered.
func (f *Floor) metered(v *host) hosts.Metered { return f.Machines[v.id].(hosts.Metered) }

// deal keeps what v, which is metered, is dealt out as now.
func (f *Floor) deal(v *host) {
	v.deals = append(v.deals, deal{f.metered(v).Deal(), v.auction.Price(), slices.Clone(v.on)})
}

// Read books what h, which is metered, has measured, and lets happen at now what it tells.
func (f *Floor) Read(now float64, h hosts.ID) {
	f.allocate()
	f.now = now
	v := &f.hosts[h]
	f.read(v)
	enter(&f.heaps.completions, int32(h), &v.next, f.Machines[h].Next()) // shares stand
}

// read books what v has measured.
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

// book books what was done on v in one span. What a deal does not name is charged by
// nobody: the market has never heard of it, or has stopped it since.
func (f *Floor) book(v *host, done []hosts.Reading) {
	at := slices.IndexFunc(v.deals, func(d deal) bool { return d.number == done[0].Deal })
	if at < 0 || !(done[0].Span > 0) {
		return
	}
	v.deals = slices.Delete(v.deals, 0, at) // readings come in order
	d := &v.deals[0]
	for i := range d.on {
		s := &d.on[i]
		s.Rate = 0
		if k, ok := slices.BinarySearchFunc(done, s.Slot, func(r hosts.Reading, slot hosts.Slot) int { return int(r.Slot) - int(slot) }); ok {
			s.Rate = done[k].Work / done[k].Span
		}
	}
	f.charge(d.on, d.price, &v.rated)
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
		s.At = f.now
		c.Done += work
		c.At = f.now
		f.change(was.Contract)
	}
}

// missing books that node n of run i, which is off its host, is lost: as if the host had
// left.
func (f *Floor) missing(i, n int32) {
	if f.Availability == nil || f.Availability.Leaving != Resubmit {
		f.lost(i, n)
		return
	}
	f.recall(i)
}

// Gone lets h leave at now.
func (f *Floor) Gone(now float64, h hosts.ID) []Event {
	f.now, f.scratch.events = now, f.scratch.events[:0]
	if v := &f.hosts[h]; !v.away {
		f.leaves(v)
	}
	return f.scratch.events
}

// Came lets h be there again at now.
func (f *Floor) Came(now float64, h hosts.ID) []Event {
	f.now, f.scratch.events = now, f.scratch.events[:0]
	if v := &f.hosts[h]; v.away {
		f.come(v)
	}
	return f.scratch.events
}

// Shut lets h take no more tasks, or take them again. What is on it goes on.
func (f *Floor) Shut(now float64, h hosts.ID, shut bool) {
	f.now = now
	v := &f.hosts[h]
	v.shut = shut
	f.touch(v)
	f.rank(v)
}

// Join adds m to the hosts at now, as the last. It is away until it has [Floor.Came].
func (f *Floor) Join(now float64, m hosts.Machine) {
	f.allocate()
	f.now = now
	f.Machines, f.specs = append(f.Machines, m), append(f.specs, m.Spec())
	f.hosts = append(f.hosts, host{})
	v := &f.hosts[len(f.hosts)-1]
	v.reset(hosts.ID(len(f.hosts)-1), m, f.auctions())
	v.at, v.away = now, true
	f.ranking = market.NewRanking(len(f.hosts))
	for h := range f.hosts {
		f.rank(&f.hosts[h])
	}
	f.touch(v)
}
