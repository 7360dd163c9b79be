package fit

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"bourse/workloadgen/search"
)

const polyLinSteps = 200

// fitPolyLin fits a parabola in x = ln(value) to the distribution function of the whole sample (§2,
// eq. 2). It uses least squares at equal steps of x from Options.From to the largest value. A
// parabola that does not reach 1 has no quantiles beyond its top. In this case, fitPolyLin uses the
// best parabola that just reaches 1. Standard errors come from the regression, which assumes
// independent steps; in the second case there are none.
func fitPolyLin(s *Sample, o Options) (Fit, error) {
	if !(o.From > 0) {
		return Fit{}, fmt.Errorf("from %v is not above 0", o.From)
	}
	lo, hi := math.Log(o.From), math.Log(s.X[len(s.X)-1])
	if !(hi > lo) {
		return Fit{}, fmt.Errorf("no values above %v", o.From)
	}
	x, f := make([]float64, polyLinSteps), make([]float64, polyLinSteps)
	at, sum, short := 0, 0.0, 0.0
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/(polyLinSteps-1)
		for at < len(s.X) && s.X[at] <= math.Exp(x[i])*(1+1e-12) {
			sum += s.W[at]
			if s.X[at] < o.From {
				short += s.W[at]
			}
			at++
		}
		f[i] = sum / s.N
	}
	p, se, err := parabola(x, f)
	if err != nil {
		return Fit{}, err
	}
	out := Fit{LogLik: math.NaN()}
	if short > 0 {
		out.Note = fmt.Sprintf("%.1f %% of the values are below %v", 100*short/s.N, o.From)
	}
	if p[2]-p[1]*p[1]/(4*p[0]) < 1 {
		p, se = reaching(x, f, p), [3]float64{math.NaN(), math.NaN(), math.NaN()}
		out.Note = strings.TrimPrefix(out.Note+"; scaled to reach 1", "; ")
	}
	out.Law = options("polylin", "a", p[0], "b", p[1], "c", p[2], "min", o.From)
	for i, name := range []string{"a", "b", "c"} {
		out.Params = append(out.Params, Param{name, p[i], se[i]})
	}
	return out.finish(s)
}

// parabola returns the p that minimize sum (p0 x^2 + p1 x + p2 - f)^2, and
// their standard errors.
func parabola(x, f []float64) (p, se [3]float64, err error) {
	rows := mat.NewDense(len(x), 3, nil)
	for i, x := range x {
		rows.SetRow(i, []float64{x * x, x, 1})
	}
	var normal mat.SymDense
	normal.SymOuterK(1, rows.T())
	var right, best mat.VecDense
	right.MulVec(rows.T(), mat.NewVecDense(len(f), f))
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(&normal) || chol.SolveVecTo(&best, &right) != nil || chol.InverseTo(&inverse) != nil {
		return p, se, fmt.Errorf("the values do not determine a parabola")
	}
	rest := 0.0
	for i := range x {
		e := mat.Dot(rows.RowView(i), &best) - f[i]
		rest += e * e
	}
	for i := range p {
		p[i] = best.AtVec(i)
		se[i] = math.Sqrt(rest / float64(len(x)-3) * inverse.At(i, i))
	}
	return p, se, nil
}

// reaching returns the best parabola 1 - s (x - top)^2, starting from p, whose
// top is below 1.
func reaching(x, f []float64, p [3]float64) [3]float64 {
	off := func(top float64) (s, sum float64) {
		a, b := 0.0, 0.0
		for i := range x {
			q := (x[i] - top) * (x[i] - top)
			a += q * (1 - f[i])
			b += q * q
		}
		s = a / b
		for i := range x {
			e := 1 - s*(x[i]-top)*(x[i]-top) - f[i]
			sum += e * e
		}
		return s, sum
	}
	start := -p[1] / (2 * p[0])
	top := search.Golden(func(t float64) float64 { _, sum := off(t); return sum }, start-5, start+5, 1e-7)
	s, _ := off(top)
	return [3]float64{-s, 2 * s * top, 1 + 1e-9 - s*top*top}
}

// exponents counts the values by the nearest power of two: bin i, from 0, is 2^(i+1+Shift).
// Values outside the range count in the first or the last bin.
func exponents(s *Sample, o Options) (counts []float64, note string, err error) {
	if o.Bins < 1 || o.Bins > 60 {
		return nil, "", fmt.Errorf("%d bins are not in 1..60", o.Bins)
	}
	counts = make([]float64, o.Bins)
	odd := 0.0
	for i, x := range s.X {
		if x <= 0 {
			return nil, "", fmt.Errorf("value %v is not above 0", x)
		}
		e := math.Log2(x)
		bin := int(math.Round(e)) - 1 - o.Shift
		if e != math.Trunc(e) || bin < 0 || bin >= o.Bins {
			odd += s.W[i]
		}
		counts[min(max(bin, 0), o.Bins-1)] += s.W[i]
	}
	if odd > 0 {
		note = fmt.Sprintf("%.1f %% of the values are not a power of two in %v..%v and were replaced by the nearest",
			100*odd/s.N, math.Exp2(float64(1+o.Shift)), math.Exp2(float64(o.Bins+o.Shift)))
	}
	return counts, note, nil
}

func fitBinBin(s *Sample, o Options) (Fit, error) {
	counts, note, err := exponents(s, o)
	if err != nil {
		return Fit{}, err
	}
	out := Fit{Note: note}
	weights := make([]any, len(counts))
	for i, c := range counts {
		v := c / s.N
		weights[i] = v
		out.Params = append(out.Params, Param{fmt.Sprintf("v%d", i+1), v, math.Sqrt(v * (1 - v) / s.N)})
		if c > 0 {
			out.LogLik += c * math.Log(v)
		}
	}
	out.Law = options("binbin", "weights", weights, "shift", o.Shift)
	return out.finish(s)
}

// fitZipf finds the maximum likelihood exponent over the same bins.
func fitZipf(s *Sample, o Options) (Fit, error) {
	counts, note, err := exponents(s, o)
	if err != nil {
		return Fit{}, err
	}
	likelihood := func(p []float64) float64 {
		total, sum := 0.0, 0.0
		for i := range counts {
			total += math.Pow(float64(i+1), -p[0])
		}
		for i, c := range counts {
			sum += c * (-p[0]*math.Log(float64(i+1)) - math.Log(total))
		}
		return sum
	}
	r, err := optimize.Minimize(optimize.Problem{Func: func(p []float64) float64 {
		if p[0] < 0 {
			return math.Inf(1)
		}
		return -likelihood(p) / s.N
	}}, []float64{1}, &optimize.Settings{
		Converger: &optimize.FunctionConverge{Absolute: 1e-13, Iterations: 100},
	}, &optimize.NelderMead{})
	if err != nil {
		return Fit{}, err
	}
	p := r.X
	out := Fit{
		Law:    options("zipf", "s", p[0], "n", o.Bins, "binary", true, "shift", o.Shift),
		Params: []Param{{"s", p[0], standardErrors(likelihood, p)[0]}},
		LogLik: likelihood(p),
		Note:   note,
	}
	return out.finish(s)
}
