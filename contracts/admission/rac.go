package admission

import (
	"math/rand/v2"

	"bourse/contracts"
	"bourse/contracts/bidding"
)

// byLot means that the request was rejected by random choice.
const byLot contracts.Reason = "drawn by lot"

// random rejects each request with a fixed probability and otherwise decides as [BestEffort]
// does (RAC, §4.3). random is a control for cac. If cac performs better than random rejection
// at the same rate, the choice of requests matters, not only the number of rejections. A
// contract that is placed again after its host left is not rejected at random.
type random struct {
	be     *BestEffort
	reject float64 // probability of a rejection, in [0,1]
	rng    *rand.Rand
}

// RandomOptions are the options of rac.
type RandomOptions struct {
	Reject float64 `yaml:"reject" validate:"min=0,max=1" doc:"probability of rejecting a request; in the paper, the fraction that cac rejects"`
}

// defaultRandom returns the default options of rac.
func defaultRandom() RandomOptions { return RandomOptions{Reject: 0.37} }

// newRandom returns a rac policy with the decoded options.
func newRandom(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	o := defaultRandom()
	err := decode(&o)
	return Immediate(&random{&BestEffort{bid: bid}, o.Reject, rng}), err
}

// Decide implements [contracts.Decider].
func (p *random) Decide(now float64, r *contracts.Request, v contracts.View) contracts.Decision {
	if !r.Repeat && p.rng.Float64() < p.reject {
		return contracts.Decision{Reason: byLot}
	}
	return p.be.Decide(now, r, v)
}
