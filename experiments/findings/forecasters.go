package findings

import (
	"fmt"
	"slices"
)

// promise is how many contracts sac may break with the guarantee that the part has.
const promise = 0.1

// forecasters answers whose forecasts make sac keep nine contracts in ten.
func forecasters(e *Evidence) (a answer, err error) {
	var names []string
	for _, r := range e.Rows["forecasters"] {
		if !slices.Contains(names, r.Configuration) {
			names = append(names, r.Configuration)
		}
	}
	policies := []string{"sac-price", "sac-share", "sac-learns"}
	how := []string{"by the price of a processor", "by the share that the work needs", "as its own verdicts teach it"}
	for i, policy := range policies {
		kept, broken, doubt := []string{}, []string{}, []string{}
		for _, name := range names {
			c, err := e.promised("forecasters", "violations", name, policy, promise, len(names)*len(policies))
			if err != nil {
				return a, err
			}
			c.need()
			a.comparisons = append(a.comparisons, c)
			broke := value(c.Metric, c.FirstMean)
			if c.Lo != nil {
				broke += fmt.Sprintf(" [%s, %s]", three(100*(*c.Lo+promise)), three(100*(*c.Hi+promise)))
			}
			said := fmt.Sprintf("%s (%s)", name, broke)
			switch c.Verdict {
			case lower:
				kept = append(kept, said)
			case higher:
				broken = append(broken, said)
			default:
				if c.Needed != nil {
					said = fmt.Sprintf("%s (%s; %d replications would tell)", name, broke, *c.Needed)
				}
				doubt = append(doubt, said)
			}
		}
		text := fmt.Sprintf("SAC that promises to break at most %s of its contracts, and judges %s,", value("violations", promise), how[i])
		say := func(words string, who []string) {
			if len(who) > 0 {
				a.sentences = append(a.sentences, fmt.Sprintf("%s %s with %s.", text, words, list(who)))
			}
		}
		say("keeps its promise", kept)
		say("breaks it", broken)
		say("cannot be told to keep it or not", doubt)
	}
	return a, nil
}
