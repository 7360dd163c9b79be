// Package models holds the models of work plans, one to a file.
//
// It knows distributions, values and traces; it does not know hosts, prices or
// policies. To add a model, write its file and its line in the table below.
package models

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"bourse/workloadgen"
)

// A member is one line of the table.
type member struct {
	doc string
	new func(decode func(any) error) (workloadgen.Model, error)
}

// members is the table. It is a function, for a file names a member.
func members() map[string]member {
	return map[string]member{
		"exponential": {"Poisson arrivals, exponential runtimes", newExponential},
		"file":        {"a model file, as a fit writes it", newFile},
		"independent": {"a law for each quantity: what fits write, and Poisson streams", newIndependent},
		"lublin":      {"Lublin and Feitelson: daily cycle, powers of two, runtimes that grow with size", newLublin},
		"paper":       {"the market paper's: HypWeib arrivals, PolyLin runtimes, BinBin sizes, budgets by value", newPaper},
		"regular":     {"submissions at regular intervals, as on volunteer hosts, a law of runtimes", newRegular},
		"resample":    {"a recorded log, drawn from with replacement", newResample},
		"swf":         {"a recorded log, replayed", newSWF},
	}
}

// New makes the named model. Decode fills in the model's own options and
// rejects unknown fields; nil leaves the defaults. No model draws when it is
// made: rng may be nil.
func New(name string, decode func(any) error, _ *rand.Rand) (workloadgen.Model, error) {
	m, ok := members()[name]
	if !ok {
		return nil, fmt.Errorf("unknown workload model %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	if decode == nil {
		decode = func(any) error { return nil }
	}
	w, err := m.new(decode)
	if err != nil {
		return nil, fmt.Errorf("workload model %s: %w", name, err)
	}
	return w, nil
}

// Names returns the names of the models, sorted.
func Names() []string { return slices.Sorted(maps.Keys(members())) }

// Doc returns one line on the named model, empty if there is none.
func Doc(name string) string { return members()[name].doc }
