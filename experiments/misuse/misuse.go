// Package misuse marks user errors, such as an unknown name, to distinguish them from
// failures of the program. It knows no mistake.
package misuse

import "fmt"

// An Error is a user error.
type Error struct{ error }

// Unwrap returns the underlying error.
func (e Error) Unwrap() error { return e.error }

// Of returns err as a user error.
func Of(err error) error { return Error{err} }

// Errorf returns a user error with a text formatted as by [fmt.Errorf].
func Errorf(format string, args ...any) error { return Of(fmt.Errorf(format, args...)) }
