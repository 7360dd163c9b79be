package findings

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.yaml
var scenarios embed.FS

// A Part is what the study runs as a whole: a scenario, or users of one who are tempted to lie.
type Part struct {
	Name         string
	Scenario     []byte // YAML
	Replications int
	Seed         uint64
	Seconds      float64 // about what a replication of all configurations takes one worker
	Tempt        *Tempt  // nil: the scenario is run
}

// Tempt says whom of a part to tempt.
type Tempt struct {
	Configuration  string
	Users, Answers int // as of experiments.Temptations
	Rounds         int
	Alpha, Epsilon float64
}

// Parts returns what the findings of these names rest on, or all do if there are none, with
// these forecasters.
func Parts(forecasters []string, names ...string) ([]Part, error) {
	asked, err := chosen(names)
	if err != nil {
		return nil, err
	}
	text := func(name string) []byte {
		data, err := scenarios.ReadFile(name + ".yaml")
		if err != nil {
			panic("findings: " + err.Error())
		}
		return data
	}
	all := text("forecasters")
	for _, f := range slices.Sorted(slices.Values(forecasters)) {
		all = fmt.Appendf(all, "  - {name: %s, market: {forecaster: %s}}\n", f, f)
	}
	tempt := func(load string) *Tempt {
		return &Tempt{Configuration: load, Users: 10, Answers: 60, Rounds: 30, Alpha: 1, Epsilon: 1}
	}
	parts := []Part{
		{"loads", text("loads"), 300, 2301, 0.01, nil},
		{"guarantee", text("guarantee"), 300, 2302, 0.01, nil},
		{"forecasters", all, 300, 2303, 0.01, nil},
		{"negotiation", text("negotiation"), 60, 2304, 1.5, nil},
		{"lies-high", text("loads"), 100, 2305, 0.5, tempt("high")},
		{"lies-low", text("loads"), 100, 2306, 0.45, tempt("low")},
	}
	return slices.DeleteFunc(parts, func(p Part) bool {
		return !slices.ContainsFunc(asked, func(f finding) bool { return slices.Contains(f.parts, p.Name) })
	}), nil
}

// On returns which findings rest on a part, by name.
func (p *Part) On() string {
	var names []string
	for _, f := range table {
		if slices.Contains(f.parts, p.Name) {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}
