package audit

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// harmedLog returns where a write-ahead log that Pebble closed is not as it was
// written, or -1. A log is blocks of chunks, as records reads them; a chunk has the
// number of its log after its type, a checksum of all that follows the length, and
// zeros after it where no header fits. The last is empty, of the next number, and
// without checksum. The first log of a database has shorter headers.
func harmedLog(b []byte, number int64) int {
	const closing = 11
	header, least := 19, byte(9)
	if len(b) > 6 && b[6] < least {
		header, least = 11, 5
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	for at := 0; ; {
		room := min(blockSize-at%blockSize, len(b)-at)
		if room < header && blockSize-at%blockSize == room {
			if !zero(b[at:][:room]) {
				return at
			}
			at += room
			continue
		}
		chunk := b[at:]
		if room == closing {
			end := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, 0, 0, 5}, uint32(number+1))
			if bytes.Equal(chunk, end) {
				return -1
			}
		}
		if room < header {
			return at
		}
		n := header + int(binary.LittleEndian.Uint16(chunk[4:]))
		if n > room || chunk[6] < least || chunk[6] > least+3 || binary.LittleEndian.Uint32(chunk[7:]) != uint32(number) {
			return at
		}
		sum := crc32.Checksum(chunk[6:n], table)
		if binary.LittleEndian.Uint32(chunk) != (sum>>15|sum<<17)+0xa282ead8 {
			return at
		}
		at += n
	}
}
