//go:build linux

package linux

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"bourse/hosts"
)

// A Kernel shares this machine among groups of processes, each known by its name: letters,
// digits and dots. Its methods may be called at once.
type Kernel interface {
	// Kind returns the name under which [Open] opens it.
	Kind() string

	// Bounds reports whether the limits of memory and of processes are kept for a
	// group as a whole.
	Bounds() (memory, processes bool)

	// Make makes an empty group. It is an error if there is one of that name.
	Make(name string, l Limits) error

	// Mind is called by the minder of a group, before any process enters it: the
	// group is what the minder starts, never the minder itself.
	Mind(name string) error

	// Enter puts a process into the group, 0 the calling one, with all that it will start.
	Enter(name string, pid int) error

	// Share divides the processors among these groups. A weight of 0 is the least
	// that there is: who wants a group to stand freezes it.
	Share(shares []Share) error

	// Read appends the usage of every group made, minded or listed here, in the order
	// of names.
	Read(out []Usage) ([]Usage, error)

	// Freeze stops the group's processes, all of them when it returns; what is frozen
	// stays so until Thaw, and can be killed.
	Freeze(name string) error
	Thaw(name string) error

	// Kill ends all processes of the group with SIGKILL, and returns when they are gone
	// or an error after a second.
	Kill(name string) error

	// Remove removes a group without processes. One that is not there is removed.
	Remove(name string) error

	// List returns the names of all groups there are, in order, those that an earlier
	// process made included.
	List() ([]string, error)

	// Close lets go of the groups, which stay; where there are none, and it was opened by
	// [Open], of what they were to stand in.
	Close() error
}

// Limits are what a group may hold; 0 is no limit.
type Limits struct {
	Memory    int64 // bytes; swap there is none
	Processes int   // threads count, too
}

// A Share is what one group is to get of the processors.
type Share struct {
	Name string
	hosts.Share
}

// A Usage is what one group has used.
type Usage struct {
	Name        string
	Used        float64 // processor-seconds since it was made; never falls
	OutOfMemory bool    // something was killed because memory ran out
	Waited      float64 // seconds in which something of it could run and did not; never falls, 0 where it is not measured
}

// A Config says where groups are made.
type Config struct {
	Group      string  // of all groups, where groups have parents
	Dir        string  // of records, where the kernel keeps none
	Processors float64 // offered, at most what there are; 0 is all less one, below four all less a half
}

// offered returns how many processors a machine of n offers: all less one, below four
// all less a half. A group that takes all starves the system.
func offered(n int) float64 {
	if n < 4 {
		return float64(n) - 0.5
	}
	return float64(n - 1)
}

// Offered returns how many processors are: never more than there are.
func (c *Config) Offered() float64 {
	if n := runtime.NumCPU(); c.Processors == 0 {
		return offered(n)
	} else if c.Processors < float64(n) {
		return c.Processors
	} else {
		return float64(n)
	}
}

// kinds are tried in this order. What attaches changes nothing.
var kinds = []struct {
	name string
	open func(c *Config, attach bool) (Kernel, error)
}{
	{"cgroup2", openCgroup2},
	{"cgroup1", openCgroup1},
	{"signals", func(c *Config, attach bool) (Kernel, error) { return openSignals(c, attach, true) }},
	{"none", func(c *Config, attach bool) (Kernel, error) { return openSignals(c, attach, false) }},
}

// Open opens the kernel of that kind for the one process that shares.
func Open(kind string, c Config) (Kernel, error) { return open(kind, &c, false) }

// Attach opens it for a minder, or for what it starts.
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

// Detect opens the first kind that works but none, and says why those before it do not.
func Detect(c Config) (k Kernel, why []error, err error) {
	for _, kind := range kinds[:len(kinds)-1] {
		if k, err = Open(kind.name, c); err == nil {
			return k, why, nil
		}
		why = append(why, err)
	}
	return nil, why, errors.Join(why...)
}

// weigh calls set with the weight of each share: most for the largest, the others in
// proportion, none below least.
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

// period of quotas, in microseconds.
const period = 100_000

// quota returns how many microseconds of a period limit is, at least the thousand that
// the kernel takes; 0 if it bounds nothing where there are that many processors.
func quota(limit, processors float64) int {
	if limit <= 0 || limit >= processors {
		return 0
	}
	return max(1000, int(math.Round(limit*period)))
}
