package admission

import (
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

var _ contracts.Rebidder = (*Capacity)(nil)

// Rebid implements [contracts.Rebidder] by asking the decider.
func (p *asker) Rebid(now float64, i int32, on []contracts.Placement, v contracts.View) contracts.Decision {
	return Rebid(p.Decider, now, i, on, v)
}

// Rebid asks d whether contract i may change its bids to the bids in the given placements. If
// d does not implement [contracts.Rebidder], the new bids are permitted.
func Rebid(d contracts.Decider, now float64, i int32, on []contracts.Placement, v contracts.View) contracts.Decision {
	if r, ok := d.(contracts.Rebidder); ok {
		return r.Rebid(now, i, on, v)
	}
	return contracts.Decision{Verdict: contracts.Accept}
}

// Rebid implements [contracts.Rebidder]. Rebid makes the test for violations with the new bids
// of contract i, including contract i itself, and reports the same numbers as Decide. The tests
// of shares apply only to requests that enter the market.
func (p *Capacity) Rebid(now float64, i int32, on []contracts.Placement, v contracts.View) contracts.Decision {
	violated := p.projectedWith
	if p.test == "static" {
		violated = p.staticWith
	}
	if id, gets, want, ok := violated(now, i, on, v); !ok {
		return contracts.Decision{Reason: wouldViolate, Numbers: contracts.Numbers{contracts.Concerned("violates", id), contracts.Measured("gets", gets), contracts.Measured("want", want)}}
	}
	return contracts.Decision{Verdict: contracts.Accept}
}

// projectedWith applies the projected test to the hosts of contract i with the bids of on.
func (p *Capacity) projectedWith(now float64, i int32, on []contracts.Placement, v contracts.View) (id contracts.ID, gets, want float64, ok bool) {
	p.forget()
	for n := range on {
		if on[n].Left {
			continue
		}
		h := on[n].Host
		running, spec := v.On(h), v.Spec(h)
		p.part = p.part[:0]
		for j := range running {
			share := running[j].Share
			if _, bid, own := replaced(&running[j], i, n, on); own {
				share.Weight = float64(bid)
			}
			p.part = append(p.part, share)
		}
		p.rates = slices.Grow(p.rates[:0], len(p.part))[:len(p.part)]
		hosts.Divide(spec.CPUs, spec.Cap, p.part, p.rates)
		if id, gets, want, ok = p.changed(now, running, spec, i, v); !ok {
			return id, gets, want, false
		}
	}
	return p.undone(now, v)
}

// staticWith applies the static test to the hosts of contract i with the bids of on.
func (p *Capacity) staticWith(now float64, i int32, on []contracts.Placement, v contracts.View) (id contracts.ID, gets, want float64, ok bool) {
	p.forget()
	for n := range on {
		if on[n].Left {
			continue
		}
		running, price, more := v.On(on[n].Host), v.Price(on[n].Host).Float64(), 0.0
		for j := range running {
			if was, bid, own := replaced(&running[j], i, n, on); own {
				more = (bid - was).Float64()
			}
		}
		for j := range running {
			s := &running[j]
			was, bid, own := replaced(s, i, n, on)
			if s.Bid > 0 || own {
				p.gain(s.Contract, float64(market.ShareIf(bid.Float64(), price, more)-market.ShareIf(was.Float64(), price, 0)))
			}
		}
	}
	return p.short(now, v)
}

// replaced returns the bid for processors of s (was) and the bid that replaces it. It reports
// whether s is node n of contract i; otherwise the two bids are equal.
func replaced(s *contracts.Allocation, i int32, n int, on []contracts.Placement) (was, bid market.Rate, own bool) {
	was = s.Own()
	if s.Contract != i || int(s.Node) != n {
		return was, was, false
	}
	if s.Vector != nil {
		return was, s.Vector.With(on[n].Bid).Bids[hosts.CPU], true
	}
	return was, on[n].Bid, true
}
