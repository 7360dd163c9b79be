package timetable

import "fmt"

// What says what has become of a job.
type What int8

// What happens to jobs.
const (
	Started   What = iota // its gang has its nodes
	Ended                 // it has completed
	Killed                // its estimate was used up
	Extended              // its estimate was used up and it got more time
	Cancelled             // its user took it back
	Suspended             // it lost its nodes; preemptive books only
	Resumed               // it has nodes again; preemptive books only
)

// String returns the word for w in lower case.
func (w What) String() string {
	words := [...]string{"started", "ended", "killed", "extended", "cancelled", "suspended", "resumed"}
	if int(w) < len(words) {
		return words[w]
	}
	return fmt.Sprintf("What(%d)", int8(w))
}

// A Fact is something that happened to a job at a second.
type Fact struct {
	At   int64
	Job  int64
	What What
}
