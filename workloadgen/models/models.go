// Package models contains the models of work plans, with one model per file.
//
// It imports the packages of distributions, values and traces, and is independent of hosts,
// prices and policies. To add a model, write its file and add it to the table below.
package models

import (
	"bourse/workloadgen"
	"bourse/workloadgen/plugin"
)

// Table returns the models. Creating a model draws no random numbers.
func Table() plugin.Table[workloadgen.Model] {
	return plugin.Table[workloadgen.Model]{Kind: "workload model", Members: plugin.Members[workloadgen.Model]{
		"exponential": {"Poisson arrivals, exponential runtimes", newExponential},
		"file":        {"a model file written by bourse workload fit", newFile},
		"independent": {"one distribution per quantity (fitted models, Poisson streams)", newIndependent},
		"lublin":      {"Lublin and Feitelson: daily cycle, powers of two, runtimes that increase with size", newLublin},
		"paper":       {"the market paper's model: HypWeib arrivals, PolyLin runtimes, BinBin sizes, budgets by value", newPaper},
		"regular":     {"submissions at regular intervals, as on volunteer hosts, and a distribution of runtimes", newRegular},
		"resample":    {"a recorded log, sampled with replacement", newResample},
		"swf":         {"a recorded log, replayed", newSWF},
	}}
}
