package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/experiments/stats"
)

// A group is what a number is of at a place along its axis, or of all without one, in
// every replication: the mean over its points, and that of what divides it.
type group struct {
	place float64
	x, y  []float64
	rule  [][]float64 // what x less (p - q)/(1 - q) is of: p is the mean of all but the last, q the last
}

// A measure is a number that was looked up.
type measure struct {
	Number
	groups []group
	of     stats.Quantity // what its values are
	varies bool           // there is chance in its experiment
}

// look finds n in results.
func (n Number) look(all []*Results) (measure, error) {
	experiment, _, _ := strings.Cut(n.In[0], "/")
	r, err := in(all, experiment)
	if err != nil {
		return measure{}, err
	}
	points, err := r.at(n)
	if err != nil {
		return measure{}, err
	}
	m := measure{Number: n, varies: r.varies()}
	m.of.Lo, m.of.Hi = n.ends(r)
	if n.plain() {
		m.of.Trials = r.trialsOf(n.Metric[0], n.Of[0], points)
	}
	at := make(map[float64][]string)
	for _, p := range points {
		place := 0.0
		if axis := n.Along + n.Spread; axis != "" {
			place = coordinate(p, r.Axes, axis)
		}
		if at[place] == nil {
			m.groups = append(m.groups, group{place: place})
		}
		at[place] = append(at[place], p)
	}
	for i := range m.groups {
		m.groups[i].fill(n, r, at[m.groups[i].place])
	}
	m.groups = slices.DeleteFunc(m.groups, func(g group) bool {
		return !slices.ContainsFunc(g.x, func(x float64) bool { return !math.IsNaN(x) })
	})
	if len(m.groups) == 0 {
		return measure{}, fmt.Errorf("%s is undefined", n.words())
	}
	return m, nil
}

// fill computes the group's numbers over points.
func (g *group) fill(n Number, r *Results, points []string) {
	mean := func(of func(point string) []float64) []float64 {
		sums, counts := make([]float64, r.replications), make([]float64, r.replications)
		for _, p := range points {
			for rep, x := range of(p) {
				if !math.IsNaN(x) {
					sums[rep] += x
					counts[rep]++
				}
			}
		}
		for rep := range sums {
			sums[rep] /= counts[rep] // NaN where it is defined nowhere
		}
		return sums
	}
	if rule := n.Reserve; rule != nil {
		g.x = mean(func(p string) []float64 { return r.of(rule.Admitted, n.Of[0], p) })
		for _, m := range append(slices.Clone(rule.Fulfilled), rule.Cost) {
			g.rule = append(g.rule, mean(func(p string) []float64 { return r.of(m, rule.Spot, p) }))
		}
		for rep := range g.x {
			for _, xs := range g.rule {
				g.x[rep] += 0 * xs[rep] // undefined where one is
			}
		}
		return
	}
	measured := func(policy, point string) []float64 {
		xs := r.of(n.Metric[0], policy, point)
		if n.Since != "" {
			subtract(xs, r.of(n.Since, policy, point))
		}
		return xs
	}
	other := n.Less + n.Per
	g.x = mean(func(p string) []float64 {
		xs := measured(n.Of[0], p)
		if other != "" {
			subtract(xs, measured(other, p))
		}
		return xs
	})
	if n.Per != "" {
		g.y = mean(func(p string) []float64 {
			ys := measured(other, p)
			for rep, x := range measured(n.Of[0], p) {
				ys[rep] += 0 * x // undefined where that is
			}
			return ys
		})
	}
}

func subtract(xs, ys []float64) {
	for i := range xs {
		xs[i] -= ys[i]
	}
}

// simple reports whether n is a mean of values of a metric, or of their differences.
func (n Number) simple() bool {
	return n.Along+n.Spread+n.Per == "" && !n.Deviation && !n.Effect && n.Reserve == nil
}

// plain reports whether n is a mean of values of a metric.
func (n Number) plain() bool { return n.simple() && n.Since+n.Less == "" }

// ends returns what n lies between, if its mean does.
func (n Number) ends(r *Results) (lo, hi float64) {
	if n.simple() {
		ends, ok := r.Ends[n.Metric[0]]
		if n.Since != "" {
			since, bounded := r.Ends[n.Since]
			ends, ok = [2]float64{ends[0] - since[1], ends[1] - since[0]}, ok && bounded
		}
		if n.Less != "" {
			ends = [2]float64{ends[0] - ends[1], ends[1] - ends[0]}
		}
		if ok {
			return ends[0], ends[1]
		}
	}
	return math.Inf(-1), math.Inf(1)
}

