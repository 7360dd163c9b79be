package papers

import (
	_ "embed"
	"encoding/json"
)

//go:embed measured.json
var measured []byte

// A Cost is the measured cost of running a preset with its replications.
type Cost struct {
	Seconds   float64 `json:"seconds"`   // processor time in seconds, including reading the scenario and writing results
	Megabytes float64 `json:"megabytes"` // maximum memory with one worker
}

// Measured returns the cost of each preset. A test of the command bourse compares these costs
// with new measurements.
func Measured() map[string]Cost {
	var all map[string]Cost
	if err := json.Unmarshal(measured, &all); err != nil {
		panic("papers: measured.json: " + err.Error())
	}
	return all
}
