// Package models generates availability traces. It is independent of jobs and schedulers.
//
// To add a model, write its file and add a line to the table below.
package models

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"bourse/hosts/availability"
	"bourse/workloadgen/plugin"
)

// A Model generates traces. The same source gives the same trace. A larger fleet starts with
// the hosts of a smaller one.
type Model interface {
	// Trace returns a trace of n hosts over span seconds from 0, in whole
	// seconds.
	Trace(rng *rand.Rand, n int, span float64) (*availability.Trace, error)
}

// Table returns the models. Creating a model draws no random numbers.
func Table() plugin.Table[Model] {
	return plugin.Table[Model]{Kind: "availability model", Members: plugin.Members[Model]{
		"diurnal":     {"owners with habitual and random sessions, and hosts that are off at night", newDiurnal},
		"intervals":   {"a renewal process with the interval distributions of a recorded system", newIntervals},
		"markov":      {"a Markov chain of the five states", newMarkov},
		"workstation": {"short, medium and long intervals, each dependent on the last", newWorkstation},
	}}
}

// fleet creates a trace of n hosts. Each host has its own source, seeded by rng, so hosts are
// independent of one another.
func fleet(rng *rand.Rand, n int, span float64, host func(rng *rand.Rand, w *writer)) (*availability.Trace, error) {
	t := &availability.Trace{}
	for i := range n {
		own := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
		w := &writer{span: span}
		host(own, w)
		h, err := availability.NewHistory(strconv.Itoa(i), 1, w.records, availability.Gap)
		if err != nil {
			return nil, fmt.Errorf("availability model: %w", err)
		}
		t.Hosts = append(t.Hosts, h)
	}
	return t, nil
}
