package workloadgen

import (
	"fmt"
	"math"
	"strings"
)

// Limits of a plan. Values beyond them are mistakes in its file.
const (
	MaxID      = 1 << 53 // the largest integer that all JSON readers represent exactly, as in ledgers
	MaxSeconds = 1e11    // any time or duration: about 3,000 years
	MaxNodes   = 1 << 24 // per job
	MaxCPUs    = 1e6     // per node
	MaxAmount  = 1 << 53 // largest amount per node, in bytes or bytes per second; sums of whole numbers up to this limit are exact
	MaxCount   = 1 << 30 // units per node
	MaxNames   = 8       // names of countable resources
	MaxDollars = 1e12    // per value
	MaxRate    = 1e9     // per penalty, in dollars per second
	MaxWorth   = 1e15    // per job
	maxClass   = 32      // bytes
)

// A Plan is a sequence of jobs in order of arrival.
type Plan []Job

// Validate returns an error for the first job and field that violate the constraints of [Job]
// or the order of arrival.
func (p Plan) Validate() error {
	seen := make(map[int64]int, len(p))
	for i := range p {
		j := &p[i]
		if err := j.validate(); err != nil {
			return fmt.Errorf("job %d (number %d of the plan): %w", j.ID, i+1, err)
		}
		if i > 0 && j.Arrival < p[i-1].Arrival {
			return fmt.Errorf("job %d (number %d of the plan): arrival %v is before the previous job's, %v",
				j.ID, i+1, j.Arrival, p[i-1].Arrival)
		}
		if first, ok := seen[j.ID]; ok {
			return fmt.Errorf("job %d (number %d of the plan): number %d has the same id", j.ID, i+1, first)
		}
		if _, ok := seen[j.After]; j.After != 0 && !ok {
			return fmt.Errorf("job %d (number %d of the plan): after %d is not the number of an earlier job", j.ID, i+1, j.After)
		}
		seen[j.ID] = i + 1
	}
	return nil
}

func (j *Job) validate() error {
	if j.ID < 0 {
		return fmt.Errorf("id %d is negative", j.ID)
	}
	if j.ID > MaxID {
		return fmt.Errorf("id %d is more than %d", j.ID, int64(MaxID))
	}
	if j.User < 0 {
		return fmt.Errorf("user %d is negative", j.User)
	}
	if j.After < 0 {
		return fmt.Errorf("after %d is negative", j.After)
	}
	if j.Nodes < 1 || j.Nodes > MaxNodes {
		return fmt.Errorf("nodes %d is not in 1..%d", j.Nodes, MaxNodes)
	}
	if j.Parts < 0 || j.Parts > j.Nodes {
		return fmt.Errorf("parts %d is not in 0..%d (nodes)", j.Parts, j.Nodes)
	}
	if !validClass(j.Class) {
		return fmt.Errorf("class %q is not at most %d letters, digits, - or _", j.Class, maxClass)
	}
	for _, f := range [...]struct {
		name     string
		value    float64
		positive bool
		max      float64
	}{
		{"arrival", j.Arrival, false, MaxSeconds},
		{"runtime", j.Runtime, true, MaxSeconds},
		{"estimate", j.Estimate, true, MaxSeconds},
		{"deadline", j.Deadline, true, MaxSeconds},
		{"lead", j.Lead, false, MaxSeconds},
		{"cancel", j.Cancel, false, MaxSeconds},
		{"cpus", j.CPUs, false, MaxCPUs},
		{"think", j.Think, false, MaxSeconds},
		{"worth", j.Worth, false, MaxWorth},
		{"value", j.Value, false, MaxDollars},
		{"penalty_rate", j.PenaltyRate, false, MaxRate},
	} {
		if err := within(f.value, f.positive, f.max); err != nil {
			return fmt.Errorf("%s %w", f.name, err)
		}
	}
	if j.Needs != nil {
		return j.Needs.validate()
	}
	return nil
}

// validate returns an error for the first amount that is not a whole number within its limits.
func (n *Needs) validate() error {
	for _, f := range [...]struct {
		name  string
		value float64
	}{{"memory", n.Memory}, {"disk", n.Disk}, {"bandwidth", n.Bandwidth}} {
		if !(f.value >= 0 && f.value <= MaxAmount && f.value == math.Trunc(f.value)) {
			return fmt.Errorf("%s %v is not a whole number in 0..%d", f.name, f.value, MaxAmount)
		}
	}
	if len(n.Counts) > MaxNames {
		return fmt.Errorf("%d countable resources, want at most %d", len(n.Counts), MaxNames)
	}
	for name, count := range n.Counts {
		if !ValidCount(name) {
			return fmt.Errorf("count.%.40s: %s", name, wantCount)
		}
		if count < 0 || count > MaxCount {
			return fmt.Errorf("count.%s %d is not in 0..%d", name, count, MaxCount)
		}
	}
	return nil
}

// ValidCount reports whether name is a valid name of a countable resource: it consists of
// lower-case letters, digits, - and _, and does not name another kind of resource.
func ValidCount(name string) bool {
	switch name {
	case "", "cpu", "memory", "disk", "bandwidth":
		return false
	}
	return validClass(name) && name == strings.ToLower(name)
}

var wantCount = fmt.Sprintf("want the name of a countable resource: at most %d small letters, digits, - or _, and not cpu, memory, disk or bandwidth", maxClass)

// within returns an error if x is not a number in [0, max], or in (0, max] if positive is set.
func within(x float64, positive bool, max float64) error {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("%v is not a number", x)
	case x < 0:
		return fmt.Errorf("%v is negative", x)
	case positive && x == 0:
		return fmt.Errorf("is 0, want more")
	case x > max:
		return fmt.Errorf("%v is more than %v", x, max)
	}
	return nil
}

func validClass(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return len(s) <= maxClass
}
