package availability

import (
	"fmt"
	"strings"
)

// A State is what a host is doing for others (§3). Only in Available does it
// run their work.
type State uint8

// The five states, and time that no record covers.
const (
	Unknown     State = iota
	Available         // to the grid
	UserPresent       // the owner is at the keyboard
	Busy              // the owner's CPU load exceeds a threshold
	Evicted           // the job is evicted, or the host shuts down gracefully
	Unavailable       // gone without notice
)

// States is the number of states, Unknown among them.
const States = 6

// letters are the states as trace files write them.
const letters = "?APCEU"

// String returns the state's letter: A, P, C, E or U, and ? for Unknown.
func (s State) String() string {
	if int(s) < len(letters) {
		return letters[s : s+1]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// ParseState returns the state of a letter A, P, C, E or U.
func ParseState(letter string) (State, error) {
	if len(letter) == 1 {
		if i := strings.Index(letters, letter); i > 0 {
			return State(i), nil
		}
	}
	return Unknown, fmt.Errorf("unknown state %q, want A, P, C, E or U", letter)
}
