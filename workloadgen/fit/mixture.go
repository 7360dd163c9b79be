package fit

import (
	"bourse/workloadgen/config"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/optimize"
)

// A view is the form in which the second part of a mixture uses a value: the value itself or
// its logarithm.
type view int

const (
	identity  view = iota
	logarithm      // only the first part covers values of at most 1
)

// mixture fits two families by expectation-maximization. It alternates two steps: it divides
// each value between the parts by their likelihoods, and it fits each part to its share of the
// values. The search starts from several boundaries between the parts. They lie around the
// given boundary for HypWeib, and at quantiles for other mixtures. It continues from the
// likeliest result until it converges.
func mixture(a, b family, second view, name string) func(*Sample, Options) (Fit, error) {
	return func(s *Sample, o Options) (Fit, error) {
		s, note, err := s.positive()
		if err != nil {
			return Fit{}, err
		}
		var m *mixing
		for _, at := range s.breaks(second, o.Break) {
			next := newMixing(s, a, b, second)
			next.split(at)
			if e := next.run(30, 1e-4); e != nil {
				err = e
			} else if m == nil || next.height > m.height {
				m = next
			}
		}
		if m == nil {
			return Fit{}, err
		}
		if err := m.run(200, 1e-7); err != nil {
			return Fit{}, err
		}
		m.climb()
		p := m.parameters()
		out := Fit{Law: m.spec(name), LogLik: m.likelihood(p), Note: note}
		for i, se := range standardErrors(m.likelihood, p) {
			out.Params = append(out.Params, Param{m.names()[i], p[i], se})
		}
		return out.finish(s)
	}
}

// breaks returns the initial boundaries between the parts.
func (s *Sample) breaks(second view, given float64) []float64 {
	if second == logarithm && given > 0 {
		return []float64{given / 2, given, 2 * given, 4 * given}
	}
	var out []float64
	sum := 0.0
	for i, x := range s.X {
		sum += s.W[i]
		for len(out) < 3 && sum >= s.N*float64(len(out)+1)/4 {
			out = append(out, x)
		}
	}
	return out
}

// A mixing is the state of the search.
type mixing struct {
	s      *Sample
	a, b   family
	second view
	lnX    []float64
	y, lnY []float64 // values as used by b; NaN if b cannot use them
	share  []float64 // fraction of each value that belongs to a
	p      float64   // weight of a
	pa, pb []float64
	height float64 // log likelihood per value
	partA  Sample
	partB  Sample
}

func newMixing(s *Sample, a, b family, second view) *mixing {
	m := &mixing{s: s, a: a, b: b, second: second, lnX: s.logs(), share: make([]float64, len(s.X))}
	m.y, m.lnY = s.X, m.lnX
	if second == logarithm {
		m.y, m.lnY = m.lnX, make([]float64, len(s.X))
		for i, y := range m.y {
			m.lnY[i] = math.NaN()
			if y > 0 {
				m.lnY[i] = math.Log(y)
			}
		}
	}
	return m
}

// split assigns 99 % of each value up to at to a and 1 % to b, and the reverse for larger
// values.
func (m *mixing) split(at float64) {
	for i, x := range m.s.X {
		m.share[i] = 0.01
		if x <= at {
			m.share[i] = 0.99
		}
	}
}

// densities returns the weighted densities of both parts at every value.
func (m *mixing) densities(p float64, pa, pb []float64) func(i int) (a, b float64) {
	da, db := m.a.density(pa), m.b.density(pb)
	return func(i int) (a, b float64) {
		a = p * math.Exp(da(m.s.X[i], m.lnX[i]))
		if !math.IsNaN(m.lnY[i]) {
			l := db(m.y[i], m.lnY[i])
			if m.second == logarithm {
				l -= m.lnX[i]
			}
			b = (1 - p) * math.Exp(l)
		}
		return a, b
	}
}

// run repeats the steps until the likelihood increases by less than enough, at most rounds
// times.
func (m *mixing) run(rounds int, enough float64) error {
	for round := range rounds {
		if err := m.maximize(); err != nil {
			return err
		}
		sum, at := 0.0, m.densities(m.p, m.pa, m.pb)
		for i, w := range m.s.W {
			a, b := at(i)
			if a+b > 0 {
				m.share[i] = a / (a + b)
				sum += w * math.Log(a+b)
			}
		}
		last := m.height
		m.height = sum / m.s.N
		if round > 5 && m.height-last < enough {
			return nil
		}
	}
	return nil
}

