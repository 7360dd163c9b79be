package audit

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// harmedLog returns where a write-ahead log that Pebble closed is not as it was
// written, or -1. A log is blocks of chunks, as records reads them; a chunk has the
// number of its log after its type, a checksum of all that follows the length, and
// zeros after it where no header fits. The last is empty, of the next number, and
// without checksum. The first log of a database has shorter headers.
func harmedLog(b []byte, number int64) int {
	r := newLogReader(bytes.NewReader(b), number)
	for {
		switch _, _, err := r.chunk(); {
		case err == io.EOF:
			return -1
		case err != nil:
			return int(r.size) - len(r.left)
		}
	}
}

// chunksOf returns the length of the headers of the chunks of log b, and the least of their
// types.
func chunksOf(b []byte) (header int, least byte) {
	if len(b) > 6 && b[6] < 9 {
		return 11, 5
	}
	return 19, 9
}

// closing is the length of the chunk that closes a log.
const closing = 11

// isClosing reports whether b is the chunk that closes the log of that number.
func isClosing(b []byte, number int64) bool {
	return bytes.Equal(b, binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, 0, 0, 5}, uint32(number+1)))
}

// isSummed reports whether a chunk has its checksum.
func isSummed(chunk []byte) bool { return binary.LittleEndian.Uint32(chunk) == checksum(chunk) }

// checksum returns the checksum of a chunk, which begins with it.
func checksum(chunk []byte) uint32 {
	sum := crc32.Checksum(chunk[6:], crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15 | sum<<17) + 0xa282ead8
}
