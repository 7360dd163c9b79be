package workloadgen

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A column is one field of a job in a CSV file.
type column struct {
	name     string
	required bool
	want     string // description of valid values
	write    func(dst []byte, j *Job) []byte
	read     func(j *Job, s string) bool // returns false if s is invalid
}

var columns = [...]column{
	integer("id", func(j *Job) *int64 { return &j.ID }),
	integer("user", func(j *Job) *int64 { return &j.User }),
	number("arrival", true, "seconds", func(j *Job) *float64 { return &j.Arrival }),
	number("runtime", true, "seconds", func(j *Job) *float64 { return &j.Runtime }),
	number("estimate", false, "seconds", func(j *Job) *float64 { return &j.Estimate }),
	number("deadline", false, "seconds after arrival", func(j *Job) *float64 { return &j.Deadline }),
	{"nodes", true, fmt.Sprintf("a whole number in 1..%d", MaxNodes),
		func(dst []byte, j *Job) []byte { return strconv.AppendInt(dst, int64(j.Nodes), 10) },
		func(j *Job, s string) bool {
			n, ok := parseWhole(s)
			j.Nodes = int(n)
			return ok && n == int64(int32(n))
		}},
	number("worth", false, "relative value", func(j *Job) *float64 { return &j.Worth }),
	number("value", false, "dollars", func(j *Job) *float64 { return &j.Value }),
	{"class", false, fmt.Sprintf("at most %d letters, digits, - or _", maxClass),
		func(dst []byte, j *Job) []byte { return append(dst, j.Class...) },
		func(j *Job, s string) bool {
			j.Class = strings.Clone(s)
			return validClass(s)
		}},
	flag("hard", func(j *Job) *bool { return &j.Hard }),
	flag("urgent", func(j *Job) *bool { return &j.Urgent }),
	number("penalty_rate", false, "dollars per second", func(j *Job) *float64 { return &j.PenaltyRate }),
	number("lead", false, "seconds after arrival", func(j *Job) *float64 { return &j.Lead }),
	flag("on_demand", func(j *Job) *bool { return &j.OnDemand }),
	number("cancel", false, "seconds after arrival", func(j *Job) *float64 { return &j.Cancel }),
	{"parts", false, "a whole number, at most nodes",
		func(dst []byte, j *Job) []byte { return strconv.AppendInt(dst, int64(j.Parts), 10) },
		func(j *Job, s string) bool {
			n, ok := parseWhole(s)
			j.Parts = int(n)
			return ok && n == int64(int32(n))
		}},
	number("cpus", false, "processors", func(j *Job) *float64 { return &j.CPUs }),
	amount("memory", "bytes", func(n *Needs) *float64 { return &n.Memory }),
	amount("disk", "bytes", func(n *Needs) *float64 { return &n.Disk }),
	amount("bandwidth", "bytes per second", func(n *Needs) *float64 { return &n.Bandwidth }),
	units("gpus", "gpu"),
	integer("after", func(j *Job) *int64 { return &j.After }),
	number("think", false, "seconds", func(j *Job) *float64 { return &j.Think }),
}

// optional contains the columns that are omitted if no job sets them, with a function that
// reports whether a job does.
var optional = map[string]func(*Job) bool{
	"parts": func(j *Job) bool { return j.Parts > 0 },
	"cpus":  func(j *Job) bool { return j.CPUs > 0 },
	"after": func(j *Job) bool { return j.After != 0 },
	"think": func(j *Job) bool { return j.Think > 0 },

	"memory":    func(j *Job) bool { return j.Needs != nil && j.Needs.Memory > 0 },
	"disk":      func(j *Job) bool { return j.Needs != nil && j.Needs.Disk > 0 },
	"bandwidth": func(j *Job) bool { return j.Needs != nil && j.Needs.Bandwidth > 0 },
	"gpus":      func(j *Job) bool { return j.Needs != nil && j.Needs.Counts["gpu"] > 0 },
}

// written returns the columns that describe p. The units of countable resources follow gpus, in
// order of their names.
func written(p Plan) []column {
	used := slices.DeleteFunc(slices.Clone(columns[:]), func(c column) bool {
		sets := optional[c.name]
		return sets != nil && !slices.ContainsFunc(p, func(j Job) bool { return sets(&j) })
	})
	at := slices.IndexFunc(used, func(c column) bool { return c.name == "after" || c.name == "think" })
	if at < 0 {
		at = len(used)
	}
	for _, name := range p.Counts() {
		if name != "gpu" {
			used = slices.Insert(used, at, units("count."+name, name))
			at++
		}
	}
	return used
}

