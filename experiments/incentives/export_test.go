package incentives

// What tests look at.
var (
	Rounds = rounds
	Weigh  = weigh
)

// Sample is what tests make.
type Sample = sample
