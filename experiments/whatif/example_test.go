package whatif_test

import (
	"context"
	"fmt"

	"bourse/experiments/scenario"
	"bourse/experiments/whatif"
)

// The example explains why a job was rejected and which requests would have been accepted.
func ExampleExplain() {
	const file = `
name: first
seed: 1
configurations:
  - {name: small, workload: {model: {name: paper, jobs: 20}}, admission: [cac]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := whatif.Explain(context.Background(), &e, nil, "small/cac/0", 14, 1, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Text(0))
	// Output:
	// Job 14 of user:3 in small/cac/0, by cac: refused at 1273.15 s: share below threshold at price percentile.
	// The job requested 282.042 processor-seconds on each of 5 nodes within 282.042 s of 1273.15 s, for $20.314796.
	// Reason: its share at the price percentile is 1.15786 hosts, which is 0.50881 hosts (30.5 %) below the required 1.66667 hosts.
	// The policy computed: price percentile 0.0524644 $/s, share at the spot price 5 hosts, share at the price percentile 1.15786 hosts, required share 1.66667 hosts.
	//
	// With everything else unchanged, the job would have been accepted
	//   budget  $13.850000 more  $34.164796
	//   submit  68 s later       at 1341.15 s  a smaller change may be sufficient, or a larger change insufficient
	//
	// These changes do not help
	//   budget    up to $20.310000 less  13 tried
	//   deadline  up to 28204 s later    17 tried
	//   deadline  up to 282 s sooner     11 tried
	//   nodes     up to 10 more          10 tried
	//   nodes     up to 4 fewer          4 tried
	//
	// Outcome for the job and for all others
	//                   change    outcome  payment ($)  owner surplus ($)  externality ($)  others gaining  others losing
	//   budget $13.850000 more  fulfilled     0.000000          20.314796      -135.201330               2              3
	//        submit 68 s later  fulfilled     0.000000          20.314796      -226.462731               3              3
	// The externality is the value of all other users' work without the job, minus the value of this work with the job.
}

// The example recommends a budget for one job by adding the job to the runs.
func ExampleAdvise() {
	const file = `
name: first
seed: 1
replications: 6
configurations:
  - {name: small, workload: {model: {name: paper, jobs: 20}}, admission: [be, cac]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := whatif.Advise(context.Background(), &e, whatif.AdviseAsk{
		Job: whatif.AdviceJob{Work: 300, Nodes: 4, Deadline: 400, Value: 20}, Reservation: "cac", Probability: 0.8, Budgets: [2]float64{1, 100},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range []int{0, 8, 15} {
		r := &p.Rows[i]
		fmt.Printf("$%.2f: spot %.2f, reservation %.2f\n", r.Budget, r.Spot.Done, r.Reservation.Done)
	}
	fmt.Println(p.Verdict)
	// Output:
	// $1.00: spot 0.38, reservation 0.21
	// $11.66: spot 0.50, reservation 0.33
	// $100.00: spot 1.00, reservation 0.88
	// undecided
}

// The example compares the outcomes of a run with the outcomes under another policy.
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
	r, err := whatif.Replay(context.Background(), &e, nil, "small/be/1", 1, "admission=cac")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Text(1))
	// Output:
	//                        be         cac
	//       fulfilled          10          15
	//        violated          10           0
	//       cancelled           0           0
	//         refused           0           5
	//        paid ($)  236.860815  142.870680
	//   penalties ($)    0.000000    0.000000
	//     surplus ($)  311.175611  689.003884
	//
	// Of 20 jobs, 13 gain $385.029519, 1 lose $7.201246 and 6 stay the same.
	//
	// Largest gains
	// job  owner   submitted (s)  be                         cac                         gain ($)
	// 6    user:6  596.6          violated, paid $43.333379  fulfilled, paid $35.882041  91.234030
	//
	// Largest losses
	// job  owner   submitted (s)  be                         cac                                                 gain ($)
	// 15   user:5  1499.1         fulfilled, paid $6.592881  refused: share below threshold at price percentile  -7.201246
}

// The example tests whether a user gains by bidding twice or half the value of its jobs.
func ExampleIncentives() {
	const file = `
name: first
seed: 1
replications: 10
configurations:
  - {name: small, workload: {model: {name: paper, jobs: 20, users: 4, budget: 100}}, admission: [cac]}
`
	e, err := scenario.Parse("first.yaml", []byte(file), scenario.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	half, _ := whatif.ParseDeviation("value=0.5")
	twice, _ := whatif.ParseDeviation("value=2")
	r, err := whatif.Incentives(context.Background(), &e, whatif.Deviations{
		Deviations: []whatif.Deviation{half, twice}, Alpha: 1, Epsilon: 1, Users: 4, Workers: 2,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range r.Gains {
		fmt.Printf("%s: $%.2f [%.2f, %.2f] on average, %s\n", g.Deviation, g.Gain.Value, *g.Gain.Lo, *g.Gain.Hi, g.Verdict)
	}
	// Output:
	// value=0.5: $-9.05 [-14.97, -3.12] on average, loses
	// value=2: $6.32 [2.96, 9.67] on average, gains
}
