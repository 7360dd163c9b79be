package tune

import (
	"math"
	"slices"
	"strings"

	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// A Setting names an arm: a policy, and where it stands along each axis.
type Setting struct {
	Policy string   `json:"policy"`
	At     []string `json:"at" doc:"value on each axis; empty on one that does not touch the policy"`
}

// A Goal is what a race is about.
type Goal struct {
	Scenario      string   `json:"scenario"`
	Configuration string   `json:"configuration"`
	Metric        string   `json:"metric"`
	Least         bool     `json:"least" doc:"the smallest is the best, else the largest"`
	Over          []string `json:"over" doc:"the axes"`
	Smooth        bool     `json:"smooth" doc:"searched by golden section first, as if the metric had one peak along the axis"`
	Budget        int      `json:"budget" doc:"replications, of all settings together"`
	Within        float64  `json:"within" doc:"regret that does not matter"`
}

// A Report is what a race has found, for people and programs.
type Report struct {
	Goal
	Stop     Stop    `json:"stop" doc:"told: one setting is left; near: regret is bounded by within; spent: the budget is; or interrupted"`
	Best     int     `json:"best" doc:"of settings: that of best mean among those kept"`
	Kept     []int   `json:"kept" doc:"settings that cannot be told from the best, which is the first of them, by their means"`
	Settings []Row   `json:"settings"`
	Regret   Cost    `json:"regret"`
	Spent    int     `json:"spent" doc:"replications, of all settings together"`
	Even     int     `json:"even" doc:"that an even split takes to know as much"`
	Tells    int     `json:"tells" doc:"replications of each setting kept that would tell the best from all others, if all went on as it did; 0 if none is known to"`
	Method   string  `json:"method"`
	lo, hi   float64 // of the metric
}

// A Row is a setting and what is known of it.
type Row struct {
	Setting
	N          int          `json:"n" doc:"replications"`
	Mean       report.Maybe `json:"mean"`
	Lo         report.Maybe `json:"lo" doc:"95 % interval of the mean, of a confidence sequence; null where there is none yet"`
	Hi         report.Maybe `json:"hi"`
	Kept       bool         `json:"kept"`
	Dropped    int          `json:"dropped" doc:"replications after which it was dropped; 0 if it is kept"`
	By         int          `json:"by" doc:"setting that was better, if it is dropped"`
	Difference report.Maybe `json:"difference" doc:"mean of it less the best, in the replications of both"`
	LessLo     report.Maybe `json:"difference_lo" doc:"interval of that, of a confidence sequence: all of them hold together at 95 %"`
	LessHi     report.Maybe `json:"difference_hi"`
	Needed     int          `json:"needed" doc:"replications of each that would tell it from the best; 0 if none is known to"`
	Same       bool         `json:"same" doc:"it was the best in every replication, to the digit"`
}

// Cost is what taking the best may cost.
type Cost struct {
	Expected float64      `json:"expected" doc:"mean of what the true best is better by: Bayesian bootstrap over replications"`
	Most     report.Maybe `json:"most" doc:"the most that it is, at 95 %; null while it has no bound"`
	Draws    int          `json:"draws" doc:"of the bootstrap"`
}

// NewReport returns what f says of settings, by arm, whose metric lies between lo and hi.
func NewReport(g Goal, settings []Setting, lo, hi float64, f *Found) *Report {
	r := &Report{
		Goal: g, Stop: f.Stop, Best: f.Best, Kept: f.Kept, Spent: f.Spent, Even: f.Even,
		Regret: Cost{f.Regret.Expected, report.Maybe(f.Regret.Most), f.Regret.Draws}, lo: lo, hi: hi,
	}
	if r.Over == nil {
		r.Over = []string{} // a list is never null
	}
	sign := 1.0
	if g.Least {
		sign = -1
	}
	for arm, s := range settings {
		a, values := f.Arms[arm], f.Values[arm]
		nan := report.Maybe(math.NaN())
		row := Row{Setting: s, N: a.N, Mean: nan, Lo: nan, Hi: nan, Kept: slices.Contains(f.Kept, arm), Dropped: a.Dropped, By: a.By, Difference: nan, LessLo: nan, LessHi: nan, Needed: a.Needed}
		xs := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !defined(x) })
		if len(xs) > 0 {
			row.Mean = report.Maybe(stats.Mean(xs))
			if l, h, ok := stats.Anytime(xs, lo, hi, Alpha); ok {
				row.Lo, row.Hi = report.Maybe(l), report.Maybe(h)
			}
		}
		if a.Pairs > 0 {
			ends := []float64{sign * a.Lo, sign * a.Hi}
			row.Difference, row.LessLo, row.LessHi = report.Maybe(sign*a.Mean+0), report.Maybe(slices.Min(ends)), report.Maybe(slices.Max(ends)) // +0: no negative zero
			row.Same = slices.Equal(values[:min(a.N, len(f.Values[f.Best]))], f.Values[f.Best][:min(a.N, len(f.Values[f.Best]))])
		}
		r.Settings = append(r.Settings, row)
	}
	for _, arm := range r.Kept {
		if s := &r.Settings[arm]; arm != r.Best {
			if s.Needed == 0 {
				r.Tells = 0
				break
			}
			r.Tells = max(r.Tells, s.Needed)
		}
	}
	r.Method = r.method()
	return r
}

// name returns what a setting is called among those of r.
func (r *Report) name(arm int) string {
	s := &r.Settings[arm]
	var at []string
	for i, v := range s.At {
		switch {
		case v == "":
		case len(r.Over) == 1:
			at = append(at, v)
		default:
			at = append(at, short(r.Over[i])+" "+v)
		}
	}
	if r.policies() > 1 || len(at) == 0 {
		return strings.TrimSpace(s.Policy + " " + strings.Join(at, ", "))
	}
	return strings.Join(at, ", ")
}

// short returns the last word of a path.
func short(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// policies returns how many policies are among the settings.
func (r *Report) policies() int {
	seen := make(map[string]bool)
	for i := range r.Settings {
		seen[r.Settings[i].Policy] = true
	}
	return len(seen)
}
