// Package fidelity compares a market on real hosts with the same market on hosts that are
// computed: the same plan, decided and carried out twice (live.md §20). It says how near the
// two are, measure by measure, against what was said beforehand, and what the difference is
// made of. It runs nothing.
package fidelity

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"bourse/contracts"
	"bourse/experiments/live"
	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// A Run is one plan under one policy.
type Run struct {
	Policy      string
	Twice       *live.Twice
	Differences int     // of the kept log, told to a new broker
	CPUs        float64 // of each host
	Steal       float64 // part of the machine's time that others took, or NaN if that is not known
	Scale       float64 // plan's seconds in one of the clock
}

// What must be, as live.md §20 has it.
const (
	leastR       = 0.95
	mostPrice    = 0.05 // mean difference over the mean
	mostMedian   = 0.02 // of the runtime
	mostLate     = 0.06 // of the runtime, 95th percentile
	margin       = 0.03 // of a host
	mostContract = 0.05 // of what was paid
	mostAll      = 0.02
	near         = 0.05 // of the threshold: such decisions may differ
	leastGiven   = 0.9  // of what was asked: less is no test
	bin          = 300  // s of the plan
	leastShared  = 1    // s for which a share is measured
)

// A Row is one measure of one run.
type Row struct {
	Policy  string       `json:"policy"`
	Measure string       `json:"measure"`
	N       int          `json:"n" doc:"contracts, shares, or means of 5 minutes"`
	Found   report.Maybe `json:"found"`
	Must    string       `json:"must"`
	Verdict string       `json:"verdict" doc:"met, not met, or not testable"`
}

// A Part is something that differences are made of.
type Part struct {
	Policy string       `json:"policy"`
	Part   string       `json:"part"`
	Found  report.Maybe `json:"found"`
	Unit   string       `json:"unit"`
}

// A Decision is one that came out otherwise.
type Decision struct {
	Policy   string          `json:"policy"`
	Contract int64           `json:"contract"`
	Live     json.RawMessage `json:"live"`
	Computed json.RawMessage `json:"computed"`
	Off      report.Maybe    `json:"off" doc:"by what part the deciding number was off its threshold, the nearer of the two"`
}

// A Report is what was found.
type Report struct {
	Testable  bool       `json:"testable" doc:"the machine gave at least 90 % of what was asked of it"`
	Rows      []Row      `json:"rows"`
	Parts     []Part     `json:"parts" doc:"what differences are made of"`
	Decisions []Decision `json:"decisions" doc:"that came out otherwise"`
	Files     []string   `json:"files"`
}

// Met reports whether every measure was met.
func (r *Report) Met() bool {
	return !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Verdict != "met" })
}

// Compare compares runs.
func Compare(runs []Run) *Report {
	r := &Report{Testable: true, Rows: []Row{}, Parts: []Part{}, Decisions: []Decision{}}
	for i := range runs {
		r.run(&runs[i])
	}
	return r
}

