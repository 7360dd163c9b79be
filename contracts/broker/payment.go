package broker

import (
	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/hosts"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// A Payment is a rule for the payment of a contract.
type Payment struct {
	// Term returns the price of the fraction q of one resource, in dollars per second. The
	// argument own is the task's bid for the resource, and price is the sum of all bids. The
	// argument met is the sum of the other bids when the task was placed. A task with a vector
	// pays the highest of its terms, but at most its bid.
	Term func(q float64, own, price, met market.Rate) float64

	// Mean means that each node pays an equal part of the mean charge over all nodes.
	Mean bool

	// Scarce means that Term applies only on hosts whose tasks can use more processors than
	// the host has. On other hosts, tasks pay [Spans.Reserve].
	Scarce bool

	// Whole means that charges do not accrue during the run. The budget minus the penalty for
	// delay is paid when the work is done. Each host receives a part in proportion to its
	// number of nodes.
	Whole bool

	// Promised means that the argument met is the price that the policy promised at admission.
	Promised bool

	// Free means that nothing is charged; the floor price does not apply either.
	Free bool
}

// noFloor reports whether the floor price does not apply.
func (p *Payment) noFloor() bool { return p.Whole || p.Free }

// Payments returns the table of payment rules. In their descriptions, b is the bid of a node,
// q its share of the host, and N the number of nodes of the contract. The sum of all bids on
// the host is c, and the sum of the other bids is c(-s). For example, consider bids of 3 and
// 1, with equal shares of 3/4 and 1/4. Under spot the first pays min(3, 3/4 × 1) = 0.75.
func Payments() plugin.Table[Payment] {
	return plugin.Table[Payment]{Kind: "payment rule", Members: plugin.Members[Payment]{
		"admission":  {"min(b, q c(-s)), at the price that the other bids set when the task was placed", plugin.Is(Payment{Term: metTerm})},
		"bid":        {"b: pay as bid", plugin.Is(Payment{Term: bidTerm})},
		"budget":     {"the whole budget when the work is done, minus the penalty for delay (SLA paper, eq. 1)", plugin.Is(Payment{Whole: true, Term: noTerm})},
		"free":       {"nothing: nobody pays", plugin.Is(Payment{Free: true, Term: noTerm})},
		"percentile": {"min(b, q max(c(-s), F)), at the price percentile F at which cac admitted the contract, or a higher price that the other bids set", plugin.Is(Payment{Promised: true, Term: promisedTerm})},
		"resource":   {"min(b, q c) / N: as usage, averaged over the nodes", plugin.Is(Payment{Term: usageTerm, Mean: true})},
		"scarce":     {"nothing, or min(b, market.reserve x processors), while no task on the host gets less than it could use; else spot", plugin.Is(Payment{Scarce: true, Term: spotTerm})},
		"spot":       {"min(b, q c(-s)): the share received, at the price that the other bids set", plugin.Is(Payment{Term: spotTerm})},
		"usage":      {"min(used/entitled, 1) b: the bid, in proportion to the use of the share that it bought (Tycoon)", plugin.Is(Payment{Term: usageTerm})},
	}}
}

// tariff returns the tariff of p if the resources in priced have a price in addition to
// processors. A charge is the highest of the terms of these resources, but at most the bid. For
// processors, q is the fraction received; for another resource, q is the fraction held.
//
// If p is Scarce, the term for processors applies only on crowded hosts. On other hosts, the
// task pays the reserve, in dollars per processor-second, for the processors that it receives.
// For example, on a host of 2 processors with a cap of 1 per task, two tasks pay the reserve.
// If a third task starts, all three pay the spot price until one of them ends.
func (p *Payment) tariff(priced []hosts.Kind, reserve float64) floor.Tariff {
	return func(on []contracts.Allocation, prices floor.Prices, capacity, processor float64) {
		spare := p.Scarce && !crowded(on, capacity, processor)
		for i := range on {
			s := &on[i]
			pays := reserve * (s.Rate / processor)
			s.For = hosts.CPU
			if !spare {
				pays = p.Term(s.Rate/capacity, s.Own(), prices[hosts.CPU], s.Met)
			}
			if v := s.Vector; v != nil {
				for _, k := range priced {
					if a := v.Of[k]; a > 0 {
						if term := p.Term(a, v.Bids[k], prices[k], v.Met[k]); term > pays {
							pays, s.For = term, k
						}
					}
				}
			}
			if s.Paying = min(s.Bid.Float64(), pays); p.Mean {
				s.Paying /= float64(s.Of)
			}
		}
	}
}

// crowded reports whether the tasks on a host can use more processors than the host has. If a
// task has a vector, the host is already crowded when its tasks can use all of its processors.
// Tasks that bid nothing do not count, because they use only spare capacity.
func crowded(on []contracts.Allocation, capacity, processor float64) bool {
	usable, vectors := 0.0, false
	for i := range on {
		if on[i].Bid > 0 {
			usable += on[i].Claim
		}
		vectors = vectors || on[i].Vector != nil
	}
	if vectors {
		return usable*processor >= capacity*(1-contracts.Tolerance)
	}
	return usable*processor > capacity*(1+contracts.Tolerance)
}

// Each of the following functions is the term of one payment rule.

// spotTerm charges the fraction at the sum of the other bids. The only bidder pays nothing.
func spotTerm(q float64, own, price, _ market.Rate) float64 { return q * (price - own).Float64() }

// usageTerm charges the bid multiplied by the used part of the entitlement. The entitlement is
// bid / price, so the charge is the used fraction of the host times the price of the host.
func usageTerm(q float64, _, price, _ market.Rate) float64 { return q * price.Float64() }

// metTerm charges the fraction at the price that the other bids set when the task was placed.
// Later bids do not change this price, so a user knows the maximum charge in advance.
func metTerm(q float64, _, _, met market.Rate) float64 { return q * met.Float64() }

// promisedTerm charges the fraction at the sum of the other bids or at the price promised at
// admission, whichever is higher. Contracts without a promised price pay as under spot. The
// market paper describes this rule in §3 as a minimum price above the spot price.
func promisedTerm(q float64, own, price, met market.Rate) float64 {
	return q * max(price-own, met).Float64()
}

// bidTerm charges the bid, regardless of usage.
func bidTerm(_ float64, own, _, _ market.Rate) float64 { return own.Float64() }

// noTerm charges nothing while a task runs.
func noTerm(float64, market.Rate, market.Rate, market.Rate) float64 { return 0 }
