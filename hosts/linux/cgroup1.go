//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroup1 has one hierarchy per controller. A group is a folder of the same name in each hierarchy,
// below the parent of all groups at the root. The location of an adopted task therefore does not
// depend on the location of the agent.
type cgroup1 struct {
	parents map[string]string // folder of each controller
}

func openCgroup1(c *Config, attach bool) (Kernel, error) {
	text, err := os.ReadFile("/proc/mounts")
	if err != nil {
		return nil, err
	}
	l := cgroup1{make(map[string]string)}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // what, where, type, options
		if len(f) < 4 || f[2] != "cgroup" {
			continue
		}
		for o := range strings.SplitSeq(f[3], ",") {
			switch o {
			case "cpu", "cpuacct", "freezer", "memory", "pids":
				l.parents[o] = filepath.Join(f[1], c.Group)
			}
		}
	}
	for _, needed := range []string{"cpu", "cpuacct", "freezer"} {
		if l.parents[needed] == "" {
			return nil, fmt.Errorf("the hierarchy %s is not mounted", needed)
		}
	}
	k := &cgroups{layout: l, processors: c.Offered(), owns: !attach, held: make(map[string]*group)}
	if attach {
		return k, nil
	}
	for controller, dir := range l.parents {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if controller == "cpu" {
			err := write(dir, "cpu.cfs_quota_us", l.quotaText(int(c.Offered()*period)))
			if err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

func (cgroup1) Kind() string { return "cgroup1" }

func (l cgroup1) Bounds() (memory, processes bool) {
	return l.parents["memory"] != "", l.parents["pids"] != ""
}

func (l cgroup1) create(name string, limits Limits) error {
	for _, parent := range l.parents {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			return err
		}
	}
	if dir := filepath.Join(l.parents["pids"], name); l.parents["pids"] != "" && limits.Processes > 0 {
		if err := write(dir, "pids.max", strconv.Itoa(limits.Processes)); err != nil {
			return err
		}
	}
	if dir := filepath.Join(l.parents["memory"], name); l.parents["memory"] != "" && limits.Memory > 0 {
		text := strconv.FormatInt(limits.Memory, 10)
		if err := write(dir, "memory.limit_in_bytes", text); err != nil {
			return err
		}
		// Kernels without swap accounting lack this file.
		if err := write(dir, "memory.memsw.limit_in_bytes", text); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l cgroup1) hold(name string) (*group, error) {
	g := new(group)
	var errs []error
	for _, o := range []struct {
		to               *file
		controller, file string
		flag             int
	}{
		{&g.weight, "cpu", "cpu.shares", os.O_WRONLY},
		{&g.quota, "cpu", "cpu.cfs_quota_us", os.O_WRONLY},
		{&g.usage, "cpuacct", "cpuacct.usage", os.O_RDONLY},
		{&g.state, "freezer", "freezer.state", os.O_RDWR},
		{&g.memory, "memory", "memory.oom_control", os.O_RDONLY},
	} {
		parent := l.parents[o.controller]
		if parent == "" {
			continue
		}
		f, err := openFile(filepath.Join(parent, name, o.file), o.flag)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		*o.to = f
	}
	return g, errors.Join(errs...)
}

func (l cgroup1) Enter(name string, pid int) error {
	for _, parent := range l.parents {
		if err := write(filepath.Join(parent, name), "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return err
		}
	}
	return nil
}

func (l cgroup1) list() ([]string, error) { return groups(l.parents["freezer"]) }

func (l cgroup1) remove(name string) error {
	var errs []error
	for _, parent := range l.parents {
		errs = append(errs, removeGroup(filepath.Join(parent, name)))
	}
	return errors.Join(errs...)
}

func (l cgroup1) parent() []string { return slices.Sorted(maps.Values(l.parents)) }

func (cgroup1) weights() (least, most int) { return 2, 262144 }

func (cgroup1) quotaText(microseconds int) string {
	if microseconds == 0 {
		return "-1"
	}
	return strconv.Itoa(microseconds)
}

func (cgroup1) used(text []byte) (float64, error) {
	ns, err := strconv.ParseInt(string(text), 10, 64)
	return float64(ns) / 1e9, err
}

func (cgroup1) freeze(frozen bool) string {
	if frozen {
		return "FROZEN"
	}
	return "THAWED"
}

func (cgroup1) frozen(g *group, buf []byte) (bool, error) {
	text, err := g.state.get(buf)
	if bytes.Equal(text, []byte("FREEZING")) {
		g.state.text = ""
		err = errors.Join(err, g.state.set("FROZEN")) // catches processes that forked in the meantime
	}
	return bytes.Equal(text, []byte("FROZEN")), err
}

// kill freezes the group first, so that no process can fork before it is killed.
func (l cgroup1) kill(name string, turn func(frozen bool) error) error {
	stopped := turn(true)
	err := killAll(l.procs(name))
	if e := turn(false); e != nil { // frozen processes do not die
		return e
	}
	return errors.Join(stopped, err)
}

func (l cgroup1) procs(name string) ([]int, error) {
	return pids(filepath.Join(l.parents["freezer"], name))
}
