// Package contrast compares policies, configurations or two results directories by the
// differences of their metrics.
//
// Replications with the same seed use the same random numbers, whatever else is varied, so
// they are compared in pairs (common random numbers). Results with different seeds are
// independent samples and are compared by Welch's test. Intervals of means are the same as in
// all tables ([stats.Interval]). Intervals of differences are simultaneous: in 95 % of
// samples, every interval contains the true difference (Bonferroni). The verdict depends on
// the position of the interval.
//
// # Design
//
// Holm's correction would decide slightly more comparisons, but no simultaneous two-sided
// intervals correspond to it. With Holm's correction, a difference could be significant
// although its interval contains 0.
package contrast

import (
	"maps"
	"math"
	"slices"

	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/experiments/stats"
	"bourse/workloadgen/plugin"
)

// An Ask describes a comparison to make.
type Ask struct {
	Metrics  []string
	Across   string      // elements to compare: policies, configurations or results
	Baseline string      // element with which the others are compared; if empty, all pairs are compared
	Margin   float64     // smallest difference that matters; 0 means not stated
	Users    bool        // whether to compare the [Gain] of each user
	Pairs    [][2]string // pairs of elements to compare; if empty, Baseline determines them

	Ends map[string][2]float64 // bounds of each metric, if it has any

	Unsized bool // do not compute the number of replications that would show a difference, which takes most of the time
}

// The dimensions to compare.
const (
	Policies       = "policies"
	Configurations = "configurations"
	Results        = "results"
)

// Level is the simultaneous level of all verdicts and all intervals of differences. It is
// also the level of the interval of each mean.
const Level = 0.05

// A Row is one comparison.
type Row struct {
	Metric string `json:"metric"`
	Within string `json:"within" doc:"common part of both sides: configuration, policy or both"`
	First  string `json:"first"`
	Second string `json:"second"`

	N      int  `json:"n" doc:"number of pairs of replications, or size of the smaller sample"`
	Paired bool `json:"paired" doc:"whether each replication of one side is compared with the same replication of the other side; if not, the samples are independent and are compared by Welch's test"`

	FirstMean  *float64 `json:"first_mean"`
	FirstLo95  *float64 `json:"first_lo95" doc:"interval of the first mean; null for fewer than two values, or if all values are equal and are not fractions of trials"`
	FirstHi95  *float64 `json:"first_hi95"`
	SecondMean *float64 `json:"second_mean"`
	SecondLo95 *float64 `json:"second_lo95"`
	SecondHi95 *float64 `json:"second_hi95"`
	Difference *float64 `json:"difference" doc:"first mean minus the second mean"`
	Lo95       *float64 `json:"lo95" doc:"interval of the difference, within the metric's bounds; simultaneous at 95 % for all these comparisons (Bonferroni, Student's t); null if undefined"`
	Hi95       *float64 `json:"hi95"`
	P          *float64 `json:"p" doc:"two-sided p value for the hypothesis that there is no difference"`
	Corrected  *float64 `json:"p_corrected" doc:"p value times the number of comparisons, at most 1 (Bonferroni)"`
	Effect     *float64 `json:"effect" doc:"difference divided by the standard deviation of the paired differences or, for independent samples, by the root mean square of both standard deviations"`
	Needed     *int     `json:"needed" doc:"number of replications needed to detect the observed difference with a power of 80 % at the level of the verdict"`
	Alike      *float64 `json:"alike" doc:"corrected p value of two one-sided tests of the hypothesis that the difference is at least the margin; null without a margin"`

	Verdict string `json:"verdict" doc:"verdict. It is higher, lower or undecided if the interval of the difference is above 0, below 0 or contains 0, and alike if the interval lies within the margin. It is equal if the difference is 0, constant if the difference is the same in every replication, and no sample if all replications have the same jobs on the same hosts"`

	tested *stats.Difference // nil if the difference cannot be tested
	apart  [2]float64        // largest difference that the bounds of the metric allow
}

// Values is the JSON form of a comparison.
type Values struct {
	Across string  `json:"across"`
	Margin float64 `json:"margin,omitempty"`
	Rows   []Row   `json:"rows"`
}

// A series is the values of a metric, by replication, for one policy in one configuration
// of one directory. It omits replications in which the metric is undefined.
type series struct {
	dir                           int
	metric, configuration, policy string
	user                          string // user whose gain this is; empty for other metrics
	values                        map[int]float64
	trials                        map[int]int
	noSample                      bool // whether all replications have the same jobs on the same hosts
}

// name returns the element of s in the dimension across, and the part of the name of s that it
// shares with the other elements. If own is true, each configuration is compared under its own
// policy.
func (s *series) name(across string, own bool, dirs []*results.Dir) (name, within string) {
	switch {
	case across == Configurations && own:
		name, within = s.configuration, "all"
	case across == Configurations:
		name, within = s.configuration, s.policy
	case across == Results:
		name, within = dirs[s.dir].Path, s.configuration+", "+s.policy
	default:
		name, within = s.policy, s.configuration
	}
	switch {
	case s.user == "":
	case within == "all":
		within = "user " + s.user
	default:
		within += ", user " + s.user
	}
	return name, within
}

