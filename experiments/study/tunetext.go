package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/report"
)

// shown is the maximum number of settings in a table.
const shown = 20

// Document returns r as a document. It contains the verdict, the settings that are not
// significantly worse, the price of ignorance, the effort, and the effect of more
// replications.
func (r *Tuned) Document() report.Document {
	d := report.Document{
		Title: r.goal(), Tables: []report.Table{r.table()}, Figures: []report.Figure{r.figure()}, Data: []report.File{{Name: "settings.csv", Data: r.csv()}, {Name: TuneKnown, Data: r.Known}},
		Values: func([]string) any { return *r },
	}
	for _, note := range []string{r.price(), r.effort(), r.more(), r.edge(), r.Method} {
		if note != "" {
			d.Notes = append(d.Notes, note)
		}
	}
	return d
}

// goal describes the goal.
func (r *Tuned) goal() string {
	most := "largest"
	if r.Least {
		most = "smallest"
	}
	s := fmt.Sprintf("The %s %s in %s", most, r.Metric, r.Configuration)
	if len(r.Over) > 0 {
		s += " over " + strings.Join(r.Over, ", ")
	}
	return s
}

// verdict describes the verdict.
func (r *Tuned) verdict() string {
	n, all := len(r.Kept), len(r.Settings)
	best := r.name(r.Best)
	switch {
	case all == 1:
		return fmt.Sprintf("%s: there is only %s.", r.goal(), best)
	case n == 1:
		return fmt.Sprintf("%s: %s is the best of %d settings; all others are significantly worse.", r.goal(), best, all)
	case r.Stop == Near:
		return fmt.Sprintf("%s: %s is the best of %d settings, or within %s of the best; %d do not differ significantly.", r.goal(), best, all, number(r.Within), n)
	}
	return fmt.Sprintf("%s: %d of %d settings do not differ significantly. %s has the best mean.", r.goal(), n, all, best)
}

// table lists the remaining settings. If there is only one, it also lists the settings that
// were dropped last.
func (r *Tuned) table() report.Table {
	t := report.Table{Title: r.verdict()}
	if r.policies() > 1 || len(r.Over) == 0 {
		t.Header = append(t.Header, "policy")
	}
	t.Header = append(t.Header, r.Over...)
	t.Left = len(t.Header)
	t.Header = append(t.Header, "n", "mean", "95 % interval", "minus the best", "95 %, simultaneous", "n needed")
	rows := r.Kept
	if len(rows) > shown {
		rows = rows[:shown]
		t.Note = fmt.Sprintf("and %d more that do not differ significantly.", len(r.Kept)-shown)
	} else if len(rows) < 6 {
		var rest []int
		for arm := range r.Settings {
			if !r.Settings[arm].Kept && r.Settings[arm].Mean.Exists() {
				rest = append(rest, arm)
			}
		}
		slices.SortStableFunc(rest, func(a, b int) int { return r.Settings[b].Dropped - r.Settings[a].Dropped })
		rest = rest[:min(len(rest), 6-len(rows))]
		rows = slices.Concat(rows, rest)
	}
	for _, arm := range rows {
		s := &r.Settings[arm]
		var cells []any
		if t.Left > len(r.Over) {
			cells = append(cells, s.Policy)
		}
		for _, v := range s.At {
			cells = append(cells, v)
		}
		needed := strconv.Itoa(s.Needed)
		switch {
		case arm == r.Best:
			needed = "the best"
		case !s.Kept:
			needed = "significant"
		case s.Same:
			needed = "same so far"
		case s.Needed == 0:
			needed = "not known"
		}
		mean := report.Cell{Text: number(float64(s.Mean)), Strong: arm == r.Best}
		t.Rows = append(t.Rows, report.Cells(append(cells, s.N, mean, interval(s.Lo, s.Hi), number(float64(s.Difference)), interval(s.LessLo, s.LessHi), needed)...))
	}
	if n := len(r.Settings) - len(r.Kept); n > 0 && n > len(rows)-len(r.Kept) {
		t.Note = strings.TrimSpace(t.Note + fmt.Sprintf(" %d are significantly worse.", n))
	}
	return t
}

// price describes the price of ignorance, which is the possible loss from choosing the wrong
// setting.
func (r *Tuned) price() string {
	if len(r.Kept) == 1 {
		return "At 95 %, the price of ignorance is zero, because only one setting is left."
	}
	s := fmt.Sprintf("The price of ignorance is the loss from choosing %s: %s of %s on average (Bayesian bootstrap over replications, %d draws)", r.name(r.Best), number(r.Regret.Expected), r.Metric, r.Regret.Draws)
	if r.Regret.Most.Exists() {
		return s + fmt.Sprintf(", and at most %s at 95 %%.", number(float64(r.Regret.Most)))
	}
	return s + "; there is no bound yet."
}

