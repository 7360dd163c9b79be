package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
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
		switch err := r.chunk(); {
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

var errHarmed = errors.New("a log that is not as it was closed")

// A logReader reads the chunks of a log that Pebble closed; see [harmedLog]. It goes block by
// block.
type logReader struct {
	in     io.Reader
	number int64
	block  [blockSize]byte
	left   []byte // of the block
	full   bool   // the block is not cut by the log's end
	header int    // length of the headers of chunks, and
	least  byte   // the least of their types
	size   int64  // bytes read
}

// start is the length of headers before the first chunk.
const start = blockSize

func newLogReader(in io.Reader, number int64) *logReader {
	return &logReader{in: in, number: number, full: true, header: start}
}

const placesOfChunks = 4 // in a record: the whole of it, its first, a middle or its last

// chunk checks the next chunk. It returns [io.EOF] where the log was closed.
func (r *logReader) chunk() error {
	if r.full && len(r.left) < r.header {
		if !zero(r.left) {
			return errHarmed
		}
		n, err := io.ReadFull(r.in, r.block[:])
		if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
			return err
		}
		r.left, r.full, r.size = r.block[:n], n == blockSize, r.size+int64(n)
		if r.header == start {
			r.header, r.least = chunksOf(r.left)
		}
	}
	b, header, least := r.left, r.header, r.least
	if len(b) == closing && isClosing(b, r.number) {
		if n, _ := io.ReadFull(r.in, make([]byte, 1)); n > 0 {
			return errHarmed
		}
		return io.EOF
	}
	if len(b) < header {
		return errHarmed
	}
	n := header + int(binary.LittleEndian.Uint16(b[4:]))
	if n > len(b) || b[6] < least || b[6] >= least+placesOfChunks || binary.LittleEndian.Uint32(b[7:]) != uint32(r.number) || !isSummed(b[:n]) {
		return errHarmed
	}
	r.left = b[n:]
	return nil
}
