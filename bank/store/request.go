package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// A Receipt is the answer to a request that was booked: the number of its entry,
// and the hash, which commits to every entry up to it. A ledger that no longer
// holds any of them fails an audit against it.
type Receipt struct {
	Seq  int64
	Hash tlog.Hash
}

// String returns the receipt as "SEQ:HASH", the hash in base64.
func (r Receipt) String() string { return Head{r.Seq, r.Hash}.String() }

// ParseReceipt reads what [Receipt.String] writes.
func ParseReceipt(s string) (Receipt, error) {
	h, err := ParseHead(s)
	if err != nil || h.Size < 1 {
		return Receipt{}, fmt.Errorf("receipt %.80q: want the number of an entry, a colon and a hash", s)
	}
	return Receipt{h.Size, h.Root}, nil
}

const digestSize = 16

// answered is what is kept of a request with an id: asked again, it has the same
// answer.
type answered struct {
	Receipt
	body [digestSize]byte
}

// digest tells the bodies of two requests apart. It leaves out what the ledger
// gives an entry.
func digest(e *bank.Entry) [digestSize]byte {
	body := *e
	body.Seq, body.Time = 0, 0
	h := sha256.Sum256(appendEntry(nil, &body))
	return [digestSize]byte(h[:digestSize])
}

func requestKey(id string) []byte { return append([]byte{requestTable}, id...) }

func (a answered) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(a.Seq))
	return append(append(b, a.Hash[:]...), a.body[:]...)
}

// answer returns what request id was answered, if it was booked.
func (j *Journal) answer(id string) (a answered, ok bool, err error) {
	if a, ok := j.pending.requests[id]; ok {
		return a, true, nil
	}
	v, err := j.backend.Get(requestKey(id))
	if v == nil || err != nil {
		return a, false, plain(err)
	}
	d := decoder{b: v}
	a.Seq = d.int()
	copy(a.Hash[:], d.take(tlog.HashSize))
	copy(a.body[:], d.take(digestSize))
	if d.err != nil || len(d.b) > 0 {
		return a, false, fmt.Errorf("request %s: %w", id, errEncoding)
	}
	return a, true, nil
}
