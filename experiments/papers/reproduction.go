package papers

import (
	"bourse/workloadgen/plainyaml"
)

// A Part of the reproduction is a preset, and how often it is run.
type Part struct {
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
	return r.Parts, r.Seed
}

// Paper returns the name of the paper whose preset p is.
func (p Part) Paper() string {
	for _, paper := range table {
		if _, own := paper.presets()[p.Preset]; own {
			return paper.Name
		}
	}
	return ""
}
