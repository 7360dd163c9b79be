package predictors_test

import (
	"fmt"

	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
)

// Yesterday the user was present for ten minutes at nine. For a job of an hour at eight today,
// the window is yesterday from eight to eleven. The job would have completed once before nine
// and, rounded up, twice afterwards, with one exit.
func ExampleTDE() {
	host, err := availability.NewHistory("office", 1, []availability.Record{
		{Start: 0, End: 32400, State: availability.Available},
		{Start: 32400, End: 33000, State: availability.UserPresent},
		{Start: 33000, End: 259200, State: availability.Available},
	}, availability.Gap)
	if err != nil {
		fmt.Println(err)
		return
	}
	tde, err := predictors.NewTDE(predictors.DefaultTDE())
	if err != nil {
		fmt.Println(err)
		return
	}
	f := tde.Predict(host, availability.Day+8*3600, 3600)
	fmt.Println(f.Completes, f.UserPresent)

	// Output:
	// 0.75 0.25
}
