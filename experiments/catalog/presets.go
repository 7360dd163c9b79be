package catalog

import (
	"fmt"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

// A Preset is an experiment that users can run by name, with its run time and memory.
type Preset struct {
	Name         string  `json:"name"`
	Title        string  `json:"title"`
	Replications int     `json:"replications"`
	Seconds      float64 `json:"seconds" doc:"processor time of all replications, in seconds; several workers can share this time"`
	Megabytes    float64 `json:"megabytes" doc:"memory of one worker, in megabytes"`
}

// Presets returns the presets in alphabetical order, followed by the papers. The name of a
// paper stands for all presets of its figures.
func Presets() ([]Preset, error) {
	files, measured := papers.Presets(), papers.Measured()
	var all []Preset
	of := make(map[string]Preset)
	for _, name := range papers.Names() {
		p := Preset{Name: name}
		if data, ok := files[name]; ok {
			e, err := scenario.Parse("preset "+name, data, experiments.Known())
			if err != nil {
				return nil, err
			}
			p = Preset{name, e.Title, e.Replications, measured[name].Seconds, measured[name].Megabytes}
			of[name] = p
		} else {
			parts := papers.Figures(name)
			p.Title = fmt.Sprintf("all %d presets of that name", len(parts))
			for _, part := range parts {
				p.Replications = of[part].Replications
				p.Seconds += of[part].Seconds
				p.Megabytes = max(p.Megabytes, of[part].Megabytes)
			}
		}
		all = append(all, p)
	}
	return all, nil
}
