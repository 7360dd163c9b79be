package findings

import (
	"fmt"

	"bourse/experiments/incentives"
)

// anarchy answers what it costs all if users answer one another's lies.
func anarchy(e *Evidence) (a answer, err error) {
	r := e.Lies["lies-high"]
	for i := range r.Answers {
		q := &r.Answers[i]
		text := fmt.Sprintf("Under %s users who answer one another settle in %d of %d markets, and go round for ever in %d", e.Labels.Of(q.Policy), q.Settled, q.N, q.Circles)
		if q.Anarchy == nil || q.Truth == nil || q.Lost == nil {
			a.sentences = append(a.sentences, text+"; there is no U*.")
			continue
		}
		c := Comparison{
			Metric: "worth", Within: q.Policy, First: "answers", Second: "truth", N: q.N,
			FirstMean: 1 / q.Anarchy.Value, SecondMean: 1 / q.Truth.Value, Difference: -q.Lost.Value, Needed: q.Needed,
		}
		if q.Lost.Lo != nil {
			lo, hi := -*q.Lost.Hi, -*q.Lost.Lo
			c.Lo, c.Hi = &lo, &hi
		}
		c.judge()
		a.comparisons = append(a.comparisons, c)
		text += fmt.Sprintf("; where they end the price of anarchy is %s, in truth %s: ", ratioOf(q.Anarchy), ratioOf(q.Truth))
		switch c.Verdict {
		case lower:
			text += "lies cost all " + c.apart() + "."
		case higher:
			text += "lies bring all " + c.apart() + "."
		case same:
			text += "the same."
		default:
			text += "the two " + c.doubt() + "."
		}
		if q.Bounds > 0 {
			text += fmt.Sprintf(" In %d of them a bound stands for U*.", q.Bounds)
		}
		a.sentences = append(a.sentences, text)
	}
	return a, nil
}

func ratioOf(r *incentives.Ratio) string {
	text := three(r.Value)
	if r.Lo != nil {
		text += fmt.Sprintf(" [%s, %s]", three(*r.Lo), three(*r.Hi))
	}
	return text
}
