package audit

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
)

// requests checks that no request was booked twice, and that each is kept with
// the answer that it would be given if it came again.
//
// Given a secret, it compares what is kept with what should be as a whole: by their
// numbers, and by the sums, bit by bit without carry, of their hashes with the secret.
// That takes no look-up for each request, and no memory. Who does not know the secret
// cannot make other requests have the same sum; which one is amiss it does not tell.
type requests struct {
	values Values
	kept   int64           // the last entry whose request is kept
	later  map[string]bool // requests after it
	secret []byte          // nil to look each up
	seen   tally           // up to kept
	want   []byte          // scratch
	doubt  bool            // they are not those that are kept
}

// A tally is of requests and their answers.
type tally struct {
	n       int
	sum     hash
	scratch []byte // begins with the secret
}

// add counts a request.
func (t *tally) add(secret, id, answer []byte) {
	t.n++
	if len(t.scratch) == 0 {
		t.scratch = append(t.scratch, secret...)
	}
	t.scratch = binary.AppendUvarint(t.scratch[:len(secret)], uint64(len(id)))
	t.scratch = append(append(t.scratch, id...), answer...)
	h := sha256.Sum256(t.scratch)
	subtle.XORBytes(t.sum[:], t.sum[:], h[:])
}

// answered checks the request that made e, whose bytes are b and hash h.
func (r *requests) answered(e *Entry, b []byte, h hash) (found, want string) {
	if e.Seq <= r.kept {
		r.want = answer(r.want[:0], e, b, h)
		if r.secret != nil {
			r.seen.add(r.secret, e.ID, r.want)
			return "", ""
		}
		r.seen.n++
	}
	value, err := r.values.Get(append([]byte{'I'}, e.ID...))
	if err != nil {
		return err.Error(), "requests that can be read"
	}
	switch {
	case e.Seq <= r.kept && !bytes.Equal(value, r.want):
		return fmt.Sprintf("request %q, whose answer is kept as %x", e.ID, value), fmt.Sprintf("%x, and a request booked once", r.want)
	case e.Seq > r.kept && (value != nil || r.later[string(e.ID)]):
		return fmt.Sprintf("request %q again", e.ID), "a request is booked once"
	case e.Seq > r.kept:
		r.later[string(e.ID)] = true
	}
	return "", ""
}

// at returns the entry that a request is kept with, 0 if it is not kept.
func (r *requests) at(id []byte) int64 {
	value, err := r.values.Get(append([]byte{'I'}, id...))
	if err != nil {
		return 0
	}
	in := input{b: value}
	return in.int()
}

// A fetcher answers sooner what it was told would be asked.
type fetcher interface{ Fetch(keys [][]byte) }

// expect tells of the requests of a group, whose entries are in b.
func (r *requests) expect(b []byte, count int64) {
	f, ok := r.values.(fetcher)
	if !ok || r.secret != nil {
		return
	}
	var keys [][]byte
	var e Entry
	for in := (input{b: b}); count > 0 && !in.bad; count-- {
		if len(in.b) > 0 && in.b[0] == 0 {
			in.take(leafStart)
		}
		b, _, _ := in.stored()
		if e.parse(b) == nil && len(e.ID) > 0 {
			keys = append(keys, append([]byte{'I'}, e.ID...))
		}
	}
	f.Fetch(keys)
}

// answer appends what is kept of a request: its entry, the hash of that, and the
// beginning of the hash of its body, the entry with seq and time 0.
func answer(v []byte, e *Entry, b []byte, h hash) []byte {
	_, n := binary.Uvarint(b[1:])
	from := len(v)
	v = append(v, b[0], 0, 0, 0, 0, 0, 0, 0, 0, 0)
	v = append(v, b[1+n+8:]...)
	digest := sha256.Sum256(v[from:])
	v = binary.AppendUvarint(v[:from], uint64(e.Seq))
	return append(append(v, h[:]...), digest[:16]...)
}

// count counts the requests that are kept, with the secret if there is one.
func (r *requests) count() (t tally, err error) {
	for key, value := range r.values.Scan([]byte{'I'}, []byte{'I' + 1}, &err) {
		if r.secret == nil {
			t.n++
		} else {
			t.add(r.secret, key[1:], value)
		}
	}
	return t, err
}
