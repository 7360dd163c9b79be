package live

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts/remote"
)

// A Meter is told what a market does, where and when it does it. Durations are in seconds.
type Meter interface {
	// Turn tells how long a turn took, until those who wait were answered.
	Turn(seconds float64)

	// LogSync tells how long it took until something was in the log for good.
	LogSync(seconds float64)

	// BankCall tells how long the bank took to answer, or was waited for.
	BankCall(seconds float64)

	// Sync tells how long it took until what a host told was kept for good.
	Sync(seconds float64)

	// Decided tells of a decision: the class that was asked for, accept, reject or defer,
	// and the reason. What was deferred is told of again when it is decided.
	Decided(class, verdict, reason string)

	// Unpaid tells of processor-seconds that tasks used and nobody pays: between the last
	// reading and a stop that the market ordered.
	Unpaid(seconds float64)
}

// unmetered is a [Meter] that nobody reads.
type unmetered struct{}

func (unmetered) Turn(float64)                   {}
func (unmetered) LogSync(float64)                {}
func (unmetered) BankCall(float64)               {}
func (unmetered) Sync(float64)                   {}
func (unmetered) Decided(string, string, string) {}
func (unmetered) Unpaid(float64)                 {}

// timed tells how long f took.
func (m *Market) timed(tell func(seconds float64), f func() error) error {
	begun := m.world.Clock.Now()
	err := f()
	tell(m.world.Clock.Now() - begun)
	return err
}

// decided tells of what was decided in a turn.
func (m *Market) decided(r *record, results []result) {
	k, answered := m.core, make(map[int64]bool)
	contract := func(id int64) *Contract {
		if i := slices.IndexFunc(k.ended, func(c *Contract) bool { return c.ID == id }); i >= 0 {
			return k.ended[i]
		}
		return k.open[id]
	}
	for i := range results {
		if a := results[i].answer; a != nil && r.Messages[i].Submit != nil {
			answered[a.Contract] = true
			m.world.Meter.Decided(contract(a.Contract).Class, a.Verdict, a.Reason)
		}
	}
	for i := range k.calls.made {
		q := &k.calls.made[i]
		c := contract(q.Contract)
		switch {
		case c == nil || answered[q.Contract]:
		case q.Kind == "hold" && q.Receipt != "":
			m.world.Meter.Decided(c.Class, contracts.Accept.String(), "")
		case q.Kind == "reject":
			var d struct{ Reason string }
			if json.Unmarshal(c.Decision, &d) == nil {
				m.world.Meter.Decided(c.Class, contracts.Reject.String(), d.Reason)
			}
		}
	}
}

// Delivered is what the tasks of a host have used, as it tells, beside what they are
// entitled to. It is of one deal, and of tasks that are known from before; lately is of tasks
// that run, whatever the deals.
type delivered struct {
	rates  map[int64]float64 // processors that a task is entitled to, by name
	used   map[int64]float64 // s, in all, as told last
	since  map[int64]float64 // s, under this deal
	waited map[int64]float64 // s, under this deal
	length float64           // s that this deal has lasted, as told
	lately map[int64]*lately
	told   float64 // instant of the last span, as the market heard of it
}

// Lately is what a task has used in the last seconds, of which the last count most.
type lately struct {
	length, used, waited float64 // s
	total, waits         float64 // s of each, in all, as told last
}

// fades is after how many seconds what was told counts for a third.
const fades = 5.0

// hear takes in what a span of so many seconds tells.
func (l *lately) hear(length, used, waited float64) {
	keep := math.Exp(-length / fades)
	l.length, l.used, l.waited = l.length*keep+length, l.used*keep+max(0, used-l.total), l.waited*keep+max(0, waited-l.waits)
	l.total, l.waits = max(l.total, used), max(l.waits, waited)
}

// rates returns the processors that a task which is entitled to so many has asked for and
// received lately, as of so many seconds after it was told of last.
func (l *lately) rates(entitled, silent float64) (asked, received float64) {
	length := l.length + silent
	if !(length > 0) {
		return 0, 0
	}
	received = l.used / length
	return received + max(0, min(l.waited/length, entitled-received)), received
}

// deal begins anew with what is wanted now.
func (d *delivered) deal(o *remote.Orders, on []contracts.Allocation, v contracts.View) {
	d.rates, d.since, d.waited, d.length = make(map[int64]float64), make(map[int64]float64), make(map[int64]float64), 0
	if d.used == nil {
		d.used, d.lately = make(map[int64]float64), make(map[int64]*lately)
	}
	for i := range o.Wanted {
		w := &o.Wanted[i]
		for _, a := range on {
			if int64(v.Contract(a.Contract).ID) == w.Contract && a.Node == w.Node {
				d.rates[w.Name] = a.Rate
				if d.lately[w.Name] == nil {
					d.lately[w.Name] = new(lately)
				}
			}
		}
	}
	maps.DeleteFunc(d.lately, func(name int64, _ *lately) bool {
		_, wanted := d.rates[name]
		return !wanted
	})
}

