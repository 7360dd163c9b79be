//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// cgroups is the common part of both versions of control groups.
type cgroups struct {
	layout
	processors float64 // offered
	owns       bool    // parent of all groups, which is removed with the last of them

	mu   sync.Mutex
	held map[string]*group
	buf  [4096]byte
}

// A layout describes the files of one version of control groups and their formats.
type layout interface {
	Kind() string
	Bounds() (memory, processes bool)
	Enter(name string, pid int) error

	create(name string, l Limits) error
	hold(name string) (*group, error) // returns fs.ErrNotExist if there is none
	list() ([]string, error)
	remove(name string) error
	parent() []string // folders of the parent of all groups

	weights() (least, most int)
	quotaText(microseconds int) string             // 0 is none
	used(text []byte) (seconds float64, err error) // processor-seconds from the group's usage
	freeze(frozen bool) (text string)              // text to write
	frozen(g *group, buf []byte) (bool, error)     // whether all processes are frozen
	// kill tries to kill all processes once and may leave some. turn freezes and thaws the
	// group.
	kill(name string, turn func(frozen bool) error) error
	procs(name string) ([]int, error)
}

// A group contains the open files of a control group. Files that do not exist are nil.
type group struct {
	weight, quota, usage, state, memory file
	events                              file // reports the state, if the state file does not
	pressure                            file // processor pressure; nil if the kernel does not report it
	seconds                             float64
	waits                               waits
	outOfMemory                         bool
}

func (g *group) files() []*file {
	return []*file{&g.weight, &g.quota, &g.usage, &g.state, &g.memory, &g.events, &g.pressure}
}

func (g *group) close() {
	for _, f := range g.files() {
		if f.File != nil {
			f.Close()
		}
	}
}

// at returns the group with the given name and keeps the files of the group open.
func (c *cgroups) at(name string) (*group, error) {
	if g := c.held[name]; g != nil {
		return g, nil
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	g, err := c.hold(name)
	if err != nil {
		if g != nil {
			g.close()
		}
		return nil, fmt.Errorf("group %s: %w", name, err)
	}
	c.held[name] = g
	return g, nil
}

func (c *cgroups) Make(name string, l Limits) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := CheckName(name); err != nil {
		return err
	}
	err := c.create(name, l)
	if err == nil {
		var g *group
		if g, err = c.at(name); err == nil {
			// Kernels before 6.6 need seconds to adapt to a change as large as the one from the
			// default weight to those used here.
			_, most := c.weights()
			err = g.weight.set(fmt.Sprint(most))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = errors.Join(err, c.remove(name))
	}
	if err != nil {
		return fmt.Errorf("make group %s: %w", name, err)
	}
	return nil
}

func (c *cgroups) Supervise(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.at(name)
	return err
}

func (c *cgroups) Share(shares []Share) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := c.weights()
	return weigh(shares, least, most, func(i, weight int) error {
		g, err := c.at(shares[i].Name)
		if err == nil {
			err = errors.Join(
				g.weight.set(fmt.Sprint(weight)),
				g.quota.set(c.quotaText(quota(shares[i].Limit, c.processors))))
		}
		return gone(err)
	})
}

// gone returns nil if err means that the group no longer exists.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

func (c *cgroups) Read(out []Usage) ([]Usage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.held)) {
		g := c.held[name]
		errs = append(errs, gone(c.read(g)))
		errs = append(errs, gone(c.wait(name, g)))
		out = append(out, Usage{name, g.seconds, g.outOfMemory, g.waits.total})
	}
	return out, errors.Join(errs...)
}

// wait updates the waiting time of the group, from its pressure if the kernel reports it, or
// else from its threads.
func (c *cgroups) wait(name string, g *group) error {
	if g.pressure.File != nil {
		text, err := g.pressure.get(c.buf[:])
		if err != nil {
			return err
		}
		us, err := stalled(text)
		g.waits.total = max(g.waits.total, float64(us)/1e6)
		return err
	}
	if !g.waits.due(time.Now()) {
		return nil
	}
	all, err := c.procs(name)
	g.waits.add(all, time.Now())
	return err
}

func (c *cgroups) read(g *group) error {
	text, err := g.usage.get(c.buf[:])
	if err != nil {
		return err
	}
	s, err := c.used(text)
	if err != nil {
		return err
	}
	g.seconds = max(g.seconds, s)
	if g.memory.File == nil || g.outOfMemory {
		return nil
	}
	if text, err = g.memory.get(c.buf[:]); err != nil {
		return err
	}
	killed, err := field(text, "oom_kill")
	g.outOfMemory = killed > 0
	return err
}

func (c *cgroups) Freeze(name string) error { return c.freezing(name, true) }

func (c *cgroups) Thaw(name string) error { return c.freezing(name, false) }

func (c *cgroups) freezing(name string, frozen bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.at(name)
	if err != nil {
		return err
	}
	return c.turn(name, g, frozen)
}

// turn freezes or thaws the group and waits until all its processes have changed state.
func (c *cgroups) turn(name string, g *group, frozen bool) error {
	g.state.text = "" // another process may have changed the file since
	if err := g.state.set(c.freeze(frozen)); err != nil {
		return err
	}
	return within(patience, func() (bool, error) {
		is, err := c.frozen(g, c.buf[:])
		if err == nil && is != frozen {
			return false, fmt.Errorf("group %s: frozen is %v, want %v", name, is, frozen)
		}
		return true, err
	})
}

func (c *cgroups) Kill(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.at(name)
	if err != nil {
		return gone(err)
	}
	return gone(within(patience, func() (bool, error) {
		if err := c.kill(name, func(frozen bool) error { return c.turn(name, g, frozen) }); err != nil {
			return false, err
		}
		left, err := c.procs(name)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("group %s: %d processes are left", name, len(left))
		}
		return err == nil, err
	}))
}

func (c *cgroups) Remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := CheckName(name); err != nil {
		return err
	}
	if err := c.remove(name); err != nil {
		return err
	}
	if g := c.held[name]; g != nil {
		g.close()
		delete(c.held, name)
	}
	return nil
}

func (c *cgroups) List() ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, err := c.list()
	for _, name := range names {
		_, e := c.at(name)
		err = errors.Join(err, e)
	}
	return names, err
}

func (c *cgroups) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.held {
		g.close()
	}
	clear(c.held)
	if !c.owns {
		return nil
	}
	var errs []error
	for _, dir := range c.parent() {
		err := unix.Rmdir(dir)
		if err == unix.EBUSY || err == unix.ENOTEMPTY { // groups still exist in it
			err = nil
		}
		errs = append(errs, gone(err))
	}
	return errors.Join(errs...)
}
