package hosts

import "fmt"

// An End is why a task is over.
type End uint8

// The ends of a task.
const (
	Worked  End = iota // its work is done
	Exited             // its program has ended with status 0
	Failed             // its program has ended otherwise, was killed for a limit, or could not start
	Expired            // the instant until which it might run has come
	Killed             // it was no longer wanted
	Lost               // its machine does not know: it, or what watched the task, has died
)

var endNames = [...]string{"worked", "exited", "failed", "expired", "killed", "lost"}

// String returns its name.
func (e End) String() string { return endNames[e] }

// MarshalText writes its name.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a name.
func (e *End) UnmarshalText(text []byte) error {
	for i, name := range endNames {
		if name == string(text) {
			*e = End(i)
			return nil
		}
	}
	return fmt.Errorf("no end %q", text)
}