func (r *Report) run(run *Run) {
	given := run.given()
	testable := given.n > 0 && given.found >= leastGiven
	r.Testable = r.Testable && testable
	add := func(measure string, m measured, met bool, must string) {
		row := Row{run.Policy, measure, m.n, report.Maybe(m.found), must, "not met"}
		switch {
		case measure != logAgain && !testable, m.n == 0:
			row.Verdict = "not testable"
		case met:
			row.Verdict = "met"
		}
		r.Rows = append(r.Rows, row)
	}
	add("given of what was asked", given, testable, fmt.Sprintf("at least %v", leastGiven))
	d := measured{float64(run.Differences), len(run.Twice.Contracts)}
	add(logAgain, d, run.Differences == 0, "0 differences")
	d = r.decisions(run)
	add("decisions otherwise, not near the threshold", d, d.found == 0, "0")
	apart, alike := run.prices()
	add("spot price, 5-minute means: r", alike, alike.found >= leastR, fmt.Sprintf("at least %v", leastR))
	add("spot price: mean difference over the mean", apart, apart.found <= mostPrice, fmt.Sprintf("at most %v", mostPrice))
	late := run.completions()
	m := measured{quantile(late, 0.5), len(late)}
	add("completion: median difference over the runtime", m, m.found <= mostMedian, fmt.Sprintf("at most %v", mostMedian))
	m = measured{quantile(late, 0.95), len(late)}
	add("completion: 95th percentile", m, m.found <= mostLate, fmt.Sprintf("at most %v", mostLate))
	shared, p := run.shares()
	add("share of a host, delivered less entitled", shared, p <= 0.05, fmt.Sprintf("within %v (two one-sided tests, 5 %%)", margin))
	one, all := run.paid()
	add("paid by a contract, largest difference", one, one.found <= mostContract, fmt.Sprintf("at most %v", mostContract))
	add("paid in all, difference", all, all.found <= mostAll, fmt.Sprintf("at most %v", mostAll))

	r.Parts = append(r.Parts,
		Part{run.Policy, "late deals: first work after it was asked for, mean", report.Maybe(run.late()), "s"},
		Part{run.Policy, "late deals: share of a host lost where a task began or ended, mean", report.Maybe(run.lost()), "of a host"},
		Part{run.Policy, "enforcement: share off, mean of the absolute", report.Maybe(run.enforced()), "of a host"},
		Part{run.Policy, "metering: readings cut", report.Maybe(float64(run.Twice.Cut)), ""},
		Part{run.Policy, "host noise: time that others took", report.Maybe(run.Steal), "of the machine"})
}

const logAgain = "the log on a new broker"

// Measured is a number of so many.
type measured struct {
	found float64
	n     int
}

// given returns the part of what tasks were entitled to that they were given.
func (run *Run) given() measured {
	got, want := 0.0, 0.0
	for i := range run.Twice.Shares {
		s := &run.Twice.Shares[i]
		got += s.Delivered * s.For
		want += s.Entitled * s.For
	}
	return measured{got / want, len(run.Twice.Shares)}
}

// decisions lists those that came out otherwise, and returns how many of them are not near
// their threshold.
func (r *Report) decisions(run *Run) measured {
	m := measured{n: len(run.Twice.Contracts)}
	for i := range run.Twice.Contracts {
		c := &run.Twice.Contracts[i]
		a, b := decided(c.Live.Decision), decided(c.Computed.Decision)
		if a.verdict == b.verdict {
			continue
		}
		off := math.Min(a.off, b.off)
		r.Decisions = append(r.Decisions, Decision{run.Policy, c.Contract, c.Live.Decision, c.Computed.Decision, report.Maybe(off)})
		if !(off <= near) {
			m.found++
		}
	}
	return m
}

// A verdict is what a decision came to, and how far off its threshold the number was that
// decided, +Inf if it has none.
type verdict struct {
	verdict string
	off     float64
}

// decided reads a decision: what decides is held against "threshold", or, of a contract that
// would get too little, "gets" against "want".
func decided(decision json.RawMessage) verdict {
	var d struct {
		Decision         string
		Share, Threshold *float64
		Gets, Want       *float64
	}
	if json.Unmarshal(decision, &d) != nil {
		return verdict{"", math.Inf(1)}
	}
	v := verdict{d.Decision, math.Inf(1)}
	if d.Share != nil && d.Threshold != nil {
		v.off = math.Abs(*d.Share-*d.Threshold) / *d.Threshold
	}
	if d.Gets != nil && d.Want != nil {
		v.off = math.Min(v.off, math.Abs(*d.Gets-*d.Want) / *d.Want)
	}
	return v
}

// prices compares the means, over all hosts, of each 5 minutes of the plan.
func (run *Run) prices() (apart, alike measured) {
	a, b := run.means(0), run.means(1)
	sum, all := 0.0, 0.0
	for i := range a {
		sum += math.Abs(a[i] - b[i])
		all += b[i]
	}
	apart = measured{sum / all, len(a)}
	alike = measured{n: len(a)}
	r, ok := stats.Pearson(a, b)
	if alike.found = r; !ok {
		alike = measured{math.NaN(), 0}
	}
	return apart, alike
}

