package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// A logger reports only errors that make the database unusable.
type logger struct {
	what  string // name of the database in messages, such as "ledger books"
	fatal func(error)
}

// Reporting configures Pebble to call fatal if the database can no longer be written. Messages
// contain what as the name of the database. The function fatal receives an error of one
// sentence and should end the process, because nothing can be written or acknowledged
// afterwards. If fatal is nil, the sentence is printed and the process exits with status 1.
func Reporting(what string, fatal func(error), o *pebble.Options) {
	if fatal == nil {
		fatal = exit
	}
	l := logger{what, fatal}
	o.Logger = l
	o.EventListener = &pebble.EventListener{BackgroundError: l.died} // without this, Pebble would retry indefinitely
}

func (l logger) Infof(string, ...any)  {}
func (l logger) Errorf(string, ...any) {}

// Fatalf is called when a write failed. Acknowledged entries are safe; the outcome of all
// others is unknown.
func (l logger) Fatalf(format string, args ...any) {
	var cause error
	for _, a := range args {
		if err, ok := a.(error); ok {
			cause = err
		}
	}
	if cause == nil {
		cause = fmt.Errorf(format, args...)
	}
	l.died(cause)
}

func (l logger) died(cause error) {
	l.fatal(fmt.Errorf("%s cannot be written: %w", l.what, plain(cause)))
}

// exit is the default of Options.Fatal.
func exit(err error) {
	fmt.Fprintln(os.Stderr, "bourse:", err)
	os.Exit(1)
}

// plain adds a remedy, in one sentence, to an error of the operating system or Pebble.
func plain(err error) error {
	if err == nil {
		return nil
	}
	for _, c := range cures {
		if errors.Is(err, c.cause) {
			return fmt.Errorf("%w: %s", oneLine(err), c.cure)
		}
	}
	if pebble.IsCorruptionError(err) && !errors.Is(err, ErrDamaged) {
		return damaged(oneLine(err))
	}
	if s := err.Error(); strings.Contains(s, "lock held by current process") || strings.Contains(s, "resource temporarily unavailable") {
		return ErrLocked
	}
	return oneLine(err)
}

// oneLine returns err without the lines after its first, which contain Pebble's stack traces.
func oneLine(err error) error {
	if strings.Contains(err.Error(), "\n") {
		return sentence{err}
	}
	return err
}

// A sentence is an error whose text is only the first line of the wrapped error.
type sentence struct{ error }

func (s sentence) Error() string {
	said, _, _ := strings.Cut(s.error.Error(), "\n")
	return said
}

func (s sentence) Unwrap() error { return s.error }

// cures lists remedies for errors of the operating system.
var cures = []struct {
	cause error
	cure  string
}{
	{syscall.ENOSPC, "free space on the disk, then start again"},
	{syscall.EDQUOT, "raise the disk quota, then start again"},
	{syscall.EFBIG, "raise the file size limit (ulimit -f), then start again"},
	{syscall.EIO, "the disk fails: replace it, then audit the ledger"},
	{syscall.EROFS, "the file system is read-only: copy the ledger elsewhere to write to it"},
	{syscall.EACCES, "ask its owner for write permission"},
	{syscall.ENOENT, "check the path"},
	{syscall.ENOTDIR, "check the path"},
}
