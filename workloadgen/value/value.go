// Package value models the relative values of jobs (§2, "Job Value"), with one distribution
// per file.
//
// It is independent of dollars: a model of work plans converts worth to budgets. To add a
// distribution, write its file and add it to the table below.
package value

import "bourse/workloadgen/plugin"

// A Model is a distribution of relative values.
type Model interface {
	// Quantile returns the u-quantile, which is at least 0, for u in (0,1).
	Quantile(u float64) float64
}

// Table returns the models. Creating a model draws no random numbers.
func Table() plugin.Table[Model] {
	return plugin.Table[Model]{Kind: "value model", Members: plugin.Members[Model]{
		"equal":  {"every job is worth the same", plugin.Is[Model](Equal{})},
		"normal": {"normal, with a minimum", newNormal},
		"pareto": {"power law: a few jobs are worth much more", newPareto},
	}}
}
