// Package advise answers whether to reserve or to buy on the spot market, by the
// analysis of "Admission Control in a Computational Market" (Sandholm, Lai,
// Clearwater), §5.
//
// It compares two expected utilities, both per dollar of the job's value v: on
// the spot market every job is let in and some fail; on the reservation market
// every job that is let in is fulfilled, and some are rejected. [Measured] takes the
// probabilities from results; no other part knows where they come from.
//
// The letters are the paper's: pa is the probability of admission by the
// reservation market, pw that of fulfilment on the spot market, pd the expected
// fraction of work done there, and q = c/v the cost of a job over its value. All
// are in [0,1], and q is below 1: a job that costs all that it is worth gains
// nothing anywhere.
package advise

import "fmt"

// A Verdict is one comparison.
type Verdict struct {
	Spot      float64 // U_b / v = p - q (eq. 10), in [-1,1]
	Reserve   float64 // U_g / v = pa (1 - q) (eq. 11), in [0,1]
	Threshold float64 // what pa must exceed: (p - q) / (1 - q), at most 1, may be below 0

	// Reserving reports whether reservation beats spot: pa above the threshold.
	// At the threshold itself both are worth the same, and spot is chosen.
	Reserving bool
}

// Inelastic advises a user to whom only a finished job is worth anything
// (eq. 13).
func Inelastic(pa, pw, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_w", pw})
}

// Elastic advises a user to whom part of the work is worth its part (eq. 18).
func Elastic(pa, pd, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_d", pd})
}

// Provider advises a provider whose users are of both kinds, in equal numbers:
// reservation beats spot iff pa > (pw + pd - 2q) / (2 (1 - q)). Where it does
// not, the spot partition might grow.
func Provider(pa, pw, pd, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_w", pw}, probability{"p_d", pd})
}

// A probability has the name that messages use.
type probability struct {
	name  string
	value float64
}

// compare weighs admission against the mean of the spot market's chances.
func compare(q float64, admission probability, spot ...probability) (Verdict, error) {
	if err := admission.check(); err != nil {
		return Verdict{}, err
	}
	var p float64
	for _, s := range spot {
		if err := s.check(); err != nil {
			return Verdict{}, err
		}
		p += s.value
	}
	p /= float64(len(spot))
	if !(q >= 0 && q < 1) {
		return Verdict{}, fmt.Errorf("q = %v: cost over value is in [0,1), 1 excluded", q)
	}
	threshold := (p - q) / (1 - q)
	return Verdict{
		Spot:      p - q,
		Reserve:   admission.value * (1 - q),
		Threshold: threshold,
		Reserving: admission.value > threshold,
	}, nil
}

func (p probability) check() error {
	if !(p.value >= 0 && p.value <= 1) {
		return fmt.Errorf("%s = %v: a probability is in [0,1]", p.name, p.value)
	}
	return nil
}
