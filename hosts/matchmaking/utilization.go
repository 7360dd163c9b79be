package matchmaking

import (
	"fmt"

	"bourse/hosts/timetable"
)

// UtilizationOptions are the options of minu and maxu.
type UtilizationOptions struct {
	// Util says what utilization is: cumulative (the default, eq. 4.2 up to
	// now), instant (nodes in use) or committed (work still to do).
	Util string `json:"util" yaml:"util" doc:"what utilization is: cumulative, instant or committed"`
}

// utilizationOptions decodes the options and returns the reading they name.
func utilizationOptions(decode func(any) error) (timetable.Reading, error) {
	o := UtilizationOptions{Util: "cumulative"}
	if err := decode(&o); err != nil {
		return 0, err
	}
	switch o.Util {
	case "cumulative":
		return timetable.Cumulative, nil
	case "instant":
		return timetable.Instant, nil
	case "committed":
		return timetable.Committed, nil
	}
	return 0, fmt.Errorf("util %q, want cumulative, instant or committed", o.Util)
}
