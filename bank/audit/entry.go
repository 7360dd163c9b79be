package audit

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
)

// Kinds of entries.
const (
	Issue = iota + 1
	Admit
	Reject
	Settle
	Penalty
	Transfer
	Owner
	Refuse
	Cleared
	Moved
	Adjust
)

const (
	maxGroup = 8190
	maxName  = 64
	maxID    = 64
	maxNote  = 4096
)

// An Entry is an entry of the journal as it was read. Its byte slices refer to the input, and
// Kind is one of the kinds above.
type Entry struct {
	Kind     byte
	Seq      int64
	Time     float64
	Contract int64 // -1 if there is none
	ID, Note []byte
	Moves    []Move

	// Payee is set for a settlement if the market may also pay the owner of the contract as the
	// owner of a host. One of the moves to the owner can then be a charge instead of the
	// refund. In an open ledger, anyone may be paid.
	Payee bool
}

// A Move is a transfer of Micros from one account to another. An empty name means the escrow
// of the entry's contract.
type Move struct {
	From, To []byte
	Micros   int64
}

// check returns the checksum that is stored with an entry.
func check(entry []byte) uint32 { return crc32.Checksum(entry, crc32.MakeTable(crc32.Castagnoli)) }

// stored returns an entry in the form in which a leaf contains it.
func stored(entry []byte) []byte {
	b := append(binary.AppendUvarint(nil, uint64(len(entry))), entry...)
	return binary.BigEndian.AppendUint32(b, check(entry))
}

var errForm = errors.New("bytes that are not an entry")

// parse decodes b into e and reuses e.Moves.
func (e *Entry) parse(b []byte) error {
	const least = 1 + 1 + 8 + 4 // minimum length in bytes
	if len(b) < least {
		return errForm
	}
	i, n := 1, int64(0)
	e.Kind = b[0]
	e.Seq, i = number(b, i)
	if i+8 > len(b) {
		return errForm
	}
	e.Time = math.Float64frombits(binary.BigEndian.Uint64(b[i:]))
	e.Contract, i = number(b, i+8)
	e.Contract--
	e.ID, i = text(b, i, maxID)
	e.Note, i = text(b, i, maxNote)
	e.Moves = e.Moves[:0]
	for n, i = number(b, i); n > 0 && i < len(b); n-- {
		var m Move
		m.From, i = text(b, i, maxName)
		m.To, i = text(b, i, maxName)
		m.Micros, i = number(b, i)
		e.Moves = append(e.Moves, m)
	}
	if n > 0 || i != len(b) {
		return errForm
	}
	return nil
}

// number reads a varint of minimal length at index i, and returns its value and the index of
// its end. If there is no such varint, the end is beyond the end of b.
func number(b []byte, i int) (int64, int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return int64(b[i]), i + 1
	}
	return longNumber(b, i)
}

// longNumber does the same as number for varints of two or more bytes. Nine bytes contain 63
// bits. A longer varint is not minimal or does not fit an int64.
func longNumber(b []byte, i int) (v int64, end int) {
	for bit := 0; i < len(b) && bit < 63; bit += 7 {
		c := b[i]
		i++
		if v |= int64(c&0x7f) << bit; c == 0 && bit > 0 {
			break
		} else if c < 0x80 {
			return v, i
		}
	}
	return 0, len(b) + 1
}

// text reads a string of at most the given length at index i, and returns the string and the
// index of its end. If there is no such string, the end is beyond the end of b.
func text(b []byte, i, most int) ([]byte, int) {
	n, i := number(b, i)
	if n > int64(most) || i > len(b) || int(n) > len(b)-i {
		return nil, len(b) + 1
	}
	end := i + int(n)
	return b[i:end], end
}

// First returns the first move, or the zero Move if there is none.
func (e *Entry) First() (m Move) {
	if len(e.Moves) > 0 {
		m = e.Moves[0]
	}
	return m
}

// An input is a sequence of bytes that is being read. The field bad is set after a malformed
// value.
type input struct {
	b   []byte
	bad bool
}

// stored reads an entry in its stored form. It returns the entry's encoding, all bytes that it
// read, and the stored checksum.
func (in *input) stored() (entry, all []byte, sum uint32) {
	if b := in.b; len(b) > 0 { // the usual length is below 128 bytes
		if n := int(b[0]); n < 0x80 && n+5 <= len(b) {
			in.b = b[n+5:]
			return b[1 : n+1], b[:n+5], binary.BigEndian.Uint32(b[n+1:])
		}
	}
	all = in.b
	entry = in.bytes(int64(len(in.b)))
	if kept := in.take(4); kept != nil {
		sum = binary.BigEndian.Uint32(kept)
	}
	return entry, all[:len(all)-len(in.b)], sum
}

func (in *input) take(n int64) []byte {
	if in.bad || n < 0 || n > int64(len(in.b)) {
		in.bad = true
		return nil
	}
	v := in.b[:n]
	in.b = in.b[n:]
	return v
}

func (in *input) byte() byte {
	if v := in.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (in *input) int() int64 {
	v, end := number(in.b, 0)
	if end > len(in.b) {
		in.bad = true
		return 0
	}
	in.b = in.b[end:]
	return v
}

func (in *input) float() float64 {
	if v := in.take(8); v != nil {
		return math.Float64frombits(binary.BigEndian.Uint64(v))
	}
	return math.NaN()
}

func (in *input) bytes(most int64) []byte {
	v, end := text(in.b, 0, int(most))
	if end > len(in.b) {
		in.bad = true
		return nil
	}
	in.b = in.b[end:]
	return v
}
