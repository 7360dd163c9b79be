package scenario

import (
	"slices"
	"strings"

	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// A Judge contains the settings with which 'bourse judge' compares two policies in an
// experiment. They are registered before any policy is judged.
type Judge struct {
	Metric     string  `yaml:"metric" validate:"required" doc:"metric to compare, of which higher values are better; the comparison uses the mean over configurations in each replication"`
	Margin     float64 `yaml:"margin" validate:"gt=0,max=1e12" doc:"smallest difference that matters"`
	Confidence float64 `yaml:"confidence" validate:"gt=0,lt=1" doc:"probability that no verdict in an epoch is wrong"`
	Judgements int     `yaml:"judgements" validate:"min=1,max=1000000" doc:"maximum number of sealed judgements in an epoch"`
	Screen     int     `yaml:"screen" validate:"min=2,max=1000000" doc:"number of replications with public seeds"`
	Score      Score   `yaml:"score" doc:"numbers of replications with sealed seeds, in the first and the last comparison"`
	Gates      Gates   `yaml:"gates" doc:"conditions that a candidate must meet"`
	Sealed     string  `yaml:"sealed" doc:"hash of the secret from which sealed seeds are derived: sha256: followed by 64 hexadecimal digits"`
}

// SetDefaults sets the values of fields that the file omits.
func (j *Judge) SetDefaults() {
	*j = Judge{Margin: 0.02, Confidence: 0.95, Judgements: 20, Screen: 20, Score: Score{25, 1600}, Gates: Gates{0.05, 100_000, 0.05}}
}

// A Score contains the numbers of replications at the first and at the last comparison. Each
// comparison has twice as many replications as the one before.
type Score struct {
	From int `yaml:"from" validate:"min=2,max=1000000" doc:"number of replications before the first comparison"`
	To   int `yaml:"to" validate:"min=2,max=1000000" doc:"number of replications before the last comparison"`
}

// Gates contains the limits beyond which the result of a candidate is invalid.
type Gates struct {
	Violations float64 `json:"violations" yaml:"violations" validate:"gt=0,max=1" doc:"largest allowed increase in the fraction of violated contracts"`
	Steps      uint64  `json:"steps" yaml:"steps" validate:"min=1" doc:"largest allowed number of computation steps in one decision of a script"`
	Worst      float64 `json:"worst" yaml:"worst" validate:"gt=0,max=1e12" doc:"largest allowed decrease of the metric in a configuration"`
}

// check checks names, and constraints that involve several fields.
func (j *Judge) check(n *config.Node, names []string) error {
	if j == nil {
		return nil
	}
	if names != nil && !slices.Contains(names, j.Metric) {
		return n.Get("metric").At.Fail("judge.metric", "found %q, %s", plugin.Clip(j.Metric), plugin.OneOf(j.Metric, names))
	}
	if j.Score.From > j.Score.To {
		return n.At.Fail("judge.score", "found from: %d, want at most the value of to, %d", j.Score.From, j.Score.To)
	}
	if sum, ok := strings.CutPrefix(j.Sealed, "sha256:"); j.Sealed != "" && (!ok || len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "") {
		return n.Get("sealed").At.Fail("judge.sealed", "found %q, want sha256: and 64 digits of 0-9 and a-f, as sha256sum prints them", plugin.Clip(j.Sealed))
	}
	return nil
}
