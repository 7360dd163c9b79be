//go:build linux

package agent

import (
	"io"
	"os"
	"path/filepath"

	"bourse/hosts/remote"
)

// mostLog is how much of a log is put at once, in bytes.
const mostLog = 256 << 10

// part returns the part of a log that is asked for.
func (a *Agent) part(l remote.Log) remote.Log {
	if err := a.readLog(&l); err != nil {
		l.Fault = err.Error()
	}
	return l
}

func (a *Agent) readLog(l *remote.Log) error {
	path := ""
	for _, t := range a.tasks {
		if t.number == l.Name {
			path = filepath.Join(t.folder, "out")
			if l.Errors {
				path = filepath.Join(t.folder, "err")
			}
		}
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
