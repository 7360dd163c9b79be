package results

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// What is read whole has at most so many bytes: many times what runs write.
const (
	maxManifest = 1 << 28
	maxTable    = 1 << 30
)

// A KindError says that something else than a file is where a file is meant.
type KindError struct {
	Path string
	Kind string // a directory, a named pipe, ...
}

// Error says what the path is instead.
func (e *KindError) Error() string {
	return fmt.Sprintf("%s is %s, want a regular file", e.Path, e.Kind)
}

// OpenFile opens the regular file path: a pipe or a device could make a reader wait for
// ever, or never end. The error is of type [*KindError] if it is something else.
func OpenFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &KindError{path, kindOf(info.Mode())}
	}
	return os.Open(path)
}

// openUpTo opens the regular file path, which is to be read whole, if it has at most
// that many bytes.
func openUpTo(path string, most int64) (*os.File, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		err = fmt.Errorf("%s has %d bytes, want at most %d", path, info.Size(), most)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readUpTo reads the regular file path, if it has at most that many bytes.
func readUpTo(path string, most int64) ([]byte, error) {
	f, err := openUpTo(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}
