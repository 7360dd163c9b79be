// Package value says what jobs are worth, relative to one another (§2, "Job
// Value"), one law to a file.
//
// It does not know dollars: a model of work plans turns worth into budgets. To
// add a law, write its file and its line in the table below.
package value

import "bourse/workloadgen/plugin"

// A Model is a law of relative values.
type Model interface {
	// Quantile returns the value, at least 0, that the uniform u in (0,1) falls
	// on.
	Quantile(u float64) float64
}

// Table returns the models. No model draws when it is made.
func Table() plugin.Table[Model] {
	return plugin.Table[Model]{Kind: "value model", Members: plugin.Members[Model]{
		"equal":  {"every job is worth the same", plugin.Is[Model](Equal{})},
		"normal": {"normal, cut below", newNormal},
		"pareto": {"power law: a few jobs are worth much more", newPareto},
	}}
}
