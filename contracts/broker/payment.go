package broker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/market"
)

// A Payment returns what a task is charged, in dollars per second, for bid on a
// host where all bids sum to price and it gets the fraction got of capacity.
type Payment func(bid, price market.Rate, got float64) float64

// payments is the table of payment rules by the name scenarios use.
var payments = map[string]struct {
	doc string
	pay Payment
}{
	"spot":  {"min(b, q c(-s)): the share really received, at the price the others set", spot},
	"usage": {"min(used/entitled, 1) b: the bid, for what is used of what it bought (Tycoon)", usage},
	"bid":   {"b: pay as bid", asBid},
}

// NewPayment returns the named payment rule.
func NewPayment(name string) (Payment, error) {
	p, ok := payments[name]
	if !ok {
		return nil, fmt.Errorf("unknown payment rule %q, want one of %s", name, strings.Join(Payments(), ", "))
	}
	return p.pay, nil
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
