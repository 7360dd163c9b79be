package experiments_test

import (
	"context"
	"fmt"

	"bourse/experiments"
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

// What another policy would have done with the jobs of a run.
func ExampleReplay() {
	const file = `
name: first
seed: 1
replications: 2
configurations:
  - {name: small, workload: {model: {name: paper, jobs: 20}}, admission: [be]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := experiments.Replay(context.Background(), &e, "small/be/1", 1, "admission=cac")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Text(1))
	// Output:
	//                       be         cac
	//      fulfilled          10          15
	//       violated          10           0
	//      cancelled           0           0
	//        refused           0           5
	//        paid, $  236.860813  142.870679
	//   penalties, $    0.000000    0.000000
	//     surplus, $  311.175613  689.003885
	//
	// 13 gain $385.029517, 1 lose $7.201245, 6 have the same.
	//
	// Those who gain most
	// id  owner   asked  be                        cac                        $
	// 6   user:6  596.6  violated, paid 43.333380  fulfilled, paid 35.882043  91.234029
	//
	// Those who lose most
	// id  owner   asked   be                        cac                                                 $
	// 15  user:5  1499.1  fulfilled, paid 6.592882  refused: share below threshold at price percentile  -7.201245
}