// own reports whether each configuration has one policy and all these policies differ. In this
// case, configurations can be compared only under different policies.
func own(all []*series) bool {
	of, by := map[string]string{}, map[string]string{}
	for _, s := range all {
		of[s.configuration], by[s.policy] = s.policy, s.configuration
	}
	return len(of) > 1 && !slices.ContainsFunc(all, func(s *series) bool {
		return of[s.configuration] != s.policy || by[s.policy] != s.configuration
	})
}

// mostRows is the maximum number of comparisons.
const mostRows = 20_000

// Compare makes the requested comparisons in one results directory or between two.
func Compare(dirs []*results.Dir, ask Ask) (rows []Row, err error) {
	if ask.Across == Results != (len(dirs) == 2) {
		return nil, misuse.Errorf("found %d results directories, want two for --across %s, and one for other comparisons", len(dirs), Results)
	}
	var all []*series
	if ask.Users {
		for i, dir := range dirs {
			some, err := gains(i, dir)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		ask.Metrics = nil
	}
	for _, metric := range ask.Metrics {
		some, err := read(dirs, metric)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return compare(all, ask, dirs, len(dirs) == 1 || dirs[0].Manifest.Seed == dirs[1].Manifest.Seed)
}

// Of makes the requested comparisons on rows. The replications of the configurations in alike
// are identical and therefore not a sample.
func Of(rows []results.Metric, ask Ask, alike []string) ([]Row, error) {
	var all []*series
	for _, metric := range ask.Metrics {
		all = append(all, inRows(0, rows, metric, alike)...)
	}
	return compare(all, ask, nil, true)
}

// compare makes all comparisons, one metric at a time.
func compare(all []*series, ask Ask, dirs []*results.Dir, paired bool) (rows []Row, err error) {
	if ask.Users {
		ask.Metrics = []string{Gain}
	}
	own := own(all)
	for _, metric := range ask.Metrics {
		groups, order := map[string][]*series{}, []string{}
		known := []string{}
		for _, s := range all {
			if s.metric != metric {
				continue
			}
			name, within := s.name(ask.Across, own, dirs)
			if groups[within] == nil {
				order = append(order, within)
			}
			groups[within] = append(groups[within], s)
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
		if ask.Baseline != "" && !slices.Contains(known, ask.Baseline) {
			return nil, misuse.Errorf("baseline: %s", plugin.Unknown(ask.Baseline, known))
		}
		for _, within := range order {
			for _, pair := range pairs(groups[within], ask, own, dirs) {
				first, _ := pair[0].name(ask.Across, own, dirs)
				second, _ := pair[1].name(ask.Across, own, dirs)
				r := Row{Metric: metric, Within: within, First: first, Second: second}
				if pair[0].noSample || pair[1].noSample {
					r.Verdict = "no sample"
				}
				r.test(pair[0], pair[1], paired, ask)
				if rows = append(rows, r); len(rows) > mostRows {
					return nil, misuse.Errorf("found more than %d comparisons, want a baseline or fewer metrics", mostRows)
				}
			}
		}
	}
	if len(rows) == 0 {
		return nil, misuse.Errorf("found only one value to compare across %s, want two or more", ask.Across)
	}
	family := 0
	for i := range rows {
		if rows[i].tested != nil {
			family++
		}
	}
	for i := range rows {
		rows[i].judge(Level/float64(max(1, family)), ask)
	}
	return rows, nil
}

// read returns all series of a metric, in the order of the files.
func read(dirs []*results.Dir, metric string) (all []*series, err error) {
	for i, dir := range dirs {
		rows, err := dir.Metrics(metric)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			return nil, misuse.Errorf("%s: found no metric %q; 'bourse scenario options metric' lists all metrics", dir.Path, metric)
		}
		all = append(all, inRows(i, rows, metric, dir.Manifest.Alike)...)
	}
	return all, nil
}

// inRows returns all series of a metric in the rows of one directory, in order.
func inRows(dir int, rows []results.Metric, metric string, alike []string) (all []*series) {
	at := map[[2]string]*series{}
	for _, row := range rows {
		if row.Metric != metric {
			continue
		}
		of := [2]string{row.Configuration, row.Admission}
		if at[of] == nil {
			at[of] = &series{dir, metric, row.Configuration, row.Admission, "", map[int]float64{}, map[int]int{}, slices.Contains(alike, row.Configuration)}
			all = append(all, at[of])
		}
		if row.Value != nil {
			at[of].values[row.Replication] = *row.Value
			if row.Trials != nil {
				at[of].trials[row.Replication] = *row.Trials
			}
		}
	}
	return all
}

// pairs returns the pairs in a group that are compared.
func pairs(group []*series, ask Ask, own bool, dirs []*results.Dir) (all [][2]*series) {
	for _, names := range ask.Pairs {
		at := [2]int{}
		for k := range names {
			at[k] = slices.IndexFunc(group, func(s *series) bool { name, _ := s.name(ask.Across, own, dirs); return name == names[k] })
		}
		if at[0] >= 0 && at[1] >= 0 {
			all = append(all, [2]*series{group[at[0]], group[at[1]]})
		}
	}
	if len(ask.Pairs) > 0 {
		return all
	}
	for i, s := range group {
		name, _ := s.name(ask.Across, own, dirs)
		if ask.Baseline != "" {
			if name == ask.Baseline {
				for _, other := range slices.Delete(slices.Clone(group), i, i+1) {
					all = append(all, [2]*series{other, s})
				}
			}
			continue
		}
		for _, other := range group[i+1:] {
			all = append(all, [2]*series{s, other})
		}
	}
	return all
}

// test sets every field of r that does not depend on other rows.
func (r *Row) test(first, second *series, paired bool, ask Ask) {
	var other [2]*series // series whose replications are used; nil means that all replications are used
	if paired {
		other = [2]*series{second, first}
	}
	ends := ask.Ends[r.Metric]
	xs, ofX := first.sample(other[0], ends)
	ys, ofY := second.sample(other[1], ends)
	r.Paired, r.N = paired, min(len(xs), len(ys))
	if r.N == 0 {
		return
	}
	compare := stats.Welch
	if paired {
		compare = stats.Pairs
	}
	d, ok := compare(xs, ys)
	least, most := math.Inf(-1), math.Inf(1)
	if ends, ok := ask.Ends[r.Metric]; ok && within(xs, ends) && within(ys, ends) {
		least, most = ends[0], ends[1]
	}
	r.FirstMean, r.FirstLo95, r.FirstHi95 = mean(xs, ofX)
	r.SecondMean, r.SecondLo95, r.SecondHi95 = mean(ys, ofY)
	r.Difference = &d.Mean
	if !ok || r.Verdict != "" {
		if r.Verdict == "" && r.N > 1 && d.Mean == 0 {
			r.Verdict = "equal"
		} else if r.Verdict == "" && r.N > 1 {
			r.Verdict = "constant"
		}
		return
	}
	r.tested, r.apart = &d, [2]float64{least - most, most - least}
}

// sample returns the values of s by replication. If other is not nil, the result contains only
// the replications that other also contains. It also returns the numbers of trials.
func (s *series) sample(other *series, ends [2]float64) (xs []float64, of stats.Quantity) {
	of.Lo, of.Hi = ends[0], ends[1]
	known := true
	for _, rep := range slices.Sorted(maps.Keys(s.values)) {
		if other != nil {
			if _, ok := other.values[rep]; !ok {
				continue
			}
		}
		n, ok := s.trials[rep]
		known = known && ok
		of.Trials += n
		xs = append(xs, s.values[rep])
	}
	if !known {
		of.Trials = 0
	}
	return xs, of
}

// mean returns the mean of xs and the interval of this mean.
func mean(xs []float64, of stats.Quantity) (mean, lo, hi *float64) {
	s := stats.Summarize(xs, of)
	if !s.HasInterval() {
		return &s.Mean, nil, nil
	}
	return &s.Mean, &s.Lo95, &s.Hi95
}

// within reports whether all values lie between ends. A metric that is a fraction may exceed
// its bounds. This happens, for example, if users obtain more or less utility than expected.
func within(xs []float64, ends [2]float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return x < ends[0] || x > ends[1] })
}

