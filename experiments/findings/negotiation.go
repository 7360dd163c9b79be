package findings

import (
	"fmt"
	"strings"
)

// negotiationUsers answers what it is worth to users to hear offers.
func negotiationUsers(e *Evidence) (answer, error) {
	return e.negotiation("efficiency_1")
}

// negotiationProvider answers what it is worth to the provider.
func negotiationProvider(e *Evidence) (answer, error) {
	return e.negotiation("revenue")
}

// negotiation compares users who hear offers with those who hear none.
func (e *Evidence) negotiation(metric string) (a answer, err error) {
	var pairs []pair
	for _, load := range []string{"low", "high"} {
		for _, policy := range []string{"sac", "cac"} {
			for _, user := range []string{"rational", "impatient"} {
				pairs = append(pairs, pair{load, policy + "-" + user, policy})
			}
		}
	}
	if a.comparisons, err = e.compare("negotiation", []string{metric}, pairs, len(pairs)); err != nil {
		return a, err
	}
	u := units[metric]
	for i := range a.comparisons {
		c := &a.comparisons[i]
		who := c.First[len(c.Second)+1:]
		text := fmt.Sprintf("%s under %s, where %s users hear offers, %s ", loads[c.Within], e.Labels.Of(c.Second), who, u.name)
		switch c.Verdict {
		case higher:
			text += fmt.Sprintf("is %s higher, %s in place of %s.", c.apart(), value(metric, c.FirstMean), value(metric, c.SecondMean))
		case lower:
			text += fmt.Sprintf("is %s lower, %s in place of %s.", c.apart(), value(metric, c.FirstMean), value(metric, c.SecondMean))
		case same:
			text += "is the same."
		default:
			text += "with and without them " + c.doubt() + "."
		}
		a.sentences = append(a.sentences, text)
	}
	if strings.HasPrefix(metric, "efficiency") {
		a.sentences = append(a.sentences, "An offer may change a job's number of nodes, which leaves a planner room: U* is a bound here, over all schedules.")
	}
	return a, nil
}
