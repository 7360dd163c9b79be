package verdicts_test

import (
	"fmt"

	"bourse/experiments/contrast"
	"bourse/experiments/results"
	"bourse/experiments/verdicts"
)

// This example summarizes paired differences in one sentence, which is derived from the
// verdicts.
func ExampleCount() {
	var rows []results.Metric
	for rep, x := range []float64{0.61, 0.58, 0.64, 0.6} {
		for policy, add := range map[string]float64{"cac": 0, "offers": 0.05 + 0.01*float64(rep)} {
			value := x + add
			rows = append(rows, results.Metric{Configuration: "high", Admission: policy, Replication: rep, Metric: "efficiency_1", Value: &value})
		}
	}
	found, err := contrast.Of(rows, contrast.Ask{Metrics: []string{"efficiency_1"}, Across: contrast.Policies, Pairs: [][2]string{{"offers", "cac"}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verdicts.Count("efficiency", found))
	// Output: efficiency higher in 1 of 1 by 0.065
}
