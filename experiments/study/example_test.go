package study_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/experiments/study"
)

// This example finds the guarantee with the highest value of the completed work.
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
	// 186 spent: decided
}

// This example compares the promised probabilities of SAC with the realized ones.
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
	r, err := study.Calibrate(context.Background(), &e, study.Calibration{}, experiments.Options{})
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

// This example compares the promised probabilities of forecasters with the realized ones, on a
// random price.
func ExampleForecast() {
	series := study.Drawn(func(name string) rand.Source { return scenario.Stream(1, 0, name) })
	held, err := study.Forecast(context.Background(), series[:1], []string{"conformal", "normal"}, []float64{0.9}, experiments.Options{})
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
