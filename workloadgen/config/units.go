package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A Unit is the unit of a number that may also be written with related units, such as 2h for
// 7200 seconds or 4GB for 4000000000 bytes.
type Unit string

// The units.
const (
	NoUnit  Unit = ""
	Seconds Unit = "seconds"
	Bytes   Unit = "bytes"
)

var (
	ofSeconds = regexp.MustCompile(`(^|[^-])\bseconds\b|, s\b|\bin s\b`)
	ofBytes   = regexp.MustCompile(`\bbytes\b`)
)

// UnitOf returns the unit that the documentation of a field states.
func UnitOf(doc string) Unit {
	switch {
	case strings.Contains(doc, "logarithm"):
		return NoUnit
	case ofBytes.MatchString(doc):
		return Bytes
	case ofSeconds.MatchString(doc):
		return Seconds
	}
	return NoUnit
}

// words maps the names of related units to their size in each unit.
var words = map[Unit]map[string]float64{
	Seconds: {"ms": 1e-3, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400},
	Bytes: {
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	},
}

var measured = regexp.MustCompile(`^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s?([A-Za-z]+)`)

// Parse reads a number in u, or a sum of numbers with units, such as 2h30m.
func (u Unit) Parse(s string) (x float64, ok bool) {
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	for rest := s; rest != ""; {
		m := measured.FindStringSubmatch(rest)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseFloat(m[1], 64)
		each, known := words[u][m[2]]
		if err != nil || !known {
			return 0, false
		}
		x += n * each
		rest = strings.TrimLeft(rest[len(m[0]):], " ")
	}
	return x, s != ""
}

// Want describes valid values of u.
func (u Unit) Want() string {
	switch u {
	case Seconds:
		return "seconds, or as 90s, 2h30m, 3d"
	case Bytes:
		return "bytes, or as 512MB, 4GB, 2GiB"
	}
	return "a number"
}
