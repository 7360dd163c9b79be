package volunteers

import (
	"fmt"
	"math/rand/v2"

	"bourse/experiments/metrics"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/workloadgen/config"
)

// A Rival is a predictor with a name that considers a given number of past days.
type Rival struct {
	Name      string // tde, tde-floor, naive or renewal
	Days      int
	Predictor predictors.Predictor
}

// rivals returns the paper's predictor with completions rounded up and with completions
// rounded down, the naive predictor and the renewal predictor. Each occurs with 1 to most
// past days.
func rivals(most int) []Rival {
	var all []Rival
	for _, kind := range []struct {
		name, of string
		options  map[string]any
	}{
		{"tde", "tde", nil},
		{"tde-floor", "tde", map[string]any{"count": "floor"}},
		{"naive", "naive", nil},
		{"renewal", "renewal", nil},
	} {
		for days := 1; days <= most; days++ {
			spec := config.Spec{Name: kind.of, Options: map[string]any{"days": days}}
			for k, v := range kind.options {
				spec.Options[k] = v
			}
			p, err := predictors.Table().New(spec.Name, spec.Decode)
			if err != nil {
				panic("volunteers: " + err.Error()) // these options are good
			}
			all = append(all, Rival{kind.name, days, p})
		}
	}
	return all
}

// A Trial states how rivals are queried.
type Trial struct {
	Replications int
	Probes       int     // number of hosts in each replication; if the trace has fewer hosts, all of them
	Last         float64 // predictions are made in this number of seconds at the end of a trace
	Bins         int     // number of bins of a diagram
	Band         float64 // probability of the bands, in (0,1)

	// Trace returns the trace of a replication, which may be the same for all. Chance
	// returns the random source of the replication's probes. Lengths are the job lengths in
	// the paper (§5).
	Trace  func(rep int) (*availability.Trace, error)
	Chance func(rep int) rand.Source
}

// A Score is the result of one rival.
type Score struct {
	Rival
	Diagram           // computed from the probes of all replications
	Probes  int       // number of probes
	Briers  []float64 // by replication
}

// Run asks every rival the same questions in the same order. Each question has a host, a
// time and a length.
func (t Trial) Run(rivals []Rival) ([]Score, error) {
	out := make([]Score, len(rivals))
	probes := make([][]metrics.Promise, len(rivals))
	week := week()
	for rep := range t.Replications {
		trace, err := t.Trace(rep)
		if err != nil {
			return nil, err
		}
		_, end := trace.Span()
		for i, r := range rivals {
			rng := rand.New(t.Chance(rep))
			own := Probes(rng, r.Predictor, trace, week.length, max(end-t.Last, 0), end, t.Probes)
			if len(own) == 0 {
				return nil, fmt.Errorf("replication %d: no host is available for a job in the last %v s of the trace", rep, t.Last)
			}
			out[i].Briers = append(out[i].Briers, reliability(own, 1, t.Band).Brier)
			probes[i] = append(probes[i], own...)
		}
	}
	for i, r := range rivals {
		out[i].Rival, out[i].Probes = r, len(probes[i])
		out[i].Diagram = reliability(probes[i], t.Bins, t.Band)
	}
	return out, nil
}
