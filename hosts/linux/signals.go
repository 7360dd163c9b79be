//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
)

// Mark returns a variable, NAME=value, for the environment of a task's processes. It identifies
// processes that have lost their supervisor, which no longer count as members of the group,
// because a group consists of the supervisor's descendants. A program can remove it.
func Mark(c Config, name string) string {
	return "BOURSE_TASK=" + filepath.Join(c.Dir, name)
}

// signals shares processors by stopping and continuing processes. A group consists of the
// descendants of its supervisor. Config.Dir records the supervisor's process ID and start time.
// Memory is not limited and users are not isolated. If the sharing process dies, stopped
// processes remain stopped until another process shares, or the supervisor kills them.
type signals struct {
	dir    string
	shares bool // if false, it only stops and continues on request (the kind none)

	mu        sync.Mutex
	scheduler scheduler
	groups    map[string]*tree
	stop      chan struct{}
	done      sync.WaitGroup
}

// A tree contains the processes below one supervisor.
type tree struct {
	supervisor int    // 0 until known
	began      string // on the kernel's clock
	self       bool   // whether the supervisor is this process
	share      hosts.Share
	frozen     bool // by Freeze
	stands     bool // stopped because other groups run
	dealt      bool // whether this process has signaled the group; an earlier process may have left the group stopped
	claim      claim
	seen       []ran // processes below the supervisor at the last scan
	counted    bool  // whether used is the sum over seen
	used       float64
	checked    float64 // value of used at the last slice
	waits      waits   // waiting time for a processor
	hungry     bool    // whether the group used its last slice or waited for a processor during it, so that it would run if it were not stopped
}

func openSignals(c *Config, attach, shares bool) (Kernel, error) {
	if c.Dir == "" {
		return nil, errors.New("no folder for its records")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	k := &signals{dir: c.Dir, shares: shares, scheduler: scheduler{processors: c.Offered()}, groups: make(map[string]*tree), stop: make(chan struct{})}
	if shares && !attach {
		k.done.Go(k.turns)
	}
	return k, nil
}

func (k *signals) Kind() string {
	if k.shares {
		return "signals"
	}
	return "none"
}

func (k *signals) Bounds() (memory, processes bool) { return false, false }

func (k *signals) Close() error {
	close(k.stop)
	k.done.Wait()
	return nil
}

func (k *signals) record(name string) string { return filepath.Join(k.dir, name) }

func (k *signals) Make(name string, _ Limits) error {
	if err := CheckName(name); err != nil {
		return err
	}
	f, err := os.OpenFile(k.record(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.groups[name] = new(tree)
	return f.Close()
}

// Supervise records the process ID of this process as seen by the mounted /proc.
func (k *signals) Supervise(name string) error {
	pid, err := os.Readlink("/proc/self")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	s, err := stat(n)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.groups[name] = &tree{self: true}
	return os.WriteFile(k.record(name), []byte(pid+" "+s.began), 0o600)
}

// Enter does nothing: processes started by the supervisor belong to the group.
func (k *signals) Enter(string, int) error { return nil }

// at returns the group with the given name, and searches for its supervisor if it is unknown.
func (k *signals) at(name string) (*tree, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	t := k.groups[name]
	if t != nil && (t.self || t.supervisor > 0) {
		return t, nil
	}
	text, err := os.ReadFile(k.record(name))
	if err != nil {
		return nil, err
	}
	if t == nil {
		t = new(tree)
		k.groups[name] = t
	}
	if f := strings.Fields(string(text)); len(f) == 2 {
		t.supervisor, err = strconv.Atoi(f[0])
		t.began = f[1]
	}
	return t, err
}

func (k *signals) Share(shares []Share) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.groups {
		t.share = hosts.Share{}
	}
	least := 1e-9 // smallest positive weight
	for i := range shares {
		least = max(least, shares[i].Weight/1e6)
	}
	var errs []error
	for i := range shares {
		t, err := k.at(shares[i].Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			errs = append(errs, err)
			continue
		}
		t.share = shares[i].Share
		t.share.Weight = max(t.share.Weight, least)
		if t.share.Limit >= k.scheduler.processors {
			t.share.Limit = 0
		}
	}
	return errors.Join(errs...)
}

func (k *signals) Read(out []Usage) ([]Usage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(k.groups)) {
		t, err := k.at(name)
		if err != nil {
			t = k.groups[name] // its record was removed; the last measurement remains valid
		}
		t.read()
		if now := time.Now(); t.self && !k.shares && t.waits.due(now) { // no scheduler measures it
			pids := make([]int, len(t.seen))
			for i, r := range t.seen {
				pids[i] = r.pid
			}
			t.waits.add(pids, now)
		}
		out = append(out, Usage{Name: name, Used: t.used, Waited: t.waits.total})
	}
	return out, nil
}

func (k *signals) Freeze(name string) error { return k.freezing(name, true) }

func (k *signals) Thaw(name string) error { return k.freezing(name, false) }

func (k *signals) freezing(name string, frozen bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.at(name)
	if err != nil {
		return err
	}
	t.frozen = frozen
	return t.signal()
}

func (k *signals) Kill(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, err := k.at(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return within(patience, func() (bool, error) {
		t.each(unix.SIGSTOP) // so that no process can fork before it is killed
		left := t.each(unix.SIGKILL)
		if t.root() == 0 {
			left = killMarked(Mark(Config{Dir: k.dir}, name))
		}
		if left > 0 {
			return false, fmt.Errorf("group %s: %d processes are left", name, left)
		}
		return true, nil
	})
}

func (k *signals) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.groups, name)
	if err := os.Remove(k.record(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (k *signals) List() (names []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	entries, err := os.ReadDir(k.dir)
	for _, e := range entries {
		names = append(names, e.Name())
		_, e := k.at(names[len(names)-1])
		err = errors.Join(err, e)
	}
	return names, err
}

// turns schedules a time slice every 100 ms until Close.
func (k *signals) turns() {
	tick := time.NewTicker(turn)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-k.stop:
			return
		case now := <-tick.C:
			k.mu.Lock()
			k.schedule(now.Sub(last).Seconds())
			k.mu.Unlock()
			last = now
		}
	}
}

const turn = 100 * time.Millisecond

// schedule measures the groups that ran and decides which run next.
func (k *signals) schedule(dt float64) {
	var ready []*tree
	var claims []*claim
	for _, name := range slices.Sorted(maps.Keys(k.groups)) {
		t, err := k.at(name)
		if err != nil || t.supervisor == 0 || t.self {
			continue
		}
		if !t.stands {
			t.read()
		}
		t.claim.used, t.checked = t.used-t.checked, t.used
		t.wait(dt)
		t.claim.share = t.share
		if t.frozen {
			t.claim.share.Weight = 0
		}
		ready, claims = append(ready, t), append(claims, &t.claim)
	}
	k.scheduler.settle(dt, claims)
	for _, t := range ready {
		stands := !t.claim.runs && t.share.Weight > 0
		// Stop the group again if its supervisor has thawed it, because supervisors do not know
		// about time slices.
		if again := stands && !t.still(); again || stands != t.stands || !t.dealt {
			t.stands, t.dealt = stands, true
			t.signal()
		}
	}
}
