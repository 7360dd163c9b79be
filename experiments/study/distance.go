package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bourse/experiments/stats"
)

// A distances contains the distances of readings from the printed numbers.
//
// Let m be the mean of n replications, and x a printed number or a range. The distance of m
// from x is
//
//	z = (m - x) / √(e² + d² + s²/n)
//
// where s is the standard deviation of our replications, d the standard deviation of the
// rounding of x, and e the paper's own standard error. If e is unknown, we assume that the
// paper had our variance: e² is the mean of s² over all readings, divided by the paper's
// number of replications. Therefore e is the same for all readings, and noise alone does not
// make a reading close. The distance of a reading is the root mean square of its z. It is
// about 1 for the reading that the paper used.
//
// In an array of strength 3, the mean distance for a value of a factor is not affected by
// interactions of two factors. The variance of the distance over the array is a sum: one part
// for each factor, which is its main effect, and the interactions. If each value of a factor
// occurs equally often, these parts are first-order Sobol indices.
type distances struct {
	*Readings
	errors []float64 // e of each number
	first  []against // by reading
	order  []int     // readings by their distance
	rerun  []int     // readings to run again: the closest ones in order, and then the unchanged scenario unless it is among them
	again  []against // results of running the closest readings again

	effects       []effect // the largest share first
	rest, logRest float64  // fraction of the variance due to interactions
}

// An against compares one reading with the printed numbers.
type against struct {
	means, errors []float64 // means and standard errors of our replications by number; NaN if not measured
	z             []float64
	values        sample
	met, of       int          // number of values with |z| below met, and number of values with a z
	distance      stats.Sample // distance with pseudo-values over replications
}

// met is the value of |z| below which a number counts as met.
const met = 1.96

// compare compares the readings with the printed numbers. The slice samples has one element
// per reading.
func (r *Readings) compare(samples []sample) *distances {
	d := &distances{Readings: r}
	for i := range r.numbers {
		sum, of := 0.0, 0.0
		for _, s := range samples {
			if xs := defined(s[i]); len(xs) > 1 {
				sd := stats.Deviation(xs)
				sum += sd * sd
				of++
			}
		}
		e := 0.0
		switch n := &r.numbers[i]; {
		case n.err != nil:
			e = *n.err
		case of > 0:
			e = math.Sqrt(sum / of / float64(r.Repeated))
		}
		d.errors = append(d.errors, e)
	}
	for _, s := range samples {
		d.first = append(d.first, d.against(s))
	}
	d.rank()
	return d
}

// against compares one reading with the printed numbers.
func (d *distances) against(s sample) (a against) {
	a.values = s
	replications := 0
	for i, xs := range s {
		replications = max(replications, len(xs))
		mean, err := estimate(defined(xs))
		z := d.z(i, mean, err)
		a.means, a.errors, a.z = append(a.means, mean), append(a.errors, err), append(a.z, z)
		if !math.IsNaN(z) {
			a.of++
		}
		if math.Abs(z) < met {
			a.met++
		}
	}
	a.distance, _ = stats.Jackknife(replications, func(out int) (float64, bool) {
		sum, of := 0.0, 0.0
		for i, xs := range s {
			if out >= 0 && out < len(xs) {
				xs = slices.Delete(slices.Clone(xs), out, out+1)
			}
			mean, err := estimate(defined(xs))
			if z := d.z(i, mean, err); !math.IsNaN(z) {
				sum += z * z
				of++
			}
		}
		return math.Sqrt(sum / of), of > 0
	})
	if a.distance.Parts == nil {
		a.distance.Value = math.NaN()
	}
	return a
}

// alike returns the pairs of values of one factor that have the same effect. Readings that
// differ only in such a pair have the same values of all numbers in every replication.
func (d *distances) alike() (pairs []string) {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	equal := func(x, y []float64) bool { return slices.EqualFunc(x, y, same) }
	for i, f := range d.Factors {
		var alone []int // indices of readings
		for r, reading := range d.readings {
			if at := reading.changed(); at != -1 && at != i || d.first[r].of == 0 {
				continue
			}
			for _, other := range alone {
				if slices.EqualFunc(d.first[r].values, d.first[other].values, equal) {
					pairs = append(pairs, fmt.Sprintf("%s %s and %s", f.Name, d.label(d.readings[other], i), d.label(reading, i)))
				}
			}
			alone = append(alone, r)
		}
	}
	return pairs
}

