package reservations_test

import (
	"fmt"

	"bourse/experiments/reservations"
	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// An on-demand job and two reservations of a whole cluster, on two of them: the
// reservation with laxity waits for the one without.
func ExampleRun() {
	mli, err := matchmaking.Table(nil).New("mli", func(any) error { return nil })
	if err != nil {
		panic(err)
	}
	job := func(id int64, kind timetable.Kind, earliest, deadline, runtime int64, nodes int) reservations.Job {
		return reservations.Job{
			Job:     timetable.Job{ID: id, Kind: kind, Arrival: 0, Earliest: earliest, Deadline: deadline, Estimate: runtime, Nodes: nodes},
			Runtime: runtime,
		}
	}
	outcomes, err := reservations.Run(reservations.Config{
		Clusters:   []timetable.Config{{Nodes: 2}, {Nodes: 2}},
		Matchmaker: mli,
	}, []reservations.Job{
		job(1, timetable.OnDemand, 0, timetable.Forever, 10, 1),
		job(2, timetable.Advance, 5, 20, 8, 2),
		job(3, timetable.Advance, 5, 12, 7, 2),
	})
	if err != nil {
		panic(err)
	}
	for _, o := range outcomes {
		fmt.Println(o.ID, o.Status, "cluster", o.Cluster, "from", o.Start, "to", o.End)
	}
	m := reservations.Measure([]int{2, 2}, outcomes, reservations.Window{To: 20})
	fmt.Printf("U = %.3f\n", *m.U)
	// Output:
	// 1 done cluster 0 from 0 to 10
	// 2 done cluster 1 from 12 to 20
	// 3 done cluster 1 from 5 to 12
	// U = 0.500
}
