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

// Results are what one experiment found.
type Results struct {
	Experiment string
	Axes       []string // of its sweep, by the names that claims use
	Rows       []results.Metric
	Ends       map[string][2]float64 // of the metrics that lie between two values
}

// after fills in what n does not say from first.
func (n Number) after(first Number) Number {
	if len(n.Metric) == 0 {
		n.Metric, n.Since = first.Metric, first.Since
	}
	if len(n.Of) == 0 {
		n.Of = first.Of
	}
	if len(n.In) == 0 {
		n.In = first.In
	}
	if n.At == nil {
		n.At = first.At
	}
	if n.Less == "" && n.Per == "" && len(n.Of) == 1 && n.Of[0] == first.Of[0] {
		n.Less, n.Per = first.Less, first.Per
	}
	if n.Along == "" && n.Spread == "" {
		n.Along, n.Spread = first.Along, first.Spread
	}
	return n
}

// over returns what n is beside first, which it is subtracted from.
func (n Number) over(first Number) string {
	var s []string
	if n.metric() != first.metric() {
		s = append(s, n.metric())
	}
	if n.Of[0] != first.Of[0] || n.Less != first.Less || n.Per != first.Per {
		s = append(s, "of "+n.policy())
	}
	if n.In[0] != first.In[0] {
		s = append(s, n.In[0])
	}
	for _, axis := range slices.Sorted(maps.Keys(n.At)) {
		if !slices.Equal(n.At[axis], first.At[axis]) {
			s = append(s, axis+" "+n.At[axis].words())
		}
	}
	return strings.Join(s, ", ")
}

func (r Range) words() string {
	if len(r) > 1 {
		return fmt.Sprintf("%v to %v", r[0], r[1])
	}
	return fmt.Sprint(r[0])
}

// ends returns what the number, and the interval of its mean, lies between.
func (n Number) ends(all []Results) (lo, hi float64) {
	if n.Along != "" {
		return -1, 1
	}
	experiment, _, _ := strings.Cut(n.In[0], "/")
	for _, r := range all {
		if ends, ok := r.Ends[n.Metric[0]]; ok && r.Experiment == experiment && n.Since+n.Less+n.Per+n.Spread == "" {
			return ends[0], ends[1]
		}
	}
	return math.Inf(-1), math.Inf(1)
}

// metric says what is measured.
func (n Number) metric() string {
	if n.Since != "" {
		return n.Metric[0] + " less " + n.Since
	}
	return n.Metric[0]
}

// policy says whose metric it is.
func (n Number) policy() string {
	switch {
	case n.Less != "":
		return n.Of[0] + " less " + n.Less
	case n.Per != "":
		return n.Of[0] + " per " + n.Per + " less 1"
	}
	return n.Of[0]
}

// words says what the number is.
func (n Number) words() string {
	s := n.metric() + " of " + n.policy() + ", " + n.In[0]
	for _, axis := range slices.Sorted(maps.Keys(n.At)) {
		s += ", " + axis + " " + n.At[axis].words()
	}
	switch {
	case n.Along != "":
		s = "correlation with " + n.Along + " of " + s
	case n.Spread != "":
		s = "spread along " + n.Spread + " of " + s
	}
	return s
}

func (t Test) want() string {
	switch {
	case t.Above != nil:
		return fmt.Sprintf("> %v", *t.Above)
	case t.Below != nil:
		return fmt.Sprintf("< %v", *t.Below)
	}
	return fmt.Sprintf("within ±%v", *t.Within)
}

// A sample is a metric of a policy at a point in a replication.
type sample struct {
	metric, policy, point string
	replication           int
}

