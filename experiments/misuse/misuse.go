// Package misuse marks the mistakes of who asks, such as a name that nothing has, so that
// they can be told from failures of the program. It knows no mistake.
package misuse

import "fmt"

// An Error is a mistake of who asks.
type Error struct{ error }

// Unwrap returns what is wrong.
func (e Error) Unwrap() error { return e.error }

// Of returns err as a mistake of who asks.
func Of(err error) error { return Error{err} }

// Errorf returns a mistake of who asks, worded as by [fmt.Errorf].
func Errorf(format string, args ...any) error { return Of(fmt.Errorf(format, args...)) }
