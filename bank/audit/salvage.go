package audit

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// salvage continues the reading after Pebble has failed. It reads the remains of the
// write-ahead logs regardless of their checksums, to find the damaged entry.
func (a *auditor) salvage() {
	names, err := a.opts.FS.List(a.dir)
	if err != nil {
		return
	}
	slices.Sort(names)
	from := a.chain.size
	for _, name := range names {
		if !isLog(name) {
			continue
		}
		b, err := a.readFile(name)
		if err != nil {
			continue
		}
		for _, record := range records(b) {
			a.batch(record)
			if a.bad != nil {
				a.bad.File = name
				return
			}
		}
	}
	if a.chain.size > from {
		a.fail(from+1, fmt.Sprintf("intact entries %d to %d after the point where Pebble stops reading the file", from+1, a.chain.size), "a write-ahead log with valid checksums")
	}
}

// batch checks the group in a batch, if it is the next group. A batch is 12 bytes followed by
// records. A record consists of a kind (1 for set and 0 for delete), a key and, for set, a
// value.
func (a *auditor) batch(b []byte) {
	in := input{b: b}
	in.take(12)
	for a.bad == nil && !in.bad && len(in.b) > 0 {
		kind := in.byte()
		key := in.bytes(int64(len(in.b)))
		if kind != 1 {
			continue
		}
		value := in.take(min(in.int(), int64(len(in.b)))) // or the rest of a truncated value
		if len(key) == 9 && key[0] == 'G' && binary.BigEndian.Uint64(key[1:]) == uint64(a.chain.size+1) {
			a.group(key, value)
		}
	}
}

const blockSize = 32 << 10

// records returns the records of a write-ahead log. The last record may be truncated. A log is
// a sequence of blocks, and a block is a sequence of chunks. A chunk consists of a checksum of
// 4 bytes, a length of 2 bytes, a type, a header that depends on the type, and data.
func records(log []byte) (rs [][]byte) {
	var record []byte
	for len(log) > 0 {
		block := log[:min(blockSize, len(log))]
		log = log[len(block):]
		for len(block) > 7 {
			kind, n := int(block[6]), int(binary.LittleEndian.Uint16(block[4:]))
			header := 7
			switch {
			case 5 <= kind && kind <= 8:
				header = 11
			case 9 <= kind && kind <= 12:
				header = 19
			}
			if n == 0 || kind == 0 || kind > 12 || header > len(block) {
				break
			}
			data := block[header:min(header+n, len(block))]
			block = block[header+len(data):]
			switch place := (kind - 1) % 4; place {
			case 0, 1: // full, first
				if record != nil {
					rs = append(rs, record)
				}
				record = slices.Clone(data)
				if place == 0 {
					rs, record = append(rs, record), nil
				}
			case 2, 3: // middle, last
				record = append(record, data...)
				if place == 3 {
					rs, record = append(rs, record), nil
				}
			}
		}
	}
	if record != nil {
		rs = append(rs, record)
	}
	return rs
}
