package memory

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/stat/distuv"

	"bourse/workloadgen/dist"
)

// Noise returns n values of fractional Gaussian noise with Hurst exponent h in (0,1), each
// with a standard normal distribution, by the exact circulant method of Davies and Harte. It
// draws 2 m uniforms, where m is the first power of two that is at least n, and takes O(n log
// n) time.
func Noise(n int, h float64, src rand.Source) []float64 {
	return newNoise(n, src).series(h)
}

// noise stores the normal variables from which noise of any exponent is computed.
type noise struct {
	n       int
	normals []float64 // 2 m of them
}

func newNoise(n int, src rand.Source) noise {
	m := 1
	for m < n {
		m *= 2
	}
	z := noise{n, make([]float64, 2*m)}
	for i := range z.normals {
		z.normals[i] = distuv.UnitNormal.Quantile(dist.Open(src))
	}
	return z
}

// series returns the noise of exponent h. Similar exponents give similar series.
func (z noise) series(h float64) []float64 {
	size := len(z.normals)
	m := size / 2
	row := make([]complex128, size)
	for k := range row {
		row[k] = complex(covariance(float64(min(k, size-k)), h), 0)
	}
	fft := fourier.NewCmplxFFT(size)
	spectrum := fft.Coefficients(nil, row)
	for k := 0; k <= m; k++ {
		l := math.Sqrt(math.Max(0, real(spectrum[k])) / float64(size))
		if k == 0 || k == m {
			row[k] = complex(l*z.normals[k], 0)
			continue
		}
		l /= math.Sqrt2
		row[k] = complex(l*z.normals[k], l*z.normals[size-k])
		row[size-k] = complex(real(row[k]), -imag(row[k]))
	}
	series := fft.Coefficients(spectrum, row)
	out := make([]float64, z.n)
	for i := range out {
		out[i] = real(series[i])
	}
	return out
}

// covariance returns the covariance of fractional Gaussian noise at a distance of k.
func covariance(k, h float64) float64 {
	return (math.Pow(k+1, 2*h) - 2*math.Pow(k, 2*h) + math.Pow(math.Abs(k-1), 2*h)) / 2
}
