// Package misuse marks user errors, such as an unknown name, so that they can be distinguished
// from failures of the program. It does not define particular user errors.
package misuse

import "fmt"

// An Error is a user error.
type Error struct{ error }

// Unwrap returns the underlying error.
func (e Error) Unwrap() error { return e.error }

// Of returns err as a user error.
func Of(err error) error { return Error{err} }

// Errorf returns a user error with a text formatted like that of [fmt.Errorf].
func Errorf(format string, args ...any) error { return Of(fmt.Errorf(format, args...)) }
