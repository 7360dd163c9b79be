package models

import (
	"math/rand/v2"

	"bourse/hosts/availability"
)

// workstationOptions are the options of "workstation".
type workstationOptions struct {
	State string  `yaml:"state" validate:"oneof=P C E U" doc:"state of the host between intervals"`         // state between intervals: P (the default), C, E or U
	Load  float64 `yaml:"load" validate:"min=0,max=1" doc:"maximum owner load while the host is available"` // as for "intervals"; default 0.2
}

// workstation is a chain of three kinds of available and two kinds of unavailable intervals,
// all exponential. The kind of an unavailable interval depends on the available interval before
// it. The kind of an available interval depends on the previous available one.
//
// The numbers are from edigley/oursim. Their means match Mutka, Livny, "The available capacity
// of a privately owned workstation environment", Performance Evaluation 12(4), 1991. Oursim
// multiplies each sampled length by the weight of its kind, which makes the means wrong; this
// model does not.
type workstation struct {
	state availability.State
	load  float64
}

// These are the parameters of workstation. Kinds are in the order short, medium, long; lengths
// are in minutes.
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

// Trace implements [Model]. Every host starts with an available interval.
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

// pick draws an index with probability proportional to its weight.
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
