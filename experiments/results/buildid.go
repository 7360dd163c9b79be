package results

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// buildID returns the ID that the linker gave the program at path, which ends in a hash of
// all of it: a few bytes to read where the program has many. It looks for the note that has
// it among the first pages, where the go command looks, too; debug/elf would find it
// anywhere, but brings all of debug/dwarf.
func buildID(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 32<<10))
	if err != nil {
		return "", err
	}
	// A note is the lengths of its name and text, its type, its name, and its text.
	at := bytes.Index(head, []byte("\x04\x00\x00\x00Go\x00\x00"))
	if at < 8 || !bytes.HasPrefix(head, []byte("\x7fELF")) {
		return "", fmt.Errorf("%s: found no build ID", path)
	}
	id, n := head[at+8:], binary.LittleEndian.Uint32(head[at-4:])
	if n == 0 || uint64(n) > uint64(len(id)) {
		return "", fmt.Errorf("%s: found a build ID of %d bytes in %d", path, n, len(id))
	}
	return string(id[:n]), nil
}