// means returns the mean price of a host in each 5 minutes of the plan.
func (run *Run) means(side int) []float64 {
	t := run.Twice
	width := bin / run.Scale
	out := make([]float64, max(1, int(math.Ceil((t.End-t.Begin)/width))))
	hosts := make(map[int]live.Price)
	add := func(p live.Price, until float64) {
		for i := range out {
			from, to := max(p.At, t.Begin+float64(i)*width), min(until, t.Begin+float64(i+1)*width)
			out[i] += p.Price * max(0, to-from) / width
		}
	}
	for _, p := range t.Prices[side] {
		add(hosts[p.Host], p.At)
		hosts[p.Host] = p.Price
	}
	for _, h := range slices.Sorted(maps.Keys(hosts)) {
		add(hosts[h], t.End)
	}
	for i := range out {
		out[i] /= float64(max(1, len(hosts)))
	}
	return out
}

// both returns the contracts that were fulfilled on both sides.
func (run *Run) both() (all []*live.TwiceDecided) {
	for i := range run.Twice.Contracts {
		c := &run.Twice.Contracts[i]
		if want := contracts.Fulfilled.State(); c.Live.State == want && c.Computed.State == want {
			all = append(all, c)
		}
	}
	return all
}

// completions returns by what parts of their runtimes contracts ended sooner or later.
func (run *Run) completions() (all []float64) {
	for _, c := range run.both() {
		all = append(all, math.Abs(c.Live.Ended-c.Computed.Ended)/(c.Computed.Ended-c.Asked))
	}
	slices.Sort(all)
	return all
}

// shares returns the mean of what was delivered less what was due, of a host, and the p of
// the tests that it is margin or more.
func (run *Run) shares() (measured, float64) {
	got, want := run.shared()
	d, ok := stats.Pairs(got, want)
	if !ok {
		return measured{math.NaN(), 0}, 1
	}
	return measured{d.Mean, len(got)}, d.Beyond(margin)
}

// shared returns the shares of hosts that were measured for long enough, of tasks that ran all
// the time.
func (run *Run) shared() (got, want []float64) {
	for i := range run.Twice.Shares {
		if s := &run.Twice.Shares[i]; s.For >= leastShared && !s.Partly {
			got, want = append(got, s.Delivered/run.CPUs), append(want, s.Entitled/run.CPUs)
		}
	}
	return got, want
}

// paid compares what was paid.
func (run *Run) paid() (one, all measured) {
	a, b := 0.0, 0.0
	for _, c := range run.both() {
		x, y := c.Live.Paid.Float64(), c.Computed.Paid.Float64()
		a, b = a+x, b+y
		if x == y {
			one.n++
			continue
		}
		one.found, one.n = max(one.found, math.Abs(x-y)/max(x, y)), one.n+1
	}
	all.n = one.n
	if a != b {
		all.found = math.Abs(a-b) / max(a, b)
	}
	return one, all
}

// late returns after how many seconds, in the mean, hosts told of the first work.
func (run *Run) late() float64 {
	sum, n := 0.0, 0
	for i := range run.Twice.Contracts {
		if c := &run.Twice.Contracts[i]; c.FirstWork > 0 {
			sum += c.FirstWork
			n++
		}
	}
	return sum / float64(n)
}

// lost returns what tasks did not get of a host, in the mean, while they began or ended.
func (run *Run) lost() float64 {
	sum, span := 0.0, 0.0
	for i := range run.Twice.Shares {
		if s := &run.Twice.Shares[i]; s.Partly {
			sum += (s.Entitled - s.Delivered) / run.CPUs * s.For
			span += s.For
		}
	}
	return sum / span
}

// enforced returns by how much shares were off, in the mean.
func (run *Run) enforced() float64 {
	got, want := run.shared()
	sum := 0.0
	for i := range got {
		sum += math.Abs(got[i] - want[i])
	}
	return sum / float64(len(got))
}

