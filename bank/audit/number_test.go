package audit

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// TestNumber checks that a number is accepted exactly if it is an int64 of minimal length, and
// that it is then read as encoding/binary reads it.
func TestNumber(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	texts := [][]byte{nil, {0}, {0x80}, {0x80, 0}, {0xff, 0x80, 0}, bytes.Repeat([]byte{0x80}, 12), append(bytes.Repeat([]byte{0xff}, 9), 0), append(bytes.Repeat([]byte{0xff}, 9), 1)}
	for _, v := range []uint64{1, 127, 128, 1<<14 - 1, 1 << 14, 1 << 56, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		texts = append(texts, binary.AppendUvarint(nil, v))
	}
	for range 20000 {
		b := binary.AppendUvarint(nil, rng.Uint64()>>rng.IntN(64))
		if at := rng.IntN(len(b)); rng.IntN(3) == 0 {
			b[at] ^= 1 << rng.IntN(8)
		}
		texts = append(texts, b, b[:rng.IntN(len(b))])
	}
	for _, text := range texts {
		for _, more := range []string{"", "x", "\x00"} {
			b := append([]byte("ab"), append(text, more...)...)
			v, n := binary.Uvarint(b[2:])
			ok := n > 0 && v <= math.MaxInt64 && (n == 1 || b[2+n-1] != 0)
			got, end := number(b, 2)
			if ok && (got != int64(v) || end != 2+n) || !ok && end <= len(b) {
				t.Fatalf("number(%x) = %d, %d, want %d, %d, %v", b[2:], got, end, v, 2+n, ok)
			}
		}
	}
}
