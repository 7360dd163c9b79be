package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/contracts"
	"bourse/contracts/floor"
	"bourse/market"
)

// A Payment is a rule for what a contract pays.
type Payment struct {
	Charge floor.Tariff // what each task on a host is charged

	// Whole says that nothing is metered: the budget is paid once the work is
	// done, less the penalty for delay, in equal parts to the hosts.
	Whole bool
}

// payments is the table of payment rules by the name scenarios use.
var payments = map[string]struct {
	doc string
	Payment
}{
	"spot":   {"min(b, q c(-s)): the share really received, at the price the others set", Payment{Charge: spot}},
	"usage":  {"min(used/entitled, 1) b: the bid, for what is used of what it bought (Tycoon)", Payment{Charge: usage}},
	"bid":    {"b: pay as bid", Payment{Charge: asBid}},
	"budget": {"the whole budget when the work is done, less the penalty for delay (SLA paper, eq. 1)", Payment{Charge: nothing, Whole: true}},
}

// NewPayment returns the named payment rule.
func NewPayment(name string) (Payment, error) {
	p, ok := payments[name]
	if !ok {
		return Payment{}, fmt.Errorf("unknown payment rule %q, want one of %s", name, strings.Join(Payments(), ", "))
	}
	return p.Payment, nil
}

// Payments returns the names of the payment rules, sorted.
func Payments() []string { return slices.Sorted(maps.Keys(payments)) }

// PaymentDoc returns the named payment rule in one line.
func PaymentDoc(name string) string { return payments[name].doc }

func spot(on []contracts.Allocation, price market.Rate, capacity float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Bid.Float64(), s.Rate/capacity*(price-s.Bid).Float64())
	}
}

func usage(on []contracts.Allocation, price market.Rate, capacity float64) {
	for i := range on {
		s := &on[i]
		s.Paying = min(s.Rate/capacity*price.Float64(), s.Bid.Float64()) // used/entitled = got/(b/price)
	}
}

func asBid(on []contracts.Allocation, _ market.Rate, _ float64) {
	for i := range on {
		on[i].Paying = on[i].Bid.Float64()
	}
}

func nothing([]contracts.Allocation, market.Rate, float64) {}
