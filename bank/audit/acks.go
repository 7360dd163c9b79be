package audit

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	acksFile   = "ACKS"
	acksRegion = 128 << 10
	ackHeader  = 64
	maxAcked   = acksRegion / 2
)

// An ack says that the entries of a group were acknowledged, or were about to be, and
// may hold the group.
type ack struct {
	era         uint64
	first, last int64
	root        hash // of the log with them
	group       []byte
}

// checkAcks expects the log to pass through what was acknowledged.
func (a *auditor) checkAcks() {
	const attempts = 5 // it may be written at this moment
	var b []byte
	for range attempts {
		var err error
		if b, err = a.readFile(acksFile); err != nil {
			a.fileFinding(acksFile, err.Error(), "what was acknowledged last")
			return
		}
		if a.acks = readAcks(b); len(a.acks) > 0 {
			break
		}
	}
	if len(a.acks) == 0 {
		a.fileFinding(acksFile, fmt.Sprintf("%d bytes that hold nothing", len(b)), fmt.Sprintf("%d that tell what was acknowledged last", 4*acksRegion))
	}
	for _, k := range a.acks {
		a.must(expectation{k.last, k.root, acksFile})
	}
}

// readAcked goes on with the groups that were acknowledged before they came to
// stand in the database.
func (a *auditor) readAcked() {
	for _, k := range a.acks {
		if a.bad == nil && len(k.group) > 0 && k.first == a.chain.size+1 {
			a.group(binary.BigEndian.AppendUint64([]byte{'G'}, uint64(k.first)), k.group)
			a.restored += a.chain.size - k.first + 1
		}
	}
}

// readAcks returns the acks of the later of two areas, each from the one of two
// copies that is whole: none if b is not such a file.
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

// readAck returns the ack at the front of b and its length, 0 if there is none.
func readAck(b []byte) (k ack, length int) {
	if len(b) < ackHeader {
		return k, 0
	}
	n := int(binary.BigEndian.Uint32(b[4:]))
	if n > min(maxAcked, len(b)-ackHeader) {
		return k, 0
	}
	if binary.BigEndian.Uint32(b) != crc32.Checksum(b[4:ackHeader+n], crc32.MakeTable(crc32.Castagnoli)) {
		return k, 0
	}
	return ack{
		era:   binary.BigEndian.Uint64(b[8:]),
		first: int64(binary.BigEndian.Uint64(b[16:])),
		last:  int64(binary.BigEndian.Uint64(b[24:])),
		root:  hash(b[32:64]),
		group: b[ackHeader : ackHeader+n],
	}, ackHeader + n
}
