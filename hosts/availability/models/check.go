package models

import (
	"fmt"

	"bourse/hosts/availability"
)

// away parses a state that is not Available.
func away(letter string) (availability.State, error) {
	s, err := availability.ParseState(letter)
	if err != nil || s == availability.Available {
		return s, fmt.Errorf("state is %q, want P, C, E or U", letter)
	}
	return s, nil
}

// share checks that x lies in [0,1].
func share(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("%s is %v, want one in [0,1]", name, x)
	}
	return nil
}
