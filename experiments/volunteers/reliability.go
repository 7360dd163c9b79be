package volunteers

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"bourse/experiments/metrics"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
)

// Probes requests predictions about n jobs with the given lengths from a predictor. For each
// job, it draws a host from the trace and a time in [from, to) at which the host was
// available. A prediction comes true if the host stays until the job ends. If a job would end
// after the trace, it is drawn again. After 100 n failed draws, Probes returns fewer probes.
func Probes(rng *rand.Rand, p predictors.Predictor, trace *availability.Trace, lengths func(*rand.Rand) float64, from, to float64, n int) []metrics.Promise {
	out := make([]metrics.Promise, 0, n)
	for range 100 * n {
		if len(out) == n || len(trace.Hosts) == 0 {
			break
		}
		h := trace.Hosts[rng.IntN(len(trace.Hosts))]
		now := math.Floor(from + (to-from)*rng.Float64())
		length := lengths(rng)
		v, ok := h.At(now)
		if _, end := h.Span(); !ok || now+length > end {
			continue
		}
		out = append(out, metrics.Promise{Promised: p.Predict(h, now, length).Completes, Kept: now+length <= v.End})
	}
	return out
}

// A Bin is one point of a reliability diagram. It covers the predictions in [From, To); the
// last bin includes To.
type Bin struct {
	From, To float64
	Count    int
	Promised float64 // mean prediction; NaN if there are no predictions
	Kept     float64 // realized fraction; NaN if there are no predictions

	// Low and High are the ends of a band. If predictions are calibrated, the realized
	// fraction lies in the band with the given probability. They are quantiles of the binomial
	// distribution with the parameters Count and Promised. NaN means that there are no
	// predictions.
	Low, High float64
}

// honest reports whether the realized fraction lies in the band. It also returns true if
// there is no band.
func (b *Bin) honest() bool { return b.Count == 0 || b.Kept >= b.Low && b.Kept <= b.High }

// A Diagram compares predicted and realized completion.
type Diagram struct {
	Bins  []Bin   // equally wide, from 0 to 1
	Brier float64 // mean of (predicted - realized)², in [0,1]; NaN without probes
	Base  float64 // realized fraction of all probes; NaN without probes
}

// reliability sorts probes into n bins. The bands have the given probability, in (0,1).
func reliability(probes []metrics.Promise, n int, band float64) Diagram {
	d := Diagram{Bins: make([]Bin, n)}
	kept := make([]float64, n)
	for i := range d.Bins {
		d.Bins[i].From, d.Bins[i].To = float64(i)/float64(n), float64(i+1)/float64(n)
	}
	for _, p := range probes {
		i := min(int(p.Promised*float64(n)), n-1)
		b := &d.Bins[i]
		b.Count++
		b.Promised += p.Promised
		miss := p.Promised
		if p.Kept {
			kept[i]++
			d.Base++
			miss = 1 - p.Promised
		}
		d.Brier += miss * miss
	}
	for i := range d.Bins {
		b := &d.Bins[i]
		count := float64(b.Count)
		b.Promised /= count
		b.Kept = kept[i] / count
		b.Low, b.High = quantile(count, b.Promised, (1-band)/2)/count, quantile(count, b.Promised, (1+band)/2)/count
	}
	d.Brier /= float64(len(probes))
	d.Base /= float64(len(probes))
	return d
}

// quantile returns the smallest k for which the distribution function of the binomial
// distribution with n and p is at least u. It uses bisection.
func quantile(n, p, u float64) float64 {
	switch {
	case n == 0:
		return math.NaN()
	case p <= 0:
		return 0
	case p >= 1:
		return n
	}
	law := distuv.Binomial{N: n, P: p}
	low, high := -1.0, n // CDF(low) < u <= CDF(high)
	for high-low > 1 {
		if mid := math.Floor((low + high) / 2); law.CDF(mid) >= u {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
