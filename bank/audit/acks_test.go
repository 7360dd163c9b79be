package audit

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// testAck returns an ack of era with a group of n bytes.
func testAck(era uint64, n int, src *rand.Rand) []byte {
	b := make([]byte, ackHeader+n)
	for i := range b {
		b[i] = byte(src.Uint32())
	}
	binary.BigEndian.PutUint32(b[4:], uint32(n))
	binary.BigEndian.PutUint64(b[8:], era)
	binary.BigEndian.PutUint32(b, crc32.Checksum(b[4:], crc32.MakeTable(crc32.Castagnoli)))
	return append(b, make([]byte, (ackUnit-n%ackUnit)%ackUnit)...)
}

// testAcks returns a file in which area 0 has era 2 and area 1 has era 1, and the offset at
// which era 2 ends.
func testAcks(src *rand.Rand) (file []byte, end int) {
	half := bytes.Repeat([]byte{ackFill}, 2*acksRegion)
	for area, era := range []uint64{2, 1} {
		end = area * acksRegion
		for n := range 2 + src.IntN(9) {
			end += copy(half[end:], testAck(era, n*src.IntN(999), src))
		}
		if area == 0 {
			defer func(at int) { end = at }(end)
		}
	}
	return append(half, half...), end
}

// TestHarmedAcks checks that damage to either copy of the acks is distinguished from an
// interrupted write: any flipped bit and any zeroed sector, at any offset.
func TestHarmedAcks(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		b, end := testAcks(src)
		if at := harmedAcks(b); at >= 0 {
			t.Fatalf("seed %d: harmed at byte %d", seed, at)
		}
		at := src.IntN(2)*2*acksRegion + src.IntN(2)*acksRegion + src.IntN([]int{end, acksRegion}[src.IntN(2)])
		b[at] ^= 1 << src.IntN(8)
		if harmedAcks(b) < 0 {
			t.Errorf("seed %d: a bit of byte %d may be flipped", seed, at)
		}
		b, _ = testAcks(src)
		at = at / 512 * 512
		clear(b[at:][:512])
		if harmedAcks(b) < 0 {
			t.Errorf("seed %d: the sector at byte %d may be zeroed", seed, at)
		}
	}
}

// TestAcksCutShort checks that an interrupted write is not reported as damage, regardless of
// the blocks and words that reached either copy. It covers an ack at the end of an era, and an
// ack that starts an era and overwrites the old contents.
func TestAcksCutShort(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	for range 500 {
		b, at := testAcks(src)
		w := testAck(2, src.IntN(9999), src)
		if src.IntN(2) == 0 {
			at = acksRegion
			w = append(testAck(3, 0, src), bytes.Repeat([]byte{ackFill}, acksRegion-ackHeader)...)
		}
		for _, begin := range []int{at, 2*acksRegion + at} {
			salt := src.Uint64()
			block := []int{64, 512, 4096}[src.IntN(3)]
			short := []int{len(w), src.IntN(len(w)/8) * 8, 0}[src.IntN(3)]
			for i := range short {
				from := (begin + i) / block
				if h := (uint64(from) + salt) * 0x9e3779b97f4a7c15 >> 32 & 3; h > 0 || short < len(w) {
					b[begin+i] = w[i]
				}
			}
		}
		if at := harmedAcks(b); at >= 0 {
			t.Fatalf("seed %d: harmed at byte %d", seed, at)
		}
	}
}
