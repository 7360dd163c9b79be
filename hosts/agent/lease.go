//go:build linux

package agent

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// The lease is a file of leaseSize bytes. The agent allocates it when it starts and renews it
// in place, so that a renewal needs no additional disk space. The file has two slots, each a
// line of fixed width with a number and a checksum. A renewal writes both slots, one after the
// other. A reader therefore always finds an intact slot, and uses the one with the higher
// number. An earlier version wrote only three fields without slots. That format can still be
// read, and the first line of the current format starts with the same three fields.
const (
	leaseSize = 4096
	leaseSlot = leaseSize / 2
)

// A lease is the time until which tasks may run.
type lease struct {
	until  float64 // time at which the lease ends
	deal   int64   // number of the allocation in force
	booked float64 // time up to which the market has booked the usage of tasks
	number int64   // number of the renewal
}

// slot returns l in the format of a slot.
func (l *lease) slot() []byte {
	line := fmt.Appendf(nil, "%20.6f %20d %20.6f %20d", l.until, l.deal, l.booked, l.number)
	line = fmt.Appendf(line, " %08x\n", crc32.ChecksumIEEE(line))
	return append(line, bytes.Repeat([]byte{' '}, leaseSlot-len(line))...)
}

// parseSlot returns the lease in text and reports whether the slot is intact.
func parseSlot(text []byte) (l lease, whole bool) {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	switch fields := bytes.Fields(line); len(fields) {
	case 3: // written by an earlier version
		_, err := fmt.Sscan(string(line), &l.until, &l.deal, &l.booked)
		return l, err == nil
	case 5:
		at := bytes.LastIndexByte(line, ' ')
		var sum uint32
		if _, err := fmt.Sscanf(string(line[at+1:]), "%x", &sum); err != nil || sum != crc32.ChecksumIEEE(line[:at]) {
			return l, false
		}
		_, err := fmt.Sscan(string(line[:at]), &l.until, &l.deal, &l.booked, &l.number)
		return l, err == nil
	}
	return l, false
}

// readLease returns the lease of an agent's folder. If no slot is intact, it returns a lease
// that has ended.
func readLease(root string) (l lease) {
	f, err := os.Open(leasePath(root))
	if err != nil {
		return l
	}
	defer f.Close()
	text := make([]byte, leaseSize)
	n, _ := io.ReadFull(f, text)
	for from := 0; from < n; from += leaseSlot {
		if s, whole := parseSlot(text[from:min(n, from+leaseSlot)]); whole && s.number >= l.number {
			l = s
		}
	}
	return l
}

func leasePath(root string) string { return filepath.Join(root, "lease") }

// allocateLease allocates the full size of the lease file on the disk and preserves the
// content of the file.
func allocateLease(root string) error {
	info, err := os.Stat(leasePath(root))
	if err == nil && info.Size() == leaseSize {
		return nil
	}
	was := readLease(root)
	return replace(leasePath(root), append(was.slot(), was.slot()...), 0o644, true)
}

// writeLease renews the lease of an agent's folder in place.
func writeLease(root string, l lease) error {
	f, err := os.OpenFile(leasePath(root), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	l.number = readLease(root).number + 1
	slot := l.slot()
	_, err = f.WriteAt(slot, leaseSlot)
	if err == nil {
		_, err = f.WriteAt(slot, 0)
	}
	return errors.Join(err, f.Close())
}
