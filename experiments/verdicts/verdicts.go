// Package verdicts describes comparisons in sentences. For each metric, a sentence states
// which policy is best, in which configurations this is decided, and between which policies
// it is undecided.
//
// Sentences are derived only from verdicts. They change if the verdicts change, and contain
// "undecided" if a verdict is undecided. The package treats metrics and policies as names.
package verdicts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/contrast"
)

// Words converts names to their display forms.
type Words struct {
	Of    func(name string) string // display form of a name
	Less  func(metric string) bool // reports whether smaller values are better
	Where string                   // display name of a configuration or of a point in a sweep
}

// Of returns a sentence about the comparisons of one metric between policies. The
// comparisons must include all pairs in each configuration.
func Of(rows []contrast.Row, w Words) string {
	if len(rows) == 0 {
		return ""
	}
	m := rows[0].Metric
	var order []string // findings in the order in which they occur
	at := map[string][]string{}
	all := 0
	never := w.never(rows)
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Within == rows[0].Within {
			n++
		}
		found := w.best(rows[:n], w.Less(m))
		if !slices.Contains(order, found) {
			order = append(order, found)
		}
		at[found] = append(at[found], w.Of(rows[0].Within))
		rows, all = rows[n:], all+1
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(at[b]) - len(at[a]) })
	parts := make([]string, len(order))
	for i, found := range order {
		parts[i] = found
		if all > 1 {
			parts[i] += w.in(at[found], all)
		}
	}
	if len(never) > 0 {
		parts = append([]string{"none in any replication under " + list(never, "and")}, parts...)
	}
	return w.Of(m) + ": " + strings.Join(parts, "; ") + "."
}

// never returns the policies whose mean is 0 in every comparison. The metric must never be
// negative, and lower values must be better.
func (w Words) never(rows []contrast.Row) (names []string) {
	if !w.Less(rows[0].Metric) {
		return nil
	}
	some := map[string]bool{}
	see := func(name string, mean, lo *float64) {
		if mean != nil && (*mean != 0 || lo != nil && *lo < 0) {
			some[name] = true
		}
	}
	for _, r := range rows {
		see(r.First, r.FirstMean, r.FirstLo95)
		see(r.Second, r.SecondMean, r.SecondLo95)
	}
	for _, r := range rows {
		for _, name := range []string{r.First, r.Second} {
			if label := w.Of(name); !some[name] && !slices.Contains(names, label) {
				names = append(names, label)
			}
		}
	}
	return names
}

// in names the configurations of a finding.
func (w Words) in(names []string, all int) string {
	switch n := len(names); {
	case n == all && n == 2:
		return " in both " + w.Where + "s"
	case n == all:
		return fmt.Sprintf(" in all %d %ss", all, w.Where)
	case n > 4:
		return fmt.Sprintf(" in %d of %d %ss", n, all, w.Where)
	default:
		return " in " + list(names, "and")
	}
}

// list joins names with commas and the given word before the last one.
func list(names []string, word string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " " + word + " " + names[n-1]
	}
	return names[0]
}

// best describes under which policy a metric is best, given the comparisons in one
// configuration.
func (w Words) best(rows []contrast.Row, less bool) string {
	mean := map[string]float64{}
	var names []string
	for _, r := range rows {
		if r.Verdict == "no sample" {
			return "no sample: every replication has the same jobs on the same hosts"
		}
		for _, one := range []struct {
			name string
			mean *float64
		}{{r.First, r.FirstMean}, {r.Second, r.SecondMean}} {
			if _, seen := mean[one.name]; !seen && one.mean != nil {
				names = append(names, one.name)
				mean[one.name] = *one.mean
			}
		}
	}
	if len(names) < 2 {
		return "undefined under all policies except one"
	}
	top := names[0]
	for _, name := range names {
		if less && mean[name] < mean[top] || !less && mean[name] > mean[top] {
			top = name
		}
	}
	var tied, equal []string
	for _, name := range names {
		if name == top {
			continue
		}
		switch verdict := between(rows, top, name); {
		case verdict == "equal":
			equal = append(equal, w.Of(name))
		case !strings.HasPrefix(verdict, "higher") && !strings.HasPrefix(verdict, "lower") && verdict != "constant":
			tied = append(tied, w.Of(name))
		}
	}
	word := "highest"
	if less {
		word = "lowest"
	}
	number := strconv.FormatFloat(mean[top], 'g', 3, 64)
	switch {
	case len(tied) > 0:
		var both []string // names in the order of the policies
		for _, name := range names {
			if label := w.Of(name); name == top || slices.Contains(equal, label) || slices.Contains(tied, label) {
				both = append(both, label)
			}
		}
		return "undecided between " + list(both, "and")
	case len(equal) == len(names)-1:
		return "the same under every policy"
	}
	said := word + " under " + list(append([]string{w.Of(top)}, equal...), "and")
	if w.Where == "" {
		said += " (" + number + ")"
	}
	return said
}

// between returns the verdict on the comparison of two policies.
func between(rows []contrast.Row, one, other string) string {
	for _, r := range rows {
		if r.First == one && r.Second == other || r.First == other && r.Second == one {
			return r.Verdict
		}
	}
	return ""
}
