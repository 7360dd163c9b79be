package admission

// A fulfilment chooses the level of the percentile that is to be paid by the verdicts of
// the contracts that paid it (adaptive conformal inference, Gibbs and Candès 2021, eq. 2):
//
//	α ← α + γ ((1-g) - err)
//
// where err is 1 if the contract was violated and 0 if it was fulfilled. The level is 1-α,
// which begins at g: with each violation the percentile goes up, and with each promise
// kept it goes down. Of n verdicts at most (1-g) n + (1-g-α)/γ are violations, where α is
// that after the last.
//
// The paper of this rule lets α leave [0,1], where it refuses all or errs on purpose. Here
// α is at most 1: to keep more promises than were given is no debt. And below 0 the level
// is the highest that is asked for: who refuses all hears no more verdicts. So where even
// that level does not keep contracts from being violated, α falls on, and the promise is
// not kept.
type fulfilment struct{ alpha float64 }

// highest is the highest level that is asked for, and 1 less it the lowest.
const highest = 0.999

func newFulfilment(g float64) fulfilment { return fulfilment{1 - g} }

// level returns the probability whose percentile is to be paid, in (0,1).
func (f *fulfilment) level() float64 { return max(1-highest, min(highest, 1-f.alpha)) }

// judged hears a verdict.
func (f *fulfilment) judged(g, gamma float64, violated bool) {
	err := 0.0
	if violated {
		err = 1
	}
	f.alpha = min(1, f.alpha+gamma*((1-g)-err))
}
