package readings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bourse/experiments/stats"
)

// Measured is what was measured: by case the values of the replications, NaN where one
// has none.
type Measured map[Case][]float64

// A Found is how far readings are from what is printed.
type Found struct {
	File     *File
	Readings []Reading // the first as the scenario is
	Numbers  []Number

	errors []float64 // e of each number
	first  []against // by reading
	again  []against // of those that were run again
	rerun  []int     // which they are: the nearest in order, and the scenario as it is
}

// An against is one reading against the numbers.
type against struct {
	means, errors []float64 // by number, NaN where nothing was measured; the errors are our own
	z             []float64
	values        [][]float64  // by number and replication
	met, of       int          // numbers with |z| below met, and with a z
	distance      stats.Sample // with its pseudo-values over replications
}

// met is how many errors a number may be off and is said to be met.
const met = 1.96

// Compare holds readings against numbers. Measured has one element a reading.
func (f *File) Compare(readings []Reading, numbers []Number, measured []Measured) *Found {
	found := &Found{File: f, Readings: readings, Numbers: numbers}
	for i := range numbers {
		n, sum, of := &numbers[i], 0.0, 0
		for r := range readings {
			if xs := defined(measured[r][f.measured(readings[r], n.Case)], -1); len(xs) > 1 {
				d := stats.Deviation(xs)
				sum += d * d
				of++
			}
		}
		e := 0.0
		switch {
		case n.Error != nil:
			e = *n.Error
		case of > 0:
			e = math.Sqrt(sum / float64(of) / float64(f.Repeated))
		}
		found.errors = append(found.errors, e)
	}
	for r := range readings {
		found.first = append(found.first, found.against(readings[r], measured[r]))
	}
	return found
}

// measured returns the case that is measured where one is printed, by a reading.
func (f *File) measured(r Reading, c Case) Case {
	c.Metric = f.metric(r, c.Metric)
	return c
}

// defined returns xs without NaN, and without one of them unless that is negative.
func defined(xs []float64, without int) (all []float64) {
	for i, x := range xs {
		if i != without && !math.IsNaN(x) {
			all = append(all, x)
		}
	}
	return all
}

// against holds one reading against the numbers.
func (found *Found) against(r Reading, m Measured) (a against) {
	replications := 0
	xs := make([][]float64, len(found.Numbers))
	for i := range found.Numbers {
		xs[i] = m[found.File.measured(r, found.Numbers[i].Case)]
		replications = max(replications, len(xs[i]))
		mean, err := estimate(defined(xs[i], -1))
		z := found.z(i, mean, err)
		a.means, a.errors, a.z = append(a.means, mean), append(a.errors, err), append(a.z, z)
		if math.IsNaN(z) {
			continue
		}
		a.of++
		if math.Abs(z) < met {
			a.met++
		}
	}
	a.distance, _ = stats.Jackknife(replications, func(out int) (float64, bool) {
		sum, of := 0.0, 0
		for i := range xs {
			mean, err := estimate(defined(xs[i], out))
			if z := found.z(i, mean, err); !math.IsNaN(z) {
				sum += z * z
				of++
			}
		}
		return math.Sqrt(sum / float64(of)), of > 0
	})
	a.values = xs
	if a.distance.Parts == nil {
		a.distance.Value = math.NaN()
	}
	return a
}

// alike returns the pairs of values of one factor that alone make no difference: in every
// replication, the readings that change only this factor have the same values of all numbers.
func (found *Found) alike() (pairs []string) {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	equal := func(x, y []float64) bool { return slices.EqualFunc(x, y, same) }
	for i, v := range found.File.Factors {
		var alone []int // readings
		for r, reading := range found.Readings {
			if at := reading.changed(); at != -1 && at != i || found.first[r].of == 0 {
				continue
			}
			for _, other := range alone {
				if slices.EqualFunc(found.first[r].values, found.first[other].values, equal) {
					pairs = append(pairs, fmt.Sprintf("%s %s and %s", v.Name, found.File.label(found.Readings[other], i), found.File.label(reading, i)))
				}
			}
			alone = append(alone, r)
		}
	}
	return pairs
}

