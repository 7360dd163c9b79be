package audit

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// usual books what most entries are, from the front of in, where they stand in their
// leaf, with numbers from seq on, up to most of them: a transfer of one move, without
// contract, request and note, which is as it should be, between accounts that were paid
// before. It stops before any other, right or wrong, which it leaves as if it had not
// been looked at. It returns how many it booked, and the bytes of those.
func (b *books) usual(in []byte, seq, most int64) (count int64, end int) {
	next, digits := varint(seq)
	for count < most {
		n := b.transfer(in[end:], next, digits)
		if n == 0 {
			break
		}
		end += n
		count++
		if next++; next&0x7f == 0 {
			next, digits = varint(seq + count)
		}
	}
	return count, end
}

// transfer books the entry at the front of in, if it is a usual one, and returns the
// bytes that it takes, else 0. Its number should stand there in so many digits.
func (b *books) transfer(in []byte, seq uint64, digits int) int {
	const (
		rest    = 4 + 16     // bytes that come after an entry, of its check, and of others
		least   = 8 + 4 + 3  // of an entry after its number
		oneMove = 0x01000000 // contract, id, note, moves
	)
	if len(in) < 2+8+rest {
		return 0
	}
	size := int(in[0])
	if size >= 0x80 || len(in) <= size+rest || in[1] != Transfer || binary.LittleEndian.Uint64(in[2:])&(1<<(8*digits)-1) != seq {
		return 0
	}
	all := 1 + size + 4
	if binary.BigEndian.Uint32(in[1+size:]) != crc32.Checksum(in[1:1+size], b.table) {
		return 0
	}
	in, size = in[2+digits:], size-1-digits // which is what of the entry is left
	if size < least || binary.LittleEndian.Uint32(in[8:]) != oneMove {
		return 0
	}
	time := math.Float64frombits(binary.BigEndian.Uint64(in))
	in, size = in[8+4:], size-8-4
	n := int(in[0])
	if n+3 > size {
		return 0
	}
	from := b.short(in[1:], n)
	if from == nil || n > maxShort {
		from = b.account(in[1 : 1+n])
	}
	in, size = in[1+n:], size-1-n
	if n = int(in[0]); n+2 > size {
		return 0
	}
	to := b.short(in[1:], n)
	if to == nil || n > maxShort {
		to = b.account(in[1 : 1+n])
	}
	micros, end := int64(in[1+n]), 2+n
	if micros >= 0x80 {
		micros, end = longNumber(in, 1+n)
	}
	switch {
	case end != size || from == nil || to == nil:
		return 0
	case from == to || to == b.mint || micros == 0 || Money(micros) > from.holds: // the mint holds nothing
		return 0
	case !(time >= b.time && time <= b.late):
		return 0
	}
	from.holds -= Money(micros)
	to.holds += Money(micros)
	b.time = time
	return all
}

const maxShort = 16 // bytes of a name that is all in its ends

// short returns the account with a short name, the first n bytes of in, if it is at
// hand. There are 16 bytes or more.
func (b *books) short(in []byte, n int) *account {
	e := ends{
		first: binary.LittleEndian.Uint64(in) & (1<<(8*n) - 1),
		last:  binary.LittleEndian.Uint64(in[8:]) & (1<<(8*max(n-8, 0)) - 1),
		n:     n,
	}
	if a := b.recent[e.place()]; a != nil && a.ends == e {
		return a
	}
	return nil
}

// varint returns n, below 2^56, as it is written: the bytes of a word, and how many.
func varint(n int64) (word uint64, digits int) {
	var b [binary.MaxVarintLen64]byte
	digits = binary.PutUvarint(b[:], uint64(n))
	return binary.LittleEndian.Uint64(b[:]), digits
}
