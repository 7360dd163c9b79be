package results

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// buildID returns the linker's build ID of the program at path. The ID ends with a hash of the
// program's contents. Reading the ID takes far less time than hashing the program. buildID
// searches the first pages of the file, as the go command does. Package debug/elf would find
// the ID at any position, but it imports package debug/dwarf.
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
	// A note consists of the lengths of its name and its text, its type, its name and its
	// text.
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
