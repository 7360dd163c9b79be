package broker

import (
	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/market"
	"bourse/workloadgen/plugin"
)

// A Payment is a rule for what a contract pays.
type Payment struct {
	Charge floor.Tariff // what each task on a host is charged

	// Whole says that nothing is metered: the budget is paid once the work is
	// done, less the penalty for delay, in equal parts to the hosts.
	Whole bool
}

// Payments returns the table of payment rules.
func Payments() plugin.Table[Payment] {
	return plugin.Table[Payment]{Kind: "payment rule", Members: plugin.Members[Payment]{
		"admission": {"min(b, q c(-s)) with the price that the others set when the task was placed, for as long as it lasts", plugin.Is(Payment{Charge: atAdmission})},
		"bid":       {"b: pay as bid", plugin.Is(Payment{Charge: asBid})},
		"budget":    {"the whole budget when the work is done, less the penalty for delay (SLA paper, eq. 1)", plugin.Is(Payment{Charge: nothing, Whole: true})},
		"scarce":    {"nothing while the host has a processor to spare, else spot", plugin.Is(Payment{Charge: scarce})},
		"spot":      {"min(b, q c(-s)): the share really received, at the price the others set", plugin.Is(Payment{Charge: spot})},
		"usage":     {"min(used/entitled, 1) b: the bid, for what is used of what it bought (Tycoon)", plugin.Is(Payment{Charge: usage})},
	}}
}

func atAdmission(on []contracts.Allocation, _ market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Bid.Float64(), s.Rate/capacity*s.Met.Float64())
	}
}

func scarce(on []contracts.Allocation, price market.Rate, capacity, processor float64) {
	used := 0.0
	for i := range on {
		if on[i].Bid > 0 { // those who bid nothing take what is to spare
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

func spot(on []contracts.Allocation, price market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		if s.Paying = 0; s.Bid != price { // else it is alone
			s.Paying = min(s.Bid.Float64(), s.Rate/capacity*(price-s.Bid).Float64())
		}
	}
}

func usage(on []contracts.Allocation, price market.Rate, capacity, _ float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Rate/capacity*price.Float64(), s.Bid.Float64()) // used/entitled = got/(b/price)
	}
}

func asBid(on []contracts.Allocation, _ market.Rate, _, _ float64) {
	for i := range on {
		on[i].Paying = on[i].Bid.Float64()
	}
}

func nothing([]contracts.Allocation, market.Rate, float64, float64) {}
