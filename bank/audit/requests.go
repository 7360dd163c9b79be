package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// requests checks that no request was booked twice, and that each is kept with
// the answer that it would be given if it came again.
type requests struct {
	values Values
	kept   int64           // the last entry whose request is kept
	seen   int             // requests up to it
	later  map[string]bool // requests after it
}

// answered checks the request that made e, whose bytes are b and hash h.
func (r *requests) answered(e *entry, b []byte, h hash) (found, want string) {
	value, err := r.values.Get(append([]byte{'I'}, e.id...))
	if err != nil {
		return err.Error(), "requests that can be read"
	}
	if e.seq > r.kept {
		if value != nil || r.later[string(e.id)] {
			return fmt.Sprintf("request %q again", e.id), "a request is booked once"
		}
		r.later[string(e.id)] = true
		return "", ""
	}
	r.seen++
	if want := answer(e, b, h); !bytes.Equal(value, want) {
		return fmt.Sprintf("request %q, whose answer is kept as %x", e.id, value), fmt.Sprintf("%x, and a request booked once", want)
	}
	return "", ""
}

// A fetcher answers sooner what it was told would be asked.
type fetcher interface{ Fetch(keys [][]byte) }

// expect tells of the requests of a group, whose entries are in b.
func (r *requests) expect(b []byte, count int64) {
	f, ok := r.values.(fetcher)
	if !ok {
		return
	}
	var keys [][]byte
	var e entry
	for in := (input{b: b}); count > 0 && !in.bad; count-- {
		if len(in.b) > 0 && in.b[0] == 0 {
			in.take(leafStart)
		}
		b, _, _ := in.stored()
		if e.parse(b) == nil && len(e.id) > 0 {
			keys = append(keys, append([]byte{'I'}, e.id...))
		}
	}
	f.Fetch(keys)
}

// answer is what is kept of a request: its entry, the hash of that, and the
// beginning of the hash of its body, the entry with seq and time 0.
func answer(e *entry, b []byte, h hash) []byte {
	_, n := binary.Uvarint(b[1:])
	body := append([]byte{b[0], 0, 0, 0, 0, 0, 0, 0, 0, 0}, b[1+n+8:]...)
	digest := sha256.Sum256(body)
	v := binary.AppendUvarint(nil, uint64(e.seq))
	return append(append(v, h[:]...), digest[:16]...)
}

// count returns how many requests are kept.
func (r *requests) count() (n int, err error) {
	for range r.values.Scan([]byte{'I'}, []byte{'I' + 1}, &err) {
		n++
	}
	return n, err
}
