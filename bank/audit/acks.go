package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
)

const (
	acksFile   = "ACKS"
	acksRegion = 128 << 10
	ackHeader  = 64
	ackUnit    = 64   // the length of an ack is a multiple of this
	ackFill    = 0xa5 // value of bytes that have not been written
	maxAcked   = acksRegion / 2
)

// An ack records that the entries of a group were acknowledged, or were about to be
// acknowledged. It may contain the group itself.
type ack struct {
	era         uint64
	first, last int64
	root        hash // root of the log after the group
	group       []byte
}

// checkAcks requires that the log contains the acknowledged heads, and that both copies of the
// acks are intact.
func (a *auditor) checkAcks() {
	const attempts = 20 // another process may be writing the file at the same time
	var b []byte
	harm := -1
	for range attempts {
		before := b
		var err error
		if b, err = a.readFile(acksFile); err != nil {
			a.fileFinding(acksFile, err.Error(), "the last acknowledged entry")
			return
		}
		a.acks = readAcks(b)
		still := harm >= 0 && bytes.Equal(b, before)
		if harm = harmedAcks(b); len(a.acks) > 0 && harm < 0 || still {
			break
		}
	}
	switch {
	case len(a.acks) == 0:
		a.fileFinding(acksFile, fmt.Sprintf("%d bytes without a record", len(b)), fmt.Sprintf("%d bytes that record the last acknowledged entry", 4*acksRegion))
	case harm >= 0 && !a.closed():
		a.fileFinding(acksFile, fmt.Sprintf("a copy that differs from the other at byte %d", harm), "two equal copies, or one that an interrupted write did not reach")
	}
	for _, k := range a.acks {
		a.must(expectation{k.last, k.root, acksFile})
	}
}

// harmedAcks returns the first offset at which the copies of an area differ in a way that an
// interrupted write cannot explain, or -1.
func harmedAcks(b []byte) int {
	const sector = 512
	if len(b) != 4*acksRegion {
		return -1
	}
	for area := range 2 {
		for at := area * acksRegion; at < (area+1)*acksRegion; at += ackUnit {
			other := 2*acksRegion + at
			one, two := b[at:][:ackUnit], b[other:][:ackUnit]
			if bytes.Equal(one, two) {
				continue
			}
			begins := at%acksRegion == 0
			if !cutShort(one, two, begins) || zero(b[at/sector*sector:][:sector]) || zero(b[other/sector*sector:][:sector]) {
				return at
			}
		}
	}
	return -1
}

// cutShort reports whether an interrupted write can explain the difference between the copies
// one and two. Where the copies differ, one of them must be filling, which was about to be
// written or overwritten. At the beginning of an era, one copy may be the beginning of another
// era. A write never changes only a single bit.
func cutShort(one, two []byte, begins bool) bool {
	from, to := 0, len(one)
	for one[from] == two[from] {
		from++
	}
	for one[to-1] == two[to-1] {
		to--
	}
	differ, first, second := 0, 0, 0
	for i := from; i < to; i++ {
		differ += bits.OnesCount8(one[i] ^ two[i])
		first += bits.OnesCount8(one[i] ^ ackFill)
		second += bits.OnesCount8(two[i] ^ ackFill)
	}
	return differ > 1 && (begins || first == 0 || second == 0)
}

func zero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// readAcked also reads the groups that were acknowledged but are not in the database yet.
func (a *auditor) readAcked() {
	for _, k := range a.acks {
		if a.bad == nil && len(k.group) > 0 && k.first == a.chain.size+1 {
			a.group(binary.BigEndian.AppendUint64([]byte{'G'}, uint64(k.first)), k.group)
			a.restored += a.chain.size - k.first + 1
		}
	}
}

// readAcks returns the acks of the later of the two areas, reading each from an intact copy. It
// returns no acks if b is not an ACKS file.
func readAcks(b []byte) []ack {
	if len(b) != 4*acksRegion {
		return nil
	}
	var regions [4][]byte
	for i := range regions {
		regions[i] = b[i*acksRegion:][:acksRegion]
	}
	later, other := readArea(regions[0], regions[2]), readArea(regions[1], regions[3])
	if len(later) == 0 || len(other) > 0 && other[0].era > later[0].era {
		later = other
	}
	return later
}

func readArea(one, two []byte) (acks []ack) {
	for {
		k, n := readAck(one)
		if c, m := readAck(two); m > 0 && (n == 0 || c.era > k.era) {
			k, n = c, m
		}
		if n == 0 || len(acks) > 0 && (k.era != acks[0].era || k.first != acks[len(acks)-1].last+1) {
			return acks
		}
		acks = append(acks, k)
		one, two = one[n:], two[n:]
	}
}

// readAck returns the ack at the front of b and its length, or 0 if there is none.
func readAck(b []byte) (k ack, length int) {
	if len(b) < ackHeader {
		return k, 0
	}
	n := int(binary.BigEndian.Uint32(b[4:]))
	if n > min(maxAcked, len(b)-ackHeader) {
		return k, 0
	}
	end := ackHeader + n
	length = (end + ackUnit - 1) / ackUnit * ackUnit
	if binary.BigEndian.Uint32(b) != crc32.Checksum(b[4:end], crc32.MakeTable(crc32.Castagnoli)) {
		return k, 0
	}
	return ack{
		era:   binary.BigEndian.Uint64(b[8:]),
		first: int64(binary.BigEndian.Uint64(b[16:])),
		last:  int64(binary.BigEndian.Uint64(b[24:])),
		root:  hash(b[32:64]),
		group: b[ackHeader:end],
	}, length
}
