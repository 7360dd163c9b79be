package contracts

// Inelastic returns the utility of a user who needs all of the work (eq. 7). The utility is
// value - paid if the work was done, and -paid if not. Done and want are work; paid and value
// are dollars.
func Inelastic(done, want, paid, value float64) float64 {
	if Enough(done, want) {
		return value - paid
	}
	return -paid
}

// Elastic returns the utility of a user who values partial work in proportion (eq. 8). For
// example, if half of the work is done, the utility is half of value minus the payment.
func Elastic(done, want, paid, value float64) float64 {
	if Enough(done, want) {
		return value - paid
	}
	return done/want*value - paid
}

// Mixed returns the average of [Inelastic], with weight alpha in [0,1], and [Elastic], with
// weight 1-alpha (eq. 9).
func Mixed(alpha, done, want, paid, value float64) float64 {
	return alpha*Inelastic(done, want, paid, value) + (1-alpha)*Elastic(done, want, paid, value)
}
