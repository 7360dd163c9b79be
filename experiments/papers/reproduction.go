package papers

import (
	"cmp"

	"bourse/workloadgen/config"
)

// A Part of the reproduction is a preset, and how often it is run.
type Part struct {
	Paper        string  `yaml:"-"` // whose preset it is
	Preset       string  `yaml:"preset"`
	Log          string  `yaml:"log"` // how the name of the recorded log begins that the paper used, or empty
	Replications int     `yaml:"replications"`
	Seed         uint64  `yaml:"seed"`    // that of all, unless it says another
	Seconds      float64 `yaml:"seconds"` // of a processor, for a replication

	// Metrics are measured in addition, because claims are about them.
	Metrics []string `yaml:"metrics"`
}

// Reproduced returns what is run so that the papers' claims can be judged.
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
