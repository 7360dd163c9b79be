package stats

import "math"

// A Sample is a number, with the contribution of each replication to it. For a mean, the
// contributions are the values themselves; for a smooth function of means, they are
// pseudo-values ([Jackknife]). Numbers from the same replications are added and subtracted
// replication by replication ([Sample.Plus]), so that common variation cancels out.
type Sample struct {
	Value float64
	Parts []float64
}

// Jackknife returns a statistic of n replications with the pseudo-values of the statistic
// (Tukey 1958). The function without returns the statistic of all replications except one. If
// its argument is negative, it returns the statistic of all replications. Jackknife is
// undefined (ok is false) if the statistic is undefined or not finite.
func Jackknife(n int, without func(replication int) (float64, bool)) (s Sample, ok bool) {
	if s.Value, ok = without(-1); !ok || math.IsInf(s.Value, 0) || math.IsNaN(s.Value) {
		return Sample{}, false
	}
	s.Parts = make([]float64, n)
	if n == 1 {
		s.Parts[0] = s.Value
		return s, true
	}
	for i := range s.Parts {
		x, ok := without(i)
		if !ok || math.IsInf(x, 0) || math.IsNaN(x) {
			return Sample{}, false
		}
		s.Parts[i] = float64(n)*s.Value - float64(n-1)*x
	}
	return s, true
}

// MeanWithout returns a function that computes the mean of xs without one element. If the
// argument is negative, it includes all elements, as [Jackknife] requires.
func MeanWithout(xs []float64) func(out int) float64 {
	mean, n := Mean(xs), float64(len(xs))
	return func(out int) float64 {
		if out < 0 {
			return mean
		}
		return mean + (mean-xs[out])/(n-1)
	}
}

// Plus returns s + weight × other, computed replication by replication.
func (s Sample) Plus(weight float64, other Sample) Sample {
	sum := Sample{s.Value + weight*other.Value, make([]float64, len(s.Parts))}
	for i := range sum.Parts {
		sum.Parts[i] = s.Parts[i] + weight*other.Parts[i]
	}
	return sum
}

// Estimate returns the number in s, whose contributions are values of q. If the contributions
// are means of a known number of trials, the interval is the same as in tables ([Interval]).
// Otherwise it is Student's interval within the bounds of q. If all contributions are equal,
// Student's interval has the width 0. If q has bounds, it is replaced by an interval that
// allows for values that did not occur; see ofMean. The actual coverage is lower than stated if
// there are few values and they are skewed, or if few values differ: TestCoverage lists the
// actual coverage.
func (s Sample) Estimate(q Quantity) Estimate {
	lo, hi := math.Inf(-1), math.Inf(1)
	if q.Lo < q.Hi {
		lo, hi = q.Lo, q.Hi
	}
	e := ofMean(s.Parts, lo, hi)
	if q.Trials > 0 && e.N > 1 && q.bounded(s.Parts) {
		e.interval = func(alpha float64) (float64, float64) {
			lo, hi, _ := Interval(s.Parts, q, alpha)
			return lo, hi
		}
		if constant(s.Parts, largest(s.Parts)) {
			e.reach = func(alpha float64, n int) float64 {
				more := q
				more.Trials = max(1, q.Trials/e.N) * n
				lo, hi, _ := more.interval(s.Parts, e.Value, 0, critical(alpha, n))
				return max(e.Value-lo, hi-e.Value)
			}
		}
	}
	off := s.Value - e.Value // bias that the jackknife estimates; the interval is centred on the number itself
	e.Value = s.Value
	if within := e.interval; within != nil && off != 0 {
		e.interval = func(alpha float64) (float64, float64) {
			lo, hi := within(alpha)
			return lo + off, hi + off
		}
	}
	return e
}

// Spread returns the largest minus the smallest of several numbers from the same replications.
// The spread is the largest difference. Its interval is therefore correct if the intervals of
// all pairwise differences are, each at its share of alpha (Bonferroni). With fewer than two
// numbers, the spread is 0 and has no interval.
func Spread(all []Sample) Estimate {
	if len(all) == 0 {
		return Estimate{}
	}
	e := Estimate{N: len(all[0].Parts)}
	type pair struct{ apart, err float64 } // difference of two numbers, and its standard error
	var pairs []pair
	widest := 0.0 // largest standard error
	for i := range all {
		for j := range i {
			d := all[i].Plus(-1, all[j])
			p := pair{apart: math.Abs(d.Value)}
			if e.N > 1 && !constant(d.Parts, max(largest(all[i].Parts), largest(all[j].Parts))) {
				_, squares := moments(d.Parts)
				p.err = math.Sqrt(squares / float64(e.N-1) / float64(e.N))
				widest = max(widest, p.err)
			}
			e.Value = max(e.Value, p.apart)
			pairs = append(pairs, p)
		}
	}
	if widest == 0 {
		return e
	}
	e.interval = func(alpha float64) (lo, hi float64) {
		t := critical(alpha/float64(len(pairs)), e.N)
		for _, p := range pairs {
			lo, hi = max(lo, p.apart-t*p.err), max(hi, p.apart+t*p.err)
		}
		return lo, hi
	}
	sd := widest * math.Sqrt(float64(e.N))
	e.reach = func(alpha float64, n int) float64 { return reachOf(sd)(alpha/float64(len(pairs)), n) }
	return e
}

// Less returns e minus other. Each interval uses half of alpha.
func (e Estimate) Less(other Estimate) Estimate {
	d := Estimate{N: min(e.N, other.N), Value: e.Value - other.Value}
	if e.interval == nil || other.interval == nil {
		return d
	}
	d.interval = func(alpha float64) (float64, float64) {
		lo, hi := e.interval(alpha / 2)
		from, to := other.interval(alpha / 2)
		return lo - to, hi - from
	}
	d.reach = func(alpha float64, n int) float64 { return e.reach(alpha/2, n) + other.reach(alpha/2, n) }
	return d
}
