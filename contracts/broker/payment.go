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
	// task's bid for the resource is own, and the sum of all bids is price. The sum of the
	// other bids when the task was placed is met. A task with a vector pays the greatest of its
	// terms, at most its bid.
	Term func(q float64, own, price, met market.Rate) float64

	// Mean means that each node pays its part of the mean over all nodes.
	Mean bool

	// Scarce limits Term to hosts whose tasks can use more processors than the host has. On
	// other hosts, tasks pay [Spans.Reserve].
	Scarce bool

	// Whole means that nothing is metered. The budget minus the penalty for delay is paid once
	// the work is done. Each host receives a part in proportion to its number of nodes.
	Whole bool

	// Promised means that the price met is the one that the policy promised at admission.
	Promised bool

	// Free means that nothing is ever charged: the floor price does not apply either.
	Free bool
}

// noFloor reports whether the floor price does not apply.
func (p *Payment) noFloor() bool { return p.Whole || p.Free }

// Payments returns the table of payment rules. In their descriptions, b is the bid of a node, q its
// share of the host, and N the number of nodes of the contract. The sum of all bids on the host is
// c, and the sum of the other bids is c(-s). For example, with bids of 3 and 1, equal to shares of
// 3/4 and 1/4, spot charges the first min(3, 3/4 × 1) = 0.75.
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

// tariff returns the charges of p if the resources in priced have a price in addition to
// processors. A charge is the greatest of the terms of these resources, at most the bid. The
// fraction of processors is the fraction received, and the fraction of another resource is the
// fraction held.
//
// If p is Scarce, the term of processors applies only on crowded hosts. On others it is the
// reserve, in dollars per processor-second, for the processors that the task gets. For example,
// on a host of 2 processors with a cap of 1, two tasks pay the reserve. A third task makes all
// three pay the spot price, until one ends.
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

// crowded reports whether the tasks on a host can use more processors than it has. If a task
// has a vector, it is enough that they can use all of its processors. Tasks that bid nothing do
// not count, because they use only spare capacity.
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

// The following functions are the terms of the payment rules for one resource.

// spotTerm charges the fraction at the sum of the other bids. The only bidder pays nothing.
func spotTerm(q float64, own, price, _ market.Rate) float64 { return q * (price - own).Float64() }

// usageTerm charges the bid times used / entitled. With an entitlement of bid / price, this is
// the used fraction of the host times its price.
func usageTerm(q float64, _, price, _ market.Rate) float64 { return q * price.Float64() }

// metTerm charges the fraction at the price that the others set when the task was placed. Later
// bids do not change the price, so a user knows the highest charge in advance.
func metTerm(q float64, _, _, met market.Rate) float64 { return q * met.Float64() }

// promisedTerm charges the fraction at the sum of the other bids or at the price promised at
// admission, whichever is higher. Contracts without a promise pay as under spot. See the market
// paper, §3: a minimum price that is higher than the spot price.
func promisedTerm(q float64, own, price, met market.Rate) float64 {
	return q * max(price-own, met).Float64()
}

// bidTerm charges the bid, whatever the task uses.
func bidTerm(_ float64, own, _, _ market.Rate) float64 { return own.Float64() }

// noTerm charges nothing while a task runs.
func noTerm(float64, market.Rate, market.Rate, market.Rate) float64 { return 0 }
