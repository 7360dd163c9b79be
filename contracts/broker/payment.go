package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/market"
)

// A Payment is a rule for what a contract pays.
type Payment struct {
	// Rate returns what a task is charged, in dollars per second, for bid on a
	// host where all bids sum to price and it gets the fraction got of capacity.
	Rate func(bid, price market.Rate, got float64) float64

	// Whole says that nothing is metered: the budget is paid once the work is
	// done, less the penalty for delay, in equal parts to the hosts.
	Whole bool
}

// payments is the table of payment rules by the name scenarios use.
var payments = map[string]struct {
	doc string
	Payment
}{
	"spot":   {"min(b, q c(-s)): the share really received, at the price the others set", Payment{Rate: spot}},
	"usage":  {"min(used/entitled, 1) b: the bid, for what is used of what it bought (Tycoon)", Payment{Rate: usage}},
	"bid":    {"b: pay as bid", Payment{Rate: asBid}},
	"budget": {"the whole budget when the work is done, less the penalty for delay (SLA paper, eq. 1)", Payment{Rate: nothing, Whole: true}},
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

func spot(bid, price market.Rate, got float64) float64 {
	return min(bid.Float64(), got*(price-bid).Float64())
}

func usage(bid, price market.Rate, got float64) float64 {
	return min(got*price.Float64(), bid.Float64()) // used/entitled = got/(b/price)
}

func asBid(bid, _ market.Rate, _ float64) float64 { return bid.Float64() }

func nothing(_, _ market.Rate, _ float64) float64 { return 0 }
