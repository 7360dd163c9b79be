package recovered

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestDo checks that a panic becomes a one-line error whose stack leads to its position,
// and that errors do not change.
func TestDo(t *testing.T) {
	t.Parallel()
	if err := Do(func() error { return io.EOF }); err != io.EOF {
		t.Errorf("%v, want EOF", err)
	}
	err := Do(func() error { return broken(nil) })
	var p *Panic
	if !errors.As(err, &p) || err.Error() != "panic: runtime error: invalid memory address or nil pointer dereference" {
		t.Fatalf("%v, want a panic", err)
	}
	if !strings.Contains(string(p.Stack), "recovered.broken") {
		t.Errorf("the stack does not lead to it: %s", p.Stack)
	}
	if err := Do(func() error { panic("two\n\tlines") }); err.Error() != "panic: two lines" {
		t.Errorf("%q, want one line", err)
	}
}

//go:noinline
func broken(p *int) error {
	*p++
	return nil
}
