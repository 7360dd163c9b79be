package results_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"bourse/experiments/results"
)

// The example appends the results of each replication, closes the directory with a manifest,
// and opens the directory.
func Example() {
	temp, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "out")

	w, err := results.Create(dir, results.Both, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // no effect after Close
	rows := results.NewEncoder(results.Both, nil)
	for replication, violations := range []float64{0.25, 0.5} {
		err := rows.Metrics([]results.Metric{{
			Configuration: "pareto-high", Admission: "be", Replication: replication,
			Metric: "violations", Value: &violations,
		}})
		if err != nil {
			log.Fatal(err)
		}
	}
	block, err := rows.Block()
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Append(block); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(results.Manifest{Scenario: "jobs: 50\n", Seed: 1}); err != nil {
		log.Fatal(err)
	}

	d, err := results.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	found, err := d.Metrics()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range found {
		fmt.Println(r.Configuration, r.Admission, r.Replication, r.Metric, *r.Value)
	}
	fmt.Println(d.Check(context.Background()))
	// Output:
	// pareto-high be 0 violations 0.25
	// pareto-high be 1 violations 0.5
	// [] <nil>
}

// The example splits the name of a configuration in a sweep.
func ExampleSpot() {
	fmt.Println(results.Spot("high@50,0.9"))
	fmt.Println(results.Spot("high"))
	// Output:
	// high [50 0.9]
	// high []
}