// hear takes in spans that were not told before, at an instant, and returns what nobody pays,
// s.
func (d *delivered) hear(now float64, t *hostReport, o *remote.Orders) (unpaid float64) {
	for i := range t.Spans {
		s := &t.Spans[i]
		if t.Session != o.Session || t.First+int64(i) <= o.Ack {
			continue
		}
		d.told = now
		if s.Deal == o.Deal {
			d.length += s.Length
		}
		for name, l := range d.lately {
			used, waited := l.total, l.waits
			for _, u := range s.Used {
				if u.Name == name {
					used, waited = u.Seconds, u.Waited
				}
			}
			if s.Deal == o.Deal {
				d.waited[name] += max(0, waited-l.waits)
			}
			l.hear(s.Length, used, waited)
		}
		for _, u := range s.Used {
			was, known := d.used[u.Name]
			_, wanted := d.rates[u.Name]
			more := max(0, u.Seconds-was)
			if d.used != nil {
				d.used[u.Name] = max(was, u.Seconds)
			}
			switch {
			case known && !wanted:
				unpaid += more
			case wanted && s.Deal == o.Deal:
				d.since[u.Name] += more
			}
		}
		maps.DeleteFunc(d.used, func(name int64, _ float64) bool {
			_, wanted := d.rates[name]
			for _, u := range s.Used {
				wanted = wanted || u.Name == name
			}
			return !wanted
		})
	}
	return unpaid
}

// off returns the largest part of what a task is entitled to that it has waited for and not
// received, in [0,1], since shares were dealt last; 0 until that was told of for a second.
func (d *delivered) off() (most float64) {
	if d.length < 1 {
		return 0
	}
	for name, r := range d.rates {
		due := r * d.length
		if missing := min(d.waited[name], due-d.since[name]); missing > 0 && due > 0 {
			most = max(most, missing/due)
		}
	}
	return most
}

// unpaid tells of what hosts have used, in this turn, and nobody pays.
func (m *Market) unpaid(r *record) {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range r.Messages {
		if t := r.Messages[i].Report; t != nil && s.hosts[t.Host] != nil {
			p := s.hosts[t.Host]
			m.world.Meter.Unpaid(p.delivered.hear(r.Now, t, &p.orders))
		}
	}
}

// Gauges are what is measured of a market at an instant.
type Gauges struct {
	Contracts map[string]int     // by state: those that are open, and those that have ended since it was opened
	Off       map[string]float64 // by host: the largest part of its entitlement that a task waited for in vain, in [0,1]
	Broken    map[string]int     // violated contracts by cause, since it was opened
	Mailbox   int                // messages that wait
	Away      float64            // s for which the bank has not answered by now
	Unsettled int                // settlements, penalties and returns that the bank has refused
}

// Gauges returns them as of now.
func (m *Market) Gauges() Gauges {
	g := Gauges{Off: make(map[string]float64)}
	m.mail.mu.Lock()
	g.Mailbox = len(*m.mail.box)
	m.mail.mu.Unlock()
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	g.Contracts = map[string]int{"waiting": 0, "running": 0, "fulfilled": 0, "violated": 0, "cancelled": 0, "refused": 0}
	g.Unsettled = s.unsettled
	g.Broken = map[string]int{"program": 0, "asked": 0, "price": 0, "market": 0, "host": 0}
	maps.Copy(g.Broken, s.broken)
	maps.Copy(g.Contracts, s.ended)
	for _, state := range s.states {
		g.Contracts[state]++
	}
	for name, p := range s.hosts {
		g.Off[name] = p.delivered.off()
	}
	if since := s.asking; since > 0 && m.core.calls.bank.Away() {
		g.Away = m.world.Clock.Now() - since
	}
	return g
}

// lately returns the processors that a task which is entitled to so many has asked for and
// received lately. Spans are told while something is used: after some silence, none was.
func (p *hostSeen) lately(name int64, entitled, now float64) (asked, received float64) {
	l := p.delivered.lately[name]
	if l == nil {
		return 0, 0
	}
	silent := now - p.delivered.told
	if silent < 3 {
		silent = 0
	}
	return l.rates(entitled, silent)
}

// ask notes since when the bank is asked.
func (s *seen) ask(since float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = since
}
