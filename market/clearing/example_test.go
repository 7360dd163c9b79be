package clearing_test

import (
	"fmt"
	"strings"

	"bourse/market/clearing"
)

// This example divides ten units among three bidders.
func ExampleClear() {
	orders, err := clearing.ReadOrders("bids.csv", strings.NewReader("bidder,rate\nbob,0.5\nann,0.25\ncem,0.25\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	awards, err := clearing.Clear(orders, 10)
	fmt.Println(awards, err)
	// Output: [{ann 3} {bob 5} {cem 2}] <nil>
}
