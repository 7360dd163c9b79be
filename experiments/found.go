package experiments

import (
	"bourse/experiments/findings"
	"bourse/experiments/report"
)

// Found answers the questions of the fixed study of these names, or all if there are none, by
// what was run of it, and returns the page.
func Found(e *findings.Evidence, names ...string) (*findings.Page, error) {
	e.Labels = labels()
	return findings.Find(e, names...)
}

// FoundShown returns the page for people.
func FoundShown(p *findings.Page, command []string) report.Document {
	return p.Document(labels(), command)
}
