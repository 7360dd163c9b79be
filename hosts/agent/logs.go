//go:build linux

package agent

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"bourse/hosts/remote"
)

// mostLog is how much of a log is put at once, in bytes.
const mostLog = 256 << 10

// part returns the part of a log that is asked for.
func (a *Agent) part(l remote.Log) remote.Log {
	t := a.numbered(l.Name)
	var err error
	switch {
	case t == nil:
		err = errors.New("nothing of it is kept any more")
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

// numbered returns the task of a number whose folder is here, nil if none is.
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
