package swf

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones by name, for machines without a zone database
)

// A Header is the comment lines above the first record, without their newlines.
type Header []string

// all returns the values of all lines "; key: value", ignoring case.
func (h Header) all(key string) []string {
	var values []string
	for _, line := range h {
		k, v, ok := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

// Get returns the value of the first line "; key: value", ignoring case.
func (h Header) Get(key string) (string, bool) {
	if values := h.all(key); len(values) > 0 {
		return values[0], true
	}
	return "", false
}

// With returns the header with the value in the first line of the key, and without further
// lines of that key. A new key is added as the last line.
func (h Header) With(key, value string) Header {
	line := "; " + key + ": " + value
	at := slices.IndexFunc(h, func(line string) bool { return len(Header{line}.all(key)) > 0 })
	if at < 0 {
		return append(slices.Clone(h), line)
	}
	out := h.Without(key)
	return slices.Insert(out, at, line)
}

// Without returns the header without the lines of that key.
func (h Header) Without(key string) Header {
	return slices.DeleteFunc(slices.Clone(h), func(line string) bool { return len(Header{line}.all(key)) > 0 })
}

// Int returns the integer at the start of a key's value, as for MaxProcs, MaxNodes and
// UnixStartTime. It is unknown if a line of the key has no number or if two lines differ;
// [Header.Problems] reports both.
func (h Header) Int(key string) (int64, bool) {
	n, err := h.number(key)
	return n, err == nil
}

// number returns the integer of a key. If the key is missing, the error is errMissing.
func (h Header) number(key string) (int64, error) {
	var n int64
	values := h.all(key)
	if len(values) == 0 {
		return 0, errMissing
	}
	for i, v := range values {
		word, _, _ := strings.Cut(v, " ")
		x, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: found %.40q, want a whole number", key, v)
		}
		if i > 0 && x != n {
			return 0, fmt.Errorf("%s: found %d and %d, want one number", key, n, x)
		}
		n = x
	}
	return n, nil
}

var errMissing = errors.New("missing")

// Processors returns the size of the machine: MaxProcs, or MaxNodes if there is no MaxProcs.
// It is unknown if the lines of MaxProcs have no number, or different ones.
func (h Header) Processors() (int64, bool) {
	n, err := h.number("MaxProcs")
	if err == errMissing {
		n, err = h.number("MaxNodes")
	}
	return n, err == nil && n > 0
}

// Zone returns the time zone of the machine: TimeZoneString by name, with its summer time, or
// else TimeZone, in seconds east of UTC. The default is UTC.
func (h Header) Zone() *time.Location {
	zone, err := h.zone()
	if err == nil && zone != nil {
		return zone
	}
	if east, ok := h.Int("TimeZone"); ok && east > -86400 && east < 86400 {
		return time.FixedZone("", int(east))
	}
	return time.UTC
}

// zone returns the zone that TimeZoneString names, or nil if there is no such line.
func (h Header) zone() (*time.Location, error) {
	name, ok := h.Get("TimeZoneString")
	if !ok || name == "" {
		return nil, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // "Local" would be the zone of this machine
		return nil, fmt.Errorf("TimeZoneString: found %.40q, want a zone such as Europe/Stockholm", name)
	}
	return zone, nil
}

// Problems describes header lines that cannot be used, and their replacements.
func (h Header) Problems() []string {
	var found []string
	_, noSize := h.number("MaxProcs")
	nodes, ok := h.Int("MaxNodes")
	switch {
	case noSize == errMissing && ok:
		found = append(found, fmt.Sprintf("MaxProcs is missing: using MaxNodes, %d, as the number of processors", nodes))
	case noSize != nil && noSize != errMissing:
		found = append(found, noSize.Error()+": the size of the machine is unknown")
	}
	if _, err := h.number("UnixStartTime"); err != nil && err != errMissing {
		found = append(found, err.Error()+": the start of the log is unknown")
	}
	if _, err := h.zone(); err != nil {
		found = append(found, err.Error()+": hours are in "+h.instead())
	} else if _, bad := h.number("TimeZone"); bad != nil && bad != errMissing && len(h.all("TimeZoneString")) == 0 {
		found = append(found, bad.Error()+" of seconds: hours are in "+h.instead())
	}
	return found
}

// instead describes which hours are used if the named zone is unknown.
func (h Header) instead() string {
	if zone := h.Zone(); zone != time.UTC {
		return "the zone of TimeZone"
	}
	return "UTC"
}

// Agree returns the header with MaxJobs and MaxRecords set for these records, if it has such
// lines.
func (h Header) Agree(records []Record) Header {
	whole, _, _ := (&Trace{Records: records}).Whole()
	for key, n := range map[string]int{"MaxJobs": len(whole), "MaxRecords": len(records)} {
		if was, ok := h.Int(key); len(h.all(key)) > 0 && (!ok || was != int64(n)) {
			h = h.With(key, strconv.Itoa(n))
		}
	}
	return h
}
