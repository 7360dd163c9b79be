package admission

// A fulfilment adjusts the probability level of the price percentile that requests must pay.
// It learns from the outcomes of the contracts admitted at that level (adaptive conformal
// inference, Gibbs and Candès 2021, eq. 2):
//
//	α ← α + γ ((1-g) - err)
//
// Here err is 1 if the contract was violated and 0 if it was fulfilled. The level is 1-α and
// starts at g. Each violation increases the level by γg, and each fulfilled contract reduces
// it by γ(1-g). For example, with g = 0.6 and γ = 0.1, these steps are 0.06 and 0.04. Of n
// outcomes, at most (1-g) n + (1-g-α)/γ are violations, where α is the value after the last
// outcome.
//
// In the paper, α may leave [0,1]. The rule then rejects every request, or accepts requests
// that it knows to fail. Here α is at most 1, because keeping more promises than required must
// not permit breaking others later. If α is below 0, the level is the constant highest,
// because a policy that rejects everything would receive no more outcomes. If even that level
// does not prevent violations, α continues to fall, and the required rate is not reached.
type fulfilment struct{ alpha float64 }

// highest is the highest level used; the lowest level used is 1-highest.
const highest = 0.999

// newFulfilment returns a fulfilment whose level starts at g.
func newFulfilment(g float64) fulfilment { return fulfilment{1 - g} }

// level returns the probability, in (0,1), that defines the price percentile a request must
// pay.
func (f *fulfilment) level() float64 { return max(1-highest, min(highest, 1-f.alpha)) }

// judged adjusts α after one contract has ended.
func (f *fulfilment) judged(g, gamma float64, violated bool) {
	err := 0.0
	if violated {
		err = 1
	}
	f.alpha = min(1, f.alpha+gamma*((1-g)-err))
}