// estimate returns a mean and its standard error, NaN of nothing.
func estimate(xs []float64) (mean, err float64) {
	if len(xs) == 0 {
		return math.NaN(), math.NaN()
	}
	if len(xs) > 1 {
		err = stats.Deviation(xs) / math.Sqrt(float64(len(xs)))
	}
	return stats.Mean(xs), err
}

// z returns how many errors a mean is off number i.
func (found *Found) z(i int, mean, err float64) float64 {
	digit := math.Pow(10, -float64(found.File.Digits)) / math.Sqrt(12) // of a number between two that are printed
	return found.Numbers[i].off(mean) / math.Sqrt(found.errors[i]*found.errors[i]+digit*digit+err*err)
}

// errorOf returns the standard error of a distance, 0 of one replication.
func errorOf(s stats.Sample) float64 {
	if len(s.Parts) < 2 {
		return 0
	}
	return stats.Deviation(s.Parts) / math.Sqrt(float64(len(s.Parts)))
}

// Nearest returns the readings to be run again: the nearest in order, and the first, which
// is the scenario as it is, at the end.
func (found *Found) Nearest() []int {
	order := found.order()
	best := order[:min(found.File.Confirm.Best, len(order))]
	if !slices.Contains(best, 0) {
		best = append(slices.Clone(best), 0)
	}
	return best
}

// order returns the readings by their distance.
func (found *Found) order() []int {
	order := make([]int, len(found.Readings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := found.first[a].distance.Value, found.first[b].distance.Value
		if math.IsNaN(x) != math.IsNaN(y) { // of which nothing is known comes last
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return order
}

// Confirm adds what the readings of Nearest were measured to be with fresh seeds.
func (found *Found) Confirm(measured []Measured) {
	found.rerun = found.Nearest()
	for i, r := range found.rerun {
		found.again = append(found.again, found.against(found.Readings[r], measured[i]))
	}
}

// An effect is what a factor explains.
type effect struct {
	factor          int
	share, logShare float64   // of the variance of the distance over the array, and of its logarithm
	chance          float64   // of it, if distances were drawn at random
	means           []float64 // distance, by value
}

// effects returns what each factor explains, the most first, and the rest; of the logarithm
// of the distance as well, in which readings that are far off count for less.
func (found *Found) effects() (all []effect, rest, logRest float64) {
	for i, v := range found.File.Factors {
		n := len(v.Values)
		e := effect{factor: i, means: make([]float64, n)}
		e.share, e.chance = found.explains(i, e.means, func(d float64) float64 { return d })
		e.logShare, _ = found.explains(i, make([]float64, n), math.Log)
		rest += e.share
		logRest += e.logShare
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b effect) int { return cmp.Compare(b.share, a.share) })
	return all, max(0, 1-rest), max(0, 1-logRest)
}

// explains returns the part of the variance of a function of the distance over the array
// that a factor explains, and what it would by chance; and puts the means at each value
// into means.
func (found *Found) explains(factor int, means []float64, of func(float64) float64) (share, chance float64) {
	var all []float64
	at := make([][]float64, len(means))
	for r, reading := range found.Readings {
		if d := of(found.first[r].distance.Value); reading.Array && !math.IsNaN(d) && !math.IsInf(d, 0) {
			l := reading.Levels[factor]
			all, at[l] = append(all, d), append(at[l], d)
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	mean, total := stats.Mean(all), 0.0
	for _, d := range all {
		total += (d - mean) * (d - mean)
	}
	for l := range at {
		if means[l] = math.NaN(); len(at[l]) == 0 {
			continue
		}
		if means[l] = stats.Mean(at[l]); total > 0 {
			share += float64(len(at[l])) * (means[l] - mean) * (means[l] - mean) / total
		}
	}
	return share, float64(len(means)-1) / float64(len(all)-1)
}
