package live

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Twice is what a market has come to on real hosts, and what it comes to on hosts that are
// computed.
type Twice struct {
	Contracts []TwiceDecided
	Prices    [2][]HostPrice // live, computed; each in order of time
	Shares    []Shared
	Cut       int // readings of hosts that told of more than can be
	Begin     float64
	End       float64 // instants
}

// A TwiceDecided is a contract on real hosts, and on those that are computed.
type TwiceDecided struct {
	Contract       int64
	Class          string
	Asked          float64 // instant
	Work           float64 // of a node, processor-seconds
	Nodes          int
	Live, Computed Course
	FirstWork      float64 // s from its being asked for to the first that a host told of it, 0 if none did
}

// A Course is what became of a contract.
type Course struct {
	Decision json.RawMessage // with its numbers
	State    string
	Ended    float64 // instant
	Paid     bank.Amount
}

// A HostPrice is the price of a host from an instant on.
type HostPrice struct {
	Host int
	Price
}

// A Shared is what a task was given by its host under one deal. Tellings in which it began or
// ended are apart.
type Shared struct {
	Host      string
	Contract  int64
	Partly    bool    // it began or ended in that time, and did not run for all of it
	For       float64 // s
	Entitled  float64 // processors
	Delivered float64 // processors
}

// DecideTwice reads the log in dir, of a market whose programs need what was asked for, and
// decides it again on hosts that are computed.
func DecideTwice(dir string, fs vfs.FS) (*Twice, error) {
	l, as, conf, err := readLog(dir, fs)
	if err != nil {
		return nil, err
	}
	defer l.db.Close()
	past, err := l.story(as, conf)
	if err != nil {
		return nil, err
	}
	out := new(Twice)
	for i := range past.asked {
		past.asked[i].work = past.asked[i].terms.Work
	}
	parts, err := past.decide(as, &conf)
	if err != nil {
		return nil, err
	}
	out.Prices[1] = parts.prices
	first, err := out.live(l, as, &conf)
	if err != nil {
		return nil, err
	}
	for i := range past.asked {
		a := &past.asked[i]
		var c Contract
		if _, err := l.get(key(contractTable, a.id), &c); err != nil {
			return nil, err
		}
		f := parts.fates[a.id]
		one := TwiceDecided{
			Contract: a.id, Class: a.terms.Class, Asked: a.at, Work: a.terms.Work, Nodes: a.terms.Nodes,
			Live: Course{c.Decision, c.State, c.Ended, c.Paid}, Computed: Course{parts.decisions[a.id], f.State, f.Ended, f.Paid},
		}
		if at, ok := first[a.id]; ok {
			one.FirstWork = at - a.at
		}
		out.Contracts = append(out.Contracts, one)
	}
	return out, nil
}

// live reads what hosts have told, and returns when of each contract work was told first.
func (out *Twice) live(l *log, as *made, conf *Config) (map[int64]float64, error) {
	k, from, err := l.begun(as, conf)
	if err != nil {
		return nil, err
	}
	type deal struct {
		host   int
		number int64
		task   int64
	}
	all, used, first := make(map[deal]*[2]Shared), make(map[[2]int64]float64), make(map[int64]float64)
	entitled := make(map[deal]Shared) // as of the turn before
	for t := range l.retold(k, from+1, &err) {
		if t.err != nil {
			return nil, t.err
		}
		for i := range t.record.Messages {
			told := t.record.Messages[i].Told
			if told == nil {
				continue
			}
			h := slices.IndexFunc(k.hosts, func(h *host) bool { return h.Spec.Name == told.Host })
			lastOf := make(map[int64]int) // of tasks that have ended, the last span
			for i, s := range told.Spans {
				for _, u := range s.Used {
					if slices.ContainsFunc(told.Ends, func(e end) bool { return e.Name == u.Name }) {
						lastOf[u.Name] = i
					}
				}
			}
			for i, s := range told.Spans {
				for _, u := range s.Used {
					name := [2]int64{int64(h), u.Name}
					before, known := used[name]
					delta := u.Seconds - before
					used[name] = u.Seconds
					at := deal{h, s.Deal, u.Name}
					is, ok := entitled[at]
					if !ok {
						continue // the deal is not the last, or the task was stopped
					}
					if _, worked := first[is.Contract]; !worked && delta > 0 {
						first[is.Contract] = t.record.Now
					}
					last, over := lastOf[u.Name]
					both := all[at]
					if both == nil {
						one := Shared{Host: told.Host, Contract: is.Contract, Entitled: is.Entitled}
						both = &[2]Shared{one, one}
						both[0].Partly = true
						all[at] = both
					}
					sum := &both[1]
					if !known || over && i >= last {
						sum = &both[0]
					}
					sum.For += s.Length
					sum.Delivered += delta
				}
			}
		}
		clear(entitled)
		for h, one := range k.hosts {
			on := k.broker.View().On(hosts.ID(h))
			for _, w := range one.orders.Wanted {
				if i := slices.IndexFunc(on, func(a contracts.Allocation) bool { return int64(a.Contract) == w.Key }); i >= 0 {
					entitled[deal{h, one.orders.Deal, w.Name}] = Shared{Contract: w.Contract, Entitled: on[i].Rate / one.Spec.Speed}
				}
			}
		}
		out.Prices[0] = prices(out.Prices[0], k.broker.View(), t.record.Now)
		if out.Begin == 0 {
			out.Begin = t.record.Now
		}
		out.End = t.record.Now
	}
	for _, h := range k.hosts {
		out.Cut += h.machine.Cut()
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b deal) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.number, b.number), cmp.Compare(a.task, b.task))
	})
	for _, d := range keys {
		for _, s := range all[d] {
			if s.For > 0 {
				s.Delivered /= s.For
				out.Shares = append(out.Shares, s)
			}
		}
	}
	return first, err
}

// prices adds the prices of hosts that have changed.
func prices(all []HostPrice, v contracts.View, now float64) []HostPrice {
	for h := range v.Fleet() {
		price, was := v.Price(hosts.ID(h)).Float64(), 0.0
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Host == h {
				was = all[i].Price.Price
				break
			}
		}
		if price != was {
			all = append(all, HostPrice{h, Price{now, price}})
		}
	}
	return all
}
