// Package advise answers the question whether to reserve or to buy on the spot market. It uses
// the analysis in "Admission Control in a Computational Market" (Sandholm, Lai, Clearwater),
// §5.
//
// It compares the expected utilities of the two markets per dollar of the job's value v. On
// the spot market, every job is admitted, and some jobs fail. On the reservation market,
// every admitted job is fulfilled, but some jobs are rejected. [Measured] reads the
// probabilities from results. The rest of the package is independent of their source.
//
// The symbols have the same meaning as in the paper:
//
//	pa  probability of admission by the reservation market
//	pw  probability of fulfilment on the spot market
//	pd  expected fraction of work done on the spot market
//	q   cost of a job divided by its value, c/v
//
// All are in [0,1]. In addition, q must be below 1, because a job that costs its whole value
// has no utility in either market.
package advise

import "fmt"

// A Verdict is the result of one comparison.
type Verdict struct {
	Spot      float64 // U_b / v = p - q (eq. 10), in [-1,1]
	Reserve   float64 // U_g / v = pa (1 - q) (eq. 11), in [0,1]
	Threshold float64 // value that pa must exceed: (p - q) / (1 - q), at most 1; may be negative

	// Reserving reports whether a reservation is better than the spot market, which is the
	// case if pa is above the threshold. If pa equals the threshold, both have the same
	// utility, and the spot market is chosen.
	Reserving bool
}

// Inelastic returns the verdict for a user who values only completed jobs (eq. 13).
func Inelastic(pa, pw, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_w", pw})
}

// Elastic returns the verdict for a user who values partial work in proportion (eq. 18).
func Elastic(pa, pd, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_d", pd})
}

// Provider returns the verdict for a provider with equal numbers of users of both kinds.
// Reservations are better if and only if pa > (pw + pd - 2q) / (2 (1 - q)). If they are not
// better, the provider should enlarge the spot partition.
func Provider(pa, pw, pd, q float64) (Verdict, error) {
	return compare(q, probability{"p_a", pa}, probability{"p_w", pw}, probability{"p_d", pd})
}

// A probability is a number with the name that error messages use.
type probability struct {
	name  string
	value float64
}

// compare compares the probability of admission with the mean probability of success on the
// spot market.
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
		return Verdict{}, fmt.Errorf("q = %v: want a ratio of cost to value that is at least 0 and less than 1", q)
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
