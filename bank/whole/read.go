package whole

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A KindError means that a path is not a regular file.
type KindError struct {
	Path string
	Kind string // kind of the path, such as a directory or a named pipe
}

// Error names the path and its kind.
func (e *KindError) Error() string {
	return fmt.Sprintf("%s is %s, want a regular file", e.Path, e.Kind)
}

// A SizeError means that there is more data than permitted.
type SizeError struct {
	Path string // empty for a stream
	Size int64  // size in bytes; unknown for a stream
	Most int64
}

// Error returns the permitted size.
func (e *SizeError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("found more than %d bytes", e.Most)
	}
	return fmt.Sprintf("%s has %d bytes, want at most %d", e.Path, e.Size, e.Most)
}

// Regular returns a [*KindError] unless info describes a regular file. Reading a pipe or a
// device could block or never end.
func Regular(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &KindError{name, kindOf(info.Mode())}
}

// Open opens a regular file for reading. It never blocks, even if the file is replaced by a
// pipe at the same time. The error is a [*KindError] if the path is not a regular file.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = Regular(name, info) // opening a device could have an effect
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = Regular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenUpTo opens a regular file of at most the given number of bytes.
func OpenUpTo(name string, most int64) (*os.File, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		err = &SizeError{name, info.Size(), most}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the content of a regular file of at most the given number of bytes.
func Read(name string, most int64) ([]byte, error) {
	f, err := OpenUpTo(name, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := ReadAll(f, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// ReadAll reads r to its end and returns the data. It fails if there are more than the given
// number of bytes. ReadAll never reads more than one byte beyond that number.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		return nil, &SizeError{Most: most}
	}
	return b, err
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
	return "not a regular file"
}
