// Package advise answers whether to reserve or to buy on the spot market, by the
// analysis of "Admission Control in a Computational Market" (Sandholm, Lai,
// Clearwater), §5.
//
// It compares two expected utilities per dollar of the job's value v. On the spot market,
// every job is admitted and some fail. On the reservation market, every admitted job is
// fulfilled and some are rejected. [Measured] reads the probabilities from results; the rest
// of the package is independent of their source.
//
// The symbols are those of the paper: pa is the probability of admission by the reservation
// market, pw the probability of fulfilment on the spot market, pd the expected fraction of
// work done there, and q = c/v the cost of a job divided by its value. All are in [0,1], and
// q is below 1, because a job that costs its whole value gains nothing anywhere.
package advise

import "fmt"

// A Verdict is one comparison.
type Verdict struct {
	Spot      float64 // U_b / v = p - q (eq. 10), in [-1,1]
	Reserve   float64 // U_g / v = pa (1 - q) (eq. 11), in [0,1]
	Threshold float64 // what pa must exceed: (p - q) / (1 - q), at most 1, may be below 0

	// Reserving reports whether reservation beats spot: pa above the threshold. At the
	// threshold itself, both have the same utility, and spot is chosen.
	Reserving bool
}

// Inelastic advises a user who values only a finished job (eq. 13).
func Inelastic(pa, pw, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_w", pw})
}

// Elastic advises a user who values part of the work proportionally (eq. 18).
func Elastic(pa, pd, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_d", pd})
}

// Provider advises a provider with equal numbers of users of both kinds: reservation beats
// spot iff pa > (pw + pd - 2q) / (2 (1 - q)). If it does not, the spot partition should be
// enlarged.
func Provider(pa, pw, pd, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_w", pw}, probability{"p_d", pd})
}

// A probability has the name that messages use.
type probability struct {
	name  string
	value float64
}

// compare compares admission with the mean probability of success on the spot market.
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
