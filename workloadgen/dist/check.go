package dist

import (
	"fmt"
	"math"
)

// finite reports the first parameter that is not a number. It is given names
// and values in turn.
func finite(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		if x := pairs[i+1].(float64); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s %v is not a number", pairs[i], x)
		}
	}
	return nil
}

// positive is finite and more than 0.
func positive(pairs ...any) error {
	if err := finite(pairs...); err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		if x := pairs[i+1].(float64); x <= 0 {
			return fmt.Errorf("%s %v is not more than 0", pairs[i], x)
		}
	}
	return nil
}
