package claims

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// A measure is a metric of a policy at a place. It is either the whole number of a row or one
// side of the row's difference.
type measure struct {
	metrics []weighted // metrics that are added up
	of      statistic
	rule    []string // metrics of the other policy: p, followed by q

	policy, other string // the other policy is subtracted at each point, or is the reference of the statistic
	place

	groups []group
	values stats.Quantity
	varies bool // whether the results of the experiment are random
}

// A weighted is a name with the weight of its value in a sum.
type weighted struct {
	sign float64
	name string
}

// A statistic is a function of the values in all replications.
type statistic int

const (
	mean      statistic = iota
	ratio               // mean of the policy divided by the mean of the other policy, minus 1
	deviation           // logarithm of the standard deviation
	effect              // mean divided by the standard deviation
	excess              // p_a minus (p - q)/(1 - q) of the other policy
)

// A place is a set of points of some configurations of an experiment.
type place struct {
	experiment     string
	configurations []string
	at             map[string]Range // range on each axis; all values of an axis that is not listed
	along, spread  string           // name of an axis; spread may also be *, which means configurations
}

// measures parses the cells of a row that has a single metric, policy and place.
func (r Row) measures() ([]measure, error) {
	var m measure
	metric := r.Metric[0]
	for prefix, s := range map[string]statistic{"log sd of ": deviation, "effect of ": effect} {
		if rest, ok := strings.CutPrefix(metric, prefix); ok {
			m.of, metric = s, rest
		}
	}
	metric, rule, reserve := strings.Cut(metric, " over ")
	if reserve {
		m.of, m.rule = excess, strings.Split(rule, ", ")
	}
	sign := 1.0
	for i, word := range strings.Fields(metric) {
		switch {
		case i%2 == 0:
			m.metrics = append(m.metrics, weighted{sign, word})
		case word == "-":
			sign = -1
		case word != "+":
			return nil, fmt.Errorf("metric: found %q, want + or - between metrics", word)
		default:
			sign = 1
		}
	}
	if len(m.metrics) == 0 || reserve && len(m.rule) < 2 {
		return nil, fmt.Errorf("metric: found %q, want a metric, or p_a over p, q", r.Metric[0])
	}
	policies, places, separate := strings.Cut(r.Policy[0], " | ")
	var sides []string
	if separate {
		sides = []string{policies, places}
		if places = r.Place[0]; strings.Count(places, " | ") != 1 {
			return nil, fmt.Errorf("place: found %q, want one place for each of two policies: A | B", places)
		}
	} else {
		sides, places = []string{policies, policies}, strings.Replace(r.Place[0], " - ", " | ", 1)
	}
	var all []measure
	for i, text := range strings.Split(places, " | ") {
		one, err := m, error(nil)
		if i > 1 {
			return nil, fmt.Errorf("place: found %q, want one place or two", r.Place[0])
		}
		by := false
		if one.policy, one.other, by = strings.Cut(sides[i], " / "); by && m.of == mean {
			one.of = ratio
		} else if by != (m.of == excess) {
			return nil, fmt.Errorf("policy: found %q, want A / B, and only for a ratio, or for p_a over p, q", r.Policy[0])
		} else if !by {
			one.policy, one.other, _ = strings.Cut(sides[i], " - ")
		}
		if one.place, err = readPlace(text); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if len(all) > 1 && (all[0].spread != all[1].spread || all[0].along != all[1].along) {
		return nil, fmt.Errorf("place: found %q, want one axis", r.Place[0])
	}
	return all, nil
}

// readPlace parses EXPERIMENT/CONFIGURATION[ & CONFIGURATION] [@ AXIS VALUE[..VALUE], ...]
// [along AXIS | spread AXIS].
func readPlace(text string) (p place, err error) {
	rest, spread, _ := strings.Cut(text, " spread ")
	rest, along, _ := strings.Cut(rest, " along ")
	rest, points, _ := strings.Cut(rest, " @ ")
	experiment, configurations, ok := strings.Cut(rest, "/")
	if !ok || strings.Contains(configurations, "/") {
		return p, fmt.Errorf("place: found %q, want EXPERIMENT/CONFIGURATION", text)
	}
	p = place{experiment, strings.Split(configurations, " & "), make(map[string]Range), along, spread}
	for _, point := range strings.Split(points, ", ") {
		if point == "" {
			continue
		}
		i := strings.LastIndex(point, " ")
		lo, hi, between := strings.Cut(point[i+1:], "..")
		if !between {
			hi = lo
		}
		from, err1 := strconv.ParseFloat(lo, 64)
		to, err2 := strconv.ParseFloat(hi, 64)
		if i < 1 || err1 != nil || err2 != nil || !(from <= to) {
			return p, fmt.Errorf("place: found %q, want AXIS VALUE, or AXIS LOWEST..HIGHEST", point)
		}
		p.at[point[:i]] = Range{from, to}
	}
	return p, nil
}

// names returns the names of the metrics of m.
func (m *measure) names() (all []string) {
	for _, w := range m.metrics {
		all = append(all, w.name)
	}
	return append(all, m.rule...)
}

// A group is one point of an axis, or all points together. It contains the means over its
// points in every replication. The first column contains the number itself. The other columns
// are the references of the statistic.
type group struct {
	place   float64
	columns [][]float64
}

// look reads the values of m from the results.
func (m *measure) look(all []*Results) error {
	r, err := in(all, m.experiment)
	if err != nil {
		return err
	}
	points, err := r.at(m)
	if err != nil {
		return err
	}
	m.varies = r.varies()
	m.values.Lo, m.values.Hi = m.ends(r)
	if m.of == mean && m.along == "" && m.other == "" && len(m.metrics) == 1 {
		m.values.Trials = r.trialsOf(m.metrics[0].name, m.policy, points)
	}
	at := make(map[float64][]string)
	var order []float64
	for _, p := range points {
		place := 0.0
		name, _ := results.Spot(p)
		switch axis := m.along + m.spread; axis {
		case "":
		case "*":
			place = float64(slices.Index(m.configurations, name))
		default:
			place = coordinate(p, r.Axes, axis)
		}
		if at[place] == nil {
			order = append(order, place)
		}
		at[place] = append(at[place], p)
	}
	for _, place := range order {
		g := group{place, m.means(r, at[place])}
		if slices.ContainsFunc(g.columns[0], func(x float64) bool { return !math.IsNaN(x) }) {
			m.groups = append(m.groups, g)
		}
	}
	if len(m.groups) == 0 {
		return m.undefined()
	}
	return nil
}

func (m *measure) undefined() error {
	return fmt.Errorf("%s of %s is undefined in %s", strings.Join(m.names(), ", "), m.policy, m.experiment)
}

// means returns the columns of m. Each value is a mean over the points at which all columns
// are defined, or NaN if there are none.
func (m *measure) means(r *Results, points []string) [][]float64 {
	n := 1 + len(m.rule)
	if m.of == ratio {
		n = 2
	}
	columns := make([][]float64, n)
	for c := range columns {
		columns[c] = make([]float64, r.replications)
	}
	counts := make([]float64, r.replications)
	for _, p := range points {
		values := make([][]float64, len(columns))
		values[0] = m.measured(r, m.policy, p)
		switch {
		case m.of == ratio:
			values[1] = m.measured(r, m.other, p)
			add(values[0], -1, values[1])
		case m.of == excess:
			for i, metric := range m.rule {
				values[1+i] = r.of(metric, m.other, p)
			}
		case m.other != "":
			add(values[0], -1, m.measured(r, m.other, p))
		}
		for rep := range counts {
			if !slices.ContainsFunc(values, func(xs []float64) bool { return math.IsNaN(xs[rep]) }) {
				counts[rep]++
				for c := range columns {
					columns[c][rep] += values[c][rep]
				}
			}
		}
	}
	for _, xs := range columns {
		for rep := range xs {
			xs[rep] /= counts[rep]
		}
	}
	return columns
}

// measured returns the weighted sum of m's metrics for a policy at a point.
func (m *measure) measured(r *Results, policy, point string) []float64 {
	sum := make([]float64, r.replications)
	for _, w := range m.metrics {
		add(sum, w.sign, r.of(w.name, policy, point))
	}
	return sum
}

// add adds weight × ys to xs, element by element.
func add(xs []float64, weight float64, ys []float64) {
	for i := range xs {
		xs[i] += weight * ys[i]
	}
}

// ends returns the range of m's values, if the mean of m has a range.
func (m *measure) ends(r *Results) (lo, hi float64) {
	if m.of != mean || m.along+m.spread != "" {
		return math.Inf(-1), math.Inf(1)
	}
	for _, w := range m.metrics {
		ends, ok := r.Ends[w.name]
		if !ok {
			return math.Inf(-1), math.Inf(1)
		}
		lo, hi = lo+min(w.sign*ends[0], w.sign*ends[1]), hi+max(w.sign*ends[0], w.sign*ends[1])
	}
	if m.other != "" {
		lo, hi = lo-hi, hi-lo
	}
	return lo, hi
}

// keep removes the replications in which any group is undefined. It returns the number of
// remaining replications.
func keep(all []measure) int {
	var columns []*[]float64
	n := math.MaxInt
	for i := range all {
		for _, g := range all[i].groups {
			for c := range g.columns {
				columns, n = append(columns, &g.columns[c]), min(n, len(g.columns[c]))
			}
		}
	}
	kept := 0
	for rep := range n {
		if !slices.ContainsFunc(columns, func(xs *[]float64) bool { return math.IsNaN((*xs)[rep]) }) {
			for _, xs := range columns {
				(*xs)[kept] = (*xs)[rep]
			}
			kept++
		}
	}
	for _, xs := range columns {
		*xs = (*xs)[:kept]
	}
	return kept
}

// samples returns the sample of each group.
func (m *measure) samples() (all []stats.Sample, err error) {
	for _, g := range m.groups {
		s, ok := stats.Sample{Value: stats.Mean(g.columns[0]), Parts: g.columns[0]}, true
		if m.of != mean {
			s, ok = stats.Jackknife(len(g.columns[0]), m.statistic(g.columns))
		}
		if !ok {
			return nil, m.undefined()
		}
		all = append(all, s)
	}
	return all, nil
}

// statistic returns a function that computes the statistic of columns without replication out.
// If out is negative, the function uses all replications.
func (m *measure) statistic(columns [][]float64) func(out int) (float64, bool) {
	var means []func(int) float64
	for _, xs := range columns {
		means = append(means, stats.MeanWithout(xs))
	}
	xs, last := columns[0], len(means)-1
	n, sd := float64(len(xs)), stats.Deviation(xs)
	return func(out int) (float64, bool) {
		x := means[0](out)
		switch m.of {
		case ratio:
			y := means[1](out)
			return x / y, y != 0
		case excess:
			p, q := 0.0, means[last](out)
			for _, fulfilled := range means[1:last] {
				p += fulfilled(out) / float64(last-1)
			}
			return x - (p-q)/(1-q), q != 1
		}
		sd := sd
		if out >= 0 {
			d := xs[out] - means[0](-1)
			sd = math.Sqrt(max(0, sd*sd*(n-1)-d*d*n/(n-1)) / (n - 2))
		}
		if m.of == deviation {
			return math.Log(sd), sd > 0 && n > 2
		}
		return x / sd, sd > 0 && n > 2
	}
}

// whole returns m as a single number: the rise of the least-squares line along m's axis, or
// the number of the only group.
func (m *measure) whole() (stats.Sample, error) {
	all, err := m.samples()
	if err != nil || m.along == "" {
		return append(all, stats.Sample{})[0], err
	}
	lo, hi, middle := m.groups[0].place, m.groups[0].place, 0.0
	for _, g := range m.groups {
		lo, hi, middle = min(lo, g.place), max(hi, g.place), middle+g.place/float64(len(m.groups))
	}
	squares := 0.0
	for _, g := range m.groups {
		squares += (g.place - middle) * (g.place - middle)
	}
	if !(squares > 0) {
		return stats.Sample{}, fmt.Errorf("%s: want at least two values of %s", m.experiment, m.along)
	}
	rise := stats.Sample{Parts: make([]float64, len(all[0].Parts))}
	for i, g := range m.groups {
		rise = rise.Plus((g.place-middle)/squares*(hi-lo), all[i])
	}
	return rise, nil
}

// estimate returns the number of one measure, or the difference of two measures. It also
// reports whether the number is the same in all replications.
func estimate(all []measure) (e stats.Estimate, same bool, err error) {
	if keep(all) == 0 {
		return e, false, all[0].undefined()
	}
	var sum stats.Sample
	var values stats.Quantity
	for i := range all {
		m := &all[i]
		if m.spread != "" {
			samples, err := m.samples()
			if err != nil {
				return e, false, err
			}
			if i > 0 {
				e = e.Less(stats.Spread(samples))
			} else {
				e = stats.Spread(samples)
			}
			continue
		}
		s, err := m.whole()
		if err != nil {
			return e, false, err
		}
		if i == 0 {
			sum, values = s, m.values
		} else {
			sum, values = sum.Plus(-1, s), stats.Quantity{Lo: values.Lo - m.values.Hi, Hi: values.Hi - m.values.Lo}
		}
	}
	m := &all[0]
	switch {
	case m.spread != "":
		_, _, varied := e.Interval(risk)
		return e, !varied && e.N > 1, nil
	case m.of == ratio && m.along == "" && len(all) == 1:
		e, _ = stats.Fieller(m.groups[0].columns[0], m.groups[0].columns[1])
	default:
		e = sum.Estimate(values)
	}
	_, _, varied := sum.Estimate(stats.Quantity{}).Interval(risk)
	return e, !varied && len(sum.Parts) > 1, nil
}

// at returns the points of m. It first checks that everything that m names was run.
func (r *Results) at(m *measure) (points []string, err error) {
	for _, c := range m.configurations {
		points = append(points, r.points[c]...)
		for _, name := range m.names() {
			if !r.found[[2]string{c, name}] {
				return nil, fmt.Errorf("%s: no %s of configuration %s", r.Experiment, name, c)
			}
		}
		for _, p := range []string{m.policy, m.other} {
			if p != "" && !r.found[[2]string{c, p}] {
				return nil, fmt.Errorf("%s: %s was not run under %s", r.Experiment, c, p)
			}
		}
	}
	for _, axis := range append(slices.Sorted(maps.Keys(m.at)), m.along, strings.TrimSuffix(m.spread, "*")) {
		if axis != "" && !slices.Contains(r.Axes, axis) {
			return nil, fmt.Errorf("%s has no axis %s", r.Experiment, axis)
		}
	}
	points = slices.DeleteFunc(points, func(p string) bool {
		for axis, want := range m.at {
			if !want.has(coordinate(p, r.Axes, axis)) {
				return true
			}
		}
		return false
	})
	if len(points) == 0 {
		return nil, fmt.Errorf("%s: no point of %s", r.Experiment, strings.Join(m.configurations, ", "))
	}
	return points, nil
}