// estimate returns a mean and its standard error, or NaN if there are no values.
func estimate(xs []float64) (mean, err float64) {
	if len(xs) == 0 {
		return math.NaN(), math.NaN()
	}
	return stats.Mean(xs), errorOf(xs)
}

// errorOf returns the standard error of the mean of xs. It is 0 for fewer than two values.
func errorOf(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	return stats.Deviation(xs) / math.Sqrt(float64(len(xs)))
}

// z returns the difference between a mean and printed number i, in standard errors.
func (d *distances) z(i int, mean, err float64) float64 {
	digit := math.Pow(10, -float64(d.Digits)) / math.Sqrt(12) // deviation of the rounding of the printed number
	return d.numbers[i].off(mean) / math.Sqrt(d.errors[i]*d.errors[i]+digit*digit+err*err)
}

// rank orders the readings by distance and computes which factors explain the distances.
func (d *distances) rank() {
	d.order = make([]int, len(d.readings))
	for i := range d.order {
		d.order[i] = i
	}
	slices.SortStableFunc(d.order, func(a, b int) int {
		x, y := d.first[a].distance.Value, d.first[b].distance.Value
		if math.IsNaN(x) != math.IsNaN(y) { // readings without measurements come last
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	d.rerun = slices.Clone(d.order[:min(d.Confirm.Best, len(d.order))])
	if !slices.Contains(d.rerun, 0) {
		d.rerun = append(d.rerun, 0)
	}
	sum, logSum := 0.0, 0.0
	d.effects = nil
	for i, f := range d.Factors {
		e := effect{factor: i}
		e.share, e.chance, e.means = d.explains(i, len(f.Values), func(x float64) float64 { return x })
		e.logShare, _, _ = d.explains(i, len(f.Values), math.Log)
		sum += e.share
		logSum += e.logShare
		d.effects = append(d.effects, e)
	}
	d.rest, d.logRest = max(0, 1-sum), max(0, 1-logSum)
	slices.SortStableFunc(d.effects, func(a, b effect) int { return cmp.Compare(b.share, a.share) })
}

// confirm adds the measurements of the readings that were run again with new seeds.
func (d *distances) confirm(samples []sample) {
	for _, s := range samples {
		d.again = append(d.again, d.against(s))
	}
}

// An effect is the part of the distance explained by one factor.
type effect struct {
	factor          int
	share, logShare float64   // explained fraction of the variance of the distance over the array, and the same for the logarithm of the distance, which gives less weight to very distant readings
	chance          float64   // the same fractions for a factor without any effect
	means           []float64 // mean distance for each value; NaN if unknown
}

// explains returns the fraction of the variance of of(distance) over the array that the given
// factor explains. It also returns the fraction expected by chance and the mean for each of
// the factor's values.
func (d *distances) explains(factor, values int, of func(float64) float64) (share, chance float64, means []float64) {
	var all []float64
	at := make([][]float64, values)
	for r, reading := range d.readings {
		if x := of(d.first[r].distance.Value); reading.array && !math.IsNaN(x) && !math.IsInf(x, 0) {
			l := reading.levels[factor]
			all, at[l] = append(all, x), append(at[l], x)
		}
	}
	mean, total := math.NaN(), 0.0
	if len(all) > 0 {
		mean = stats.Mean(all)
		chance = float64(values-1) / float64(len(all)-1)
	}
	for _, x := range all {
		total += (x - mean) * (x - mean)
	}
	for _, xs := range at {
		mine, _ := estimate(xs)
		if means = append(means, mine); total > 0 && len(xs) > 0 {
			share += float64(len(xs)) * (mine - mean) * (mine - mean) / total
		}
	}
	return share, chance, means
}
