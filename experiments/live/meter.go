package live

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts/remote"
)

// A Meter receives measurements of a market. Durations are in seconds.
type Meter interface {
	// Turn receives the duration of a step in seconds, from the start of the step until the
	// replies have been sent.
	Turn(seconds float64)

	// LogSync receives the time until a log entry was durable, in seconds.
	LogSync(seconds float64)

	// BankCall receives the time until the bank answered or the wait ended, in seconds.
	BankCall(seconds float64)

	// Sync receives the time until a host's report was durable, in seconds.
	Sync(seconds float64)

	// Decided receives a decision on a request: the requested class, the verdict (accept,
	// reject or defer) and the reason. For a deferred request, Decided is called again after
	// the final decision.
	Decided(class, verdict, reason string)

	// Unpaid receives the processor-seconds that tasks used without payment, after the last
	// usage report before the market ordered them to stop.
	Unpaid(seconds float64)
}

// unmetered is a [Meter] that ignores measurements.
type unmetered struct{}

func (unmetered) Turn(float64)                   {}
func (unmetered) LogSync(float64)                {}
func (unmetered) BankCall(float64)               {}
func (unmetered) Sync(float64)                   {}
func (unmetered) Decided(string, string, string) {}
func (unmetered) Unpaid(float64)                 {}

// timed calls f and passes its duration, in seconds, to tell.
func (m *Market) timed(tell func(seconds float64), f func() error) error {
	begun := m.world.Clock.Now()
	err := f()
	tell(m.world.Clock.Now() - begun)
	return err
}

// decided reports the decisions of a step to the meter.
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

// A delivered compares the reported usage of a host's tasks with their entitlements. It covers
// the tasks of one allocation. The field lately covers all running tasks and several
// allocations.
type delivered struct {
	rates  map[int64]float64 // entitlements of tasks in processors, by task name
	used   map[int64]float64 // last reported totals, in seconds
	since  map[int64]float64 // usage of each task under this allocation, in seconds
	waited map[int64]float64 // waiting time of each task under this allocation, in seconds
	length float64           // reported duration of this allocation, in seconds
	lately map[int64]*lately
	told   float64 // time at which the market received the last span
}

// A lately is the recent usage of a task. The last few seconds have the highest weight.
type lately struct {
	length, used, waited float64 // seconds covered by reports, and seconds used and waited
	total, waits         float64 // last reported totals, in seconds
}

// fades is a time constant: after this number of seconds, the weight of a report has fallen to
// 1/e.
const fades = 5.0

// hear adds a report that covers a span of the given length in seconds.
func (l *lately) hear(length, used, waited float64) {
	keep := math.Exp(-length / fades)
	l.length, l.used, l.waited = l.length*keep+length, l.used*keep+max(0, used-l.total), l.waited*keep+max(0, waited-l.waits)
	l.total, l.waits = max(l.total, used), max(l.waits, waited)
}

// rates returns the processors that a task with the given entitlement has recently requested
// and received. The argument silent is the number of seconds since the task's last report.
func (l *lately) rates(entitled, silent float64) (asked, received float64) {
	length := l.length + silent
	if !(length > 0) {
		return 0, 0
	}
	received = l.used / length
	return received + max(0, min(l.waited/length, entitled-received)), received
}

// deal starts a new allocation with the current tasks.
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

// hear processes new spans received at the given time. It returns the processor-seconds that
// are not paid for.
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

// off returns the maximum fraction of an entitlement, in [0,1], that a task has asked for but
// not received since the last allocation. It is 0 until the reports cover at least one second.
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

// unpaid reports to the meter the usage of hosts in this step that is not paid for.
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

// Gauges are the measurements of a market at one time.
type Gauges struct {
	Contracts map[string]int     // number of contracts by state: all open contracts, and those that have ended since the market was opened
	Off       map[string]float64 // for each host, the maximum fraction of a task's entitlement, in [0,1], that the task asked for but did not receive
	Broken    map[string]int     // number of violated contracts by cause, since the market was opened
	Mailbox   int                // number of waiting messages
	Away      float64            // seconds since the bank stopped responding
	Unsettled int                // number of settlements, penalties and refunds that the bank has refused
}

// Gauges returns the current values.
func (m *Market) Gauges() Gauges {
	g := Gauges{Off: make(map[string]float64)}
	m.mail.mu.Lock()
	g.Mailbox = len(*m.mail.box)
	m.mail.mu.Unlock()
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	g.Contracts = map[string]int{"held": 0, "waiting": 0, "running": 0, "fulfilled": 0, "violated": 0, "cancelled": 0, "refused": 0}
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

// lately returns the processors that a task with the given entitlement has recently
// requested and received. Hosts report only spans with usage, so a missing report means no
// usage.
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

// ask records when a call to the bank started.
func (s *seen) ask(since float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = since
}
