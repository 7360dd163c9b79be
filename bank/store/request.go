package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"bourse/bank"

	"golang.org/x/mod/sumdb/tlog"
)

// A Receipt is the reply to a booked request. It contains the number of the entry, and the
// hash, which commits to all entries up to this one. If a ledger has lost or changed any of
// these entries, an audit with the receipt fails.
type Receipt struct {
	Seq  int64
	Hash tlog.Hash
}

// String returns the receipt as "SEQ:HASH", with the hash in base64.
func (r Receipt) String() string { return Head{r.Seq, r.Hash}.String() }

// ParseReceipt parses the format of [Receipt.String].
func ParseReceipt(s string) (Receipt, error) {
	h, err := ParseHead(s)
	if err != nil || h.Size < 1 {
		return Receipt{}, fmt.Errorf("receipt %.80q: want an entry number, a colon and a hash", s)
	}
	return Receipt{h.Size, h.Root}, nil
}

const digestSize = 16

// An answered is the stored reply to a request with an id. A repeated request gets the same
// reply.
type answered struct {
	Receipt
	body [digestSize]byte
}

// digest returns a hash of a request's body. It excludes Seq and Time, which the ledger sets.
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

// answer returns the reply to request id, if the request was booked.
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
