package metrics

// A Promise is a prediction of whether a host stays, with the actual outcome.
type Promise struct {
	Promised float64 // predicted probability that the host stays for the job, in [0,1]
	Kept     bool    // whether the host stayed
}

// Brier is the Brier score of the predictor: the mean of (promised - kept)². The score is
// between 0 (best) and 1, and undefined if no predictions were requested.
var Brier = Metric{
	Name: "brier", Less: true, Unit: "1", Bound: Proportion,
	Doc:    "mean of (predicted - realized)² for predictions on the last day, with random jobs on available hosts; 0 is best; computed only if a figure shows the metric",
	Trials: asked,
	Of: ofPromises(func(p Promise) float64 {
		miss := p.Promised - one(p.Kept)
		return miss * miss
	}),
}

// Promised is the mean predicted probability.
var Promised = Metric{
	Name: "promised", Unit: "1", Bound: Proportion,
	Doc:    "mean predicted probability that an available host stays for the duration of a random job",
	Trials: asked,
	Of:     ofPromises(func(p Promise) float64 { return p.Promised }),
}

// Kept is the fraction of promises that were kept.
var Kept = Metric{
	Name: "kept", Unit: "1", Bound: Proportion,
	Doc:    "fraction of the predictions for which the host stayed for the duration of the job",
	Trials: asked,
	Of:     ofPromises(func(p Promise) float64 { return one(p.Kept) }),
}

func ofPromises(f func(Promise) float64) func(*Outcome) (float64, bool) {
	return func(o *Outcome) (float64, bool) {
		sum := 0.0
		for _, p := range o.Promises {
			sum += f(p)
		}
		return sum / float64(max(len(o.Promises), 1)), len(o.Promises) > 0
	}
}

// asked returns the number of predictions requested.
func asked(o *Outcome) int { return len(o.Promises) }
