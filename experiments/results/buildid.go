package results

import (
	"bytes"
	"debug/elf"
	"fmt"
)

// buildID returns the ID that the linker gave the program at path, which ends in a hash of
// all of it: a few bytes to read where the program has many.
func buildID(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	section := f.Section(".note.go.buildid")
	if section == nil {
		return "", fmt.Errorf("%s: found no build ID", path)
	}
	note, err := section.Data()
	if err != nil {
		return "", err
	}
	const header = 16 // the lengths of name and ID, the type, and the name, Go
	if len(note) < header || !bytes.Equal(note[12:header], []byte("Go\x00\x00")) {
		return "", fmt.Errorf("%s: found a note of another kind, want a build ID", path)
	}
	id, n := note[header:], f.ByteOrder.Uint32(note[4:])
	if n == 0 || uint64(n) > uint64(len(id)) {
		return "", fmt.Errorf("%s: found a build ID of %d bytes in %d", path, n, len(id))
	}
	return string(id[:n]), nil
}
