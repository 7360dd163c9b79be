package volunteers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"bourse/experiments/report"
	"bourse/experiments/stats"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
)

// A Source creates the availability traces of replications.
type Source struct {
	Name  string
	Trace func(rep int) (*availability.Trace, error)
}

// Models returns availability models by name for the given number of hosts and days.
func Models(names []string, hosts, days int, chance func(rep int) rand.Source) ([]Source, error) {
	var all []Source
	for _, name := range names {
		m, err := models.Table().New(name, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, Source{Name: name, Trace: func(rep int) (*availability.Trace, error) {
			return m.Trace(rand.New(chance(rep)), hosts, float64(days)*availability.Day)
		}})
	}
	return all, nil
}

// A trial contains the results of the predictors for one source of traces.
type trial struct {
	Source   string  `json:"source"`
	Promises int     `json:"promises" doc:"number of questions to each predictor"`
	Base     float64 `json:"kept" doc:"realized fraction"`
	Constant float64 `json:"constant" doc:"Brier score of a predictor that always predicts the realized fraction"`
	Scores   []score `json:"predictors"`

	made []Score
}

// A score is one row of the table.
type score struct {
	Predictor string   `json:"predictor"`
	Days      int      `json:"days" doc:"number of past days that the predictor uses"`
	Promised  float64  `json:"promised" doc:"mean predicted probability"`
	Brier     float64  `json:"brier"`
	Lo95      *float64 `json:"lo95" doc:"lower end of the 95 % interval of the mean over replications; null for one replication"`
	Hi95      *float64 `json:"hi95" doc:"upper end of the 95 % interval of the mean over replications; null for one replication"`
	InBand    int      `json:"in_band" doc:"number of bins that are consistent with calibrated predictions, among the bins with predictions"`
	Bins      int      `json:"bins"`
}

// Held is the JSON form of the trials.
type Held struct {
	Notes  []string `json:"notes" doc:"remarks needed to interpret the numbers"`
	Trials []trial  `json:"trials"`
	Files  []string `json:"files" doc:"files written"`
}

// pastDays is the maximum number of past days considered in the paper (§5).
const pastDays = 6

// Hold lets the paper's predictors make predictions about each source and compares the
// predictions with the actual outcomes. The argument period describes a trace in words that can
// end a sentence. The notes come first in the document.
func Hold(t Trial, sources []Source, period string, notes []string) (report.Document, error) {
	const bins, band = 10, 0.95
	t.Last, t.Bins, t.Band = availability.Day, bins, band
	var all []trial
	for _, s := range sources {
		t.Trace = s.Trace
		made, err := t.Run(rivals(pastDays))
		if err != nil {
			return report.Document{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, newTrial(s.Name, made))
	}
	notes = append(slices.Clip(notes),
		"Brier scores are means over replications, with 95 % intervals. For a recorded trace, only the questions differ between replications.",
		fmt.Sprintf("Bands are at 95 %%: if predictions are calibrated, the realized fraction lies within the band with this probability. Tenths of the probability scale that contain no predictions are not counted. TDE examines, on each past day, a period three times as long as the job. The predictions are made on the last day of %s.", period))
	return report.Document{
		Title: "Predicted and realized availability of hosts", Tables: trialTables(all), Figures: trialFigures(all), Notes: notes,
		Values: func(files []string) any {
			return Held{notes, all, report.List(files)}
		},
	}, nil
}

// newTrial summarizes the predictors' results for one source.
func newTrial(source string, made []Score) trial {
	base := made[0].Base
	one := trial{Source: source, Promises: made[0].Probes, Base: base, Constant: base * (1 - base), made: made}
	for _, m := range made {
		sum := stats.Summarize(m.Briers, stats.Quantity{Hi: 1, Trials: m.Probes})
		line := score{Predictor: m.Name, Days: m.Days, Brier: sum.Mean}
		if sum.HasInterval() {
			line.Lo95, line.Hi95 = &sum.Lo95, &sum.Hi95
		}
		for i := range m.Bins {
			if b := &m.Bins[i]; b.Count > 0 {
				line.Promised += b.Promised * float64(b.Count) / float64(m.Probes)
				line.Bins++
				if b.honest() {
					line.InBand++
				}
			}
		}
		one.Scores = append(one.Scores, line)
	}
	return one
}

func trialTables(all []trial) []report.Table {
	var tables []report.Table
	for _, one := range all {
		t := report.Table{
			Title:  one.Source,
			Header: []string{"predictor", "days", "predicted", "realized", "Brier", "95 % from", "to", "tenths in band"}, Left: 2,
			Note: fmt.Sprintf("%d promises each. A constant prediction of %.3f has a Brier score of %.4f.", one.Promises, one.Base, one.Constant),
		}
		best := slices.MinFunc(one.Scores, func(a, b score) int {
			if a.Brier < b.Brier {
				return -1
			}
			return 1
		})
		for _, s := range one.Scores {
			t.Rows = append(t.Rows, []report.Cell{
				{Text: s.Predictor}, {Text: strconv.Itoa(s.Days)}, {Text: fmt.Sprintf("%.3f", s.Promised)}, {Text: fmt.Sprintf("%.3f", one.Base)},
				{Text: fmt.Sprintf("%.4f", s.Brier), Strong: s == best}, {Text: end(s.Lo95)}, {Text: end(s.Hi95)},
				{Text: fmt.Sprintf("%d of %d", s.InBand, s.Bins)},
			})
		}
		tables = append(tables, t)
	}
	return tables
}

func end(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *x)
}

