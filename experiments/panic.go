package experiments

import (
	"fmt"
	"strings"

	"bourse/experiments/rescue"
	"bourse/experiments/scenario"
)

// A Panic is a panic met while an experiment ran, and what was run. The run is void,
// and so is the experiment.
type Panic struct {
	Scenario      string
	Configuration string // empty where it was of none, as the next two
	Policy        string
	Replication   int // -1
	Seed          uint64

	Cause *rescue.Panic
}

// place returns what a panic in a replication says of where it was.
func place(e *scenario.Experiment, configuration, rep int) Panic {
	return Panic{Scenario: e.Name, Configuration: e.Configurations[configuration].Name, Replication: rep, Seed: e.Seed}
}

// Error says what it was in one line, and where.
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

// recovered, deferred, makes a panic the error that is returned.
func (p *Panic) recovered(err *error) {
	if v := recover(); v != nil {
		met := *p
		met.Cause = rescue.Met(v)
		*err = &met
	}
}
