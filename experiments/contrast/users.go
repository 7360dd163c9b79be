package contrast

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"bourse/experiments/results"
)

// Gain is the metric that is compared for each user, in dollars. It is the value of the user's
// jobs that were done in time, minus the user's payments, plus the penalties that the user received.
const Gain = "gain"

// A Gains contains the gains of users, to which jobs can be added.
type Gains struct {
	of    map[gainer]*series
	order map[[2]string]int // configurations and policies in the order of the rows
}

// A gainer is a user under a policy of a configuration.
type gainer struct{ configuration, policy, user string }

// Add adds the value, the payment and the penalty of a job to the gain of its user.
func (g *Gains) Add(j *results.Job) { g.add(0, j, nil) }

func (g *Gains) add(at int, j *results.Job, alike []string) {
	if g.of == nil {
		g.of, g.order = map[gainer]*series{}, map[[2]string]int{}
	}
	k := gainer{j.Configuration, j.Admission, j.User}
	s := g.of[k]
	if s == nil {
		s = &series{dir: at, metric: Gain, configuration: j.Configuration, policy: j.Admission, user: j.User, values: map[int]float64{}, noSample: slices.Contains(alike, j.Configuration)}
		g.of[k] = s
		if _, known := g.order[[2]string{j.Configuration, j.Admission}]; !known {
			g.order[[2]string{j.Configuration, j.Admission}] = len(g.order)
		}
	}
	gain := results.Money(0)
	if j.Fulfilled != nil && *j.Fulfilled {
		gain += j.Value
	}
	if j.Paid != nil {
		gain -= *j.Paid
	}
	if j.Penalty != nil {
		gain += *j.Penalty
	}
	s.values[j.Replication] += float64(gain) / 1e6
}

// Compare compares the gains of each user under every configuration with the gains under the
// baseline.
func (g *Gains) Compare(baseline string) ([]Row, error) {
	return compare(g.all(), Ask{Across: Configurations, Baseline: baseline, Users: true, Unsized: true}, nil, true)
}

// all returns all gains, sorted by configuration and policy in the order of the rows, then by
// user.
func (g *Gains) all() []*series {
	number := func(s *series) int { n, _ := strconv.Atoi(s.user); return n }
	return slices.SortedFunc(maps.Values(g.of), func(a, b *series) int {
		return cmp.Or(g.order[[2]string{a.configuration, a.policy}]-g.order[[2]string{b.configuration, b.policy}], number(a)-number(b), cmp.Compare(a.user, b.user))
	})
}

// gains returns the gain of each user in a directory.
func gains(at int, dir *results.Dir) ([]*series, error) {
	var g Gains
	row := 0
	for j, err := range dir.Jobs(func(int) bool { return true }, &row) {
		if err != nil {
			return nil, err
		}
		g.add(at, &j, dir.Manifest.Alike)
	}
	return g.all(), nil
}
