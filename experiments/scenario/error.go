package scenario

import (
	"errors"
	"fmt"
)

// An Error is a mistake in a scenario file or an override.
type Error struct {
	At      string // file:line:column, or the override
	Field   string // path, such as configurations.low.fleet.hosts; empty for the file as a whole
	Problem string // what was found and what is wanted
}

// Error returns position, field and problem.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.At + ": " + e.Problem
	}
	return e.At + ": " + e.Field + ": " + e.Problem
}

func fail(at place, field, format string, args ...any) error {
	return &Error{At: at.String(), Field: field, Problem: fmt.Sprintf(format, args...)}
}

// blame adds a position to an error that lacks one, if the position is known.
func blame(at place, field string, err error) error {
	var e *Error
	switch {
	case err == nil || at == (place{}):
		return err
	case errors.As(err, &e):
		return e
	}
	return fail(at, field, "%v", err)
}

// join appends a segment to a path.
func join(path, segment string) string {
	if path == "" {
		return segment
	}
	return path + "." + segment
}
