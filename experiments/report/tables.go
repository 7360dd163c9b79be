package report

import (
	"fmt"
	"math"
	"strconv"

	"bourse/experiments/results"
)

// RunTables returns one table per configuration. A table has one row per metric and one
// column per admission policy. If the paper prints values for a policy, a column with these
// values follows the policy's column. Tables, rows and columns are in the order of first
// appearance.
func RunTables(l Labels, rows []results.Summary) []Table {
	configuration := func(s results.Summary) string { return s.Configuration }
	var tables []Table
	for _, c := range distinct(rows, configuration) {
		var own []results.Summary
		for _, r := range rows {
			if r.Configuration == c {
				own = append(own, r)
			}
		}
		tables = append(tables, runTable(l, c, own))
	}
	return tables
}

func runTable(l Labels, configuration string, rows []results.Summary) Table {
	type key struct{ admission, metric string }
	at := make(map[key]results.Summary)
	printed := make(map[string]bool) // policies for which the paper prints a number
	n := 0
	for _, r := range rows {
		at[key{r.Admission, r.Metric}] = r
		printed[r.Admission] = printed[r.Admission] || r.Paper != nil
		n = max(n, r.N)
	}
	admissions := distinct(rows, func(s results.Summary) string { return s.Admission })
	t := Table{
		Title:  l.Of(configuration),
		Header: []string{"metric"},
		Left:   1,
		Note:   fmt.Sprintf("Values are means ± standard deviations over %d replications.", n),
	}
	if n == 1 {
		t.Note = "One replication."
	}
	for _, a := range admissions {
		t.Header = append(t.Header, l.Of(a))
		if printed[a] {
			t.Header = append(t.Header, beside)
		}
	}
	for _, m := range distinct(rows, func(s results.Summary) string { return s.Metric }) {
		row := []Cell{{Text: l.Of(m)}}
		for _, a := range admissions {
			s := at[key{a, m}]
			row = append(row, Cell{Text: meanSD(s.Mean, s.SD), Row: rowOf(s)})
			if printed[a] {
				row = append(row, Cell{Text: blank(s.Paper)})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rowOf returns the anchor of s on the page. It is empty if s has no mean and therefore no
// row.
func rowOf(s results.Summary) string {
	if s.Mean == nil {
		return ""
	}
	return RowAnchor(s.Configuration, s.Admission, s.Metric)
}

// meanSD formats a mean and its standard deviation with the same number of decimals.
func meanSD(mean, sd *float64) string {
	if mean == nil || sd == nil {
		return number(mean)
	}
	return plusMinus(*mean, " ± ", *sd)
}

// plusMinus formats x and its deviation with the same number of decimals.
func plusMinus(x float64, sign string, by float64) string {
	size := max(math.Abs(x), by)
	return numberOf(x, size) + sign + numberOf(by, size)
}

// blank formats x like a printed number. It returns an empty string if x is nil.
func blank(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'f', -1, 64)
}

// PaperTable returns a table with one row for each number that the paper prints. Each row
// contains the measured mean, the 95 % interval of the mean, and whether the two numbers differ
// by at most limit. Limit may be undefined. "No" is emphasized. The paper's means are over the
// given number of replications.
func PaperTable(l Labels, rows []results.Summary, replications int, limit func(results.Summary) (float64, bool)) Table {
	t := Table{
		Title:  "Measured and printed values",
		Header: []string{"configuration", "admission", "metric", "n", "mean", "95 % interval", "paper", "limit", "within"},
		Left:   3, Beside: 2,
	}
	for _, r := range rows {
		if r.Paper == nil {
			continue
		}
		interval, most, within := none, none, Cell{Text: none}
		if r.Lo95 != nil && r.Hi95 != nil {
			interval = number(r.Lo95) + " to " + number(r.Hi95)
		}
		if x, ok := limit(r); ok && r.Mean != nil {
			most = number(&x)
			if within.Text = "yes"; math.Abs(*r.Paper-*r.Mean) > x+1e-12 { // allow for rounding
				within = Cell{Text: "no", Strong: true}
			}
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: l.Of(r.Configuration)}, {Text: l.Of(r.Admission)}, {Text: l.Of(r.Metric)}, {Text: strconv.Itoa(r.N)},
			{Text: number(r.Mean), Row: rowOf(r)}, {Text: interval}, {Text: blank(r.Paper)}, {Text: most}, within,
		})
	}
	if len(t.Rows) > 0 {
		t.Note = fmt.Sprintf("Within: whether mean and paper differ by at most the limit; marked if they do not. The limit is t × sd × √(1/n + 1/%d), the 95 %% interval of a difference between our mean and one of %d replications like ours (Student's t, n - 1 degrees of freedom), plus half a unit of the paper's last printed digit. Rows that are true by construction are left out.", replications, replications)
	}
	return t
}

// A TTest is a paired comparison of one metric under two admission policies. T is positive if
// the first policy has the higher mean, and nil if the t value is undefined.
type TTest struct {
	Configuration, First, Second, Metric string

	T           *float64
	Significant bool

	Paper            *float64 // value printed in the paper, or nil
	PaperSignificant bool
}

// TTests returns a table of t values. It has one row per metric and pair of policies. Each
// configuration has a column, followed by a column with the paper's values. Significant
// values are emphasized.
func TTests(l Labels, title string, tests []TTest, critical float64) Table {
	type key struct{ configuration, first, second, metric string }
	at := make(map[key]TTest)
	printed := make(map[string]bool)
	for _, x := range tests {
		at[key{x.Configuration, x.First, x.Second, x.Metric}] = x
		printed[x.Configuration] = printed[x.Configuration] || x.Paper != nil
	}
	configurations := distinct(tests, func(x TTest) string { return x.Configuration })
	t := Table{
		Title:  title,
		Header: []string{"pair", "metric"},
		Left:   2,
		Note:   fmt.Sprintf("Marked values exceed the critical value, %.4f. A positive value means that the first of the pair has the higher mean.", critical),
	}
	for _, c := range configurations {
		t.Header = append(t.Header, l.Of(c))
		if printed[c] {
			t.Header = append(t.Header, beside)
		}
	}
	if len(t.Header) > t.Left+len(configurations) {
		t.Note += " The paper's values are marked as in the paper."
	}
	seen := make(map[key]bool)
	for _, x := range tests {
		row := key{"", x.First, x.Second, x.Metric}
		if seen[row] {
			continue
		}
		seen[row] = true
		cells := []Cell{{Text: l.Of(x.First) + "/" + l.Of(x.Second)}, {Text: l.Of(x.Metric)}}
		for _, c := range configurations {
			v := at[key{c, x.First, x.Second, x.Metric}]
			cells = append(cells, Cell{Text: tValue(v.T), Strong: v.Significant})
			if printed[c] {
				cells = append(cells, Cell{Text: blank(v.Paper), Strong: v.PaperSignificant})
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func tValue(x *float64) string {
	if x == nil {
		return none
	}
	return unsigned(strconv.FormatFloat(*x, 'f', 2, 64))
}

// A Fit is the goodness of fit between two data sets by the Kolmogorov-Smirnov test. It
// contains the fraction of samples for which the test does not reject, the distance of the
// complete data, and the mean distance of the samples. The paper's numbers may be nil.
type Fit struct {
	Data          string   `json:"data"`
	Against       string   `json:"against"`
	Success       *float64 `json:"success" doc:"fraction of pairs of samples that are not rejected"`
	PaperSuccess  *float64 `json:"paper_success"`
	Complete      *float64 `json:"complete" doc:"distance of the complete data"`
	PaperComplete *float64 `json:"paper_complete"`
	Sample        *float64 `json:"sample_mean" doc:"mean distance between the samples of a pair"`
	PaperSample   *float64 `json:"paper_sample_mean"`
}

// Fits returns a table of fits with the paper's numbers.
func Fits(title string, fits []Fit) Table {
	t := Table{
		Title:  title,
		Header: []string{"data", "against", "success rate", beside, "complete data", beside, "sample mean", beside},
		Left:   2,
	}
	for _, f := range fits {
		t.Rows = append(t.Rows, []Cell{
			{Text: f.Data}, {Text: f.Against},
			{Text: number(f.Success)}, {Text: blank(f.PaperSuccess)},
			{Text: number(f.Complete)}, {Text: blank(f.PaperComplete)},
			{Text: number(f.Sample)}, {Text: blank(f.PaperSample)},
		})
	}
	return t
}

// MeanWithin formats a mean and the half-width of its 95 % interval. If the interval is not
// symmetric, MeanWithin uses the wider side.
func MeanWithin(r *results.Summary) string {
	if r.Mean == nil || r.Lo95 == nil || r.Hi95 == nil {
		return number(r.Mean)
	}
	return plusMinus(*r.Mean, "±", max(*r.Hi95-*r.Mean, *r.Mean-*r.Lo95))
}
