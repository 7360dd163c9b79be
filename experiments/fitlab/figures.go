package fitlab

import (
	"math"
	"slices"

	"bourse/experiments/report"
	"bourse/workloadgen/describe"
	"bourse/workloadgen/dist"
)

// Figures returns figures of the log's distributions, with at most the given number of closest
// fits per quantity, and figures of the log over time.
func (d *Description) Figures(nearest int) []report.Figure {
	l := d.log
	distributions := report.Figure{
		Name: "distributions", Title: "Distributions of " + d.file.base(),
		Caption: "The curves show the fraction of values that are at most x. Distributions are fitted by maximum likelihood if possible.",
		Order:   lawOrder(),
	}
	for _, q := range []struct {
		title, x string
		values   describe.Quantity
		fits     []outcome
	}{
		{"Gap between arrivals", "s", l.IAT, d.fits[0]},
		{"Runtime", "s", l.Run, d.fits[1]},
		{"Size", "processors", l.Procs, d.fits[2]},
		{"Overestimate", "requested / run", l.Overestimate, nil},
	} {
		if q.values.N > 0 {
			distributions.Panels = append(distributions.Panels, cdfPanel(q.title, q.x, q.values.Values, q.fits[:min(nearest, len(q.fits))]))
		}
	}
	return []report.Figure{distributions, {
		Name: "time", Title: "Arrivals and load of " + d.file.base(),
		Panels: []report.Panel{d.byHour(), d.byWeekday(), d.arrivals(), d.load(), d.memory()},
		Order:  []string{logName},
	}}
}

// logName is the name of the log's own curves.
const logName = "log"

// lawOrder returns the distributions in an order that gives each the same colour in every log.
// Distributions that often fit best come first. Their colours differ clearly from the colour
// of the log.
func lawOrder() []string {
	laws := defaultCandidates()
	order := []string{logName, "hypweib", "lognormal2", "binbin"}
	for _, name := range slices.Concat(laws[:]...) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// cdfPanel returns a panel with a distribution function on a logarithmic axis, and the
// fitted distributions.
func cdfPanel(title, x string, values []float64, fits []outcome) report.Panel {
	own := describe.CDF(logName, values, 200)
	curve := curveOf
	if len(own.X) < 100 {
		curve = stepsOf
	}
	p := report.Panel{Title: title, X: x, Y: "share", Hi: 1, LogX: true, Curves: []report.Curve{curve(own)}}
	for _, f := range fits {
		if f.Err != nil {
			continue
		}
		if law, err := dist.Table().New(f.Law.Name, f.Law.Decode); err == nil {
			p.Curves = append(p.Curves, curve(describe.Law(f.Name, law, own.X)))
		}
	}
	return p
}

// curveOf returns a curve in the form that figures need.
func curveOf(c describe.Curve) report.Curve {
	out := report.Curve{Name: c.Name}
	for i, x := range c.X {
		out.Points = append(out.Points, report.Point{X: x, Mean: c.Y[i], Lo: c.Y[i], Hi: c.Y[i]})
	}
	return out
}

// stepsOf returns the steps of a distribution function that has few values.
func stepsOf(c describe.Curve) report.Curve {
	out := report.Curve{Name: c.Name}
	below := 0.0
	for i, x := range c.X {
		y := c.Y[i]
		out.Points = append(out.Points, report.Point{X: x, Mean: below, Lo: below, Hi: below}, report.Point{X: x, Mean: y, Lo: y, Hi: y})
		below = y
	}
	return out
}

// series returns the points of values at x = 0, 1, 2, ...
func series(values []float64) []report.Curve {
	c := describe.Curve{Name: logName, Y: values}
	for i := range values {
		c.X = append(c.X, float64(i))
	}
	return []report.Curve{curveOf(c)}
}

func (d *Description) byHour() report.Panel {
	var jobs []float64
	for _, n := range d.log.ByHour {
		jobs = append(jobs, float64(n))
	}
	x := "hour of the day"
	if !d.log.Clock {
		x = "hour after the first record (modulo 24)"
	}
	return report.Panel{Title: "Arrivals by hour", X: x, Y: "jobs", Curves: series(jobs)}
}

func (d *Description) byWeekday() report.Panel {
	var jobs []float64
	for _, n := range d.weekdays() {
		jobs = append(jobs, float64(n))
	}
	p := report.Panel{
		Title: "Arrivals by weekday", Y: "jobs", Curves: series(jobs),
		Groups: []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
	}
	if !d.log.Clock {
		p.Title, p.Groups = "Arrivals by day (modulo 7)", []string{"1", "2", "3", "4", "5", "6", "7"}
	}
	return p
}

func (d *Description) arrivals() report.Panel {
	return overDays("Arrivals a day", "jobs", d.log.Days, func(x describe.Day) float64 { return float64(x.Jobs) })
}

func (d *Description) load() report.Panel {
	if d.log.Processors == 0 {
		return overDays("Work that arrives", "processors", d.log.Days, func(x describe.Day) float64 { return x.Work / 86400 })
	}
	return overDays("Load that arrives", "load", d.log.Days, func(x describe.Day) float64 { return x.Load })
}

// overDays returns a panel with a daily quantity over time. It averages over the number of
// days that is necessary to have at most 120 points.
func overDays(title, y string, days []describe.Day, of func(describe.Day) float64) report.Panel {
	p := report.Panel{Title: title, X: "day", Y: y}
	c := describe.Curve{Name: logName}
	each := (len(days) + 119) / 120
	at := 0
	for some := range slices.Chunk(days, max(1, each)) {
		sum := 0.0
		for _, x := range some {
			sum += of(x)
		}
		c.X, c.Y = append(c.X, float64(at)+float64(len(some))/2), append(c.Y, sum/float64(len(some)))
		at += len(some)
	}
	p.Curves = []report.Curve{curveOf(c)}
	return p
}

func (d *Description) memory() report.Panel {
	p := report.Panel{Title: "Autocorrelation of gaps", X: "lag", Y: "r"}
	c := describe.Curve{Name: logName}
	for lag, r := range d.log.Autocorrelation {
		if lag > 0 && !math.IsNaN(r) {
			c.X, c.Y = append(c.X, float64(lag)), append(c.Y, r)
		}
	}
	p.Curves = []report.Curve{curveOf(c)}
	return p
}
