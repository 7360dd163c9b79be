package experiments

import (
	"bourse/experiments/findings"
	"bourse/experiments/report"
)

// Findings answers the questions of the fixed study of these names, or all if there are none, by
// what was run of it, and returns the page.
func Findings(e *findings.Evidence, names ...string) (*findings.Page, error) {
	e.Labels = labels()
	return findings.Find(e, names...)
}

// FindingsPage returns the page for people.
func FindingsPage(p *findings.Page, command []string) report.Document {
	return p.Document(labels(), command)
}
