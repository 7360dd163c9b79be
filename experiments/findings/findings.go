// Package findings is a fixed study: what is run ([Parts]), and what is said of it, ten
// results with their intervals ([Find]).
//
// A finding is a question, and a function from what was run to comparisons and sentences. Its
// sentences are made of verdicts by code: paired differences whose intervals hold at once over
// all comparisons of the finding (Bonferroni), and "cannot be told apart" where 0 is within.
// To add a finding, write its file and its line in the table below.
//
// It does not know how anything is run.
package findings

import (
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/incentives"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
)

// A finding is one question that the study answers.
type finding struct {
	name, question string
	parts          []string
	answer         func(*Evidence) (answer, error)
}

// table is all findings, in order of the page.
var table = []finding{
	{"lies-high", "Who gains by lying at high load?", []string{"lies-high"}, lies("lies-high")},
	{"lies-low", "Who gains by lying at low load?", []string{"lies-low"}, lies("lies-low")},
	{"anarchy", "What does it cost all if users lie as it suits them, at high load?", []string{"lies-high"}, anarchy},
	{"negotiation-users", "What is negotiation worth to users?", []string{"negotiation"}, negotiationUsers},
	{"negotiation-provider", "What is negotiation worth to the provider?", []string{"negotiation"}, negotiationProvider},
	{"forecasters", "Which forecaster keeps its promise?", []string{"forecasters"}, forecasters},
	{"revenue", "Which policy brings the provider most, at which load?", []string{"loads"}, revenue},
	{"inelastic", "Which policy serves users best who want all or nothing, at which load?", []string{"loads"}, inelastic},
	{"elastic", "Which policy serves users best to whom half of the work is worth half, at which load?", []string{"loads"}, elastic},
	{"guarantee", "What does a guarantee cost, at high load?", []string{"guarantee"}, guarantee},
}

// Evidence is what was run.
type Evidence struct {
	Rows   map[string][]results.Metric   // by part, of those that are scenarios
	Lies   map[string]*incentives.Report // by part, of those that tempt users
	Labels report.Labels                 // of policies
}

// An answer is what is found.
type answer struct {
	sentences   []string
	comparisons []Comparison
}

// A Finding is a question and what was found.
type Finding struct {
	Name        string       `json:"name"`
	Question    string       `json:"question"`
	Parts       []string     `json:"parts" doc:"of the study that it rests on"`
	Sentences   []string     `json:"sentences"`
	Comparisons []Comparison `json:"comparisons" doc:"that they say in words; their intervals hold at once with 95 % (Bonferroni)"`
}

// A Page is all that was found.
type Page struct {
	Findings []Finding `json:"findings"`
}

// chosen returns the findings of these names, or all if there are none.
func chosen(names []string) (some []finding, err error) {
	if len(names) == 0 {
		return table, nil
	}
	var all []string
	for _, f := range table {
		if all = append(all, f.name); slices.Contains(names, f.name) {
			some = append(some, f)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, misuse.Errorf("finding: found %q, want one of %s", name, strings.Join(all, ", "))
		}
	}
	return some, nil
}

// Find answers the questions of these names, or all if there are none.
func Find(e *Evidence, names ...string) (*Page, error) {
	asked, err := chosen(names)
	if err != nil {
		return nil, err
	}
	p := new(Page)
	for _, f := range asked {
		for _, part := range f.parts {
			if e.Rows[part] == nil && e.Lies[part] == nil {
				return nil, misuse.Errorf("finding %s: part %s has not been run", f.name, part)
			}
		}
		a, err := f.answer(e)
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", f.name, err)
		}
		for i := range a.comparisons {
			a.comparisons[i].need()
		}
		p.Findings = append(p.Findings, Finding{f.name, f.question, f.parts, a.sentences, a.comparisons})
	}
	return p, nil
}
