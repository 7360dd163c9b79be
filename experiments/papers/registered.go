package papers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/experiments/papers/claims"
)

// claimsFile is the name of the file with a paper's claims.
const claimsFile = "claims.yaml"

// Claimed lists the papers that make claims about one experiment.
type Claimed []claims.Paper

// About returns the papers that make claims about their own preset with the given name.
func About(preset string) (about Claimed) {
	for _, p := range table {
		if _, own := p.presets()[preset]; !own {
			continue
		}
		if c := p.claims(); c.Concerns(preset) {
			about = append(about, c)
		}
	}
	return about
}

// Registered returns the hashes of the claims about a preset for the manifest of its
// results. For each paper, it contains the hash of the claims file under the paper's name,
// and the hash of each claim under the claim's ID.
func Registered(about Claimed) map[string]map[string]string {
	all := make(map[string]map[string]string)
	for _, p := range about {
		all[p.Name] = maps.Clone(p.Hashes)
		all[p.Name][claimsFile] = p.SHA256
	}
	return all
}

// The words that state whether the tested claim was registered when the run was made.
const (
	asRegistered = "as registered"
	changed      = "changed since the run"
	added        = "added since the run"
	unrecorded   = "not recorded"
)

// known reports whether a claim was registered when the results of an experiment were made.
func known(registered map[string]string, p claims.Paper, id string) string {
	switch hash, ok := registered[id]; {
	case registered == nil:
		return unrecorded
	case !ok:
		return added
	case hash != p.Hashes[id]:
		return changed
	}
	return asRegistered
}

// since describes how the claims of p have changed since the runs were made. The argument
// registered contains the claims registered by each run, by experiment.
func since(p claims.Paper, registered map[string]map[string]string) (said []string) {
	runs := make(map[string][]string) // changed claims, by the description of the change
	for _, experiment := range slices.Sorted(maps.Keys(registered)) {
		knew := registered[experiment]
		what := asRegistered
		switch {
		case knew == nil:
			what = unrecorded
		case knew[claimsFile] != p.SHA256:
			what = changed + differences(p, knew)
		}
		runs[what] = append(runs[what], experiment)
	}
	for _, what := range slices.Sorted(maps.Keys(runs)) {
		said = append(said, fmt.Sprintf("%s (%s)", what, strings.Join(runs[what], ", ")))
	}
	return said
}

// differences lists the claims of p that differ from the registered claims.
func differences(p claims.Paper, knew map[string]string) string {
	parts := make(map[string][]string)
	for _, c := range p.Claims {
		if what := known(knew, p, c.ID); what != asRegistered {
			parts[what] = append(parts[what], c.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(knew)) {
		if _, there := p.Hashes[id]; !there && id != claimsFile {
			parts["gone"] = append(parts["gone"], id)
		}
	}
	s := ""
	for _, part := range [][2]string{{changed, "changed"}, {added, "added"}, {"gone", "gone"}} {
		if ids := parts[part[0]]; ids != nil {
			s += "; " + part[1] + ": " + strings.Join(ids, ", ")
		}
	}
	if s == "" {
		s = "; no claim changed, only comments or the order of claims"
	}
	return s
}
