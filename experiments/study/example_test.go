package study_test

import (
	"context"
	"fmt"

	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/experiments/study"
)

// Which guarantee makes the work done worth most, of three.
func ExampleTune() {
	const file = `
name: first
seed: 1
sweep: [{path: admission.cac.guarantee, values: 0.2..0.8/0.3}]
configurations:
  - {name: small, workload: {model: {name: paper, jobs: 20}}, admission: [cac]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := study.Tune(context.Background(), &e, study.TuneAsk{Goal: study.Goal{Metric: "efficiency_1", Budget: 600}}, experiments.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, arm := range found.Kept {
		s := found.Settings[arm]
		fmt.Printf("%s: %.3f after %d replications\n", s.At[0], s.Mean, s.N)
	}
	fmt.Println(found.Spent, "spent:", found.Stop)
	// Output:
	// 0.2: 0.734 after 72 replications
	// 186 spent: told
}
