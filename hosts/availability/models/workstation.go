package models

import (
	"math/rand/v2"

	"bourse/hosts/availability"
)

// workstationOptions are those of "workstation".
type workstationOptions struct {
	State string  `yaml:"state" validate:"oneof=P C E U" doc:"state of the host between intervals"`         // between intervals: P by default, or C, E, U
	Load  float64 `yaml:"load" validate:"min=0,max=1" doc:"maximum owner load while the host is available"` // as for "intervals"; 0.2 by default
}

// workstation is a chain of available intervals of three kinds and unavailable
// ones of two, each exponential. The kind of an unavailable interval depends on
// the available one before it, the kind of an available one on the available
// one before that.
//
// Its numbers are those of edigley/oursim, whose means match Mutka, Livny, "The
// available capacity of a privately owned workstation environment", Performance
// Evaluation 12(4), 1991. Oursim multiplies each sampled length by its kind's
// weight, which makes the means wrong: not followed here.
type workstation struct {
	state availability.State
	load  float64
}

// The numbers of workstation, kinds in the order short, medium, long. Lengths
// are minutes.
const awayLeast = 7.0 // an owner counts as gone after seven idle minutes

func availableMeans() [3]float64 { return [3]float64{3, 25, 300} }
func awayMeans() [2]float64      { return [2]float64{7, 55} }
func startWeights() [3]float64   { return [3]float64{0.39, 0.38, 0.23} }
func nextWeights() [3][3]float64 {
	return [3][3]float64{{0.64, 0.25, 0.11}, {0.29, 0.52, 0.19}, {0.21, 0.31, 0.48}}
}
func awayWeights() [3][2]float64 {
	return [3][2]float64{{0.71, 0.29}, {0.76, 0.24}, {0.74, 0.26}}
}

func newWorkstation(decode func(any) error) (Model, error) {
	o := workstationOptions{State: "P", Load: 0.2}
	if err := decode(&o); err != nil {
		return nil, err
	}
	state, err := availability.ParseState(o.State)
	return &workstation{state, o.Load}, err
}

// Trace implements [Model]. Every host begins with an available interval.
func (m *workstation) Trace(rng *rand.Rand, n int, span float64) (*availability.Trace, error) {
	const minute = 60
	on, off := availableMeans(), awayMeans()
	start, next, leave := startWeights(), nextWeights(), awayWeights()
	return fleet(rng, n, span, func(rng *rand.Rand, w *writer) {
		kind := pick(rng, start[:])
		for !w.full() {
			w.add(minute*on[kind]*rng.ExpFloat64(), availability.Available, m.load*rng.Float64())
			away := pick(rng, leave[kind][:])
			w.add(minute*max(awayLeast, off[away]*rng.ExpFloat64()), m.state, 0)
			kind = pick(rng, next[kind][:])
		}
	})
}

// pick draws an index with probability in proportion to its weight.
func pick(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, x := range weights {
		sum += x
	}
	u := rng.Float64() * sum
	for i, x := range weights {
		if u -= x; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}