// Counts returns the names of the countable resources that jobs of p hold, sorted.
func (p Plan) Counts() []string {
	names := make(map[string]bool)
	for i := range p {
		if p[i].Needs != nil {
			for name, n := range p[i].Needs.Counts {
				names[name] = names[name] || n > 0
			}
		}
	}
	maps.DeleteFunc(names, func(_ string, used bool) bool { return !used })
	return slices.Sorted(maps.Keys(names))
}

// needs returns the needs of j. It creates them if there are none.
func (j *Job) needs() *Needs {
	if j.Needs == nil {
		j.Needs = new(Needs)
	}
	return j.Needs
}

// amount returns the column of an amount that each node holds. A cell of 0 sets nothing.
func amount(name, unit string, at func(*Needs) *float64) column {
	return column{name, false, fmt.Sprintf("a whole number of %s, at most %d", unit, MaxAmount),
		func(dst []byte, j *Job) []byte {
			if j.Needs == nil {
				return append(dst, '0')
			}
			return appendFloat(dst, *at(j.Needs))
		},
		func(j *Job, s string) bool {
			n, ok := parseWhole(s)
			if n != 0 {
				*at(j.needs()) = float64(n)
			}
			return ok && n >= 0 && n <= MaxAmount
		}}
}

// units returns the column of the units of a countable resource that each node holds.
func units(title, name string) column {
	return column{title, false, fmt.Sprintf("a whole number in 0..%d", MaxCount),
		func(dst []byte, j *Job) []byte {
			n := 0
			if j.Needs != nil {
				n = j.Needs.Counts[name]
			}
			return strconv.AppendInt(dst, int64(n), 10)
		},
		func(j *Job, s string) bool {
			n, ok := parseWhole(s)
			if n != 0 {
				if needs := j.needs(); needs.Counts == nil {
					needs.Counts = make(map[string]int)
				}
				j.Needs.Counts[name] = int(n)
			}
			return ok && n >= 0 && n <= MaxCount
		}}
}

// alias returns the alternative name of the column: the name in the models of the Libra papers,
// or count.gpu.
func (c *column) alias() string {
	switch c.name {
	case "arrival":
		return "submit"
	case "nodes":
		return "procs"
	case "value":
		return "budget"
	case "penalty_rate":
		return "penalty"
	case "gpus":
		return "count.gpu"
	}
	return c.name
}

func integer(name string, at func(*Job) *int64) column {
	return column{name, false, "a whole number at least 0",
		func(dst []byte, j *Job) []byte { return strconv.AppendInt(dst, *at(j), 10) },
		func(j *Job, s string) bool {
			n, ok := parseWhole(s)
			*at(j) = n
			return ok
		}}
}

func number(name string, required bool, unit string, at func(*Job) *float64) column {
	return column{name, required, "a number of " + unit,
		func(dst []byte, j *Job) []byte { return appendFloat(dst, *at(j)) },
		func(j *Job, s string) bool {
			x, ok := parseFloat(s)
			*at(j) = x
			return ok
		}}
}

func flag(name string, at func(*Job) *bool) column {
	return column{name, false, "true or false, or 1 or 0",
		func(dst []byte, j *Job) []byte { return strconv.AppendBool(dst, *at(j)) },
		func(j *Job, s string) bool {
			*at(j) = strings.EqualFold(s, "true") || s == "1"
			return *at(j) || strings.EqualFold(s, "false") || s == "0"
		}}
}

// appendFloat writes the shortest text that reads back as x.
func appendFloat(dst []byte, x float64) []byte {
	if ax := max(x, -x); ax != 0 && (ax < 1e-6 || ax >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

// parseFloat reads a decimal number. It rejects hexadecimal, inf and nan.
func parseFloat(s string) (float64, bool) {
	if len(s) > 64 || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x + 0, err == nil // no -0
}

// parseWhole reads an integer, which may be written as a decimal such as 2.0.
func parseWhole(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	x, ok := parseFloat(s)
	return int64(x), ok && x == math.Trunc(x) && math.Abs(x) <= 1<<53
}
