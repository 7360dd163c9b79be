// Package papers holds each paper's experiments as scenario files, and its
// claims.
//
// It knows names of policies and metrics as text and no formula.
package papers

import (
	"embed"
	"maps"
	"slices"
	"strings"

	"bourse/experiments/papers/claims"
)

//go:embed mixed.yaml spot-or-reserve.yaml market/paper.yaml market/kth.yaml librarisk/figure*.yaml librasla/figure*.yaml reservations/e*.yaml volunteers/*.yaml */claims.yaml
var files embed.FS

// swept are the papers of which every figure or experiment is a preset.
var swept = []string{"librarisk", "librasla", "reservations", "volunteers"}

// Presets returns the scenario files by the name of their experiment: paper,
// librarisk-figure1 and so on; kth, mixed and spot-or-reserve are of no paper.
func Presets() map[string][]byte {
	presets := map[string][]byte{
		"paper": read("market/paper.yaml"), "kth": read("market/kth.yaml"), "mixed": read("mixed.yaml"),
		"spot-or-reserve": read("spot-or-reserve.yaml"),
	}
	for _, paper := range swept {
		list, err := files.ReadDir(paper)
		if err != nil {
			panic("papers: " + err.Error())
		}
		for _, f := range list {
			if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok && name != "claims" {
				presets[paper+"-"+name] = read(paper + "/" + f.Name())
			}
		}
	}
	return presets
}

// Figures returns the names of the presets that repeat the figures of a paper, or
// the experiments whose figures are lost, sorted; none if it is none of librarisk,
// librasla, reservations and volunteers.
func Figures(paper string) []string {
	if !slices.Contains(swept, paper) {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(Presets())) {
		if strings.HasPrefix(name, paper+"-") {
			names = append(names, name)
		}
	}
	return names
}

// Claims returns the claims of every paper.
func Claims() []claims.Paper {
	var all []claims.Paper
	for _, paper := range []string{"market", "librarisk", "librasla", "reservations", "volunteers"} {
		name := paper + "/claims.yaml"
		p, err := claims.Read(name, read(name))
		if err != nil {
			panic("papers: " + err.Error())
		}
		all = append(all, p)
	}
	return all
}

// read returns a file that was compiled in.
func read(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		panic("papers: " + err.Error())
	}
	return data
}
