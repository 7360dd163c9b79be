//go:build linux

package agent

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"bourse/hosts/remote"
)

// mostLog is the maximum number of bytes of a log in one upload.
const mostLog = 256 << 10

// part returns the requested part of a log.
func (a *Agent) part(l remote.Log) remote.Log {
	t := a.numbered(l.Name)
	var err error
	switch {
	case t == nil:
		err = errors.New("its output is no longer stored")
	case t.missing() != nil:
		err = t.missing()
	case l.Archive != "":
		err = a.readArchive(t, &l)
	default:
		err = readLog(t, &l)
	}
	if err != nil {
		l.Fault = err.Error()
	}
	return l
}

// numbered returns the task with the given number, or nil if it has no folder here.
func (a *Agent) numbered(number int64) *task {
	for _, t := range a.tasks {
		if t.number == number {
			return t
		}
	}
	return nil
}

func readLog(t *task, l *remote.Log) error {
	path := filepath.Join(t.folder, "out")
	if l.Errors {
		path = filepath.Join(t.folder, "err")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	l.Size = info.Size()
	l.Text = make([]byte, max(0, min(mostLog, l.Size-l.From)))
	n, err := f.ReadAt(l.Text, l.From)
	if l.Text = l.Text[:n]; err == io.EOF {
		err = nil
	}
	return err
}
