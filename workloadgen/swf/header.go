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

// A Header contains the comment lines above the first record, without their newlines.
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

// Without returns the header without the lines with that key.
func (h Header) Without(key string) Header {
	return slices.DeleteFunc(slices.Clone(h), func(line string) bool { return len(Header{line}.all(key)) > 0 })
}

// Int returns the integer at the start of a key's value. It is unknown if a line of the key has
// no number or if two lines differ. [Header.Problems] reports both.
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
		word, _, _ := strings.Cut(strings.ReplaceAll(v, "\t", " "), " ")
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

// Processors returns the size of the machine: MaxProcs, or MaxNodes if there is no MaxProcs. It
// is unknown if no line of MaxProcs has a number above 0, or if two lines differ.
func (h Header) Processors() (int64, bool) {
	n, _, err := h.size()
	return n, err == nil
}

// size returns the size of the machine and the key that states it.
func (h Header) size() (n int64, key string, err error) {
	key = "MaxProcs"
	if n, err = h.number(key); err == errMissing {
		key = "MaxNodes"
		n, err = h.number(key)
	}
	if err == nil && n <= 0 {
		return 0, key, fmt.Errorf("%s: found %d, want 1 or more", key, n)
	}
	return n, key, err
}

// Start returns the Unix time at which submit times are 0.
func (h Header) Start() (int64, bool) {
	at, err := h.start()
	return at, err == nil
}

func (h Header) start() (int64, error) {
	at, err := h.number("UnixStartTime")
	switch {
	case err == nil && at < 0:
		err = fmt.Errorf("UnixStartTime: found %d, want seconds since 1970", at)
	case err == nil && at >= milliseconds:
		err = fmt.Errorf("UnixStartTime: found %d, which looks like milliseconds, want seconds", at)
	}
	return at, err
}

// Zone returns the time zone of the machine: TimeZoneString by name, with its summer time, or
// else TimeZone, in seconds east of UTC. The default is UTC.
func (h Header) Zone() *time.Location {
	zone, _ := h.zone()
	if zone == nil {
		zone, _ = h.offset()
	}
	if zone == nil {
		zone = time.UTC
	}
	return zone
}

// zone returns the zone that TimeZoneString names, or nil if there is no such line.
func (h Header) zone() (*time.Location, error) {
	const key = "TimeZoneString"
	names := slices.DeleteFunc(h.all(key), func(name string) bool { return name == "" })
	if names = slices.Compact(names); len(names) > 1 {
		return nil, fmt.Errorf("%s: found %.40s and %.40s, want one zone", key, names[0], names[1])
	}
	if len(names) == 0 {
		return nil, nil
	}
	zone, err := time.LoadLocation(names[0])
	if err != nil || names[0] == "Local" { // the Go library interprets "Local" as the zone of this machine
		return nil, fmt.Errorf("%s: found %.40q, want a zone such as Europe/Stockholm", key, names[0])
	}
	return zone, nil
}

// offset returns the zone of TimeZone, or nil if there is no such line.
func (h Header) offset() (*time.Location, error) {
	const key = "TimeZone"
	east, err := h.number(key)
	switch {
	case err == errMissing:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w of seconds", err)
	case east <= -86400 || east >= 86400:
		return nil, fmt.Errorf("%s: found %d, want seconds east of UTC", key, east)
	}
	return time.FixedZone("", int(east)), nil
}

// Problems describes header lines that cannot be used, and their replacements.
func (h Header) Problems() []string {
	var found []string
	switch n, key, err := h.size(); {
	case err == nil && key == "MaxNodes":
		found = append(found, fmt.Sprintf("MaxProcs is missing: using MaxNodes, %d, as the number of processors", n))
	case err != nil && err != errMissing:
		found = append(found, err.Error()+": the size of the machine is unknown")
	}
	if _, err := h.start(); err != nil && err != errMissing {
		found = append(found, err.Error()+": the start of the log is unknown")
	}
	zone, err := h.zone()
	if err == nil && zone == nil {
		_, err = h.offset()
	}
	if err != nil {
		instead := "UTC"
		if h.Zone() != time.UTC {
			instead = "the zone of TimeZone"
		}
		found = append(found, err.Error()+": hours are in "+instead)
	}
	return found
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
