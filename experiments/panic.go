package experiments

import (
	"fmt"
	"strings"

	"bourse/experiments/recovered"
	"bourse/experiments/scenario"
)

// A Panic is a panic during an experiment, with the run in which it occurred. The run is
// invalid, and so is the experiment.
type Panic struct {
	Scenario      string
	Configuration string // empty if unknown; the same applies to the following field
	Policy        string
	Replication   int // -1 if unknown
	Seed          uint64

	Cause *recovered.Panic
}

// place returns a Panic that identifies a replication of e.
func place(e *scenario.Experiment, configuration, rep int) Panic {
	return Panic{Scenario: e.Name, Configuration: e.Configurations[configuration].Name, Replication: rep, Seed: e.Seed}
}

// Error describes the panic and where it occurred, in one line.
func (p *Panic) Error() string {
	where := []string{"scenario " + p.Scenario}
	if p.Configuration != "" {
		where = append(where, "configuration "+p.Configuration)
	}
	if p.Policy != "" {
		where = append(where, "policy "+p.Policy)
	}
	if p.Replication >= 0 {
		where = append(where, fmt.Sprintf("replication %d", p.Replication))
	}
	return fmt.Sprintf("%s, seed %d: %v", strings.Join(where, ", "), p.Seed, p.Cause)
}

// Unwrap returns the cause.
func (p *Panic) Unwrap() error { return p.Cause }

// Recovered must be deferred. Recovered converts a panic into the error at err.
func (p *Panic) Recovered(err *error) {
	if v := recover(); v != nil {
		met := *p
		met.Cause = recovered.Met(v)
		*err = &met
	}
}
