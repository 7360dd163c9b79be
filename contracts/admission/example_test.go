package admission_test

import (
	"fmt"
	"strings"

	"bourse/contracts/admission"
)

// Policies have names, and each is made for a rule of sharing.
func Example() {
	for _, name := range []string{"sac", "librarisk", "reserve"} {
		fmt.Printf("%s, under %s\n", name, admission.SharingOf(name))
	}
	_, err := admission.Table(nil, nil).New("sax", nil)
	fmt.Println(strings.HasPrefix(err.Error(), `unknown admission policy "sax", did you mean sac? want one of adaptive, be,`))
	// Output:
	// sac, under auction
	// librarisk, under deadline
	// reserve, under planned
	// true
}