// trialFigures returns a figure of the Brier scores by number of past days, and the
// reliability diagrams for each source.
func trialFigures(all []trial) []report.Figure {
	scores := report.Figure{Name: "brier", Title: "Brier score by number of days considered", Caption: "The values are means over replications with 95 % intervals; lower is better."}
	var figures []report.Figure
	for _, one := range all {
		var data []report.Datum
		for i := range one.Scores {
			s := &one.Scores[i]
			data = append(data, report.Datum{Panel: one.Source, Curve: s.Predictor, X: float64(s.Days), Mean: &s.Brier, Lo: s.Lo95, Hi: s.Hi95})
		}
		for _, p := range report.Lines(data) {
			p.X, p.Y = "past days", "Brier score"
			scores.Panels = append(scores.Panels, p)
		}
		f := report.Figure{
			Name: "reliability-" + one.Source, Title: "Predicted and realized completion: " + one.Source, Across: 3,
			Caption: "Bars show the 95 % bands for the realized fraction of calibrated predictions.",
		}
		for _, m := range one.made {
			if m.Name != "tde" && m.Days != 1 && m.Days != pastDays {
				continue
			}
			f.Panels = append(f.Panels, diagram(m))
		}
		figures = append(figures, f)
	}
	return append([]report.Figure{scores}, figures...)
}

// diagram draws the realized against the predicted availability in ten bins.
func diagram(m Score) report.Panel {
	p := report.Panel{Title: fmt.Sprintf("%s, %d days", m.Name, m.Days), X: "promised", Y: "kept", Hi: 1}
	if m.Days == 1 {
		p.Title = m.Name + ", 1 day"
	}
	honest, kept := report.Curve{Name: "as promised"}, report.Curve{Name: "observed"}
	for _, b := range m.Bins {
		if b.Count == 0 {
			continue
		}
		honest.Points = append(honest.Points, report.Point{X: b.Promised, Mean: b.Promised, Lo: b.Low, Hi: b.High})
		kept.Points = append(kept.Points, report.Point{X: b.Promised, Mean: b.Kept, Lo: b.Kept, Hi: b.Kept})
	}
	p.Curves = []report.Curve{honest, kept}
	return p
}
