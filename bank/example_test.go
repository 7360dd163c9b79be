package bank_test

import (
	"fmt"

	"bourse/bank"
)

// This example sets a contract's budget aside, pays the contract's hosts, and returns the
// remainder.
func Example() {
	ledger := bank.New(nil)
	ann, _ := ledger.Account("user:ann")
	host, _ := ledger.Account("host:h03")
	budget, _ := bank.Parse("12.5")
	charge, _ := bank.Nearest(0.004 * 1062.5) // the product of rate and seconds

	ledger.Mint(0, ann, budget)
	ledger.Hold(10, 17, ann, budget, nil)
	refund, _ := ledger.Settle(1072.5, 17, []bank.Payment{{To: host, Amount: charge}}, nil)

	fmt.Println(ledger.Balance(host), refund, ledger.Issued())
	// Output: 4.250000 8.250000 12.500000
}
