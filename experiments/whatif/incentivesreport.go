package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments/report"
)

// An IncentiveStudy reports which users gain by which misreports.
type IncentiveStudy struct {
	Scenario string        `json:"scenario"`
	Alpha    float64       `json:"alpha" doc:"inelasticity of users (eq. 9)"`
	Epsilon  float64       `json:"epsilon" doc:"largest gain that is ignored, $"`
	Users    int           `json:"users" doc:"maximum number of users sampled per replication"`
	Most     int           `json:"most_rounds" doc:"maximum number of rounds in which users respond to one another"`
	Family   int           `json:"family" doc:"number of simultaneous 95 % intervals of means (Bonferroni); there is one for each row of gains"`
	Gains    []gainRow     `json:"gains"`
	Best     []gainRow     `json:"best" doc:"gain if each user chose, in hindsight, the best misreport"`
	Answers  []equilibrium `json:"answers" doc:"result of the users' responses to one another"`
}

// sum computes the rows from the results of the deviations.
func (r *IncentiveStudy) sum(found []deviationSample, deviations []Deviation) {
	r.Family = len(found) * len(deviations)
	r.Gains, r.Best, r.Answers = []gainRow{}, []gainRow{}, []equilibrium{}
	for i := range found {
		f := &found[i]
		row := func(s sample, name string, family int) gainRow {
			row := weighed(s, r.Epsilon, family)
			row.Configuration, row.Policy, row.Deviation = f.Configuration, f.Policy, name
			return row
		}
		for d := range deviations {
			r.Gains = append(r.Gains, row(f.by(d), deviations[d].String(), r.Family))
		}
		best := row(f.by(-1), "best", len(found))
		best.Verdict, best.Needed = "", nil
		r.Best = append(r.Best, best)
		if e := f.equilibrium(len(found)); e != nil {
			r.Answers = append(r.Answers, *e)
		}
	}
}

// Document returns r as a document with one table per policy, figures, and the rows as CSV.
func (r *IncentiveStudy) Document(labels report.Labels) report.Document {
	d := report.Document{
		Title:  "Would a user gain by misreporting?",
		Tables: r.tables(labels), Figures: r.figures(labels), Data: []report.File{{Name: "incentives-rows.csv", Data: r.csv()}},
		Values: func([]string) any { return *r },
	}
	for i := range r.Answers {
		d.Notes = append(d.Notes, r.Answers[i].describe(labels, r))
	}
	return d
}

func (r *IncentiveStudy) tables(labels report.Labels) (tables []report.Table) {
	for i := range r.Best {
		best := &r.Best[i]
		t := report.Table{
			Title:  fmt.Sprintf("%s, %s: %d users of %d replications", labels.Of(best.Configuration), labels.Of(best.Policy), best.Users, best.N),
			Header: []string{"misreport", "mean gain, $", "users who gain, %", "largest, $", "most, $", "n for 80 %", "on average"},
			Left:   1,
		}
		for k := range r.Gains {
			if g := &r.Gains[k]; g.Configuration == best.Configuration && g.Policy == best.Policy {
				t.Rows = append(t.Rows, g.cells())
			}
		}
		t.Rows = append(t.Rows, best.cells())
		tables = append(tables, t)
	}
	if len(tables) > 0 {
		tables[len(tables)-1].Note = fmt.Sprintf("A gain is the change in a user's true utility (eq. 9, α = %s) compared with truthful reports, while all other users are truthful. "+
			"Both runs have the same jobs, hosts and random numbers. The replications are independent units. Each replication contributes the mean gain of its users (Student's t), the fraction of users who gain (score interval for clustered trials), and the largest gain. "+
			"The %d intervals of a column are simultaneous at 95 %% (Bonferroni), and so are the intervals of "+
			"best. A user gains if the gain is more than $%s. The row \"best\" shows the gain if each user chose, in hindsight, the report with the largest gain, which may be the truth.",
			digits(r.Alpha), r.Family, digits(r.Epsilon))
	}
	return tables
}

// cells returns r as the cells of a table row.
func (r *gainRow) cells() []report.Cell {
	needed := "–"
	if r.Needed != nil {
		needed = strconv.Itoa(*r.Needed)
	}
	return report.Cells(r.Deviation, r.Gain.describe(dollarText), r.Share.describe(hundredths), r.Largest.describe(dollarText), dollarText(r.Most), needed,
		report.Cell{Text: r.Verdict, Strong: r.Verdict == gains})
}

