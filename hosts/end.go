package hosts

import "fmt"

// An End is the reason why a task has ended.
type End uint8

// The reasons why a task can end.
const (
	Worked  End = iota // the work of the task is done
	Exited             // the program ended with status 0
	Failed             // the program ended with another status, exceeded a limit, or could not start
	Expired            // the time until which the task was allowed to run has passed
	Killed             // the task was no longer wanted
	Lost               // the task is unknown to its machine, because the machine or the task's supervisor died
)

// endNames are the names of the reasons in messages and files.
var endNames = [...]string{"worked", "exited", "failed", "expired", "killed", "lost"}

// String returns the name of e.
func (e End) String() string { return endNames[e] }

// MarshalText returns the name of e.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText parses a name.
func (e *End) UnmarshalText(text []byte) error {
	for i, name := range endNames {
		if name == string(text) {
			*e = End(i)
			return nil
		}
	}
	return fmt.Errorf("no end %q", text)
}