func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return stats.Quantile(sorted, p)
}

// Document returns r with its tables and its figure.
func (r *Report) Document(runs []Run) report.Document {
	measures := report.Table{Title: "Live against simulated", Left: 2, Header: []string{"policy", "measure", "n", "found", "must be", "verdict"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		measures.Rows = append(measures.Rows, []report.Cell{
			{Text: row.Policy}, {Text: row.Measure}, {Text: strconv.Itoa(row.N)}, {Text: row.Found.String()}, {Text: row.Must}, {Text: row.Verdict, Strong: row.Verdict == "not met"},
		})
	}
	if !r.Testable {
		measures.Note = fmt.Sprintf("Not testable: the machine gave less than %v of what was asked of it. Nothing else may run there.", leastGiven)
	}
	parts := report.Table{Title: "What differences are made of", Left: 2, Header: []string{"policy", "part", "found", "unit"}}
	for i := range r.Parts {
		p := &r.Parts[i]
		parts.Rows = append(parts.Rows, []report.Cell{{Text: p.Policy}, {Text: p.Part}, {Text: p.Found.String()}, {Text: p.Unit}})
	}
	d := report.Document{
		Title:   "A live market against the same market simulated",
		Lead:    "One plan on real hosts and on hosts that are computed, under the same broker.",
		Tables:  []report.Table{measures, parts},
		Figures: []report.Figure{figure(runs)},
		Values: func(files []string) any {
			r.Files = report.List(files)
			return *r
		},
	}
	if len(r.Decisions) > 0 {
		other := report.Table{Title: "Decisions that came out otherwise", Left: 2, Header: []string{"policy", "contract", "off", "live", "simulated"}}
		for i := range r.Decisions {
			c := &r.Decisions[i]
			other.Rows = append(other.Rows, []report.Cell{{Text: c.Policy}, {Text: strconv.FormatInt(c.Contract, 10)}, {Text: c.Off.String()}, {Text: string(c.Live)}, {Text: string(c.Computed)}})
		}
		d.Tables = append(d.Tables, other)
	}
	return d
}

// figure draws live over simulated: prices, completions, shares and charges.
func figure(runs []Run) report.Figure {
	f := report.Figure{
		Name: "fidelity", Title: "Live over simulated",
		Caption: "Prices are means over hosts of each 5 minutes of the plan. Each point of the other panels is a contract that was fulfilled on both sides, or a share under one deal; on the diagonal both are the same.",
		Panels: []report.Panel{
			{X: "5 minutes of the plan", Y: "spot price, $/s"}, {X: "response, simulated, s", Y: "live, s"},
			{X: "share, entitled", Y: "delivered"}, {X: "paid, simulated, $", Y: "live, $"},
		},
	}
	report.Letter(f.Panels)
	for i := range runs {
		run := &runs[i]
		for side, name := range []string{" live", " simulated"} {
			c := report.Curve{Name: run.Policy + name}
			for x, y := range run.means(side) {
				c.Points = append(c.Points, report.Point{X: float64(x), Mean: y, Lo: y, Hi: y})
			}
			f.Panels[0].Curves = append(f.Panels[0].Curves, c)
		}
		var response, paid [][2]float64
		for _, c := range run.both() {
			response = append(response, [2]float64{c.Computed.Ended - c.Asked, c.Live.Ended - c.Asked})
			paid = append(paid, [2]float64{c.Computed.Paid.Float64(), c.Live.Paid.Float64()})
		}
		var shares [][2]float64
		got, want := run.shared()
		for i := range got {
			shares = append(shares, [2]float64{want[i], got[i]})
		}
		for k, points := range [][][2]float64{response, shares, paid} {
			c := report.Curve{Name: run.Policy + " live"}
			slices.SortFunc(points, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
			for _, p := range points {
				c.Points = append(c.Points, report.Point{X: p[0], Mean: p[1], Lo: p[1], Hi: p[1]})
			}
			f.Panels[k+1].Curves = append(f.Panels[k+1].Curves, c)
		}
	}
	return f
}
