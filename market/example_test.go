package market_test

import (
	"fmt"
	"strings"

	"bourse/market"
)

// Two contracts share a host, then a third asks what its bid would obtain.
func ExampleAuctioneer() {
	var host market.Auctioneer
	host.Bid(0, 1, 30e6) // contract 1 pays 0.03 dollars per second
	host.Bid(0, 2, 10e6)
	fmt.Println("price", host.Price(), "share of 1", host.Share(1))

	fmt.Println("a bid of 0.04 obtains", host.Quote(40e6), "and leaves to 1", host.ShareIf(1, 40e6))

	host.Bid(60, 1, 0) // contract 1 withdraws after a minute
	mean, deviation := host.History().Moments(120)
	fmt.Printf("price %v, over the window %.3f ± %.3f\n", host.Price(), mean, deviation)
	// Output:
	// price 0.04 share of 1 0.75
	// a bid of 0.04 obtains 0.5 and leaves to 1 0.375
	// price 0.01, over the window 0.025 ± 0.015
}

// Ten units are divided among three bidders.
func ExampleClear() {
	orders, err := market.ReadOrders("bids.csv", strings.NewReader("bidder,rate\nbob,0.5\nann,0.25\ncem,0.25\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	awards, err := market.Clear(orders, 10)
	fmt.Println(awards, err)
	// Output: [{ann 3} {bob 5} {cem 2}] <nil>
}
