package publication

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// A remaker computes the units of results again. It reads the rows of jobs and prices and
// encodes them again. It encodes the rows of metrics from the stored values. It compares the
// rows of jobs with the plan of jobs generated from the scenario and the seed. It also compares
// the stored values with values computed from the rows and the plan. A remaker implements
// [results.Source]. Units must be read in order.
type remaker struct {
	*results.Whole
	*rederivation
	ctx    context.Context
	study  *experiments.Study
	out    *results.Encoder
	refits *experiments.Refits // nil without a plan

	jobs     *reading[results.Job]
	prices   *reading[results.Price]
	measured int // number of rows of metrics so far

	different int             // number of values that differ
	unknown   map[string]bool // metrics that could not be computed for some run
	unsolved  map[string]bool // configurations for which U* was not computed
}

func newRemaker(ctx context.Context, r *rederivation, e *scenario.Experiment) *remaker {
	m := &remaker{
		Whole: r.units, rederivation: r, ctx: ctx, study: experiments.NewStudy(e), out: results.NewEncoder(r.to.Tables, experiments.Axes(e)),
		jobs: newReading(r, "jobs", r.d.TextJobs()), prices: newReading(r, "prices", r.d.Unchecked().Prices(nil)),
		unknown: make(map[string]bool), unsolved: make(map[string]bool),
	}
	if r.p != nil {
		m.refits = r.p.Refits(func(found, wanted string) {
			m.find(m.jobs.file, fmt.Sprintf("row %d%s", m.jobs.n, found), wanted)
		})
	}
	return m
}

// A reading reads the rows of a table in order.
type reading[R any] struct {
	r    *rederivation
	file string // name of the file; empty if the results have no such table
	next func() (R, error, bool)
	stop func()

	row   *R    // current row; nil after the last row
	n     int   // number of the current row
	ahead *R    // row after the current row
	err   error // error that occurred when the next row was read
}

func newReading[R any](r *rederivation, table string, rows iter.Seq2[R, error]) *reading[R] {
	in := &reading[R]{r: r, file: r.d.File(table), stop: func() {}}
	if in.file != "" {
		in.next, in.stop = iter.Pull2(rows)
		in.look()
	}
	if filepath.Ext(in.file) == ".csv" {
		in.n++ // 1 before the first row, because the header counts as a row
	}
	return in
}

// look reads the next row.
func (in *reading[R]) look() {
	in.ahead = nil
	if row, err, ok := in.next(); err != nil {
		in.err = err
	} else if ok {
		in.ahead = &row
	}
}

// advance makes the next row the current row.
func (in *reading[R]) advance() error {
	if in.next == nil {
		return nil
	}
	if in.err != nil {
		in.r.find(in.file, in.err.Error(), "readable rows")
		return in.err
	}
	in.n++
	if in.row = in.ahead; in.row != nil {
		in.look()
	}
	return nil
}

// Read implements [results.Source].
func (m *remaker) Read(name string) (*results.Unit, error) {
	of, err := experiments.ParseUnit(name)
	if err != nil {
		return nil, err
	}
	unit, err := m.Values(name)
	if err == nil {
		err = m.study.Check(of, unit.Values)
	}
	if err != nil {
		m.find("units.values", err.Error(), "measured values of unit "+name)
		return nil, err
	}
	if m.measured == 0 {
		if err = m.jobs.advance(); err == nil {
			err = m.prices.advance()
		}
	}
	if err != nil {
		return nil, err
	}
	found, size := unit.Values, 1+len(m.study.Cells[of.Configuration])*m.study.Width()
	for rep := of.From; rep < of.To; rep++ {
		if err := m.replication(of.Configuration, rep, found[:size]); err != nil {
			return nil, err
		}
		found = found[size:]
	}
	if unit.Block, err = m.out.Block(); err != nil {
		return nil, err
	}
	for file, rows := range unit.Block {
		unit.Block[file] = slices.Clone(rows)
	}
	return unit, nil
}

