// Package value says what jobs are worth, relative to one another (§2, "Job
// Value"), one law to a file.
//
// It does not know dollars: a model of work plans turns worth into budgets. To
// add a law, write its file and its line in the table below.
package value

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Model is a law of relative values.
type Model interface {
	// Quantile returns the value, at least 0, that the uniform u in (0,1) falls
	// on.
	Quantile(u float64) float64
}

// A member is one line of the table.
type member struct {
	doc string
	new func(decode func(any) error) (Model, error)
}

var table = map[string]member{
	"equal":  {"every job is worth the same", newEqual},
	"normal": {"normal, cut below", newNormal},
	"pareto": {"power law: a few jobs are worth much more", newPareto},
}

// New makes the named model. Decode fills in its options and rejects unknown
// fields; nil leaves the defaults. No model draws when it is made: rng may be
// nil.
func New(name string, decode func(any) error, _ *rand.Rand) (Model, error) {
	m, ok := table[name]
	if !ok {
		return nil, fmt.Errorf("unknown value model %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	if decode == nil {
		decode = func(any) error { return nil }
	}
	v, err := m.new(decode)
	if err != nil {
		return nil, fmt.Errorf("value model %s: %w", name, err)
	}
	return v, nil
}

// Names returns the names of the models, sorted.
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// Doc returns one line on the named model, empty if there is none.
func Doc(name string) string { return table[name].doc }
