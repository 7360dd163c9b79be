// Package recovered turns a panic, which is a bug of the program, into an error with its stack,
// so that unfinished work is cleaned up and the user sees a sentence. It also stops code from outside that uses too
// much memory.
//
// It is independent of the code that ran.
package recovered

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// A Panic is the value of a panic, with the stack of its goroutine.
type Panic struct {
	Value any
	Stack []byte
}

// Met converts the value that recover returned to a Panic. Call it in the deferred function.
func Met(value any) *Panic { return &Panic{value, debug.Stack()} }

// Error describes the panic in one line.
func (p *Panic) Error() string {
	return "panic: " + strings.Join(strings.Fields(fmt.Sprint(p.Value)), " ")
}

// Do calls f. If f panics, the error is of type [*Panic].
func Do(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Met(v)
		}
	}()
	return f()
}
