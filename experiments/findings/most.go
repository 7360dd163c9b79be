package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A measure is what policies are chosen by.
type measure struct {
	metric string
	does   string // what the one with most of it does, in a sentence
}

// revenue answers which policy brings the provider most.
func revenue(e *Evidence) (answer, error) {
	return e.most(measure{"revenue", "%s brings the provider most, %s a run"})
}

// inelastic answers which policy serves users best who want all or nothing.
func inelastic(e *Evidence) (answer, error) {
	return e.most(measure{"efficiency_1", "users have most under %s, %s"})
}

// elastic answers which policy serves users best to whom half of the work is worth half.
func elastic(e *Evidence) (answer, error) {
	return e.most(measure{"efficiency_0", "users have most under %s, %s"})
}

// most says at each load which policy has most of a measure, by the differences of all pairs of
// policies at all loads at once: so that it does not matter which of them was looked at.
func (e *Evidence) most(m measure) (a answer, err error) {
	policies, at := []string{"be", "sac", "cac", "rac"}, []string{"low", "high", "twice"}
	var pairs []pair
	for _, load := range at {
		for i, first := range policies {
			for _, second := range policies[i+1:] {
				pairs = append(pairs, pair{load, first, second})
			}
		}
	}
	if a.comparisons, err = e.compare("loads", []string{m.metric}, pairs, len(pairs)); err != nil {
		return a, err
	}
	for _, load := range at {
		a.sentences = append(a.sentences, e.first(m, load, a.comparisons))
	}
	return a, nil
}

// first says which policy has most at a load.
func (e *Evidence) first(m measure, load string, all []Comparison) string {
	means := make(map[string]float64)
	for i := range all {
		if c := &all[i]; c.Within == load {
			means[c.First], means[c.Second] = c.FirstMean, c.SecondMean
		}
	}
	order := slices.SortedFunc(maps.Keys(means), func(a, b string) int {
		return cmp.Or(cmp.Compare(means[b], means[a]), cmp.Compare(a, b))
	})
	top := order[0]
	var more, doubts []string
	for _, other := range order[1:] {
		i := slices.IndexFunc(all, func(c Comparison) bool {
			return c.Within == load && (c.First == top && c.Second == other || c.First == other && c.Second == top)
		})
		if c := all[i].from(top); c.Verdict == higher {
			more = append(more, fmt.Sprintf("%s more than under %s", c.apart(), e.Labels.Of(other)))
		} else {
			doubts = append(doubts, fmt.Sprintf("it and %s %s", e.Labels.Of(other), c.doubt()))
		}
	}
	text := fmt.Sprintf("%s %s", loads[load], fmt.Sprintf(m.does, e.Labels.Of(top), value(m.metric, means[top])))
	if len(more) > 0 {
		text += ": " + list(more)
	}
	if len(doubts) > 0 {
		text += "; " + list(doubts)
	}
	return text + "."
}
