package peers

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	small = 1 << 14 // number of bytes of a body that are always held in memory
	large = 1 << 20 // maximum number of bytes of a body held in memory; the rest of a larger body is stored in a file
)

var errHeld = errors.New("too many large bodies at the same time")

// A received is a body whose start is in memory and whose rest, if any, is in a file.
type received struct {
	io.Reader
	file *os.File
}

// Read releases the memory at the end of the body.
func (r *received) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF {
		r.Reader = bytes.NewReader(nil)
	}
	return n, err
}

// Close closes the file, which has already been removed.
func (r *received) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// receive returns the body of r once it has arrived completely, or one byte more than
// permitted. A body that arrives too slowly is an error.
func (s *Server) receive(all *room, c *conn, control *http.ResponseController, r *http.Request) (*received, error) {
	var text bytes.Buffer
	is := &received{Reader: &text}
	if r.Body == http.NoBody {
		return is, nil
	}
	most := s.Bytes(r)
	in := &paced{Reader: io.LimitReader(r.Body, most+1), control: control, due: time.Now().Add(s.Patience)}
	n, err := io.Copy(&text, io.LimitReader(in, small))
	if err == nil && n == small {
		if !all.place(r.Context(), c, bodies, s.Patience) {
			return nil, errHeld
		}
		defer all.leave(c, bodies)
		n, err = io.Copy(&text, io.LimitReader(in, large-small))
		if err == nil && n == large-small {
			if !all.place(r.Context(), c, files, s.Patience) {
				return nil, errHeld
			}
			defer all.leave(c, files)
			err = is.spool(in)
		}
	}
	if err != nil {
		is.Close()
		return nil, err
	}
	if in.n <= most { // if the body is longer, the rest is not read, and the deadline remains set
		err = control.SetReadDeadline(time.Time{})
	}
	return is, err
}

// spool stores the rest of the body in an unnamed file.
func (r *received) spool(in io.Reader) error {
	f, err := os.CreateTemp("", "bourse-body-")
	if err != nil {
		return err
	}
	r.file = f
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := io.Copy(f, in); err != nil {
		return err
	}
	r.Reader = io.MultiReader(r.Reader, f)
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// A paced is a reader whose deadline is extended by the bytes that it reads.
type paced struct {
	io.Reader
	control *http.ResponseController
	due     time.Time // deadline for the first byte
	n       int64
	set     time.Time
}

func (p *paced) Read(b []byte) (int, error) {
	if due := p.due.Add(time.Duration(p.n / pace * int64(time.Second))); due != p.set {
		if err := p.control.SetReadDeadline(due); err != nil {
			return 0, err
		}
		p.set = due
	}
	n, err := p.Reader.Read(b)
	p.n += int64(n)
	return n, err
}
