package contracts_test

import (
	"fmt"

	"bourse/contracts"
)

// In the example, three users paid $4 for a job worth $10, half of which is done by the
// deadline: one who needs all of the work, one who values partial work in proportion, and one
// halfway between them (eq. 7 to 9).
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
