package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/experiments/stats"
	"bourse/experiments/volunteers"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"

	"github.com/urfave/cli/v2"
)

func reliabilityCommand() *cli.Command {
	return &cli.Command{
		Name:  "reliability",
		Usage: "hold what predictors promise of hosts that come and go against what they keep",
		Description: `Predictors are asked whether a host that is available stays for a job: each the
same, of hosts, instants of the last day, and lengths drawn as in "Job-Scheduling
with Resource Availability Prediction for Volunteer-Based Grid Computing". A
promise of 80 % is good if 80 % of such promises are kept: the diagrams show what
was promised and kept, and the band that honest promises stay in. The Brier score
is the mean of (promised - kept)², 0 at best. Compared are TDE, rounding
completions up (as the paper) and down, the share of time that a host was
available, and a renewal process, with 1 to 6 past days.

   bourse reliability
   bourse reliability --model diurnal --model markov --probes 20000
   bourse reliability --availability event_trace.tab.gz --out results/seti`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "availability", Usage: "ask about the recorded trace `FILE`, plain or gzip, in place of models"},
			&cli.StringFlag{Name: "availability-format", Value: "auto", Usage: "it is of `FORMAT`: " + strings.Join(scenario.Formats(), ", ")},
			&cli.StringSliceFlag{Name: "model", Usage: "ask about traces of availability model `NAME`: " + strings.Join(models.Table().Names(), ", ") + " (default: all)"},
			&cli.IntFlag{Name: "hosts", Value: 85, Usage: "`N` hosts a model"},
			&cli.IntFlag{Name: "days", Value: 7, Usage: "traces of `N` days a model"},
			&cli.IntFlag{Name: "probes", Value: 5000, Usage: "promises asked for in each replication"},
			&cli.IntFlag{Name: "replications", Aliases: []string{"n"}, Value: 5, Usage: "traces of each model"},
			seedFlag(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write figures, numbers and the page to `DIR` (default: results/reliability)"},
		}, outputFlags()...),
		Action: reliabilityAction,
	}
}

// A trial is how the rivals did on one source of traces.
type trial struct {
	Source   string  `json:"source"`
	Promises int     `json:"promises"` // asked of each predictor
	Base     float64 `json:"kept"`     // share that was kept
	Constant float64 `json:"constant"` // Brier score of promising that share always
	Scores   []score `json:"predictors"`

	made []volunteers.Score
}

// A score is a line of a table.
type score struct {
	Predictor string   `json:"predictor"`
	Days      int      `json:"days"`
	Promised  float64  `json:"promised"` // mean
	Brier     float64  `json:"brier"`
	Lo95      *float64 `json:"lo95"` // of the mean over replications
	Hi95      *float64 `json:"hi95"`
	InBand    int      `json:"in_band"` // bins, of those with promises
	Bins      int      `json:"bins"`
}

// pastDays is the most days that the paper looks back (§5).
const pastDays = 6

func reliabilityAction(c *cli.Context) error {
	if err := between(c, 0, 0); err != nil {
		return err
	}
	t, err := terminal(c, c.App.Writer)
	if err != nil {
		return err
	}
	for _, name := range []string{"hosts", "days", "probes", "replications"} {
		if n := c.Int(name); n < 1 || n > 1e6 {
			return usagef("--%s: found %d, want 1 to 1000000", name, n)
		}
	}
	sources, notes, err := traceSources(c)
	if err != nil {
		return err
	}
	var all []trial
	for _, s := range sources {
		one, err := hold(c, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		all = append(all, one)
	}
	notes = append(notes,
		"Brier scores are means over replications with 95 % intervals; where a trace is recorded, the replications differ in what is asked alone.",
		fmt.Sprintf("Bands are of 95 %%: the share kept of as many honest promises lies in them with that probability. Tenths without promises do not count. TDE looks at 3 lengths of the job on each of the past days; promises are asked for on the last day of %s.", period(c)))
	page := report.Page{
		Title: "What predictors of availability promise and keep", Command: reliabilityCall(c),
		Tables: reliabilityTables(all), Figures: reliabilityFigures(all), Notes: notes,
	}
	wrote, err := writePage(orElse(c.String("out"), "results", "reliability"), "reliability.html", page)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, struct {
			Notes  []string `json:"notes"`
			Trials []trial  `json:"trials"`
			Files  []string `json:"files"`
		}{notes, all, wrote})
	}
	for _, table := range page.Tables {
		fmt.Fprintln(c.App.Writer, table.Text(t))
	}
	for _, n := range notes {
		fmt.Fprintln(c.App.Writer, n)
	}
	for _, name := range wrote {
		note(c, "wrote %s", name)
	}
	return nil
}