// values returns the number in each replication, nil where it is undefined.
func (n Number) values(all []Results) ([]*float64, error) {
	experiment, configuration, _ := strings.Cut(n.In[0], "/")
	i := slices.IndexFunc(all, func(r Results) bool { return r.Experiment == experiment })
	if i < 0 {
		return nil, fmt.Errorf("no results of %s", experiment)
	}
	r := all[i]
	at := make(map[sample]float64)
	var points []string
	replications := 0
	policies := map[string]bool{}
	for _, row := range r.Rows {
		replications = max(replications, row.Replication+1)
		name, _, _ := strings.Cut(row.Configuration, "@")
		if name != configuration || row.Metric != n.Metric[0] && row.Metric != n.Since {
			continue
		}
		policies[row.Admission] = true
		if !slices.Contains(points, row.Configuration) {
			points = append(points, row.Configuration)
		}
		if row.Value != nil {
			at[sample{row.Metric, row.Admission, row.Configuration, row.Replication}] = *row.Value
		}
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("%s: no %s of configuration %s", experiment, n.Metric[0], configuration)
	}
	for _, p := range []string{n.Of[0], n.Less, n.Per} {
		if p != "" && !policies[p] {
			return nil, fmt.Errorf("%s: %s was not run under %s", experiment, configuration, p)
		}
	}
	points, err := n.within(points, r)
	if err != nil {
		return nil, err
	}
	out := make([]*float64, replications)
	for rep := range out {
		out[rep] = n.reduce(points, r.Axes, func(point string) (float64, bool) { return n.value(at, point, rep) })
	}
	return out, nil
}

// value returns the metric of a policy, less or per that of another.
func (n Number) value(at map[sample]float64, point string, rep int) (float64, bool) {
	measured := func(policy string) (float64, bool) {
		x, ok := at[sample{n.Metric[0], policy, point, rep}]
		if ok && n.Since != "" {
			var since float64
			since, ok = at[sample{n.Since, policy, point, rep}]
			x -= since
		}
		return x, ok
	}
	x, ok := measured(n.Of[0])
	if other := n.Less + n.Per; ok && other != "" {
		var y float64
		if y, ok = measured(other); n.Less != "" {
			return x - y, ok
		}
		return x/y - 1, ok && y != 0
	}
	return x, ok
}

// within returns the points that At allows.
func (n Number) within(points []string, r Results) ([]string, error) {
	for _, axis := range append(slices.Sorted(maps.Keys(n.At)), n.Along, n.Spread) {
		if axis != "" && !slices.Contains(r.Axes, axis) {
			return nil, fmt.Errorf("%s has no axis %s", r.Experiment, axis)
		}
	}
	kept := slices.DeleteFunc(points, func(p string) bool {
		for axis, want := range n.At {
			if !want.has(coordinate(p, r.Axes, axis)) {
				return true
			}
		}
		return false
	})
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: no point of %s", r.Experiment, n.words())
	}
	return kept, nil
}

// coordinate returns where a point, NAME@VALUE,VALUE, lies along an axis; NaN if
// that is no number.
func coordinate(point string, axes []string, axis string) float64 {
	_, values, _ := strings.Cut(point, "@")
	parts := strings.Split(values, ",")
	i := slices.Index(axes, axis)
	if i < 0 || i >= len(parts) {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(parts[i], 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// reduce makes one number of those at the points, nil if none is defined.
func (n Number) reduce(points, axes []string, value func(string) (float64, bool)) *float64 {
	along := n.Along + n.Spread
	var order []float64                   // places along the axis, 0 without one
	groups := make(map[float64][]float64) // values there
	for _, p := range points {
		x, ok := value(p)
		if !ok {
			continue
		}
		at := 0.0
		if along != "" {
			at = coordinate(p, axes, along)
		}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], x)
	}
	if len(order) == 0 {
		return nil
	}
	means := make([]float64, len(order))
	for i, at := range order {
		means[i] = stats.Summarize(groups[at]).Mean
	}
	x := means[0]
	switch {
	case n.Along != "":
		x, _ = stats.Pearson(order, means) // 0 where nothing varies
	case n.Spread != "":
		x = slices.Max(means) - slices.Min(means)
	}
	return &x
}
