package fitlab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"bourse/experiments/report"
)

// Fitted is the JSON form of fits.
type Fitted struct {
	File string        `json:"file"`
	Fits []quantityFit `json:"fits"`
}

// Document returns a document with the fits of the log called name.
func (r *Report) Document(name string) report.Document {
	return report.Document{Tables: r.tables(), Values: func([]string) any {
		return Fitted{name, r.values()}
	}}
}

// tables returns one table per quantity. A table has one row per parameter. The first row
// of each distribution shows the name and the distance of the distribution.
func (r *Report) tables() []report.Table {
	var tables []report.Table
	for i, q := range quantities {
		t := report.Table{
			Title:  "Fits. " + q.title,
			Header: []string{"law", "parameter", "value", "s.e.", "log-likelihood", "AIC", "KS"}, Left: 2,
			Note: "Distributions are sorted by the Kolmogorov-Smirnov distance KS, which is the largest difference between the distribution functions. The closest distribution and the smallest AIC are marked.",
		}
		least := math.Inf(1)
		for _, f := range r[i] {
			if f.Err == nil && f.AIC < least {
				least = f.AIC
			}
		}
		var notes []string
		noted := make(map[string][]string) // for each remark, the distributions to which it applies
		for nth, f := range r[i] {
			if f.Err != nil {
				t.Note += " " + sentence(f.Err)
				continue
			}
			if f.Note != "" && noted[f.Note] == nil {
				notes = append(notes, f.Note)
			}
			noted[f.Note] = append(noted[f.Note], f.Name)
			for k, p := range f.Params {
				if k > 0 {
					t.Rows = append(t.Rows, report.Cells("", p.Name, p.Value, p.SE, "", "", ""))
					continue
				}
				t.Rows = append(t.Rows, report.Cells(report.Cell{Text: f.Name, Strong: nth == 0}, p.Name, p.Value, p.SE,
					whole(f.LogLik), report.Cell{Text: whole(f.AIC), Strong: f.AIC == least}, strconv.FormatFloat(f.KS, 'f', 4, 64)))
			}
		}
		for _, n := range notes {
			t.Note += fmt.Sprintf(" %s: %s.", strings.Join(noted[n], ", "), n)
		}
		tables = append(tables, t)
	}
	return tables
}

// whole formats x without decimals.
func whole(x float64) string {
	if !report.Maybe(x).Exists() {
		return report.Maybe(x).String()
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// sentence formats an error as a sentence.
func sentence(err error) string {
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// A quantityFit is the JSON form of the fits of one quantity.
type quantityFit struct {
	Quantity string   `json:"quantity" doc:"iat, runtime or nodes"`
	Laws     []lawFit `json:"laws"`
}

type lawFit struct {
	Law        string         `json:"law"`
	Best       bool           `json:"best" doc:"true for the distribution closest to the sample"`
	Parameters []parameterFit `json:"parameters"`
	N          int            `json:"n" doc:"number of values in the sample"`
	LogLik     report.Maybe   `json:"log_likelihood"`
	AIC        report.Maybe   `json:"aic"`
	KS         report.Maybe   `json:"ks" doc:"Kolmogorov-Smirnov distance"`
	Note       string         `json:"note"`
	Error      string         `json:"error,omitempty" doc:"reason why there is no fit"`
}

type parameterFit struct {
	Name  string       `json:"name"`
	Value report.Maybe `json:"value"`
	SE    report.Maybe `json:"se" doc:"standard error"`
}

func (r *Report) values() []quantityFit {
	var all []quantityFit
	for i, q := range quantities {
		out := quantityFit{q.name, []lawFit{}}
		for nth, f := range r[i] {
			law := lawFit{
				Law: f.Name, Best: nth == 0 && f.Err == nil, Parameters: []parameterFit{}, N: f.N,
				LogLik: report.Maybe(f.LogLik), AIC: report.Maybe(f.AIC), KS: report.Maybe(f.KS), Note: f.Note,
			}
			if f.Err != nil {
				nan := report.Maybe(math.NaN())
				law.Error, law.LogLik, law.AIC, law.KS = f.Err.Error(), nan, nan, nan
			}
			for _, p := range f.Params {
				law.Parameters = append(law.Parameters, parameterFit{p.Name, report.Maybe(p.Value), report.Maybe(p.SE)})
			}
			out.Laws = append(out.Laws, law)
		}
		all = append(all, out)
	}
	return all
}
