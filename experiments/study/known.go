package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TuneKnown is the name of the file that stores the replications of a search.
const TuneKnown = "replications.json"

// A known contains the replications of the settings of a search.
type known struct {
	Of     string           `json:"of"` // identifies the search
	Values [][]report.Maybe `json:"values"`
}

// fingerprint identifies a search. The fingerprint depends on the settings, the files that
// they read, the metric and the version of the program.
func fingerprint(p *experiments.Prepared, metric string) (string, error) {
	sum := sha256.New()
	v := results.BuildVersion()
	fmt.Fprintln(sum, v.Version, v.Revision, metric)
	for _, path := range slices.Sorted(maps.Keys(p.Inputs)) {
		fmt.Fprintln(sum, path, p.Inputs[path])
	}
	err := scenario.Write(sum, *p.Experiment)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// readKnown reads the replications from text. They must belong to the search with the given
// size and fingerprint. If text is empty, there are no replications.
func readKnown(text []byte, of string, settings int) (*known, error) {
	k := &known{Of: of, Values: make([][]report.Maybe, settings)}
	if text == nil {
		return k, nil
	}
	found := new(known)
	if err := json.Unmarshal(text, found); err != nil {
		return nil, misuse.Errorf("%s: not a result of a search: %w", TuneKnown, err)
	}
	if found.Of != of || len(found.Values) != settings {
		return nil, misuse.Errorf("%s: found replications of other settings, of another metric or of another version of bourse", TuneKnown)
	}
	return found, nil
}

// text returns the replications in k and those run since then.
func (k *known) text(values [][]float64) ([]byte, error) {
	for arm, all := range values {
		for _, x := range all[min(len(all), len(k.Values[arm])):] {
			k.Values[arm] = append(k.Values[arm], report.Maybe(x))
		}
		k.Values[arm] = report.List(k.Values[arm])
	}
	text, err := json.Marshal(k)
	return append(text, '\n'), err
}
