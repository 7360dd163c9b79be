package contracts

// Inelastic is the utility of a user who wants all of the work or none (eq. 7).
// Done and want are work; paid and value are dollars.
func Inelastic(done, want, paid, value float64) float64 {
	if Enough(done, want) {
		return value - paid
	}
	return -paid
}

// Elastic is the utility of a user who values partial work (eq. 8).
func Elastic(done, want, paid, value float64) float64 {
	if Enough(done, want) {
		return value - paid
	}
	return done/want*value - paid
}

// Mixed weighs [Inelastic] by alpha in [0,1] and [Elastic] by 1-alpha (eq. 9).
func Mixed(alpha, done, want, paid, value float64) float64 {
	return alpha*Inelastic(done, want, paid, value) + (1-alpha)*Elastic(done, want, paid, value)
}
