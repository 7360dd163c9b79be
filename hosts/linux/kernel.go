//go:build linux

package linux

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"bourse/hosts"
)

// A Kernel shares this machine among groups of processes, each with a name of letters, digits
// and dots. Its methods are safe for concurrent use.
type Kernel interface {
	// Kind returns the name by which [Open] opens it.
	Kind() string

	// Bounds reports whether limits of memory and of processes apply to a group as a whole.
	Bounds() (memory, processes bool)

	// Make creates an empty group. It returns an error if a group with that name exists.
	Make(name string, l Limits) error

	// Supervise must be called by the supervisor of a group before any process enters it. The group
	// contains the processes that the supervisor starts, but not the supervisor.
	Supervise(name string) error

	// Enter adds a process (0 is the calling one) and its future descendants to the group.
	Enter(name string, pid int) error

	// Share divides the processors among the given groups. A weight of 0 means the smallest
	// possible weight; to pause a group, freeze it.
	Share(shares []Share) error

	// Read appends to out the usage of every group created, supervised or listed by this Kernel,
	// sorted by name.
	Read(out []Usage) ([]Usage, error)

	// Freeze stops all processes of the group before it returns. They stay frozen until Thaw,
	// and can be killed.
	Freeze(name string) error
	Thaw(name string) error

	// Kill sends SIGKILL to all processes of the group. It returns when they have ended, or an
	// error after a second.
	Kill(name string) error

	// Remove removes a group without processes. It succeeds if the group does not exist.
	Remove(name string) error

	// List returns the sorted names of all groups, including those created by an earlier
	// process.
	List() ([]string, error)

	// Close closes the files of the groups, which continue to exist. If there are no groups and
	// the Kernel was opened by [Open], Close also removes their parent.
	Close() error
}

// Limits are the resource limits of a group; 0 means no limit.
type Limits struct {
	Memory    int64 // bytes; there is no swap
	Processes int   // including threads
}

// A Share is the share of the processors for one group.
type Share struct {
	Name string
	hosts.Share
}

// A Usage is the usage of one group.
type Usage struct {
	Name        string
	Used        float64 // processor-seconds since the group was created; never decreases
	OutOfMemory bool    // a process was killed because memory ran out
	Waited      float64 // seconds for which a process was ready but waited for a processor; never decreases; 0 if not measured
}

// A Config determines where groups are created.
type Config struct {
	Group      string  // parent of all groups, if groups have parents
	Dir        string  // folder for the records of a kernel of kind signals or none
	Processors float64 // number of processors offered, at most the number of the machine; 0 means all minus one, or all minus a half if there are fewer than four
}

// offered returns the default number of processors offered by a machine with n: n - 1, or n -
// 1/2 if n is below four. A group that used all processors would starve the system.
func offered(n int) float64 {
	if n < 4 {
		return float64(n) - 0.5
	}
	return float64(n - 1)
}

// Offered returns the number of processors offered, at most the number of the machine.
func (c *Config) Offered() float64 {
	if n := runtime.NumCPU(); c.Processors == 0 {
		return offered(n)
	} else if c.Processors < float64(n) {
		return c.Processors
	} else {
		return float64(n)
	}
}

// kinds are the kinds of kernels, in the order in which [Detect] tries them. Opening a kernel
// with attach set changes nothing on the machine.
var kinds = []struct {
	name string
	open func(c *Config, attach bool) (Kernel, error)
}{
	{"cgroup2", openCgroup2},
	{"cgroup1", openCgroup1},
	{"signals", func(c *Config, attach bool) (Kernel, error) { return openSignals(c, attach, true) }},
	{"none", func(c *Config, attach bool) (Kernel, error) { return openSignals(c, attach, false) }},
}

// Open opens the given kind of kernel for the process that shares the processors.
func Open(kind string, c Config) (Kernel, error) { return open(kind, &c, false) }

// Attach opens the kernel for a supervisor, or for a process that it starts.
func Attach(kind string, c Config) (Kernel, error) { return open(kind, &c, true) }

func open(kind string, c *Config, attach bool) (Kernel, error) {
	for _, k := range kinds {
		if k.name == kind {
			opened, err := k.open(c, attach)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			return opened, nil
		}
	}
	return nil, fmt.Errorf("no kernel %q: there are cgroup2, cgroup1, signals and none", kind)
}

// Detect opens the first kind that works, except none. Why contains the reasons why the kinds
// before k do not work.
func Detect(c Config) (k Kernel, why []error, err error) {
	for _, kind := range kinds[:len(kinds)-1] {
		if k, err = Open(kind.name, c); err == nil {
			return k, why, nil
		}
		why = append(why, err)
	}
	return nil, why, errors.Join(why...)
}

// weigh calls set with the weight of each share. The largest share has the weight most. Other
// shares have proportionally lower weights, with a minimum of least.
func weigh(shares []Share, least, most int, set func(i, weight int) error) error {
	largest := 0.0
	for i := range shares {
		largest = max(largest, shares[i].Weight)
	}
	var errs []error
	for i := range shares {
		w := least
		if shares[i].Weight > 0 {
			w = max(least, int(math.Round(float64(most)*(shares[i].Weight/largest))))
		}
		errs = append(errs, set(i, w))
	}
	return errors.Join(errs...)
}

// period is the period of quotas, in microseconds.
const period = 100_000

// quota converts limit to microseconds per period, at least the kernel's minimum of 1000. It
// returns 0 if the limit has no effect on a machine with that many processors.
func quota(limit, processors float64) int {
	if limit <= 0 || limit >= processors {
		return 0
	}
	return max(1000, int(math.Round(limit*period)))
}
