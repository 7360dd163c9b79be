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

// gains returns the gain of each user in a directory. It sorts them by configuration and policy
// in the order of the rows, then by user.
func gains(at int, dir *results.Dir) ([]*series, error) {
	type key struct{ configuration, policy, user string }
	of, order := map[key]*series{}, map[[2]string]int{}
	row := 0
	for j, err := range dir.Jobs(func(int) bool { return true }, &row) {
		if err != nil {
			return nil, err
		}
		k := key{j.Configuration, j.Admission, j.User}
		s := of[k]
		if s == nil {
			s = &series{dir: at, metric: Gain, configuration: j.Configuration, policy: j.Admission, user: j.User, values: map[int]float64{}, noSample: slices.Contains(dir.Manifest.Alike, j.Configuration)}
			of[k] = s
			if _, known := order[[2]string{j.Configuration, j.Admission}]; !known {
				order[[2]string{j.Configuration, j.Admission}] = len(order)
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
	number := func(s *series) int { n, _ := strconv.Atoi(s.user); return n }
	return slices.SortedFunc(maps.Values(of), func(a, b *series) int {
		return cmp.Or(order[[2]string{a.configuration, a.policy}]-order[[2]string{b.configuration, b.policy}], number(a)-number(b), cmp.Compare(a.user, b.user))
	}), nil
}
