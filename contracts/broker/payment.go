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
	Charge floor.Tariff // sets the charge of each task on a host

	// Term returns the price of the fraction q of one resource, in dollars per second. The
	// task's bid for the resource is own, and the sum of all bids is price. The sum of the
	// other bids when the task was placed is met. A task with a vector pays the greatest of its
	// terms, at most its bid.
	Term func(q float64, own, price, met market.Rate) float64

	// Mean means that each node pays its part of the mean over all nodes.
	Mean bool

	// Scarce limits Charge to hosts whose tasks can use more processors than the host has. On
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
		"admission":  {"min(b, q c(-s)), at the price that the other bids set when the task was placed", plugin.Is(Payment{Charge: atAdmission, Term: metTerm})},
		"bid":        {"b: pay as bid", plugin.Is(Payment{Charge: asBid, Term: bidTerm})},
		"budget":     {"the whole budget when the work is done, minus the penalty for delay (SLA paper, eq. 1)", plugin.Is(Payment{Charge: nothing, Whole: true, Term: noTerm})},
		"free":       {"nothing: nobody pays", plugin.Is(Payment{Charge: nothing, Free: true, Term: noTerm})},
		"percentile": {"min(b, q max(c(-s), F)), at the price percentile F at which cac admitted the contract, or a higher price that the other bids set", plugin.Is(Payment{Charge: atPercentile, Promised: true, Term: promisedTerm})},
		"resource":   {"min(b, q c) / N: as usage, averaged over the nodes", plugin.Is(Payment{Charge: resource, Term: usageTerm, Mean: true})},
		"scarce":     {"nothing, or min(b, market.reserve x processors), while no task on the host gets less than it could use; else spot", plugin.Is(Payment{Charge: spot, Scarce: true, Term: spotTerm})},
		"spot":       {"min(b, q c(-s)): the share received, at the price that the other bids set", plugin.Is(Payment{Charge: spot, Term: spotTerm})},
		"usage":      {"min(used/entitled, 1) b: the bid, in proportion to the use of the share that it bought (Tycoon)", plugin.Is(Payment{Charge: usage, Term: usageTerm})},
	}}
}

// atAdmission charges the share received at the price that the others set when the task was
// placed, at most the bid. Later bids do not change the price, so a user knows the highest
// charge in advance.
func atAdmission(on []contracts.Allocation, _ market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Bid.Float64(), s.Rate/capacity*s.Met.Float64())
	}
}

// atPercentile charges the share received at the sum of the other bids or at the price promised at
// admission, whichever is higher. The charge is at most the bid. Contracts without a promise pay
// as under spot. See the market paper, §3: a minimum price that is higher than the spot price.
func atPercentile(on []contracts.Allocation, price market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Bid.Float64(), s.Rate/capacity*max(price-s.Bid, s.Met).Float64())
	}
}

// tariff returns the charges of p. If p is Scarce, they apply only while the tasks on a host are
// cut: they can use more processors than the host has. Otherwise each task pays the reserve, in
// dollars per processor-second, for the processors that it gets, at most its bid. For example,
// on a host of 2 processors with a cap of 1, two tasks pay the reserve. A third task makes all
// three pay the spot price, until one ends.
//
// Tasks that bid nothing do not count, because they use only spare capacity.
func (p *Payment) tariff(reserve float64) floor.Tariff {
	if !p.Scarce {
		return p.Charge
	}
	return func(on []contracts.Allocation, price market.Rate, capacity, processor float64) {
		if usable(on)*processor > capacity*(1+contracts.Tolerance) {
			p.Charge(on, price, capacity, processor)
			return
		}
		for i := range on {
			on[i].Paying = min(on[i].Bid.Float64(), reserve*(on[i].Rate/processor))
		}
	}
}

// usable returns the processors that the bidders of a host can use.
func usable(on []contracts.Allocation) (sum float64) {
	for i := range on {
		if on[i].Bid > 0 {
			sum += on[i].Claim
		}
	}
	return sum
}

// vectors returns the charges of p on hosts on which tasks have vectors. A charge is the
// greatest of the terms of the priced resources, at most the bid. The fraction of processors is
// the fraction received, and the fraction of another resource is the fraction held. Under
// scarce, the term of processors is the reserve as long as the tasks cannot use all processors.
func (p *Payment) vectors(priced []hosts.Kind, reserve float64) floor.VectorTariff {
	return func(on []contracts.Allocation, prices *floor.Prices, capacity, processor float64) {
		spare := p.Scarce && usable(on)*processor < capacity*(1-contracts.Tolerance)
		for i := range on {
			s := &on[i]
			pays := reserve * (s.Rate / processor)
			if !spare {
				pays = p.Term(s.Rate/capacity, s.Own(), prices[hosts.CPU], s.Met)
			}
			if v := s.Vector; v != nil {
				for _, k := range priced {
					if a := v.Of[k]; a > 0 {
						pays = max(pays, p.Term(a, v.Bids[k], prices[k], v.Met[k]))
					}
				}
			}
			if s.Paying = min(s.Bid.Float64(), pays); p.Mean {
				s.Paying /= float64(s.Of)
			}
		}
	}
}

// The following functions are the terms of the payment rules for one resource.
func spotTerm(q float64, own, price, _ market.Rate) float64 { return q * (price - own).Float64() }
func usageTerm(q float64, _, price, _ market.Rate) float64  { return q * price.Float64() }
func metTerm(q float64, _, _, met market.Rate) float64      { return q * met.Float64() }
func promisedTerm(q float64, own, price, met market.Rate) float64 {
	return q * max(price-own, met).Float64()
}
func bidTerm(_ float64, own, _, _ market.Rate) float64              { return own.Float64() }
func noTerm(float64, market.Rate, market.Rate, market.Rate) float64 { return 0 }

// spot charges the share received at the sum of the other bids, at most the bid. A task that
// is the only bidder pays nothing.
func spot(on []contracts.Allocation, price market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		if s.Paying = 0; s.Bid != price { // otherwise it is the only bidder
			s.Paying = min(s.Bid.Float64(), s.Rate/capacity*(price-s.Bid).Float64())
		}
	}
}

// usage charges the bid times used / entitled, at most the bid. With an entitlement of bid /
// price, this is the used part of the host times its price.
func usage(on []contracts.Allocation, price market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Rate/capacity*price.Float64(), s.Bid.Float64()) // used/entitled = got/(b/price)
	}
}

// resource charges what usage charges, divided by the number of nodes of the contract. The
// contract pays the mean of the usage charges of its hosts. For example, two nodes that would
// each pay $0.004/s under usage each pay $0.002/s.
func resource(on []contracts.Allocation, price market.Rate, capacity, processor float64) {
	usage(on, price, capacity, processor)
	for i := range on {
		on[i].Paying /= float64(on[i].Of)
	}
}

// asBid charges the bid, whatever the task uses.
func asBid(on []contracts.Allocation, _ market.Rate, _, _ float64) {
	for i := range on {
		on[i].Paying = on[i].Bid.Float64()
	}
}

// nothing charges nothing while a task runs. It is used with Payment.Whole.
func nothing([]contracts.Allocation, market.Rate, float64, float64) {}
