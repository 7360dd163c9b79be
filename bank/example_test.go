package bank_test

import (
	"fmt"

	"bourse/bank"
)

// A contract's budget is set aside, its hosts are paid, and the remainder is returned.
func Example() {
	ledger := bank.New(nil)
	ann, _ := ledger.Account("user:ann")
	host, _ := ledger.Account("host:h03")
	budget, _ := bank.Parse("12.5")
	charge, _ := bank.Nearest(0.004 * 1062.5) // rate times seconds

	ledger.Mint(0, ann, budget)
	ledger.Hold(10, 17, ann, budget, nil)
	refund, _ := ledger.Settle(1072.5, 17, []bank.Payment{{To: host, Amount: charge}}, nil)

	fmt.Println(ledger.Balance(host), refund, ledger.Issued())
	// Output: 4.250000 8.250000 12.500000
}
