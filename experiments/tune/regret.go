package tune

import "math/rand/v2"

// draws is how often replications are weighed anew.
const draws = 400

// expected returns the mean of how much the best of those kept is above best, by the Bayesian
// bootstrap over the replications in which all of them are defined.
func (r *race) expected(best int) float64 {
	n := r.common()
	var above [][]float64 // by replication: of each arm that is kept, how much better it is than best
	for rep := range n {
		row := make([]float64, len(r.kept))
		whole := true
		for i, arm := range r.kept {
			row[i] = r.better(r.values[arm][rep] - r.values[best][rep])
			whole = whole && defined(row[i])
		}
		if whole {
			above = append(above, row)
		}
	}
	if len(above) == 0 || len(r.kept) == 1 {
		return 0
	}
	rng := rand.New(rand.NewPCG(r.Seed, 0x726567726574))
	means := make([]float64, len(r.kept))
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