// end records additional rows after the last row, and the comparisons that were omitted.
func (m *remaker) end() {
	if m.jobs.row != nil {
		m.find(m.jobs.file, fmt.Sprintf("row %d: one more", m.jobs.n), "none according to scenario and seed")
	}
	if m.prices.row != nil {
		m.find(m.prices.file, fmt.Sprintf("row %d: one more", m.prices.n), "none according to scenario and seed")
	}
	switch {
	case m.jobs.file == "":
		m.beyond("measured values of each run (units.values, and the metrics derived from it), because the results have no table of jobs; --deep computes these values")
	case m.p == nil:
		m.beyond("measured values of each run (units.values, and the metrics derived from it), because they cannot be computed without the plan of jobs")
	}
	if m.different > 1 {
		m.find("units.values", fmt.Sprintf("%d more values that differ", m.different-1), "none")
	}
	if len(m.unknown) > 0 {
		m.beyond("%s, because %s does not contain all data for these values; --deep computes them", strings.Join(slices.Sorted(maps.Keys(m.unknown)), ", "), m.jobs.file)
	}
	if len(m.unsolved) > 0 {
		m.beyond("U* of %s, and the metrics that depend on U*, because they take a long time to compute; --deep computes them", strings.Join(slices.Sorted(maps.Keys(m.unsolved)), ", "))
	}
}

// differs counts a value that differs from the recomputed value. It records the first one.
func (m *remaker) differs(file, found, want string) {
	if m.different++; m.different == 1 {
		m.find(file, found, want+", as "+m.jobs.file+" comes to")
	}
}

// within is the tolerated relative error of metrics that are computed from the work done,
// because tables store the work done as a fraction.
const within = 1e-9

