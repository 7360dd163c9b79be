package stats

import "math"

// A Sample is a number, and for each replication what it adds to it: of a mean the values
// themselves, of a smooth function of means its pseudo-values ([Jackknife]). Numbers of
// the same replications are added and subtracted part by part ([Sample.Plus]), so that what
// they share goes out.
type Sample struct {
	Value float64
	Parts []float64
}

// Jackknife returns a statistic of n replications with its pseudo-values (Tukey 1958):
// without tells it without a replication, or of all where that is negative. It is
// undefined, ok false, where the statistic is, or not finite.
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

// MeanWithout returns what tells the mean of xs without one of them, or of all below 0, as
// [Jackknife] asks.
func MeanWithout(xs []float64) func(out int) float64 {
	mean, n := Mean(xs), float64(len(xs))
	return func(out int) float64 {
		if out < 0 {
			return mean
		}
		return mean + (mean-xs[out])/(n-1)
	}
}

// Plus returns s and weight times other, part by part.
func (s Sample) Plus(weight float64, other Sample) Sample {
	sum := Sample{s.Value + weight*other.Value, make([]float64, len(s.Parts))}
	for i := range sum.Parts {
		sum.Parts[i] = s.Parts[i] + weight*other.Parts[i]
	}
	return sum
}

// Estimate returns the number of s, whose parts are values of q, with the interval of tables
// ([Interval]) if they are means of a known number of trials, and else with Student's within
// the bounds of q. Where parts are all equal that has no width, and there is none but what is
// left to something that was not seen, if q has bounds: see ofMean. Of few values that are
// skewed, or of which few are not alike, the interval holds the number less often than it
// says: TestCoverage has how often.
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
	off := s.Value - e.Value // the bias that the jackknife finds: the interval stays about the number
	e.Value = s.Value
	if within := e.interval; within != nil && off != 0 {
		e.interval = func(alpha float64) (float64, float64) {
			lo, hi := within(alpha)
			return lo + off, hi + off
		}
	}
	return e
}

// Spread returns the largest of several numbers of the same replications less the
// smallest. Its interval holds where those of all differences of two do, each at its part
// of alpha (Bonferroni): the spread is the largest of them. With fewer than two numbers it
// is 0, without an interval.
func Spread(all []Sample) Estimate {
	if len(all) == 0 {
		return Estimate{}
	}
	e := Estimate{N: len(all[0].Parts)}
	type pair struct{ apart, err float64 } // and its standard error
	var pairs []pair
	widest := 0.0 // standard error
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

// Less returns e less other, each with its interval at half of alpha.
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
