package memory

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/stat"

	"bourse/workloadgen/search"
)

// An Estimate is a Hurst exponent: 1/2 means no memory, higher values a long memory, and lower
// values negative correlation.
type Estimate struct {
	H  float64 // NaN if the series is too short or constant
	SE float64 // standard error; for RescaledRange, the standard error of the regression
}

const shortest = 64 // minimum number of values

// RescaledRange estimates the exponent by Hurst's R/S, the slope of ln(R/S) over ln(n) for
// blocks of n values. Here n doubles from 16 while there are at least 64 blocks (4 in a series
// shorter than 8192). R is the range of the cumulative deviations in a block, and S is its
// standard deviation.
func RescaledRange(series []float64) Estimate {
	if len(series) < shortest {
		return Estimate{math.NaN(), math.NaN()}
	}
	var x, y []float64
	for n, top := 16, max(len(series)/64, min(len(series)/4, 128)); n <= top; n *= 2 {
		sum, blocks := 0.0, 0
		for at := 0; at+n <= len(series); at += n {
			if rs, ok := rescaled(series[at : at+n]); ok {
				sum += rs
				blocks++
			}
		}
		if blocks > 0 {
			x = append(x, math.Log(float64(n)))
			y = append(y, math.Log(sum/float64(blocks)))
		}
	}
	return slope(x, y)
}

func rescaled(block []float64) (float64, bool) {
	mean, sd := stat.PopMeanStdDev(block, nil)
	if sd == 0 {
		return 0, false
	}
	sum, lo, hi := 0.0, 0.0, 0.0
	for _, v := range block {
		sum += v - mean
		lo, hi = math.Min(lo, sum), math.Max(hi, sum)
	}
	return (hi - lo) / sd, true
}

// slope returns the least-squares slope of y over x.
func slope(x, y []float64) Estimate {
	if len(x) < 2 {
		return Estimate{math.NaN(), math.NaN()}
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	mx, se := stat.Mean(x, nil), 0.0
	sxx := 0.0
	for i := range x {
		r := y[i] - a - b*x[i]
		se += r * r
		sxx += (x[i] - mx) * (x[i] - mx)
	}
	return Estimate{b, math.Sqrt(se / math.Max(1, float64(len(x)-2)) / sxx)}
}

// AggregatedVariance estimates the exponent from the variance of means of n values, which
// falls as n^(2H-2). Here n doubles from 4 to a sixteenth of the series.
func AggregatedVariance(series []float64) Estimate {
	if len(series) < shortest {
		return Estimate{math.NaN(), math.NaN()}
	}
	var x, y []float64
	for n := 4; n <= len(series)/16; n *= 2 {
		means := make([]float64, len(series)/n)
		for i := range means {
			means[i] = stat.Mean(series[i*n:(i+1)*n], nil)
		}
		if v := stat.Variance(means, nil); v > 0 {
			x = append(x, math.Log(float64(n)))
			y = append(y, math.Log(v))
		}
	}
	e := slope(x, y)
	return Estimate{1 + e.H/2, e.SE / 2}
}

// LocalWhittle estimates the exponent from the periodogram at the lowest n^0.65 frequencies
// (Robinson, 1995). It returns the H that minimizes
//
//	ln(mean l^(2H-1) I) - (2H-1) mean ln l
//
// over frequencies l with power I. Its standard error is 1/(2 sqrt m). It omits about one in
// fifty values at the end if the transform of all values would be slow.
func LocalWhittle(series []float64) Estimate {
	n := smooth(len(series))
	if n < shortest {
		return Estimate{math.NaN(), math.NaN()}
	}
	series = series[:n]
	mean, sd := stat.PopMeanStdDev(series, nil)
	if sd == 0 {
		return Estimate{math.NaN(), math.NaN()}
	}
	centred := make([]float64, n)
	for i, v := range series {
		centred[i] = (v - mean) / sd
	}
	spectrum := fourier.NewFFT(n).Coefficients(nil, centred)
	m := int(math.Pow(float64(n), 0.65))
	lnL, power := make([]float64, m), make([]float64, m)
	for j := range m {
		lnL[j] = math.Log(2 * math.Pi * float64(j+1) / float64(n))
		c := spectrum[j+1]
		power[j] = real(c)*real(c) + imag(c)*imag(c)
	}
	meanLn := stat.Mean(lnL, nil)
	objective := func(h float64) float64 {
		sum := 0.0
		for j := range m {
			sum += math.Exp((2*h-1)*lnL[j]) * power[j]
		}
		return math.Log(sum/float64(m)) - (2*h-1)*meanLn
	}
	return Estimate{search.Golden(objective, 0.001, 0.999, 1e-6), 1 / (2 * math.Sqrt(float64(m)))}
}

// smooth returns the largest number up to n without a prime factor above 5.
func smooth(n int) int {
	for ; n > 1; n-- {
		rest := n
		for _, p := range []int{2, 3, 5} {
			for rest%p == 0 {
				rest /= p
			}
		}
		if rest == 1 {
			return n
		}
	}
	return n
}

// Autocorrelation returns the correlations of the series with itself at lags 0 to lags, or
// fewer if the series is shorter. It uses the biased estimator.
func Autocorrelation(series []float64, lags int) []float64 {
	mean, variance := stat.PopMeanVariance(series, nil)
	out := make([]float64, 0, lags+1)
	for lag := 0; lag <= lags && lag < len(series); lag++ {
		sum := 0.0
		for i := lag; i < len(series); i++ {
			sum += (series[i] - mean) * (series[i-lag] - mean)
		}
		out = append(out, sum/float64(len(series))/variance)
	}
	return out
}
