package experiments

import (
	"math/rand/v2"
	"slices"

	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	"bourse/experiments/volunteers"
	"bourse/hosts/availability"
)

// asked is the number of predictions requested from a predictor in each replication.
const asked = 5000

// wantsPromises reports whether the figure of e shows a metric about availability promises.
func wantsPromises(e *scenario.Experiment) bool {
	return e.Figure != nil && slices.ContainsFunc(e.Figure.Metrics, func(m string) bool {
		return m == metrics.Brier.Name || m == metrics.Promised.Name || m == metrics.Kept.Name
	})
}

// The function promises requests predictions from the predictor of s. The predictions concern
// jobs of the plan on hosts that are present on the last day of the trace. The random stream
// "probes" selects the jobs and hosts, so they are the same for all predictors. It returns no
// predictions if hosts never leave.
func (a *workspace) promises(s *setting, seed uint64, rep int) []metrics.Promise {
	if a.churn == nil || len(a.plan) == 0 {
		return nil
	}
	end := min(s.churn.end, s.horizon())
	rng := rand.New(scenario.Stream(seed, rep, "probes"))
	length := func(rng *rand.Rand) float64 { return a.plan[rng.IntN(len(a.plan))].Runtime }
	return volunteers.Probes(rng, s.churn.predictor, &availability.Trace{Hosts: a.histories}, length, max(end-availability.Day, 0), end, asked)
}
