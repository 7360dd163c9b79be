//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroup2 has one hierarchy. A group is a folder below the parent of all groups. The parent is
// at the root, or in the unit that systemd has delegated to this process. In a unit, the
// process moves itself to the leaf "agent", because a group that contains groups may not
// contain processes.
type cgroup2 struct {
	dir string // controllers of the parent
}

func openCgroup2(c *Config, attach bool) (Kernel, error) {
	base, delegated, err := subtree()
	if err != nil {
		return nil, err
	}
	l := cgroup2{filepath.Join(base, c.Group)}
	if !attach {
		text, err := os.ReadFile(filepath.Join(base, "cgroup.controllers"))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(strings.Fields(string(text)), "cpu") {
			return nil, fmt.Errorf("%s has no controller cpu: systemd delegates it by Delegate=cpu memory pids", base)
		}
		if delegated {
			leaf := filepath.Join(base, leafName)
			if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			if err := write(leaf, "cgroup.procs", "0"); err != nil {
				return nil, err
			}
		}
		if err := l.prepare(base, string(text), c.Offered()); err != nil {
			return nil, err
		}
	}
	return &cgroups{layout: l, processors: c.Offered(), owns: !attach, held: make(map[string]*group)}, nil
}

// leafName is the name of the group to which the agent moves itself.
const leafName = "agent"

// subtree returns the folder in which this process may create groups.
func subtree() (base string, delegated bool, err error) {
	text, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return "", false, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			base = f[1]
		}
	}
	if base == "" {
		return "", false, errors.New("no hierarchy of cgroup2 is mounted")
	}
	if text, err = os.ReadFile("/proc/self/cgroup"); err != nil {
		return "", false, err
	}
	for line := range strings.Lines(string(text)) {
		if own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			unit := filepath.Join(base, strings.TrimSuffix(own, "/"+leafName))
			for _, mark := range []string{"trusted.delegate", "user.delegate"} {
				if n, _ := unix.Getxattr(unit, mark, nil); n > 0 {
					return unit, true, nil
				}
			}
		}
	}
	if os.Geteuid() != 0 {
		return "", false, errors.New("neither root nor a unit to which systemd delegates")
	}
	return base, false, nil
}

// prepare creates the parent of all groups and enables the available controllers for it.
func (l cgroup2) prepare(base, controllers string, processors float64) error {
	if err := os.Mkdir(l.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, dir := range []string{base, l.dir} {
		for _, c := range []string{"cpu", "memory", "pids"} {
			if slices.Contains(strings.Fields(controllers), c) {
				if err := write(dir, "cgroup.subtree_control", "+"+c); err != nil {
					return err
				}
			}
		}
	}
	return write(l.dir, "cpu.max", l.quotaText(int(processors*period)))
}

func (cgroup2) Kind() string { return "cgroup2" }

func (l cgroup2) Bounds() (memory, processes bool) {
	text, _ := os.ReadFile(filepath.Join(l.dir, "cgroup.subtree_control"))
	f := strings.Fields(string(text))
	return slices.Contains(f, "memory"), slices.Contains(f, "pids")
}

func (l cgroup2) create(name string, limits Limits) error {
	dir := filepath.Join(l.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	memory, processes := l.Bounds()
	if processes && limits.Processes > 0 {
		if err := write(dir, "pids.max", strconv.Itoa(limits.Processes)); err != nil {
			return err
		}
	}
	if !memory || limits.Memory == 0 {
		return nil
	}
	// Kernels without swap accounting lack this file.
	if err := write(dir, "memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(
		write(dir, "memory.max", strconv.FormatInt(limits.Memory, 10)),
		write(dir, "memory.oom.group", "1"))
}

func (l cgroup2) hold(name string) (*group, error) {
	g := new(group)
	var errs []error
	for _, o := range []struct {
		to     *file
		file   string
		flag   int
		needed bool
	}{
		{&g.weight, "cpu.weight", os.O_WRONLY, true},
		{&g.quota, "cpu.max", os.O_WRONLY, true},
		{&g.usage, "cpu.stat", os.O_RDONLY, true},
		{&g.state, "cgroup.freeze", os.O_WRONLY, true},
		{&g.events, "cgroup.events", os.O_RDONLY, true},
		{&g.memory, "memory.events", os.O_RDONLY, false},
		{&g.pressure, "cpu.pressure", os.O_RDONLY, false},
	} {
		f, err := openFile(filepath.Join(l.dir, name, o.file), o.flag)
		if err == nil {
			*o.to = f
		} else if o.needed || !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return g, errors.Join(errs...)
}

func (l cgroup2) Enter(name string, pid int) error {
	return write(filepath.Join(l.dir, name), "cgroup.procs", strconv.Itoa(pid))
}

func (l cgroup2) list() ([]string, error) { return groups(l.dir) }

func (l cgroup2) remove(name string) error { return removeGroup(filepath.Join(l.dir, name)) }

func (l cgroup2) parent() []string { return []string{l.dir} }

func (cgroup2) weights() (least, most int) { return 1, 10000 }

func (cgroup2) quotaText(microseconds int) string {
	if microseconds == 0 {
		return fmt.Sprintf("max %d", period)
	}
	return fmt.Sprintf("%d %d", microseconds, period)
}

func (cgroup2) used(text []byte) (float64, error) {
	us, err := field(text, "usage_usec")
	return float64(us) / 1e6, err
}

func (cgroup2) freeze(frozen bool) string {
	if frozen {
		return "1"
	}
	return "0"
}

func (cgroup2) frozen(g *group, buf []byte) (bool, error) {
	text, err := g.events.get(buf)
	return bytes.Contains(text, []byte("frozen 1")), err
}

// kill kills all processes at the same time. Kernels before 5.14 must freeze the group first.
func (l cgroup2) kill(name string, turn func(frozen bool) error) error {
	err := write(filepath.Join(l.dir, name), "cgroup.kill", "1")
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	stopped := turn(true)
	return errors.Join(stopped, killAll(l.procs(name)), turn(false))
}

func (l cgroup2) procs(name string) ([]int, error) { return pids(filepath.Join(l.dir, name)) }
