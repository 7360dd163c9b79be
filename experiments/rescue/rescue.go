// Package rescue makes a panic, a broken promise of our own code, an error that keeps
// its stack, so that what was begun is put away and a user reads a sentence. It also stops
// code from outside that uses too much memory.
//
// It knows nothing of what ran.
package rescue

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// A Panic is what code panicked with, and the stack of its goroutine then.
type Panic struct {
	Value any
	Stack []byte
}

// Met returns what recover returned as a Panic. It is called where that was.
func Met(value any) *Panic { return &Panic{value, debug.Stack()} }

// Error says what it was in one line.
func (p *Panic) Error() string {
	return "panic: " + strings.Join(strings.Fields(fmt.Sprint(p.Value)), " ")
}

// Do calls f. If f panics the error is of type [*Panic].
func Do(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Met(v)
		}
	}()
	return f()
}
