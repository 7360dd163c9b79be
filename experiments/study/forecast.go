package study

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bourse/experiments"
	"bourse/experiments/report"
	"bourse/market"
	"bourse/market/forecast"
)

// forecasts is the number of forecasts made per window.
const forecasts = 10

// A Coverage evaluates the price percentiles that one forecaster predicted for one series.
//
// The forecaster makes ten forecasts per window. Each is a price that the next window
// should not exceed with probability G. Covered is the fraction of time in which the price
// was at most the forecast price, over all forecasts.
type Coverage struct {
	Series     string  `json:"series"`
	Forecaster string  `json:"forecaster"`
	G          float64 `json:"g" doc:"requested probability"`
	Forecasts  int     `json:"forecasts"`
	Covered    float64 `json:"covered" doc:"fraction of the time during which the price was at most the forecast"`
	Sharpness  float64 `json:"sharpness" doc:"mean forecast divided by the mean price, with forecasts limited to the range from 0 to the highest price; lower values are sharper"`
	Pinball    float64 `json:"pinball" doc:"mean pinball loss of the forecast, divided by the mean price; lower values are better"`
}

// Forecast evaluates the named forecasters, with default options, on each series at each
// probability in gs.
func Forecast(ctx context.Context, series []Series, forecasters []string, gs []float64, opts experiments.Options) (*Held, error) {
	table := forecast.Table()
	var all []Coverage
	each := len(forecasters) * len(gs)
	begin := func(context.Context) func(int) (Coverage, error) {
		return func(i int) (Coverage, error) {
			s, name, g := series[i/each], forecasters[i%each/len(gs)], gs[i%len(gs)]
			f, err := table.New(name, nil)
			if err != nil {
				return Coverage{}, err
			}
			return cover(s, name, f, g)
		}
	}
	total := each * len(series)
	err := experiments.InOrder(ctx, total, opts.Workers, begin, func(c Coverage) error {
		if all = append(all, c); opts.Progress != nil {
			opts.Progress(len(all), total)
		}
		return nil
	})
	return &Held{Coverages: report.List(all), Files: []string{}, Notes: []string{
		"Coverage is the fraction of time during which the price was at most the forecast, over all forecasts. Forecasts are made ten times per window, for the next window.",
		"Sharpness is the mean forecast divided by the mean price, with forecasts limited to the range from 0 to the highest price. Pinball is the mean pinball loss of the forecast, divided by the mean price. Forecasts overlap, so there are no intervals.",
		fmt.Sprintf("A window is %.0f s of simulated prices, %.0f h of demand, or %.0f h of spot prices.", drawnWindow, demandWindow/3600, spotWindow/3600),
	}}, err
}

// cover evaluates the percentiles that forecaster f predicts for s.
func cover(s Series, name string, f market.Forecaster, g float64) (Coverage, error) {
	a, err := market.New(market.Config{Window: s.Window})
	if err != nil {
		return Coverage{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	c := Coverage{Series: s.Name, Forecaster: name, G: g}
	highest, mean := 0.0, 0.0
	for i, p := range s.steps {
		until := s.End
		if i+1 < len(s.steps) {
			until = s.steps[i+1].at
		}
		highest = max(highest, p.price.Float64())
		mean += p.price.Float64() * (until - p.at) / s.End
	}
	var open []promise // forecasts less than one window old, oldest first
	now, price, next := 0.0, market.Rate(0), 0
	every := s.Window / forecasts
	for k := 0; ; k++ {
		at := float64(k) * every
		if at > s.End {
			break
		}
		for now < at || next < len(s.steps) && s.steps[next].at <= now {
			if next < len(s.steps) && s.steps[next].at <= at {
				stand(open, price, s.steps[next].at-now)
				now = s.steps[next].at
				a.Bid(now, price, s.steps[next].price)
				price = s.steps[next].price
				next++
				continue
			}
			stand(open, price, at-now)
			now = at
		}
		if len(open) == forecasts {
			done := &open[0]
			c.Forecasts++
			c.Covered += done.share()
			c.Pinball += done.pinball(highest) / mean
			c.Sharpness += min(max(0, done.price), highest) / mean
			open = open[1:]
		}
		open = append(open, promise{g: g, price: f.Percentile(a.History(), now, g)})
	}
	if c.Forecasts == 0 {
		return c, fmt.Errorf("%s: found prices for %v s, want at least one window of %v s", s.Name, s.End, s.Window)
	}
	n := float64(c.Forecasts)
	c.Covered, c.Pinball, c.Sharpness = c.Covered/n, c.Pinball/n, c.Sharpness/n
	return c, nil
}

// stand adds to each promise a price that was in force for the given number of seconds.
func stand(all []promise, price market.Rate, seconds float64) {
	for i := range all {
		all[i].stand(price.Float64(), seconds)
	}
}

// Held contains the results of forecasters on series.
type Held struct {
	Coverages []Coverage `json:"coverages" doc:"results by series, forecaster and probability"`
	Notes     []string   `json:"notes"`
	Files     []string   `json:"files" doc:"files written"`
}

// near is the maximum difference between coverage and promised probability that counts as
// good.
const near = 0.02

// Document returns h as a document. Its tables have one row per series and one column per
// forecaster.
func (h *Held) Document() report.Document {
	d := report.Document{Title: "Promised and realized coverage of price forecasters", Notes: h.Notes, Figures: []report.Figure{h.figure()}}
	var gs []float64
	for _, c := range h.Coverages {
		if slices.Contains(gs, c.G) {
			continue
		}
		gs = append(gs, c.G)
		d.Tables = append(d.Tables,
			h.table(c.G, "Coverage", fmt.Sprintf("A value is bold if it differs from the promise by more than %v.", near), func(x *Coverage) report.Cell {
				return report.Cell{Text: fmt.Sprintf("%.3f", x.Covered), Strong: math.Abs(x.Covered-x.G) > near}
			}),
			h.table(c.G, "Sharpness", "", func(x *Coverage) report.Cell { return report.Cell{Text: fmt.Sprintf("%.3f", x.Sharpness)} }),
			h.table(c.G, "Pinball loss", "", func(x *Coverage) report.Cell { return report.Cell{Text: fmt.Sprintf("%.4f", x.Pinball)} }))
	}
	d.Values = func(files []string) any {
		out := *h
		out.Files = report.List(files)
		return out
	}
	return d
}

func (h *Held) table(g float64, what, note string, of func(*Coverage) report.Cell) report.Table {
	t := report.Table{Title: fmt.Sprintf("%s, promised %v", what, g), Header: []string{"series"}, Left: 1, Note: note}
	for i := range h.Coverages {
		c := &h.Coverages[i]
		if c.G != g {
			continue
		}
		if len(t.Rows) == 0 || t.Rows[len(t.Rows)-1][0].Text != c.Series {
			t.Rows = append(t.Rows, []report.Cell{{Text: c.Series}})
		}
		if len(t.Rows) == 1 {
			t.Header = append(t.Header, c.Forecaster)
		}
		last := &t.Rows[len(t.Rows)-1]
		*last = append(*last, of(c))
	}
	return t
}

// figure plots coverage against the promised probability, with one panel per series.
func (h *Held) figure() report.Figure {
	f := report.Figure{Name: "forecast", Title: "Promised against covered", Across: 3, Caption: "A point on the line means that a percentile covers the price for the stated fraction of the time."}
	for _, c := range h.Coverages {
		reliable(&f, c.Series, "covered", c.Forecaster, c.G, flat(c.G, c.Covered))
	}
	return f
}
