package papers

import (
	_ "embed"
	"encoding/json"
)

//go:embed measured.json
var measured []byte

// A Cost is what a preset took where it was measured, with its replications.
type Cost struct {
	Seconds   float64 `json:"seconds"`   // of a processor, with reading the scenario and writing results
	Megabytes float64 `json:"megabytes"` // of memory at most, with one worker
}

// Measured returns the cost of each preset. A test of the command measures
// them anew.
func Measured() map[string]Cost {
	var all map[string]Cost
	if err := json.Unmarshal(measured, &all); err != nil {
		panic("papers: measured.json: " + err.Error())
	}
	return all
}
