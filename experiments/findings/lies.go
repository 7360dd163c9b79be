package findings

import (
	"fmt"

	"bourse/experiments/incentives"
)

// lies returns what answers who gains by lying, by a part in which users are tempted.
func lies(part string) func(*Evidence) (answer, error) {
	return func(e *Evidence) (a answer, err error) {
		r := e.Lies[part]
		for i := range r.Best {
			best := &r.Best[i]
			var gain []string
			count := make(map[string]int)
			for k := range r.Gains {
				g := &r.Gains[k]
				if g.Policy != best.Policy {
					continue
				}
				c := Comparison{
					Metric: "gain", Within: g.Policy, First: g.Deviation, Second: "truth", N: g.N,
					FirstMean: g.Gain.Value, Difference: g.Gain.Value, Lo: g.Gain.Lo, Hi: g.Gain.Hi, Needed: g.Needed,
				}
				c.judge()
				a.comparisons = append(a.comparisons, c)
				if count[g.Verdict]++; g.Verdict == incentives.Gains {
					gain = append(gain, fmt.Sprintf("%s (%s a user, and %s of them gain)", g.Deviation, c.apart(), shareOf(g.Share)))
				}
			}
			text := fmt.Sprintf("Under %s ", e.Labels.Of(best.Policy))
			if len(gain) > 0 {
				text += "users gain on average by " + list(gain)
			} else {
				text += "no lie gains on average"
			}
			text += fmt.Sprintf("; %d lies lose, %d change nothing, and of %d it cannot be told. Users who knew beforehand which lie serves them best, if any does, would gain %s each, and %s of them would gain at all.",
				count[incentives.Loses], count[incentives.Same], count[incentives.Untold], dollarsOf(best.Gain), shareOf(best.Share))
			a.sentences = append(a.sentences, text)
		}
		return a, nil
	}
}

func shareOf(m incentives.Mean) string {
	text := three(100*m.Value) + " "
	if m.Lo != nil {
		text += fmt.Sprintf("[%s, %s] ", three(100**m.Lo), three(100**m.Hi))
	}
	return text + "%"
}

func dollarsOf(m incentives.Mean) string {
	text := "$" + three(m.Value)
	if m.Lo != nil {
		text += fmt.Sprintf(" [%s, %s]", three(*m.Lo), three(*m.Hi))
	}
	return text
}