// compare compares the stored values of a run with the values computed from the run's rows.
func (m *remaker) compare(f *fit, stored []float64, solved bool) {
	if !solved {
		for _, metric := range m.study.Metrics {
			if strings.Contains(metric.Name, "efficiency") {
				f.Unknown[metric.Name] = true
			}
		}
	}
	want := m.study.Measure(f.Run, nil)
	of := fmt.Sprintf("%s, %s, replication %d", f.conf.Name, f.label, f.rep)
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	number := func(x float64) string {
		if math.IsNaN(x) {
			return "nothing"
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	table, first := m.d.File("metrics"), 1
	if filepath.Ext(table) == ".csv" {
		first++
	}
	at := len(m.study.Metrics)
	for i := range m.study.Metrics {
		metric := &m.study.Metrics[i]
		x, y := stored[i], want[i]
		close := metric.Name == metrics.Utilization.Name && math.Abs(x-y) <= within*math.Abs(y)
		row := f.metrics + i + first
		if !f.Unknown[metric.Name] && !same(x, y) && !close {
			m.differs(table, fmt.Sprintf("row %d, column value: %s, %s of %s", row, number(x), metric.Name, of), number(y))
		}
		if metric.Trials == nil {
			continue
		}
		if x, y := stored[at], want[at]; !f.Unknown[metric.Name] && !same(x, y) {
			m.differs(table, fmt.Sprintf("row %d, column trials: %s, of %s of %s", row, number(x), metric.Name, of), number(y))
		}
		at++
	}
	for name := range f.Unknown {
		if !strings.Contains(name, "efficiency") {
			m.unknown[name] = true
		}
	}
	for i, alpha := range m.study.Experiment.Alphas {
		if x, y := stored[at+i], want[at+i]; solved && !same(x, y) {
			m.differs("units.values", fmt.Sprintf("efficiency %s at alpha %v of %s", number(x), alpha, of), number(y))
		}
	}
	at += len(m.study.Experiment.Alphas)
	for i, name := range [...]string{"$ of unpaid penalties", "unpaid users", "jobs", "jobs rejected as too late", "jobs started", "jobs completed", "jobs open"} {
		if x, y := stored[at+i], want[at+i]; !same(x, y) && !(name == "jobs started" && f.Unknown[metrics.Wait.Name]) {
			m.differs("units.values", fmt.Sprintf("%s %s of %s", number(x), name, of), number(y))
		}
	}
}

// replication recomputes the rows of one replication. The slice found contains the stored
// values.
func (m *remaker) replication(configuration, rep int, found []float64) error {
	c, width := &m.study.Experiment.Configurations[configuration], m.study.Width()
	refits, solved := m.refits, true
	if refits != nil {
		var err error
		if solved, err = refits.Next(configuration, rep, m.jobs.file != ""); err != nil {
			return err
		}
	}
	kind, found := found[0], found[1:]
	fits := make([]*fit, len(c.Admission))
	for k := range c.Admission {
		label, stored := c.Admission[k].Label, found[k*width:][:width]
		f := &fit{conf: c, label: label, rep: rep, metrics: m.measured}
		if fits[k] = f; refits != nil {
			f.Refit = refits.Begin(k)
		}
		if err := m.rows(f); err != nil {
			return err
		}
		if err := m.out.Metrics(m.study.MeasuredRows(nil, configuration, k, rep, stored)); err != nil {
			return err
		}
		m.measured += len(m.study.Metrics)
		if refits == nil || m.jobs.file == "" {
			continue
		}
		first, done, err := refits.End(f.Refit)
		if err != nil {
			return err
		}
		for i := range done {
			if refits.Apart() {
				continue // if the jobs of a run differ, its values differ in any case
			}
			m.compare(fits[first+i], found[(first+i)*width:][:width], solved)
		}
	}
	if refits != nil && m.jobs.file != "" && !solved {
		m.unsolved[fmt.Sprintf("%s, with %d jobs", c.Name, refits.Jobs())] = true
	} else if refits != nil && m.jobs.file != "" && kind != refits.Kind() {
		m.differs("units.values", fmt.Sprintf("kind %v of U* of %s, replication %d", kind, c.Name, rep), fmt.Sprint(int(refits.Kind())))
	}
	return nil
}

// rows reads and encodes the rows of one run.
func (m *remaker) rows(f *fit) error {
	var jobs []results.Job
	for j := m.jobs.row; j != nil && f.owns(j, m.jobs.ahead); j = m.jobs.row {
		if f.Refit != nil {
			f.Add(j)
		}
		if jobs = append(jobs, *j); len(jobs) == 1<<10 {
			if err := m.out.Jobs(jobs); err != nil {
				return err
			}
			jobs = jobs[:0]
		}
		if err := m.jobs.advance(); err != nil {
			return err
		}
	}
	var prices []results.Price
	for p := m.prices.row; p != nil; p = m.prices.row {
		want := experiments.PriceRow(f.conf.Name, f.label, f.rep, len(prices), p.MeanPrice)
		next := want
		if next.Time = p.Time; *p != next && (len(prices) == 0 || p.Time != want.Time) { // the row belongs to another run
			break
		}
		prices = append(prices, want)
		if f.Refit != nil {
			f.Run.Prices = append(f.Run.Prices, p.MeanPrice)
		}
		if err := m.prices.advance(); err != nil {
			return err
		}
	}
	if err := m.out.Jobs(jobs); err != nil {
		return err
	}
	return m.out.Prices(prices)
}

// A fit is a run that is computed again from its rows.
type fit struct {
	*experiments.Refit // nil without a plan
	conf               *scenario.Configuration
	label              string
	rep                int
	metrics            int // number of rows of metrics before the rows of this run
}

// owns reports whether a row belongs to the run. A row with a wrong configuration, policy
// or replication also belongs to the run if it is at the position of the plan's next job.
func (f *fit) owns(row, ahead *results.Job) bool {
	names := func(row *results.Job) bool {
		return row.Configuration == f.conf.Name && row.Admission == f.label && row.Replication == f.rep
	}
	return names(row) || f.Refit != nil && f.Takes(row, ahead != nil && names(ahead))
}
