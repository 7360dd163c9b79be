package papers

import (
	"bourse/workloadgen/plainyaml"
)

// A Part of the reproduction is a preset, and how often it is run.
type Part struct {
	Paper        string  `yaml:"-"` // whose preset it is
	Preset       string  `yaml:"preset"`
	Log          string  `yaml:"log"` // how the name of the recorded log begins that the paper used, or empty
	Replications int     `yaml:"replications"`
	Seconds      float64 `yaml:"seconds"` // of a processor, for a replication
}

// Reproduced returns what is run so that the papers' claims can be judged, and by which
// seed.
func Reproduced() (parts []Part, seed uint64) {
	var r struct {
		Seed  uint64 `yaml:"seed"`
		Parts []Part `yaml:"parts"`
	}
	if err := plainyaml.Unmarshal(must(files.ReadFile("reproduction.yaml")), &r); err != nil {
		panic("papers: reproduction.yaml: " + err.Error())
	}
	papers := make(map[string]string) // by preset
	for _, p := range table {
		for preset := range p.presets() {
			papers[preset] = p.Name
		}
	}
	for i := range r.Parts {
		r.Parts[i].Paper = papers[r.Parts[i].Preset]
	}
	return r.Parts, r.Seed
}
