//go:build linux

// Package kerneltest is a kernel in memory, for tests.
package kerneltest

import (
	"fmt"
	"maps"
	"slices"

	"bourse/hosts/linux"
)

// A Fake is a kernel whose groups use what the test says, and which outlives who uses it.
// It is used by one goroutine.
type Fake struct {
	Groups map[string]*Group

	// Before and After are called at each change; what panics there kills the caller.
	Before, After func(call, name string)
}

// A Group is one of its groups.
type Group struct {
	linux.Share
	Limits  linux.Limits
	Used    float64
	Frozen  bool
	Running bool // it has processes
	OOM     bool
}

// New returns a kernel without groups.
func New() *Fake {
	nothing := func(string, string) {}
	return &Fake{make(map[string]*Group), nothing, nothing}
}

// Kind is that of no other kernel.
func (*Fake) Kind() string { return "fake" }

// Bounds reports that all is bounded.
func (*Fake) Bounds() (memory, processes bool) { return true, true }

// change calls f for a group that is there.
func (k *Fake) change(call, name string, f func(g *Group)) error {
	k.Before(call, name)
	defer k.After(call, name)
	g := k.Groups[name]
	if g == nil {
		return fmt.Errorf("%s: no group %s", call, name)
	}
	f(g)
	return nil
}

// Make makes a group.
func (k *Fake) Make(name string, l linux.Limits) error {
	k.Before("make", name)
	defer k.After("make", name)
	if k.Groups[name] != nil {
		return fmt.Errorf("make: group %s exists", name)
	}
	k.Groups[name] = &Group{Limits: l}
	return nil
}

// Supervise does nothing.
func (*Fake) Supervise(string) error { return nil }

// Enter does nothing: the test says what runs.
func (*Fake) Enter(string, int) error { return nil }

// Share keeps the shares.
func (k *Fake) Share(shares []linux.Share) error {
	k.Before("share", "")
	defer k.After("share", "")
	for _, s := range shares {
		if g := k.Groups[s.Name]; g != nil {
			g.Share = s
		}
	}
	return nil
}

// Read appends the usage of every group.
func (k *Fake) Read(out []linux.Usage) ([]linux.Usage, error) {
	for _, name := range slices.Sorted(maps.Keys(k.Groups)) {
		out = append(out, linux.Usage{Name: name, Used: k.Groups[name].Used, OutOfMemory: k.Groups[name].OOM})
	}
	return out, nil
}

// Freeze stops a group.
func (k *Fake) Freeze(name string) error {
	return k.change("freeze", name, func(g *Group) { g.Frozen = true })
}

// Thaw lets it go on.
func (k *Fake) Thaw(name string) error {
	return k.change("thaw", name, func(g *Group) { g.Frozen = false })
}

// Kill ends what runs in a group.
func (k *Fake) Kill(name string) error {
	if k.Groups[name] == nil {
		return nil
	}
	return k.change("kill", name, func(g *Group) { g.Running = false })
}

// Remove removes a group in which nothing runs.
func (k *Fake) Remove(name string) error {
	k.Before("remove", name)
	defer k.After("remove", name)
	if g := k.Groups[name]; g != nil && g.Running {
		return fmt.Errorf("remove: group %s runs", name)
	}
	delete(k.Groups, name)
	return nil
}

// List returns the names of all groups.
func (k *Fake) List() ([]string, error) { return slices.Sorted(maps.Keys(k.Groups)), nil }

// Close does nothing.
func (*Fake) Close() error { return nil }
