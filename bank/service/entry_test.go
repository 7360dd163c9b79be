package service

import (
	"testing"

	"bourse/bank/wire"
)

// TestNotes checks that an entry has only one note. With two notes, programs that use different
// notes would have different entries.
func TestNotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		note, binary, want string
		ok                 bool
	}{{"text", "", "text", true}, {"", "\xff", "\xff", true}, {"", "", "", true}, {"text", "\xff", "", false}, {"text", "text", "", false}} {
		e, err := fromWire(&wire.Entry{Kind: "transfer", Note: c.note, Binary: []byte(c.binary)})
		if (err == nil) != c.ok || c.ok && string(e.Note) != c.want {
			t.Errorf("note %q, binary %q: %q, %v", c.note, c.binary, e.Note, err)
		}
	}
}
