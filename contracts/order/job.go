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
)

// A Job is what is to run on each node. It travels beside the order, which has its sum.
type Job struct {
	Command []string          `json:"command"`
	Env     []string          `json:"env,omitempty"` // NAME=value
	Limits  Limits            `json:"limits,omitzero"`
	Blobs   map[string]string `json:"blobs,omitempty"` // files of its folder, by name: the sum of each
}

// Limits bound what a node takes of its host; 0 is the host's own.
type Limits struct {
	Memory    int64 `json:"memory,omitempty"` // bytes
	Processes int   `json:"processes,omitempty"`
	Files     int   `json:"files,omitempty"` // open at once, by one process
	Disk      int64 `json:"disk,omitempty"`  // bytes
	Log       int64 `json:"log,omitempty"`   // bytes of each of its outputs
}

// mostText is the most bytes of a command and its environment.
const mostText = 128 << 10

// Text returns j as it is hashed: its fields in order, JSON without spaces.
func (j *Job) Text() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(j); err != nil {
		panic("order: " + err.Error()) // texts and numbers have a JSON form
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Sum returns the sum of j: "sha256:" and the hash of its text.
func (j *Job) Sum() string { return Sum(j.Text()) }

// Sum returns "sha256:" and the hash of b in hexadecimal.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseJob reads what [Job.Text] writes, and nothing else.
func ParseJob(text []byte) (*Job, error) {
	j := new(Job)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(j); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF || !bytes.Equal(text, j.Text()) {
		return nil, errors.New("job: found JSON in another form than this bourse writes")
	}
	return j, j.Check()
}

// Check tells what of j no host runs.
func (j *Job) Check() error {
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
	for name, sum := range j.Blobs {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 255 || !isSum(sum) {
			return fmt.Errorf("job: found file %.40q with sum %.80q, want the name of a file, and sha256: and 64 hexadecimal digits", name, sum)
		}
	}
	l := &j.Limits
	switch {
	case len(j.Command) == 0 || j.Command[0] == "":
		return errors.New("job: found no command")
	case size > mostText:
		return fmt.Errorf("job: found a command and environment of %d bytes, want at most %d", size, mostText)
	case min(l.Memory, int64(l.Processes), int64(l.Files), l.Disk, l.Log) < 0:
		return errors.New("job: found a limit below 0")
	}
	return nil
}

func isSum(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	b, err := hex.DecodeString(digits)
	return ok && err == nil && len(b) == sha256.Size && strings.ToLower(digits) == digits
}
