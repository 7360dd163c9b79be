package volunteers_test

import (
	"context"
	"fmt"

	"bourse/experiments/volunteers"
	"bourse/hosts/availability"
	"bourse/hosts/availability/sched"
)

// In this example, a host leaves while it runs a job, which then starts again from the
// beginning.
func ExampleReplay() {
	host, err := availability.NewHistory("office", 1, []availability.Record{
		{Start: 0, End: 100, State: availability.Available},
		{Start: 100, End: 300, State: availability.UserPresent},
		{Start: 300, End: 1000, State: availability.Available},
	}, availability.Gap)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := volunteers.Replay(context.Background(), volunteers.Config{
		Trace: &availability.Trace{Hosts: []*availability.History{host}},
		Jobs:  []volunteers.Job{{Submit: 0, Length: 150}},
		From:  0, To: 1000, Interval: 60,
		Queue: sched.DefaultQueue(), Matchmaker: sched.First{}, Log: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range out.Log {
		fmt.Println(e.At, e.Kind)
	}
	fmt.Printf("%.0f %% processed, %v s wasted\n", out.Ratio(), out.Wasted)

	// Output:
	// 0 alloc
	// 100 fail
	// 300 alloc
	// 450 done
	// 50 % processed, 100 s wasted
}
