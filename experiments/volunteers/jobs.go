package volunteers

import (
	"math"
	"math/rand/v2"
)

// A Stream is the paper's workload (§5), which has jobs at regular intervals. The lengths
// of jobs are exponentially distributed between two bounds and rounded to whole seconds.
type Stream struct {
	From, To float64 // submissions are in [From, To); the first is at From
	Every    float64 // seconds between two submissions, above 0
	Mean     float64 // mean of the exponential distribution before it is bounded
	Least    float64 // shortest length in seconds, at least 1
	Most     float64
}

// week returns the stream from the second to the seventh day of a week, with one job every
// two minutes.
func week() Stream {
	return Stream{From: 86400, To: 7 * 86400, Every: 120, Mean: 1000, Least: 1, Most: 10_000}
}

// length returns a random length, by inverting the truncated distribution. It uses exactly one
// random number per job.
func (s Stream) length(rng *rand.Rand) float64 {
	low, high := math.Exp(-s.Least/s.Mean), math.Exp(-s.Most/s.Mean)
	return max(math.Round(-s.Mean*math.Log(low-(low-high)*rng.Float64())), 1)
}
