// Package recovered converts a panic, which is a bug of the program, into an error with the
// stack. Unfinished work can then be cleaned up, and the user sees a single sentence. The
// package also stops external code that uses too much memory.
//
// It is independent of the code that it calls.
package recovered

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// A Panic contains the value of a panic and the stack of its goroutine.
type Panic struct {
	Value any
	Stack []byte
}

// Met returns a Panic with the value that recover returned. Call it in the deferred
// function that calls recover.
func Met(value any) *Panic { return &Panic{value, debug.Stack()} }

// Error describes the panic in one line.
func (p *Panic) Error() string {
	return "panic: " + strings.Join(strings.Fields(fmt.Sprint(p.Value)), " ")
}

// Do calls f and returns its error. If f panics, Do returns an error of type [*Panic].
func Do(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Met(v)
		}
	}()
	return f()
}