// describe formats m with its interval, if it has one.
func (m *meanEstimate) describe(say func(float64) string) string {
	if m.Lo == nil {
		return say(m.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", say(m.Value), say(*m.Lo), say(*m.Hi))
}

// less returns the estimate of the negated mean, 0 minus m.
func (m *meanEstimate) less() meanEstimate {
	other := meanEstimate{Value: -m.Value}
	if m.Lo != nil {
		lo, hi := -*m.Hi, -*m.Lo
		other.Lo, other.Hi = &lo, &hi
	}
	return other
}

func dollarText(x float64) string { return rounded(x, 2) }

func hundredths(x float64) string { return rounded(100*x, 0) }

// rounded formats x with the given number of decimals. Zero has no sign.
func rounded(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// describe returns e as sentences.
func (e *equilibrium) describe(labels report.Labels, r *IncentiveStudy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: if users respond to each other's reports, the reports settle in %d of %d replications", labels.Of(e.Configuration), labels.Of(e.Policy), e.Settled, e.N)
	if e.Settled > 0 {
		fmt.Fprintf(&b, ", so that nobody gains more than $%s by another of these misreports", digits(r.Epsilon))
	}
	if e.Circles > 0 {
		fmt.Fprintf(&b, ", and cycle in %d", e.Circles)
	}
	fmt.Fprintf(&b, ". The mean number of rounds is %s; the maximum is %d.", digits(e.Rounds), r.Most)
	var plays []string
	for _, p := range e.Plays[:min(4, len(e.Plays))] {
		plays = append(plays, fmt.Sprintf("%s (%s %%)", p.Deviation, hundredths(p.Share)))
	}
	fmt.Fprintf(&b, " The most frequent last reports are %s.", strings.Join(plays, ", "))
	if e.Verdict == unbounded {
		return b.String() + " There is no U*, for example because users pay their whole budget."
	}
	fmt.Fprintf(&b, " The price of anarchy is %s, and %s if all reports are true.", e.Anarchy.describe(), e.Truth.describe())
	switch e.Verdict {
	case costs:
		fmt.Fprintf(&b, " Misreports cost %s %% of U*.", e.Lost.describe(hundredths))
	case helps:
		gained := e.Lost.less()
		fmt.Fprintf(&b, " Misreports gain %s %% of U*.", gained.describe(hundredths))
	case same:
		b.WriteString(" Misreports change nothing.")
	default:
		fmt.Fprintf(&b, " The difference, a loss of %s %% of U*, is not significant", e.Lost.describe(hundredths))
		if e.Needed != nil {
			fmt.Fprintf(&b, "; %d replications would decide it", *e.Needed)
		}
		b.WriteString(".")
	}
	if e.Bounds > 0 {
		fmt.Fprintf(&b, " A bound replaces U*, which is unknown, in %d of the replications.", e.Bounds)
	}
	return b.String()
}

func (r *ratio) describe() string {
	switch {
	case r == nil:
		return "–"
	case r.Lo == nil:
		return digits(r.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", digits(r.Value), digits(*r.Lo), digits(*r.Hi))
}

// figures returns figures of the gains, with one forest plot per policy.
func (r *IncentiveStudy) figures(labels report.Labels) []report.Figure {
	f := report.Figure{
		Name: "incentives", Title: "Gain of a user by misreporting",
		Caption: "The figure shows a user's mean gain in true utility, with simultaneous intervals (95 %, Bonferroni).",
	}
	for i := range r.Best {
		best := &r.Best[i]
		p := report.Panel{Title: labels.Of(best.Configuration) + ", " + labels.Of(best.Policy), X: "$ a user", Forest: true, Curves: []report.Curve{{Name: "gain"}}}
		for k := range r.Gains {
			g := &r.Gains[k]
			if g.Configuration != best.Configuration || g.Policy != best.Policy {
				continue
			}
			pt := report.Point{X: float64(len(p.Groups)), Mean: g.Gain.Value, Lo: g.Gain.Value, Hi: g.Gain.Value}
			if g.Gain.Lo != nil {
				pt.Lo, pt.Hi = *g.Gain.Lo, *g.Gain.Hi
			}
			p.Curves[0].Points = append(p.Curves[0].Points, pt)
			p.Groups = append(p.Groups, g.Deviation)
		}
		f.Panels = append(f.Panels, p)
	}
	return []report.Figure{f}
}

// csv returns the rows as a CSV table.
func (r *IncentiveStudy) csv() []byte {
	var rows [][]any
	for _, g := range slices.Concat(r.Gains, r.Best) {
		row := []any{g.Configuration, g.Policy, g.Deviation, g.N, g.Users}
		for _, m := range []meanEstimate{g.Gain, g.Share, g.Largest} {
			row = append(row, m.Value, m.Lo, m.Hi)
		}
		rows = append(rows, append(row, g.Most, g.Needed, g.Verdict))
	}
	return report.Sheet([]string{"configuration", "policy", "deviation", "n", "users", "gain", "gain_lo", "gain_hi", "share", "share_lo", "share_hi", "largest", "largest_lo", "largest_hi", "most", "needed", "verdict"}, rows)
}
