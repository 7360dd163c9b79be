package report_test

import (
	"fmt"

	"bourse/experiments/report"
)

// The example draws a figure from rows that name their panel, curve and position, for a pipe
// with 40 characters per line. The numbers are invented.
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
	//        1 |l..
	//          |e. .....
	//      0.8 | ....   .....
	//          |    ....     .....
	//      0.6 |        ...      ......
	//          |           ...        ......
	//          |              ...          l
	//      0.4 |                 ...
	//          |                    ....
	//      0.2 |                       ....
	//          |                          .e
	//        0 |
	//          ++----+-----+----+-----+----+
	//           0   0.2   0.4  0.6   0.8   1
	//          load
	//          l libra   e edf
}
