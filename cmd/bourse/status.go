package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"syscall"

	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/misuse"
	"bourse/experiments/results"
	"bourse/workloadgen/config"
)

// The exit statuses, as listed by --help.
const (
	statusDone        = 0
	statusFailed      = 1
	statusUsage       = 2 // a user error in the command line or in a file
	statusAudit       = 3 // an audit found something
	statusIncomplete  = 4 // a sweep is incomplete
	statusAgain       = 5 // a bank could not answer; the same request may be sent again
	statusInterrupted = 130
)

// usagef returns a user error.
func usagef(format string, args ...any) error { return misuse.Errorf(format, args...) }

// errAudit means that an audit has found problems. The problems have already been printed.
var errAudit = errors.New("audit failed")

// An incomplete is the error of a sweep that has results for only some of its experiments.
type incomplete struct{ error }

func (e incomplete) Unwrap() error { return e.error }

// An exited is the exit status of a child process that has already printed its error. This
// program exits with the same status.
type exited int

func (e exited) Error() string { return "exit status " + strconv.Itoa(int(e)) }

// An interruption is the state of work that the user has interrupted.
type interruption string

func (i interruption) Error() string { return "interrupted; " + string(i) }

// An unfinished is the error of a run that has stored some of its units.
type unfinished struct {
	error
	what string
}

func (e unfinished) Unwrap() error { return e.error }

// conclude prints err unless it is nil. It returns the exit status.
func conclude(ctx context.Context, errs io.Writer, err error) int {
	if err == nil {
		return statusDone
	}
	var some unfinished
	if errors.As(err, &some) {
		err = some.error
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(errs, "bourse: interrupted; %s\n", cmp.Or(some.what, "no incomplete files remain"))
		return statusInterrupted
	}
	if some.what != "" {
		defer fmt.Fprintf(errs, "bourse: %s\n", some.what)
	}
	var status exited
	if errors.As(err, &status) {
		return int(status)
	}
	if errors.Is(err, errAudit) {
		return statusAudit
	}
	var broken interruption
	if errors.As(err, &broken) {
		fmt.Fprintf(errs, "bourse: %v\n", broken)
		return statusInterrupted
	}
	said := err.Error()
	var file *config.Error
	inFile := errors.As(err, &file) && file.Placed()
	if inFile {
		said = file.Error() // the message starts with the file, the line and the field
	}
	var failed *experiments.OutsideError
	if errors.As(err, &failed) {
		said += "\n  " + keepQuestion(failed)
	}
	fmt.Fprintf(errs, "bourse: %s\n", place.WithoutPasswords(said))
	if errors.As(err, new(incomplete)) {
		return statusIncomplete
	}
	for _, passing := range []error{store.ErrLocked, store.ErrClock, store.ErrNotApplied, store.ErrUnknown} {
		if errors.Is(err, passing) {
			return statusAgain
		}
	}
	if errors.As(err, new(crash)) {
		return statusFailed
	}
	if errors.As(err, new(misuse.Error)) || place.Misplaced(err) || inFile || errors.As(err, new(*whole.KindError)) {
		return statusUsage
	}
	for _, wrong := range []error{fs.ErrNotExist, fs.ErrExist, syscall.EISDIR, syscall.ENOTDIR, results.ErrNotResults} {
		if errors.Is(err, wrong) { // a path is missing, exists already or has the wrong kind of file
			return statusUsage
		}
	}
	return statusFailed
}

// A crash describes a panic in one sentence.
type crash string

func (c crash) Error() string { return string(c) }
