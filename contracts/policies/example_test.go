package policies_test

import (
	"fmt"
	"strings"

	"bourse/contracts/policies"
)

// Each policy has a name and is designed for one sharing rule.
func Example() {
	for _, name := range []string{"sac", "librarisk", "reserve"} {
		fmt.Printf("%s, under %s\n", name, policies.Of(name).Sharing)
	}
	_, err := policies.Table(nil, nil).New("sax", nil)
	fmt.Println(strings.HasPrefix(err.Error(), `unknown admission policy "sax", did you mean sac? (one of `))
	// Output:
	// sac, under auction
	// librarisk, under deadline
	// reserve, under planned
	// true
}
