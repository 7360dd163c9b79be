package experiments_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"bourse/experiments"
	"bourse/experiments/calibrate"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
)

// Two policies on one workload, and a metric of each.
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

// Refusals that carry offers: how many are made, and how many are taken.
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

// What SAC promises with probability g, and what it keeps.
func ExampleCalibrate() {
	const file = `
name: first
seed: 1
replications: 10
sweep: [{path: admission.sac.guarantee, values: 0.5..0.9/0.2}]
configurations:
  - {name: small, workload: {model: {name: paper, jobs: 40}}, admission: [sac]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := experiments.Calibrate(context.Background(), &e, experiments.Calibration{}, experiments.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range r.Points {
		fmt.Printf("promised %v: the price stays for %.2f of the time, and %.2f of %d contracts are fulfilled\n",
			p.G, p.Price.Kept, p.Contract.Kept, p.Contract.Promises)
	}
	// Output:
	// promised 0.5: the price stays for 0.79 of the time, and 0.76 of 280 contracts are fulfilled
	// promised 0.7: the price stays for 0.83 of the time, and 0.80 of 264 contracts are fulfilled
	// promised 0.9: the price stays for 0.90 of the time, and 0.88 of 242 contracts are fulfilled
}

// What forecasters promise of prices drawn at random, and what they keep.
func ExampleForecast() {
	series := calibrate.Drawn(func(name string) rand.Source { return scenario.Stream(1, 0, name) })
	held, err := experiments.Forecast(context.Background(), series[:1], []string{"conformal", "normal"}, []float64{0.9}, experiments.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range held.Coverages {
		fmt.Printf("%s, %s: promised %v, kept %.3f\n", c.Series, c.Forecaster, c.G, c.Covered)
	}
	// Output:
	// poisson, conformal: promised 0.9, kept 0.900
	// poisson, normal: promised 0.9, kept 0.713
}
