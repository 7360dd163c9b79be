package contracts_test

import (
	"fmt"

	"bourse/contracts"
)

// What half of the work by the deadline is worth to users who paid $4 of $10: all or
// nothing, its part, and a user of inelasticity one half (eq. 7 to 9).
func Example() {
	done, want, paid, value := 50.0, 100.0, 4.0, 10.0
	fmt.Println(contracts.Inelastic(done, want, paid, value))
	fmt.Println(contracts.Elastic(done, want, paid, value))
	fmt.Println(contracts.Mixed(0.5, done, want, paid, value))
	// Output:
	// -4
	// 1
	// -1.5
}
