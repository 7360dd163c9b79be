package publication

import (
	"fmt"
	"slices"
	"strings"

	"bourse/experiments"
	"bourse/experiments/contrast"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// A Report presents the results of a study as tables, figures, notes and findings.
type Report struct {
	*experiments.Study
	notes []string // notes for readers of the numbers
	drawn []string // names of the figures that were written

	// Several outputs use the next values, which are computed on first use.
	shownAs  report.Labels
	claimed  papers.Claimed
	verdicts []papers.Judged
	isJudged bool
	contrast map[string][]contrast.Row // comparisons by metric
	gains    []contrast.Row            // gains of each user, compared with the first configuration; nil unless configurations are compared
}

// labels returns the display names.
func (s *Report) labels() report.Labels {
	if s.shownAs == nil {
		s.shownAs = Labels()
	}
	return s.shownAs
}

// claims returns the papers' claims about s.
func (s *Report) claims() papers.Claimed {
	if s.claimed == nil {
		s.claimed = papers.About(s.Experiment.Name)
	}
	return s.claimed
}

// judged returns the verdicts on these claims.
func (s *Report) judged() []papers.Judged {
	if !s.isJudged {
		s.verdicts, s.isJudged = papers.JudgeStudy(s.Experiment, s.claims(), s.MetricRows), true
	}
	return s.verdicts
}

// compared compares the policies of s by a metric, or its configurations if each has its own
// policy. Replications are paired. If there is only one policy, compared returns no rows.
func (s *Report) compared(metric string) []contrast.Row {
	if rows, ok := s.contrast[metric]; ok {
		return rows
	}
	rows, err := contrast.Of(s.MetricRows(metric), s.asked(metric), s.Alike)
	if err != nil {
		rows = nil
	}
	if s.contrast == nil {
		s.contrast = make(map[string][]contrast.Row)
	}
	s.contrast[metric] = rows
	return rows
}

// asked returns the comparison of all policies by a metric, or of all configurations if each has its
// own policy.
func (s *Report) asked(metric string) contrast.Ask {
	ask := contrast.Ask{Metrics: []string{metric}, Across: contrast.Policies, Ends: metrics.Ends(), Unsized: true}
	if ownPolicies(s.Experiment) {
		ask.Across = contrast.Configurations
	}
	return ask
}

// ownPolicies reports whether e has several configurations, each with one policy that no other
// configuration has.
func ownPolicies(e *scenario.Experiment) bool {
	seen := map[string]bool{}
	for _, c := range e.Configurations {
		if len(c.Admission) != 1 || seen[c.Admission[0].Label] {
			return false
		}
		seen[c.Admission[0].Label] = true
	}
	return len(seen) > 1 && len(e.Sweep) == 0
}

// noSample returns a note on the configurations whose replications are not a sample because all
// replications are equal.
func (s *Report) noSample() []string {
	if len(s.Alike) == 0 {
		return nil
	}
	where := strings.Join(s.Alike, ", ")
	if len(s.Alike) > 5 {
		where = fmt.Sprintf("%s and %d more", strings.Join(s.Alike[:5], ", "), len(s.Alike)-5)
	}
	return []string{fmt.Sprintf("%s: every replication has the same jobs on the same hosts, so only the order of ties and the policies' random choices vary. The replications are therefore not a random sample, and the tables contain no deviations or intervals. One replication is enough. To vary the jobs, use the workload model resample, which draws jobs from a log.", where)}
}

// shortfalls returns notes on penalties that were not paid in full. Each note states the
// configuration and policy, the unpaid amount and the number of users.
func (s *Report) shortfalls() (notes []string) {
	var all experiments.Cell
	points := make(map[int]bool)
	s.Each(func(configuration, policy int, _, label string) {
		c := &s.Cells[configuration][policy]
		if c.Unpaid == 0 {
			return
		}
		points[configuration], all.Unpaid, all.Creditors = true, all.Unpaid+c.Unpaid, all.Creditors+c.Creditors
		notes = append(notes, fmt.Sprintf("%s, %s: %s", s.labels().Of(s.Experiment.Configurations[configuration].Name), s.labels().Of(label), short(c)))
	})
	if len(s.Experiment.Sweep) > 0 && len(points) > 0 {
		notes = []string{fmt.Sprintf("In %d of %d points: %s", len(points), len(s.Experiment.Configurations), short(&all))}
	}
	return notes
}

func short(c *experiments.Cell) string {
	users := "users"
	if c.Creditors == 1 {
		users = "user"
	}
	return fmt.Sprintf("Over all replications, $%.6f of the penalties owed to %d %s were not paid, because neither the hosts of these contracts nor the provider had enough money.", c.Unpaid, c.Creditors, users)
}

// jobs returns a table with the number of jobs rejected because of their deadline, and the
// number of jobs in the means of wait and slowdown. The table is empty if it is not needed.
// For a sweep, jobs instead returns a note on the rejections over all points.
func (s *Report) jobs(shown []string) (t report.Table, notes []string) {
	var all metrics.Counts
	points, open := make(map[int]bool), false
	over := "one replication"
	if n := s.Experiment.Replications; n > 1 {
		over = fmt.Sprintf("all %d replications", n)
	}
	t = report.Table{
		Title: "Jobs, over " + over, Left: 2,
		Header: []string{"configuration", "policy", "requested", "rejected: too late", "started", "completed", "open"},
		Note:   "Jobs rejected as too late could not have ended by their deadline. Waits are means over the jobs that started, and slowdowns are means over the jobs that completed. Open jobs had not ended when the run ended. All metrics except utilization omit open jobs.",
	}
	s.Each(func(configuration, policy int, name, label string) {
		n := s.Cells[configuration][policy].Jobs
		open = open || n.Open > 0
		if n.TooLate > 0 {
			points[configuration] = true
			all.Asked, all.TooLate = all.Asked+n.Asked, all.TooLate+n.TooLate
		}
		t.Rows = append(t.Rows, report.Cells(s.labels().Of(name), s.labels().Of(label), n.Asked, n.TooLate, n.Started, n.Completed, n.Open))
	})
	waits := slices.ContainsFunc(shown, func(name string) bool {
		return slices.Contains([]string{metrics.Wait.Name, metrics.WaitMedian.Name, metrics.WaitP95.Name, metrics.Slowdown.Name, metrics.BoundedSlowdown.Name}, name)
	})
	sweep := len(s.Experiment.Sweep) > 0
	if sweep && len(points) > 0 {
		notes = []string{fmt.Sprintf("In %d of %d points, policies rejected jobs that could not end by their deadline: %d of %d jobs.", len(points), len(s.Experiment.Configurations), all.TooLate, all.Asked)}
	}
	if sweep || len(points) == 0 && !waits && !open {
		t.Rows = nil
	}
	return t, notes
}

// refusals returns notes on policies that rejected every request.
func (s *Report) refusals() (notes []string) {
	m := slices.IndexFunc(s.Metrics, func(m metrics.Metric) bool { return m.Name == "rejections" })
	by := make([][]string, len(s.Experiment.Configurations))
	s.Each(func(configuration, policy int, _, label string) {
		if !slices.ContainsFunc(s.Cells[configuration][policy].Values[m], func(x float64) bool { return x != 1 }) {
			by[configuration] = append(by[configuration], s.labels().Of(label))
		}
	})
	const why = "; 'bourse explain' gives the reason for each job."
	if len(s.Experiment.Sweep) > 0 {
		all := len(by)
		if by = slices.DeleteFunc(by, func(names []string) bool { return len(names) == 0 }); len(by) > 0 {
			notes = append(notes, fmt.Sprintf("In %d of %d points, a policy refused every request%s", len(by), all, why))
		}
		return notes
	}
	for i, names := range by {
		if len(names) > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s refused every request%s", s.labels().Of(s.Experiment.Configurations[i].Name), strings.Join(names, ", "), why))
		}
	}
	return notes
}

// Studied returns the study whose results are in the directory d. The function notes
// returns additional notes on the scenario.
func Studied(d *results.Dir, notes func(*scenario.Experiment) []string) (*Report, error) {
	e, err := scenario.Stored(d.Path, d.Manifest.Scenario)
	if err != nil {
		return nil, err
	}
	said := notes(&e)
	e = e.Expanded()
	e.Replications = d.Manifest.Replications // the run may have stopped early
	units, plan, err := d.Units()
	if err != nil {
		return nil, err
	}
	at, err := where([]results.Source{units})
	if err != nil {
		return nil, err
	}
	s := &Report{Study: experiments.NewStudy(&e)}
	if err := gather(s.Study, plan, at, func(experiments.Unit, *results.Unit, string) error { return nil }); err != nil {
		return nil, err
	}
	s.notes = slices.Concat(s.told(), said, plan.Notes)
	return s, nil
}
