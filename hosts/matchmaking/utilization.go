package matchmaking

import (
	"bourse/hosts/timetable"
)

// UtilizationOptions are the options of minu and maxu.
type UtilizationOptions struct {
	// Util is the definition of utilization: cumulative (the default; eq. 4.2 up to now),
	// instant (nodes in use now) or committed (remaining work).
	Util string `json:"util" yaml:"util" validate:"oneof=cumulative instant committed" doc:"definition of utilization: cumulative, instant or committed"`
}

// utilizationOptions decodes the options and returns the definition of utilization.
func utilizationOptions(decode func(any) error) (timetable.Reading, error) {
	o := UtilizationOptions{Util: "cumulative"}
	err := decode(&o)
	return map[string]timetable.Reading{"cumulative": timetable.Cumulative, "instant": timetable.Instant, "committed": timetable.Committed}[o.Util], err
}
