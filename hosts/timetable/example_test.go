package timetable_test

import (
	"fmt"

	"bourse/hosts/timetable"
)

// The example moves a reservation with laxity to make room for one with an earlier deadline.
func Example() {
	book, err := timetable.New(timetable.Config{Nodes: 2})
	if err != nil {
		panic(err)
	}
	long := timetable.Job{ID: 1, Earliest: 10, Deadline: 40, Estimate: 10, Nodes: 2}
	if _, err := book.Commit(0, book.Quote(0, long), nil); err != nil {
		panic(err)
	}
	fmt.Println("planned:", book.Plan(nil))

	short := timetable.Job{ID: 2, Earliest: 5, Deadline: 18, Estimate: 10, Nodes: 1}
	quote := book.Quote(0, short)
	fmt.Println("quoted:", quote.Start, "to", quote.Completion, "at the cost of", quote.Zeta, "s of laxity")
	if _, err := book.Commit(0, quote, nil); err != nil {
		panic(err)
	}
	fmt.Println("planned:", book.Plan(nil))

	for now := book.Next(); len(book.Plan(nil)) > 0; now = book.Next() {
		ended := []int64{}
		if now == 15 {
			ended = append(ended, 2)
		}
		for _, f := range book.Advance(now, ended, nil) {
			fmt.Println(f.At, "job", f.Job, f.What, "on", book.Nodes(f.Job))
		}
	}
	// Output:
	// planned: [{1 10}]
	// quoted: 5 to 15 at the cost of 5 s of laxity
	// planned: [{2 5} {1 15}]
	// 5 job 2 started on [0]
	// 15 job 2 ended on []
	// 15 job 1 started on [0 1]
}
