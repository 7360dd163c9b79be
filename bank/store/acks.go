package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/mod/sumdb/tlog"
)

// acksFile is the name of the file, next to the database, that records the latest
// acknowledgments.
const acksFile = "ACKS"

const (
	acksRegion = 128 << 10 // bytes of one copy of one area
	acksSize   = 4 * acksRegion
	ackHeader  = 64             // size of the header in bytes; the length of an ack is a multiple of this size
	maxAcked   = acksRegion / 2 // maximum size of a group stored in an ack, in bytes
	acksFill   = 0xa5           // value of every byte of an area that is not part of an ack
)

// An ack records that a group is about to be acknowledged. It contains the number of the
// group's first entry, and the head of the log after the group. If the ack has a value, the
// value is the group, and the ack itself makes the group durable. If it has no value, the
// group is already durable in the database.
type ack struct {
	era   uint64
	first int64
	head  Head
	value []byte
}

func (a *ack) append(b []byte) []byte {
	from := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(a.value)))
	b = binary.BigEndian.AppendUint64(b, a.era)
	b = binary.BigEndian.AppendUint64(b, uint64(a.first))
	b = binary.BigEndian.AppendUint64(b, uint64(a.head.Size))
	b = append(b, a.head.Root[:]...)
	b = append(b, a.value...)
	binary.BigEndian.PutUint32(b[from:], ackSum(b[from:]))
	return append(b, make([]byte, from+ackLength(len(a.value))-len(b))...)
}

// ackLength returns the length of an ack with n bytes of a group.
func ackLength(n int) int { return (ackHeader + n + ackHeader - 1) / ackHeader * ackHeader }

// fill appends acksFill to b until its length is n.
func fill(b []byte, n int) []byte {
	from := len(b)
	if n <= from {
		return b
	}
	b = append(slices.Grow(b, n-from), acksFill)
	for len(b) < n {
		b = append(b, b[from:min(len(b), from+n-len(b))]...)
	}
	return b
}

// ackSum returns the checksum of an encoded ack, which covers everything after the checksum.
func ackSum(b []byte) uint32 { return crc32.Checksum(b[4:], crc32.MakeTable(crc32.Castagnoli)) }

// parseAck parses the ack at the front of b. The result ok is false if there is no ack.
func parseAck(b []byte) (a ack, length int, ok bool) {
	if len(b) < ackHeader {
		return a, 0, false
	}
	n := binary.BigEndian.Uint32(b[4:])
	if n > maxAcked || int(n) > len(b)-ackHeader {
		return a, 0, false
	}
	end := ackHeader + int(n)
	length = ackLength(int(n))
	if length > len(b) || binary.BigEndian.Uint32(b) != ackSum(b[:end]) {
		return a, 0, false
	}
	a.era = binary.BigEndian.Uint64(b[8:])
	a.first = int64(binary.BigEndian.Uint64(b[16:]))
	a.head = Head{int64(binary.BigEndian.Uint64(b[24:])), tlog.Hash(b[32:ackHeader])}
	a.value = b[ackHeader:end]
	return a, length, true
}

// An acks is the file of acks, open for writing. An ack without a value starts an era, and acks
// with values follow it. Eras alternate between two areas. Each area has two copies in
// different blocks, which are written together and made durable by one sync. The start of an
// era overwrites the old contents of its area.
type acks struct {
	file vfs.File
	era  uint64
	at   int    // bytes used in the area of the current era
	used [2]int // bytes of each area that are not filling

	scratch []byte
}

func createAcks(fsys vfs.FS, dir string) error {
	none := (&ack{first: 1, head: NoEntries()}).append(nil)
	b := fill(none, 2*acksRegion)
	if err := writeFile(fsys, fsys.PathJoin(dir, acksFile), append(b, b...)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

// openAcks opens the file for writing; era is the last era in it. The first ack written must
// have no value, because the contents of the areas are not known before that.
func openAcks(fsys vfs.FS, dir string, era uint64) (*acks, error) {
	f, err := fsys.OpenReadWrite(fsys.PathJoin(dir, acksFile), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return &acks{file: f, era: era, at: acksRegion, used: [2]int{acksRegion, acksRegion}}, nil
}

// holds reports whether an ack in the current area can store a group of n bytes.
func (k *acks) holds(n int) bool { return n <= maxAcked && k.at+ackLength(n) <= acksRegion }

// write writes a durably. If a has no value, write starts a new era, and all earlier entries
// must already be durable in the database.
func (k *acks) write(a ack) error {
	if a.value == nil {
		k.era, k.at = k.era+1, 0
	}
	a.era = k.era
	area := int(k.era % 2)
	k.scratch = a.append(k.scratch[:0])
	end := k.at + len(k.scratch)
	k.scratch = fill(k.scratch, k.used[area]-k.at)
	for _, region := range regions(area) {
		if _, err := k.file.WriteAt(k.scratch, int64(region+k.at)); err != nil {
			return err
		}
	}
	k.at, k.used[area] = end, end
	return k.file.SyncData()
}

// renew starts two successive eras with the same head, so that no earlier acks remain.
func (k *acks) renew(head Head) error {
	for range 2 {
		if err := k.write(ack{first: head.Size + 1, head: head}); err != nil {
			return err
		}
	}
	k.at = acksRegion // the database may contain more than head
	return nil
}

// regions returns the offsets of the two copies of an area.
func regions(area int) [2]int { return [2]int{area * acksRegion, (2 + area) * acksRegion} }

func (k *acks) close() error { return k.file.Close() }

// readAcks returns the acks of the last era in order, at least one. An error can also mean
// that the file was changed.
func readAcks(fsys vfs.FS, dir string) ([]ack, error) {
	name := fsys.PathJoin(dir, acksFile)
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const attempts = 5 // areas in use can change while they are read
	for attempt := 1; ; attempt++ {
		b := make([]byte, acksSize+1)
		if n, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		} else if n != acksSize {
			return nil, fmt.Errorf("%s %w", name, errHead)
		}
		as, others := readArea(b, 0), readArea(b, 1)
		if len(as) == 0 || len(others) > 0 && others[0].era > as[0].era {
			as = others
		}
		if len(as) > 0 {
			return as, nil
		}
		if attempt == attempts {
			return nil, fmt.Errorf("%s %w", name, errHead)
		}
	}
}

// readArea returns the acks of an area. It reads each ack from an intact copy.
func readArea(b []byte, area int) (as []ack) {
	begin := regions(area)
	one, two := b[begin[0]:][:acksRegion], b[begin[1]:][:acksRegion]
	for at := 0; ; {
		a, n, ok := parseAck(one[at:])
		if c, m, whole := parseAck(two[at:]); whole && (!ok || c.era > a.era) {
			a, n, ok = c, m, true
		}
		if !ok || len(as) > 0 && (a.era != as[0].era || a.first != as[len(as)-1].head.Size+1) {
			return as
		}
		as = append(as, a)
		at += n
	}
}

// Memory returns an empty file system in memory, for [Options].
func Memory() vfs.FS { return vfs.NewMem() }
