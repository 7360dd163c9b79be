package timetable

import "fmt"

// What is the kind of a [Fact].
type What int8

// The kinds of facts.
const (
	Started   What = iota // the gang has been allocated its nodes
	Ended                 // the job has completed
	Killed                // the job reached its estimate and was killed
	Extended              // the job reached its estimate and was extended
	Cancelled             // the user cancelled the job
	Suspended             // the job lost its nodes; only in preemptive books
	Resumed               // the job has nodes again; only in preemptive books
)

// String returns the name of w in lower case.
func (w What) String() string {
	words := [...]string{"started", "ended", "killed", "extended", "cancelled", "suspended", "resumed"}
	if int(w) < len(words) {
		return words[w]
	}
	return fmt.Sprintf("What(%d)", int8(w))
}

// A Fact is an event of a job at a given second.
type Fact struct {
	At   int64
	Job  int64
	What What
}
