package findings

import (
	"fmt"
	"strings"
)

// guarantee answers what higher guarantees cost.
func guarantee(e *Evidence) (a answer, err error) {
	metrics := []string{"violations", "rejections", "revenue", "efficiency_1"}
	var pairs []pair
	for _, policy := range []string{"sac", "cac"} {
		for _, g := range []string{"90", "99"} {
			pairs = append(pairs, pair{"high", policy + "-" + g, policy + "-60"})
		}
	}
	if a.comparisons, err = e.compare("guarantee", metrics, pairs, len(metrics)*len(pairs)); err != nil {
		return a, err
	}
	for i, p := range pairs {
		policy, g, _ := strings.Cut(p.first, "-")
		var parts []string
		for k, m := range metrics {
			c := &a.comparisons[k*len(pairs)+i]
			switch u := units[m]; c.Verdict {
			case higher, lower:
				parts = append(parts, fmt.Sprintf("%s %s %s", u.name, c.apart(), c.Verdict))
			case same:
				parts = append(parts, u.name+" the same")
			default:
				parts = append(parts, u.name+" that "+c.doubt())
			}
		}
		a.sentences = append(a.sentences, fmt.Sprintf("Under %s a guarantee of %s %% in place of 60 %% means %s.", e.Labels.Of(policy), g, list(parts)))
	}
	return a, nil
}
