package broker

import (
	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/market"
	"bourse/workloadgen/config"
)

// A Payment is a rule for what a contract pays.
type Payment struct {
	Charge floor.Tariff // sets the charge of each task on a host

	// Whole means that nothing is metered. The budget is paid once the work is done, less the
	// penalty for delay, in proportion to the nodes on each host.
	Whole bool
}

// Payments returns the table of payment rules. In their descriptions b is the bid of a node, q
// the part of the host that it gets, and c(-s) the sum of the other bids on the host. For
// example, with bids of 3 and 1, equal to shares of 3/4 and 1/4, spot charges the first min(3,
// 3/4 × 1) = 0.75.
func Payments() config.Table[Payment] {
	return config.Table[Payment]{Kind: "payment rule", Members: config.Members[Payment]{
		"admission": {"min(b, q c(-s)) with the price that the others set when the task was placed, for as long as it lasts", config.Is(Payment{Charge: atAdmission})},
		"bid":       {"b: pay as bid", config.Is(Payment{Charge: asBid})},
		"budget":    {"the whole budget when the work is done, less the penalty for delay (SLA paper, eq. 1)", config.Is(Payment{Charge: nothing, Whole: true})},
		"scarce":    {"nothing while the host has a processor to spare, else spot", config.Is(Payment{Charge: scarce})},
		"spot":      {"min(b, q c(-s)): the share really received, at the price the others set", config.Is(Payment{Charge: spot})},
		"usage":     {"min(used/entitled, 1) b: the bid, for what is used of what it bought (Tycoon)", config.Is(Payment{Charge: usage})},
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

// scarce charges like spot if the paying tasks leave less than one processor of the host
// unused, and nothing otherwise.
func scarce(on []contracts.Allocation, price market.Rate, capacity, processor float64) {
	used := 0.0
	for i := range on {
		if on[i].Bid > 0 { // tasks that bid nothing use only spare capacity
			used += on[i].Rate
		}
	}
	if used > capacity-processor*(1-contracts.Tolerance) {
		spot(on, price, capacity, processor)
		return
	}
	for i := range on {
		on[i].Paying = 0
	}
}

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

// asBid charges the bid, whatever the task uses.
func asBid(on []contracts.Allocation, _ market.Rate, _, _ float64) {
	for i := range on {
		on[i].Paying = on[i].Bid.Float64()
	}
}

// nothing charges nothing while a task runs. It goes with Payment.Whole.
func nothing([]contracts.Allocation, market.Rate, float64, float64) {}