// effort describes the effort.
func (r *Tuned) effort() string {
	why := map[Stop]string{
		Decided: "until one setting was left", Near: "until the possible loss was too small to matter", Spent: fmt.Sprintf("out of a budget of %d", r.Budget), Interrupted: fmt.Sprintf("out of a budget of %d, before it was interrupted", r.Budget),
	}[r.Stop]
	return fmt.Sprintf("The search used %d replications, %s. For the same result, an even split would need %d replications, which is %.3g times as many.", r.Spent, why, r.Even, float64(r.Even)/float64(max(1, r.Spent)))
}

// more describes the effect of more replications on the result.
func (r *Tuned) more() string {
	if len(r.Kept) == 1 {
		return ""
	}
	near, same, unknown := -1, 0, 0
	for _, arm := range r.Kept {
		s := &r.Settings[arm]
		switch {
		case arm == r.Best:
		case s.Same:
			same++
		case s.Needed == 0:
			unknown++
		case near < 0 || s.Needed < r.Settings[near].Needed:
			near = arm
		}
	}
	var said []string
	if near >= 0 {
		said = append(said, fmt.Sprintf("About %d replications of each setting would separate %s, the closest setting, from the best one", r.Settings[near].Needed, r.name(near)))
		if r.Tells > 0 {
			last := fmt.Sprintf(", and %d would separate all of them", r.Tells)
			if len(r.Kept) == 2 {
				last = ""
			}
			said[0] += last + fmt.Sprintf(": %d more", len(r.Kept)*max(0, r.Tells-r.Settings[r.Best].N))
		}
		said[0] += ", at the present means and variances."
	}
	if same > 0 {
		said = append(said, fmt.Sprintf("%d had the same results as the best one in every replication, and may be equivalent.", same))
	}
	if unknown > 0 {
		said = append(said, fmt.Sprintf("For %d of these settings, the number of replications needed is unknown.", unknown))
	}
	return strings.Join(said, " ")
}

// edge returns a warning if the best setting is at an end of the search range.
func (r *Tuned) edge() string {
	var said []string
	for i, path := range r.Over {
		at, err := strconv.ParseFloat(r.Settings[r.Best].At[i], 64)
		lo, hi := math.Inf(1), math.Inf(-1)
		for k := range r.Settings {
			if x, bad := strconv.ParseFloat(r.Settings[k].At[i], 64); bad == nil {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		switch {
		case err != nil || lo == hi:
		case at == lo:
			said = append(said, fmt.Sprintf("%v is the smallest %s that was tried; a smaller value may be better.", at, path))
		case at == hi:
			said = append(said, fmt.Sprintf("%v is the largest %s that was tried; a larger value may be better.", at, path))
		}
	}
	return strings.Join(said, " ")
}

// method names the statistical method and its conditions.
func (r *Tuned) method() string {
	s := "The method is successive elimination with common random numbers. A setting is dropped when the confidence sequence of the paired difference between the setting and the leader excludes 0. The level is 5 % for all comparisons at all times "
	if math.IsInf(r.lo, 0) || math.IsInf(r.hi, 0) {
		s += "(t tests, which assume that differences are normal, or numerous enough for a normal mean)."
	} else {
		s += fmt.Sprintf("(by bets on values within [%g, %g], for any distribution of the values).", r.lo, r.hi)
	}
	if r.Smooth {
		s += " The search began with a golden section, which is valid if the metric has one peak along the axis."
	}
	return s
}

// csv returns all settings as a CSV table.
func (r *Tuned) csv() []byte {
	var rows [][]any
	for i := range r.Settings {
		s := &r.Settings[i]
		row := []any{s.Policy}
		for _, v := range s.At {
			row = append(row, v)
		}
		rows = append(rows, append(row, s.N, s.Mean, s.Lo, s.Hi, s.Kept, s.Dropped, s.Difference, s.LessLo, s.LessHi, s.Needed))
	}
	return report.Sheet(slices.Concat([]string{"policy"}, r.Over, []string{"n", "mean", "lo", "hi", "kept", "dropped", "difference", "difference_lo", "difference_hi", "needed"}), rows)
}

// number formats x with at most four significant digits.
func number(x float64) string { return digits(x, 'g', 4) }

// interval writes two ends.
func interval(lo, hi report.Maybe) string {
	if !lo.Exists() || !hi.Exists() {
		return "–"
	}
	return "[" + number(float64(lo)) + ", " + number(float64(hi)) + "]"
}