// keep leaves those replications alone in which every group of all is defined, and
// returns how many there are.
func keep(all ...*measure) (n int) {
	var groups []*group
	n = math.MaxInt
	for _, m := range all {
		for i := range m.groups {
			groups = append(groups, &m.groups[i])
			n = min(n, len(m.groups[i].x))
		}
	}
	var kept []int
	for rep := range n {
		if !slices.ContainsFunc(groups, func(g *group) bool { return math.IsNaN(g.x[rep]) }) {
			kept = append(kept, rep)
		}
	}
	for _, g := range groups {
		for _, xs := range append([]*[]float64{&g.x, &g.y}, pointers(g.rule)...) {
			if *xs == nil {
				continue
			}
			old := *xs
			*xs = make([]float64, len(kept))
			for i, rep := range kept {
				(*xs)[i] = old[rep]
			}
		}
	}
	return len(kept)
}

func pointers(all [][]float64) (to []*[]float64) {
	for i := range all {
		to = append(to, &all[i])
	}
	return to
}

// sample returns the number of one group.
func (m *measure) sample(g *group) (stats.Sample, bool) {
	n := len(g.x)
	x := stats.MeanWithout(g.x)
	switch {
	case m.Reserve != nil:
		var parts []func(int) float64
		for _, xs := range g.rule {
			parts = append(parts, stats.MeanWithout(xs))
		}
		last := len(parts) - 1
		return stats.Jackknife(n, func(out int) (float64, bool) {
			p, q := 0.0, parts[last](out)
			for _, fulfilled := range parts[:last] {
				p += fulfilled(out) / float64(last)
			}
			return x(out) - (p-q)/(1-q), q != 1
		})
	case m.Per != "":
		y := stats.MeanWithout(g.y)
		return stats.Jackknife(n, func(out int) (float64, bool) { return x(out) / y(out), y(out) != 0 })
	case m.Deviation, m.Effect:
		if n < 3 {
			return stats.Sample{}, false
		}
		sd := stats.Deviation(g.x)
		squares := sd * sd * float64(n-1)
		return stats.Jackknife(n, func(out int) (float64, bool) {
			sd := sd
			if out >= 0 {
				d := g.x[out] - x(-1)
				sd = math.Sqrt(max(0, squares-d*d*float64(n)/float64(n-1)) / float64(n-2))
			}
			if m.Deviation {
				return math.Log(sd), sd > 0
			}
			return x(out) / sd, sd > 0
		})
	}
	return stats.Sample{Value: stats.Mean(g.x), Parts: g.x}, true
}

// samples returns the numbers of all groups.
func (m *measure) samples() (all []stats.Sample, err error) {
	for i := range m.groups {
		s, ok := m.sample(&m.groups[i])
		if !ok {
			return nil, fmt.Errorf("%s is undefined", m.words())
		}
		all = append(all, s)
	}
	return all, nil
}

// whole returns m as one number: without an axis it has but one.
func (m *measure) whole() (stats.Sample, error) {
	all, err := m.samples()
	if err != nil || m.Along == "" {
		return append(all, stats.Sample{})[0], err
	}
	// The slope is a sum of what is measured, each by how far its place is from the
	// middle; times the length of the axis.
	lo, hi, middle := m.groups[0].place, m.groups[0].place, 0.0
	for _, g := range m.groups {
		lo, hi, middle = min(lo, g.place), max(hi, g.place), middle+g.place/float64(len(m.groups))
	}
	squares := 0.0
	for _, g := range m.groups {
		squares += (g.place - middle) * (g.place - middle)
	}
	if !(squares > 0) {
		return stats.Sample{}, fmt.Errorf("%s: want two places along it at least", m.words())
	}
	rise := stats.Sample{Parts: make([]float64, len(all[0].Parts))}
	for i, g := range m.groups {
		rise = rise.Plus((g.place-middle)/squares*(hi-lo), all[i])
	}
	return rise, nil
}

// estimate returns m, less over unless that is nil, and whether it is the same in all
// replications.
func (m *measure) estimate(over *measure) (e stats.Estimate, same bool, err error) {
	both := []*measure{m}
	if over != nil {
		both = append(both, over)
	}
	if keep(both...) == 0 {
		return e, false, fmt.Errorf("%s is undefined", m.words())
	}
	if m.Spread != "" {
		all, err := m.samples()
		if err != nil {
			return e, false, err
		}
		e = stats.Spread(all)
		if over != nil {
			other, _, err := over.estimate(nil)
			if err != nil {
				return e, false, err
			}
			e = e.Less(other)
		}
		_, _, varied := e.Interval(risk)
		return e, !varied && e.N > 1, nil
	}
	s, err := m.whole()
	if err != nil {
		return e, false, err
	}
	of := m.of
	if over != nil {
		other, err := over.whole()
		if err != nil {
			return e, false, err
		}
		s, of = s.Plus(-1, other), stats.Quantity{Lo: of.Lo - over.of.Hi, Hi: of.Hi - over.of.Lo}
	}
	_, _, varied := s.Estimate(stats.Quantity{}).Interval(risk)
	same = !varied && len(s.Parts) > 1
	if m.Per != "" && m.Along == "" && over == nil {
		e, _ = stats.Fieller(m.groups[0].x, m.groups[0].y)
		return e, same, nil
	}
	return s.Estimate(of), same, nil
}
