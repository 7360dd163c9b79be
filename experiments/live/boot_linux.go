package live

import "golang.org/x/sys/unix"

// boot returns the seconds since the machine started.
func boot() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("live: CLOCK_BOOTTIME: " + err.Error())
	}
	return float64(t.Sec) + float64(t.Nsec)*1e-9
}
