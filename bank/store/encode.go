package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"bourse/bank"
)

// errEncoding means that bytes are not the canonical encoding of an entry or group.
var errEncoding = errors.New("not in canonical form")

// appendEntry appends the encoding of e.
func appendEntry(b []byte, e *bank.Entry) []byte {
	b = append(b, byte(e.Kind))
	b = binary.AppendUvarint(b, uint64(e.Seq))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(e.Time))
	b = binary.AppendUvarint(b, uint64(e.Contract+1))
	b = appendString(b, e.ID)
	b = appendString(b, e.Note)
	b = binary.AppendUvarint(b, uint64(len(e.Moves)))
	for i := range e.Moves {
		m := &e.Moves[i]
		b = appendName(b, m.From)
		b = appendName(b, m.To)
		b = binary.AppendUvarint(b, uint64(m.Amount.Micros()))
	}
	return b
}

func appendString[T ~string | ~[]byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// appendName appends an account name. An escrow is encoded as the empty name, because an entry
// involves only the escrow of its contract.
func appendName(b []byte, name string) []byte {
	if bank.IsEscrow(name) {
		name = ""
	}
	return appendString(b, name)
}

// decodeEntry decodes an entry written by appendEntry into e. It reuses e.Moves.
func decodeEntry(b []byte, e *bank.Entry) error {
	d := decoder{b: b}
	*e = bank.Entry{Moves: e.Moves[:0]}
	e.Kind = bank.Kind(d.byte())
	e.Seq = d.int()
	e.Time = d.float()
	e.Contract = d.int() - 1
	e.ID = string(d.bytes(bank.MaxID))
	if note := d.bytes(bank.MaxNote); len(note) > 0 {
		e.Note = append([]byte(nil), note...)
	}
	escrow := ""
	name := func() string {
		s := d.bytes(1 << 10)
		if len(s) > 0 {
			if bank.IsEscrow(string(s)) {
				d.take(-1) // an escrow must be encoded as the empty name
			}
			return string(s)
		}
		if escrow == "" {
			escrow = bank.EscrowName(e.Contract)
		}
		return escrow
	}
	for n := d.int(); n > 0 && d.err == nil; n-- {
		e.Moves = append(e.Moves, bank.Move{From: name(), To: name(), Amount: bank.Micros(d.int())})
	}
	if d.err == nil && len(d.b) > 0 {
		d.err = errEncoding
	}
	if d.err != nil {
		return fmt.Errorf("entry: %w", d.err)
	}
	return nil
}

// A decoder reads values from the front of b. If a value is malformed, it returns zeros from
// then on, and err is set.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b) {
		d.err, d.b = errEncoding, nil
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

// int reads a uvarint of minimal length that fits an int64.
func (d *decoder) int() int64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxInt64 || n > 1 && d.b[n-1] == 0 {
		d.take(-1)
		return 0
	}
	d.take(n)
	return int64(v)
}

func (d *decoder) float() float64 {
	if v := d.take(8); v != nil {
		return math.Float64frombits(binary.BigEndian.Uint64(v))
	}
	return 0
}

// bytes reads a string of at most max bytes.
func (d *decoder) bytes(max int) []byte {
	n := d.int()
	if n > int64(max) {
		n = -1
	}
	return d.take(int(n))
}
