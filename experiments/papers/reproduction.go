package papers

import (
	"cmp"

	"bourse/workloadgen/config"
)

// A Part of the reproduction is a preset with its number of replications.
type Part struct {
	Paper        string  `yaml:"-"` // paper to which the preset belongs
	Preset       string  `yaml:"preset"`
	Log          string  `yaml:"log"` // beginning of the name of the paper's recorded log, or empty
	Replications int     `yaml:"replications"`
	Seed         uint64  `yaml:"seed"`    // seed of all parts that do not specify another seed
	Seconds      float64 `yaml:"seconds"` // processor time of one replication in seconds

	// Metrics are additional metrics to measure, because claims use them.
	Metrics []string `yaml:"metrics"`
}

// Reproduced returns the presets that must be run to test the papers' claims.
func Reproduced() []Part {
	var r struct {
		Seed  uint64 `yaml:"seed"`
		Parts []Part `yaml:"parts"`
	}
	if err := config.Read("reproduction.yaml", must(files.ReadFile("reproduction.yaml")), &r); err != nil {
		panic("papers: " + err.Error())
	}
	papers := make(map[string]string) // by preset
	for _, p := range table {
		for preset := range p.presets() {
			papers[preset] = p.Name
		}
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		p.Paper, p.Seed = papers[p.Preset], cmp.Or(p.Seed, r.Seed)
	}
	return r.Parts
}
