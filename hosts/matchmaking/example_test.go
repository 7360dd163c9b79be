package matchmaking_test

import (
	"fmt"

	"bourse/hosts/matchmaking"
	"bourse/hosts/timetable"
)

// This example compares two algorithms. The first cluster would have to delay a reservation.
// The second would complete the job later, but delay no other job.
func Example() {
	var window []matchmaking.Seller
	for _, held := range []timetable.Job{
		{ID: 1, Earliest: 10, Deadline: 60, Estimate: 20, Nodes: 2},
		{ID: 1, Earliest: 5, Deadline: 21, Estimate: 16, Nodes: 2},
	} {
		book, err := timetable.New(timetable.Config{Nodes: 2})
		if err != nil {
			panic(err)
		}
		if _, err := book.Commit(0, book.Quote(0, held), nil); err != nil {
			panic(err)
		}
		window = append(window, book)
	}
	job := timetable.Job{ID: 2, Earliest: 10, Deadline: 40, Estimate: 10, Nodes: 1}
	for _, name := range []string{"imct", "mli"} {
		m, err := matchmaking.Table(nil).New(name, func(any) error { return nil })
		if err != nil {
			panic(err)
		}
		choice, _ := m.Match(0, job, window)
		fmt.Println(name, "takes seller", choice.Seller, "with completion", choice.Quote.Completion, "and impact", choice.Quote.Zeta)
	}
	// Output:
	// imct takes seller 0 with completion 20 and impact 10
	// mli takes seller 1 with completion 31 and impact 0
}
