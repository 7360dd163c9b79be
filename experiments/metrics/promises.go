package metrics

// A Promise is what a predictor says of a host that comes and goes, and what came
// of it.
type Promise struct {
	Promised float64 // chance that the host stays for the job, in [0,1]
	Kept     bool    // it stayed
}

// Brier is the Brier score of the predictor: the mean of (promised - kept)², in
// [0,1], 0 at best. It is undefined unless promises were asked for.
var Brier = Metric{
	Name: "brier", Less: true, Unit: "1", Bound: Proportion,
	Doc:    "mean of (promised - kept)² over what the scenario's predictor is asked on the last day: jobs on hosts that are there, drawn by lot; 0 at best; asked for if a figure shows it",
	Trials: asked,
	Of: ofPromises(func(p Promise) float64 {
		miss := p.Promised - one(p.Kept)
		return miss * miss
	}),
}

// Promised is the mean of what is promised.
var Promised = Metric{
	Name: "promised", Unit: "1", Bound: Proportion,
	Doc:    "mean chance that the predictor gives those hosts to stay for those jobs",
	Trials: asked,
	Of:     ofPromises(func(p Promise) float64 { return p.Promised }),
}

// Kept is the share of promises that were kept.
var Kept = Metric{
	Name: "kept", Unit: "1", Bound: Proportion,
	Doc:    "share of those hosts that stayed for those jobs",
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

// asked returns how many promises were asked for.
func asked(o *Outcome) int { return len(o.Promises) }
