package order

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"bourse/hosts/remote"
)

// mostText is the maximum total size of a command and its environment, in bytes.
const mostText = 128 << 10

// Text returns the canonical text of a job, which is hashed: its fields in order, as JSON
// without spaces. The text is sent together with the order, which contains the hash of the
// text.
func Text(j *remote.Job) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(j); err != nil {
		panic("order: " + err.Error()) // strings and numbers can always be encoded as JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Sum returns "sha256:" and the hexadecimal hash of b.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseJob parses text in the form that [Text] returns, and rejects all other forms.
func ParseJob(text []byte) (*remote.Job, error) {
	j := new(remote.Job)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(j); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF || !bytes.Equal(text, Text(j)) {
		return nil, errors.New("job: found JSON in a non-canonical form, want the form that bourse writes")
	}
	return j, check(j)
}

// check returns an error if no host can run j.
func check(j *remote.Job) error {
	size := 0
	for _, s := range append(append([]string(nil), j.Command...), j.Env...) {
		if size += len(s) + 1; strings.ContainsRune(s, 0) {
			return fmt.Errorf("job: found a zero byte in %.40q", s)
		}
	}
	for _, s := range j.Env {
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
			return fmt.Errorf("job: found %.40q in its environment, want NAME=value", s)
		}
	}
	for name, sum := range j.Files {
		name, tree := strings.CutSuffix(name, "/")
		if _, twice := j.Files[name]; tree && twice {
			return fmt.Errorf("job: found a file and a folder %.40q, want unique names", name)
		}
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 255 || !isSum("sha256:"+sum) {
			return fmt.Errorf("job: found file %.40q with sum %.80q, want the name of a file, or of a folder and /, and 64 hexadecimal digits", name, sum)
		}
	}
	l := &j.Limits
	_, staged := j.Files[j.Stdin]
	switch {
	case j.Stdin != "" && !staged:
		return fmt.Errorf("job: found standard input %.40q, want one of its files", j.Stdin)
	case len(j.Name) > 255 || !utf8.ValidString(j.Name) || strings.ContainsFunc(j.Name, unicode.IsControl):
		return fmt.Errorf("job: found name %.40q, want at most 255 bytes of printable text", j.Name)
	case len(j.Command) == 0 || j.Command[0] == "":
		return errors.New("job: found no command")
	case size > mostText:
		return fmt.Errorf("job: found a command and environment of %d bytes, want at most %d", size, mostText)
	case min(l.Memory, int64(j.GPUs), int64(l.Processes), int64(l.Files), l.Disk, l.Log) < 0:
		return errors.New("job: found a limit below 0")
	}
	return nil
}

func isSum(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	b, err := hex.DecodeString(digits)
	return ok && err == nil && len(b) == sha256.Size && strings.ToLower(digits) == digits
}
