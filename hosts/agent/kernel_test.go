//go:build linux

package agent

import (
	"fmt"
	"maps"
	"slices"

	"bourse/hosts/linux"
)

// A fakeKernel is a kernel in memory that outlives the agents that use it. The test sets the
// usage of the groups. Only one goroutine may use a fakeKernel.
type fakeKernel struct {
	Groups map[string]*fakeGroup

	// Before and After are called before and after each change. A panic in them represents the
	// death of the calling agent.
	Before, After func(call, name string)
}

// A fakeGroup is a group of a fakeKernel.
type fakeGroup struct {
	linux.Share
	Limits  linux.Limits
	Used    float64
	Frozen  bool
	Running bool // whether the group has processes
	OOM     bool
}

// newFakeKernel returns a kernel without groups.
func newFakeKernel() *fakeKernel {
	nothing := func(string, string) {}
	return &fakeKernel{make(map[string]*fakeGroup), nothing, nothing}
}

// Kind returns a name that no other kernel has.
func (*fakeKernel) Kind() string { return "fake" }

// Bounds reports that both limits apply to groups.
func (*fakeKernel) Bounds() (memory, processes bool) { return true, true }

// change calls f for an existing group.
func (k *fakeKernel) change(call, name string, f func(g *fakeGroup)) error {
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
func (k *fakeKernel) Make(name string, l linux.Limits) error {
	k.Before("make", name)
	defer k.After("make", name)
	if k.Groups[name] != nil {
		return fmt.Errorf("make: group %s exists", name)
	}
	k.Groups[name] = &fakeGroup{Limits: l}
	return nil
}

// Supervise does nothing.
func (*fakeKernel) Supervise(string) error { return nil }

// Enter does nothing: the test determines which tasks run.
func (*fakeKernel) Enter(string, int) error { return nil }

// Share keeps the shares.
func (k *fakeKernel) Share(shares []linux.Share) error {
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
func (k *fakeKernel) Read(out []linux.Usage) ([]linux.Usage, error) {
	for _, name := range slices.Sorted(maps.Keys(k.Groups)) {
		out = append(out, linux.Usage{Name: name, Used: k.Groups[name].Used, OutOfMemory: k.Groups[name].OOM})
	}
	return out, nil
}

// Freeze stops a group.
func (k *fakeKernel) Freeze(name string) error {
	return k.change("freeze", name, func(g *fakeGroup) { g.Frozen = true })
}

// Thaw lets the group continue to run.
func (k *fakeKernel) Thaw(name string) error {
	return k.change("thaw", name, func(g *fakeGroup) { g.Frozen = false })
}

// Kill ends the processes of a group.
func (k *fakeKernel) Kill(name string) error {
	if k.Groups[name] == nil {
		return nil
	}
	return k.change("kill", name, func(g *fakeGroup) { g.Running = false })
}

// Remove removes a group without processes.
func (k *fakeKernel) Remove(name string) error {
	k.Before("remove", name)
	defer k.After("remove", name)
	if g := k.Groups[name]; g != nil && g.Running {
		return fmt.Errorf("remove: group %s runs", name)
	}
	delete(k.Groups, name)
	return nil
}

// List returns the names of all groups.
func (k *fakeKernel) List() ([]string, error) { return slices.Sorted(maps.Keys(k.Groups)), nil }

// Close does nothing.
func (*fakeKernel) Close() error { return nil }
