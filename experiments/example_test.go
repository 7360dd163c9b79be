package experiments_test

import (
	"context"
	"fmt"

	"bourse/experiments"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
)

// This example runs two policies on one workload and prints a metric for each.
func Example() {
	const file = `
name: first
seed: 1
replications: 2
base:
  workload: {model: {name: paper, jobs: 20}}
  admission: [be, cac]
configurations: [{name: small}]
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ready, err := experiments.Prepare(&e)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = ready.Each(context.Background(), experiments.Options{}, func(r *experiments.Replication) error {
		for _, run := range r.Runs {
			rejected, _ := metrics.Rejections.Of(&run.Outcome)
			fmt.Println(len(run.Jobs), "jobs,", rejected, "rejected")
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 20 jobs, 0 rejected
	// 20 jobs, 0.4 rejected
	// 20 jobs, 0 rejected
	// 20 jobs, 0.25 rejected
	// <nil>
}

// In this example, users receive offers instead of rejections. The example prints how many
// offers are made and how many are accepted.
func Example_negotiation() {
	const file = `
name: first
seed: 1
replications: 2
base: {workload: {model: {name: paper, jobs: 20}}}
configurations:
  - {name: small, admission: [{name: cac, negotiate: rational}]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = experiments.Each(context.Background(), &e, experiments.Options{}, func(r *experiments.Replication) error {
		o := &r.Runs[0].Outcome
		rejected, _ := metrics.Rejections.Of(o)
		offers, _ := metrics.Offers.Of(o)
		taken, _ := metrics.OffersTaken.Of(o)
		fmt.Println(offers, "offers,", taken, "taken,", rejected, "rejected")
		return nil
	})
	fmt.Println(err)
	// Output:
	// 3 offers, 2 taken, 0.25 rejected
	// 5 offers, 2 taken, 0.25 rejected
	// <nil>
}
