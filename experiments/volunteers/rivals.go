package volunteers

import (
	"fmt"
	"math/rand/v2"

	"bourse/experiments/metrics"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/workloadgen/config"
)

// A Rival is a named predictor that considers the given number of past days.
type Rival struct {
	Name      string // tde, tde-floor, naive or renewal
	Days      int
	Predictor predictors.Predictor
}

// rivals returns the paper's predictor with completions rounded up and down, the
// naive one and the renewal one, each with 1 to most days.
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
	Probes       int     // hosts of each replication; as many as the trace has, if fewer
	Last         float64 // predictions are made in this number of last seconds of a trace
	Bins         int     // of a diagram
	Band         float64 // probability of its bands, in (0,1)

	// Trace and Chance return the trace of a replication, which may always be the same, and
	// the random source of its probes. Lengths are the job lengths of the paper (§5).
	Trace  func(rep int) (*availability.Trace, error)
	Chance func(rep int) rand.Source
}

// A Score is the result of a rival.
type Score struct {
	Rival
	Diagram           // over the probes of all replications
	Probes  int       // as many
	Briers  []float64 // by replication
}

// Run asks every rival the same questions: about one host, time and length after another.
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
