package report_test

import (
	"fmt"

	"bourse/experiments/report"
)

// Rows that name their panel, curve and place become a figure, here in a pipe of
// 40 characters. The numbers are invented.
func Example() {
	f := report.Figure{Name: "load", Title: "Deadlines met", Panels: report.Lines([]report.Datum{
		{Panel: "one cluster", Curve: "libra", X: 0, Mean: new(1.0)},
		{Panel: "one cluster", Curve: "libra", X: 1, Mean: new(0.5)},
		{Panel: "one cluster", Curve: "edf", X: 0, Mean: new(0.9)},
		{Panel: "one cluster", Curve: "edf", X: 1, Mean: new(0.1)},
	})}
	f.Panels[0].X = "load"
	fmt.Print(f.Text(report.Terminal{Width: 40}))
	// Output:
	// Deadlines met
	//
	// one cluster
	//        1 +lll
	//      0.9 +eelllllll
	//      0.8 | eeeee  llllll
	//      0.7 |     eeee    llllll
	//      0.6 |        eeee      lllllll
	//      0.5 |           eeeee        lll
	//      0.4 |               eeee
	//      0.3 |                  eeee
	//      0.2 |                     eeeee
	//      0.1 |                         ee
	//        0 |
	//          ++------+------+-----+------+
	//           0    0.25    0.5  0.75     1
	//          load
	//          l libra   e edf
}
