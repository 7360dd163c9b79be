package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
)

// continuous fits one family.
func continuous(f family) func(*Sample, Options) (Fit, error) {
	return func(s *Sample, _ Options) (Fit, error) {
		s, note, err := s.positive()
		if err != nil {
			return Fit{}, err
		}
		p, err := f.fit(s)
		if err != nil {
			return Fit{}, err
		}
		lnX := s.logs()
		likelihood := func(p []float64) float64 {
			d, sum := f.density(p), 0.0
			for i, x := range s.X {
				sum += s.W[i] * d(x, lnX[i])
			}
			return sum
		}
		out := Fit{Law: f.spec(p), LogLik: likelihood(p), Note: note}
		free := p
		if f.params[len(p)-1] == "min" { // a bound, not a parameter that varies smoothly
			free = p[:len(p)-1]
		}
		se := standardErrors(func(q []float64) float64 {
			return likelihood(append(q[:len(q):len(q)], p[len(free):]...))
		}, free)
		for i, name := range f.params {
			e := math.NaN()
			if i < len(se) {
				e = se[i]
			}
			out.Params = append(out.Params, Param{name, p[i], e})
		}
		return out.finish(s)
	}
}

// positive returns the sample with 0 replaced by half of the smallest positive value, and a
// note on how many values were replaced.
func (s *Sample) positive() (*Sample, string, error) {
	if s.X[0] < 0 {
		return nil, "", fmt.Errorf("value %v is negative", s.X[0])
	}
	if s.X[0] > 0 {
		return s, "", nil
	}
	if len(s.X) == 1 {
		return nil, "", errOneValue
	}
	out := &Sample{X: append([]float64{s.X[1] / 2}, s.X[1:]...), W: s.W, N: s.N}
	return out, fmt.Sprintf("%.0f values of 0 replaced by %v", s.W[0], out.X[0]), nil
}

// standardErrors returns the standard errors of the parameters p that maximize the log
// likelihood: the roots of the diagonal of the inverse of the negative Hessian. Derivatives use
// steps relative to the parameters. The errors are NaN if the Hessian does not indicate a
// maximum.
func standardErrors(likelihood func([]float64) float64, p []float64) []float64 {
	unit := make([]float64, len(p))
	at := make([]float64, len(p))
	for i := range unit {
		unit[i] = 1
	}
	var h mat.SymDense
	fd.Hessian(&h, func(u []float64) float64 {
		for i := range at {
			at[i] = p[i] * u[i]
			if p[i] == 0 {
				at[i] = u[i] - 1
			}
		}
		return -likelihood(at)
	}, unit, &fd.Settings{Formula: fd.Central, Step: 1e-4})
	out := make([]float64, len(p))
	var chol mat.Cholesky
	var inverse mat.SymDense
	ok := chol.Factorize(&h)
	if ok {
		ok = chol.InverseTo(&inverse) == nil
	}
	for i := range out {
		out[i] = math.NaN()
		if ok && inverse.At(i, i) > 0 {
			out[i] = math.Sqrt(inverse.At(i, i))
			if p[i] != 0 {
				out[i] *= math.Abs(p[i])
			}
		}
	}
	return out
}
