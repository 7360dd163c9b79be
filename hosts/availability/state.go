package availability

import (
	"fmt"
	"strings"
)

// A State is the state of a host (§3). Only an Available host runs the work of others.
type State uint8

// The five states, and Unknown for time without a record.
const (
	Unknown     State = iota
	Available         // to the grid
	UserPresent       // the owner is present
	Busy              // the owner's CPU load exceeds a threshold
	Evicted           // the job is evicted or the host shuts down gracefully
	Unavailable       // the host left without notice
)

// States is the number of states, including Unknown.
const States = 6

// letters contains the letter of each state in trace files.
const letters = "?APCEU"

// String returns the letter of the state: A, P, C, E or U, or ? for Unknown.
func (s State) String() string {
	if int(s) < len(letters) {
		return letters[s : s+1]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// ParseState returns the state for a letter A, P, C, E or U.
func ParseState(letter string) (State, error) {
	if len(letter) == 1 {
		if i := strings.Index(letters, letter); i > 0 {
			return State(i), nil
		}
	}
	return Unknown, fmt.Errorf("unknown state %q, want A, P, C, E or U", letter)
}
