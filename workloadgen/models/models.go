// Package models holds the models of work plans, one to a file.
//
// It knows distributions, values and traces; it does not know hosts, prices or
// policies. To add a model, write its file and its line in the table below.
package models

import (
	"bourse/workloadgen"
	"bourse/workloadgen/plugin"
)

// Table returns the models. No model draws when it is made.
func Table() plugin.Table[workloadgen.Model] {
	return plugin.Table[workloadgen.Model]{Kind: "workload model", Members: plugin.Members[workloadgen.Model]{
		"exponential": {"Poisson arrivals, exponential runtimes", newExponential},
		"file":        {"a model file, as a fit writes it", newFile},
		"independent": {"a law for each quantity: what fits write, and Poisson streams", newIndependent},
		"lublin":      {"Lublin and Feitelson: daily cycle, powers of two, runtimes that grow with size", newLublin},
		"paper":       {"the market paper's: HypWeib arrivals, PolyLin runtimes, BinBin sizes, budgets by value", newPaper},
		"regular":     {"submissions at regular intervals, as on volunteer hosts, a law of runtimes", newRegular},
		"resample":    {"a recorded log, drawn from with replacement", newResample},
		"swf":         {"a recorded log, replayed", newSWF},
	}}
}
