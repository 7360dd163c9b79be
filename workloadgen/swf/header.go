package swf

import (
	"strconv"
	"strings"
)

// A Header is the comment lines above the first record, as they stand, without
// their newlines.
type Header []string

// Get returns the value of the first line "; key: value", without regard to
// case.
func (h Header) Get(key string) (string, bool) {
	for _, line := range h {
		k, v, ok := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// Int returns the whole number that a value starts with: MaxProcs, MaxNodes,
// UnixStartTime. It is not known where two lines say two numbers.
func (h Header) Int(key string) (int64, bool) {
	var n int64
	found := false
	for i := range h {
		v, ok := h[i : i+1].Get(key)
		if !ok {
			continue
		}
		word, _, _ := strings.Cut(v, " ")
		x, err := strconv.ParseInt(word, 10, 64)
		if err != nil || found && x != n {
			return 0, false
		}
		n, found = x, true
	}
	return n, found
}

// Processors returns the size of the machine: MaxProcs, or else MaxNodes.
func (h Header) Processors() (int64, bool) {
	if n, ok := h.Int("MaxProcs"); ok && n > 0 {
		return n, true
	}
	n, ok := h.Int("MaxNodes")
	return n, ok && n > 0
}
