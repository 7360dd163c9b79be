package audit

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
)

// A requests checks that no request was booked twice, and that each request is stored with the
// reply that a repetition must receive.
//
// If there is a secret, the check only compares the stored requests with the expected requests
// by two totals: the number of requests, and the XOR of the requests' hashes, which include the
// secret. This comparison requires no look-up per request, and no memory. Without the secret,
// nobody can construct different requests with the same totals. The comparison does not show
// which request is wrong.
type requests struct {
	values Values
	kept   int64           // number of the last entry whose request is stored
	later  map[string]bool // ids of the requests after kept
	secret []byte          // if nil, each request is looked up
	seen   tally           // totals of the requests up to kept
	want   []byte          // scratch
	doubt  bool            // whether the stored requests differ
}

// A tally contains the totals over requests and their replies.
type tally struct {
	n       int
	sum     hash
	scratch []byte // scratch memory that starts with the secret
}

// add adds a request.
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

// answered checks the request of e, whose encoding is b and whose hash is h.
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
		return err.Error(), "readable requests"
	}
	switch {
	case e.Seq <= r.kept && !bytes.Equal(value, r.want):
		return fmt.Sprintf("request %q with the stored answer %x", e.ID, value), fmt.Sprintf("%x, and each request booked once", r.want)
	case e.Seq > r.kept && (value != nil || r.later[string(e.ID)]):
		return fmt.Sprintf("request %q a second time", e.ID), "each request booked once"
	case e.Seq > r.kept:
		r.later[string(e.ID)] = true
	}
	return "", ""
}

// at returns the number of the entry stored for a request, or 0 if there is none.
func (r *requests) at(id []byte) int64 {
	value, err := r.values.Get(append([]byte{'I'}, id...))
	if err != nil {
		return 0
	}
	in := input{b: value}
	return in.int()
}

// A fetcher can prefetch values.
type fetcher interface{ Fetch(keys [][]byte) }

// expect prefetches the stored requests of a group, whose entries are in b.
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

// answer appends the stored form of a request: the number of its entry, the hash of the entry,
// and the beginning of the hash of the body. The body is the entry with seq and time set to 0.
func answer(v []byte, e *Entry, b []byte, h hash) []byte {
	_, n := binary.Uvarint(b[1:])
	from := len(v)
	v = append(v, b[0], 0, 0, 0, 0, 0, 0, 0, 0, 0)
	v = append(v, b[1+n+8:]...)
	digest := sha256.Sum256(v[from:])
	v = binary.AppendUvarint(v[:from], uint64(e.Seq))
	return append(append(v, h[:]...), digest[:16]...)
}

// count adds up the stored requests, using the secret if there is one.
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