// climb completes the search, where expectation-maximization converges slowly, by a
// quasi-Newton method in the logarithms of the parameters and the logit of the weight.
func (m *mixing) climb() {
	to := func(y []float64) []float64 {
		q := make([]float64, len(y))
		q[0] = 1 / (1 + math.Exp(-y[0]))
		for i := range y[1:] {
			q[i+1] = math.Exp(y[i+1])
			if m.signed(i + 1) {
				q[i+1] = y[i+1]
			}
		}
		return q
	}
	p := m.parameters()
	y := []float64{math.Log(p[0] / (1 - p[0]))}
	for i, x := range p[1:] {
		if m.signed(i + 1) {
			y = append(y, x)
		} else {
			y = append(y, math.Log(x))
		}
	}
	f := func(y []float64) float64 { return -m.likelihood(to(y)) / m.s.N }
	r, err := optimize.Minimize(optimize.Problem{
		Func: f,
		Grad: func(g, y []float64) { fd.Gradient(g, f, y, &fd.Settings{Formula: fd.Central, Step: 1e-5}) },
	}, y, &optimize.Settings{GradientThreshold: 1e-7, MajorIterations: 60}, &optimize.BFGS{})
	if r == nil || err != nil && r.F >= f(y) || !(-r.F > m.height) {
		return // the search has found nothing better than the previous position
	}
	q := to(r.X)
	n := 1 + len(m.pa)
	m.p, m.pa, m.pb, m.height = q[0], q[1:n], q[n:], -r.F
}

// signed reports whether parameter i may be negative, which is true only for a mean of
// logarithms.
func (m *mixing) signed(i int) bool { return strings.HasPrefix(m.names()[i], "mu") }

// maximize fits each part to its share of the values.
func (m *mixing) maximize() error {
	m.partA.reset()
	m.partB.reset()
	for i, w := range m.s.W {
		if math.IsNaN(m.lnY[i]) {
			m.share[i] = 1
		}
		m.partA.add(m.s.X[i], m.lnX[i], w*m.share[i])
		if m.share[i] < 1 {
			m.partB.add(m.y[i], m.lnY[i], w*(1-m.share[i]))
		}
	}
	if m.partA.N < 1 || m.partB.N < 1 {
		return fmt.Errorf("one part of the mixture has vanished")
	}
	var err error
	if m.pa, err = m.a.fit(&m.partA); err != nil {
		return err
	}
	if m.pb, err = m.b.fit(&m.partB); err != nil {
		return err
	}
	m.p = m.partA.N / m.s.N
	return nil
}

func (s *Sample) reset() { s.X, s.W, s.ln, s.N = s.X[:0], s.W[:0], s.ln[:0], 0 }

func (s *Sample) add(x, lnX, w float64) {
	if w > 0 {
		s.X, s.W, s.ln, s.N = append(s.X, x), append(s.W, w), append(s.ln, lnX), s.N+w
	}
}

// parameters returns the weight of a, followed by the parameters of a and b.
func (m *mixing) parameters() []float64 {
	return append(append([]float64{m.p}, m.pa...), m.pb...)
}

func (m *mixing) names() []string {
	out := []string{"p"}
	for i, f := range []family{m.a, m.b} {
		for _, name := range f.params {
			out = append(out, fmt.Sprintf("%s%d", name, i+1))
		}
	}
	return out
}

func (m *mixing) likelihood(q []float64) float64 {
	n := 1 + len(m.pa)
	sum, at := 0.0, m.densities(q[0], q[1:n], q[n:])
	for i, w := range m.s.W {
		a, b := at(i)
		sum += w * math.Log(a+b)
	}
	return sum
}

// spec returns the mixture in the form of the named member of dist.
func (m *mixing) spec(name string) config.Spec {
	switch name {
	case "hypweib":
		return options(name, "alpha", m.p, "x_shape", m.pa[0], "x_scale", m.pa[1], "y_shape", m.pb[0], "y_scale", m.pb[1])
	case "hypergamma":
		return options(name, "p", m.p, "shape1", m.pa[0], "scale1", m.pa[1], "shape2", m.pb[0], "scale2", m.pb[1])
	}
	part := func(s config.Spec) map[string]any { return map[string]any{"name": s.Name, "options": s.Options} }
	return options(name, "p", m.p, "a", part(m.a.spec(m.pa)), "b", part(m.b.spec(m.pb)))
}
