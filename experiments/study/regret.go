package study

import (
	"math"
	"math/rand/v2"
)

// draws is the number of bootstrap samples.
const draws = 400

// expected returns the mean advantage of the best remaining setting over the arm best. It uses
// the Bayesian bootstrap (Rubin 1981) over the replications in which all settings are defined.
// Each bootstrap sample assigns random weights to the replications. The weights are the same
// for all settings.
func (r *race) expected(best int) float64 {
	n := r.common()
	var above [][]float64 // advantage of each remaining setting over best, by replication
	for rep := range n {
		row := make([]float64, len(r.Kept))
		whole := true
		for i, arm := range r.Kept {
			row[i] = r.better(r.values[arm][rep] - r.values[best][rep])
			whole = whole && !math.IsNaN(row[i])
		}
		if whole {
			above = append(above, row)
		}
	}
	if len(above) == 0 || len(r.Kept) == 1 {
		return 0
	}
	rng := rand.New(rand.NewPCG(r.seed, 0x726567726574))
	means := make([]float64, len(r.Kept))
	total := 0.0
	for range draws {
		clear(means)
		weights := 0.0
		for _, row := range above {
			w := rng.ExpFloat64()
			weights += w
			for i, x := range row {
				means[i] += w * x
			}
		}
		most := 0.0
		for _, m := range means {
			most = max(most, m)
		}
		total += most / weights
	}
	return total / draws
}