// judge sets the interval at level alpha and the verdict that follows from it. This level
// is the level of all rows divided by the number of rows.
func (r *Row) judge(alpha float64, ask Ask) {
	if r.tested == nil {
		if r.Verdict == "" {
			r.Verdict = "undecided"
		}
		return
	}
	d := r.tested
	lo, hi := d.Interval(alpha)
	lo, hi = max(lo, r.apart[0]), min(hi, r.apart[1])
	p := d.P()
	corrected := min(1, p*Level/alpha)
	r.Lo95, r.Hi95, r.P, r.Corrected, r.Effect = &lo, &hi, &p, &corrected, &d.Effect
	if !ask.Unsized {
		if n, ok := stats.SampleFor(d.Effect, 0.8, d.Paired, alpha); ok {
			r.Needed = &n
		}
	}
	switch {
	case lo > 0:
		r.Verdict = "higher"
	case hi < 0:
		r.Verdict = "lower"
	default:
		r.Verdict = "undecided"
	}
	if ask.Margin <= 0 {
		return
	}
	alike := min(1, d.Beyond(ask.Margin)*Level/alpha)
	r.Alike = &alike
	switch {
	case alike > Level:
	case r.Verdict == "undecided":
		r.Verdict = "alike"
	default:
		r.Verdict += ", alike"
	}
}

// Decided reports whether the verdict is higher or lower.
func (r *Row) Decided() bool {
	return r.Lo95 != nil && (*r.Lo95 > 0 || *r.Hi95 < 0)
}