func period(c *cli.Context) string {
	if c.String("availability") != "" {
		return "the trace"
	}
	return fmt.Sprintf("%d", c.Int("days"))
}

// A source draws the traces of replications.
type source struct {
	name  string
	trace func(rep int) (*availability.Trace, error)
}

// traceSources returns the models that c names, or its recorded trace, and what is to
// be said of it.
func traceSources(c *cli.Context) ([]source, []string, error) {
	names := c.StringSlice("model")
	if path := c.String("availability"); path != "" {
		if len(names) > 0 {
			return nil, nil, usagef("--availability and --model: want one of them")
		}
		format := c.String("availability-format")
		if !slices.Contains(scenario.Formats(), format) {
			return nil, nil, usagef("--availability-format: found %q, want one of %s", format, strings.Join(scenario.Formats(), ", "))
		}
		type read struct {
			trace *availability.Trace
			said  string
		}
		r, err := await(c.Context, func() (r read, err error) {
			r.trace, r.said, err = experiments.ReadAvailability(path, format)
			return r, err
		})
		if err != nil {
			return nil, nil, usageError{err}
		}
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		return []source{{name, func(int) (*availability.Trace, error) { return r.trace, nil }}}, []string{r.said}, nil
	}
	if len(names) == 0 {
		names = models.Table().Names()
	}
	var all []source
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, nil, usagef("--model: found %s twice", name)
		}
		m, err := models.Table().New(name, nil)
		if err != nil {
			return nil, nil, usageError{err}
		}
		all = append(all, source{name, func(rep int) (*availability.Trace, error) {
			rng := rand.New(experiments.Stream(c.Uint64("seed"), rep, "availability"))
			return m.Trace(rng, c.Int("hosts"), float64(c.Int("days"))*availability.Day)
		}})
	}
	return all, []string{"No recorded trace was named, so hosts come and go as models say. --availability FILE takes a trace."}, nil
}

// hold asks the rivals on one source.
func hold(c *cli.Context, s source) (trial, error) {
	const bins, band = 10, 0.95
	made, err := volunteers.Trial{
		Replications: c.Int("replications"), Probes: c.Int("probes"), Last: availability.Day, Bins: bins, Band: band,
		Trace:  s.trace,
		Chance: func(rep int) rand.Source { return experiments.Stream(c.Uint64("seed"), rep, "probes") },
	}.Run(volunteers.Rivals(pastDays))
	if err != nil {
		return trial{}, err
	}
	base := made[0].Base
	one := trial{Source: s.name, Promises: made[0].Probes, Base: base, Constant: base * (1 - base), made: made}
	for _, m := range made {
		sum := stats.Summarize(m.Briers).Within(0, 1)
		line := score{Predictor: m.Name, Days: m.Days, Brier: sum.Mean}
		if sum.HasInterval() {
			line.Lo95, line.Hi95 = &sum.Lo95, &sum.Hi95
		}
		for i := range m.Bins {
			if b := &m.Bins[i]; b.Count > 0 {
				line.Promised += b.Promised * float64(b.Count) / float64(m.Probes)
				line.Bins++
				if b.Honest() {
					line.InBand++
				}
			}
		}
		one.Scores = append(one.Scores, line)
	}
	return one, nil
}

func reliabilityTables(all []trial) []report.Table {
	var tables []report.Table
	for _, one := range all {
		t := report.Table{
			Title:  one.Source,
			Header: []string{"predictor", "days", "promised", "kept", "Brier", "95 % from", "to", "tenths in band"}, Left: 2,
			Note: fmt.Sprintf("%d promises each. Promising %.3f always has Brier score %.4f.", one.Promises, one.Base, one.Constant),
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

// reliabilityFigures returns the Brier scores against the days looked at, and of
// each source the diagrams.
func reliabilityFigures(all []trial) []report.Figure {
	scores := report.Figure{Name: "brier", Title: "Brier score against the days looked at", Caption: "Mean over replications with 95 % interval; lower is better."}
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
			Name: "reliability-" + one.Source, Title: "Promised against observed completion: " + one.Source, Across: 3,
			Caption: "Bars are the 95 % bands in which the share kept of honest promises lies.",
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

// diagram draws what was promised and what was kept, tenth by tenth.
func diagram(m volunteers.Score) report.Panel {
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

// reliabilityCall returns the words that run the command again.
func reliabilityCall(c *cli.Context) []string {
	words := []string{"bourse", "reliability"}
	for _, name := range []string{"availability", "availability-format", "hosts", "days", "probes", "replications", "seed"} {
		if c.IsSet(name) {
			words = append(words, "--"+name, fmt.Sprint(c.Value(name)))
		}
	}
	for _, m := range c.StringSlice("model") {
		words = append(words, "--model", m)
	}
	return words
}
