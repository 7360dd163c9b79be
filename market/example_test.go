package market_test

import (
	"fmt"

	"bourse/market"
)

// This example shares a host between two contracts and quotes a share to a third one.
func ExampleAuctioneer() {
	var host market.Auctioneer
	host.Bid(0, 0, 30e6) // the first pays 0.03 dollars per second
	host.Bid(0, 0, 10e6)
	price := host.Price().Float64()
	fmt.Println("price", price, "share of the first", market.ShareIf(0.03, price, 0))

	fmt.Println("a bid of 0.04 obtains", market.Quote(0.04, price), "and leaves to the first", market.ShareIf(0.03, price, 0.04))

	host.Bid(60, 30e6, 0) // the first withdraws after a minute
	mean, deviation := host.History().Moments(120)
	fmt.Printf("price %v, over the window %.3f ± %.3f\n", host.Price(), mean, deviation)
	// Output:
	// price 0.04 share of the first 0.75
	// a bid of 0.04 obtains 0.5 and leaves to the first 0.375
	// price 0.01, over the window 0.025 ± 0.015
}
