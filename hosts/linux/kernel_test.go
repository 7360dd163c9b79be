//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
)

// TestMain lets the tests start this program as the supervisor of a group, and as the process
// that the supervisor starts in it: ROLE KIND GROUP DIR NAME COMMAND...
func TestMain(m *testing.M) {
	if len(os.Args) > 6 && (os.Args[1] == "mind" || os.Args[1] == "enter") {
		k, err := Attach(os.Args[2], Config{Group: os.Args[3], Dir: os.Args[4]})
		if err == nil && os.Args[1] == "mind" {
			if err = k.Supervise(os.Args[5]); err == nil {
				unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
				cmd := exec.Command("/proc/self/exe", append([]string{"enter"}, os.Args[2:]...)...)
				cmd.Stderr = os.Stderr
				cmd.Run()
				os.Exit(0)
			}
		} else if err == nil {
			if err = k.Enter(os.Args[5], 0); err == nil {
				err = syscall.Exec("/bin/sh", append([]string{"sh", "-c"}, os.Args[6:]...), append(os.Environ(), Mark(Config{Dir: os.Args[4]}, os.Args[5])))
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const burner = "while :; do :; done"

// A machine is a kernel with the test's own groups.
type machine struct {
	Kernel
	kind string
	Config
}

// newMachine opens a kernel of the given kind, or skips the test if that is not possible. At
// the end no group may be left.
func newMachine(t *testing.T, kind string) *machine {
	t.Helper()
	c := Config{Group: fmt.Sprintf("bourse-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")), Dir: t.TempDir()}
	k, err := Open(kind, c)
	if err != nil {
		t.Skip(err)
	}
	m := &machine{k, kind, c}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if k, ok := m.Kernel.(*cgroups); ok {
			for _, dir := range k.parent() {
				if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is left: %v", dir, err)
				}
			}
		}
	})
	return m
}

// TestEnforced checks that the machine of the continuous tests has a mechanism that enforces
// shares. On other machines, tests that need it are skipped.
func TestEnforced(t *testing.T) {
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("BOURSE_CI is not set")
	}
	_, err1 := Attach("cgroup1", Config{})
	k, err := Open("cgroup2", Config{Group: fmt.Sprintf("bourse-test-%d", os.Getpid())})
	if err == nil {
		k.Close()
	}
	if os.Geteuid() != 0 || err1 != nil && err != nil {
		t.Errorf("user %d can make no groups: %v; %v", os.Geteuid(), err1, err)
	}
}

// start makes a group and runs a command in it, under a supervisor, until the test ends.
func (m *machine) start(t *testing.T, name, command string, l Limits) *exec.Cmd {
	t.Helper()
	if err := m.Make(name, l); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "mind", m.kind, m.Group, m.Dir, name, command)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Kill(name); err != nil {
			t.Error(err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if err := m.Remove(name); err != nil {
			t.Error(err)
		}
	})
	return cmd
}

// used returns the usage of each group, by name.
func (m *machine) used(t *testing.T) map[string]Usage {
	t.Helper()
	all, err := m.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string]Usage)
	for _, u := range all {
		by[u.Name] = u
	}
	return by
}

// during returns the usage of each group in the given time.
func (m *machine) during(t *testing.T, d time.Duration) map[string]float64 {
	t.Helper()
	before := m.used(t)
	time.Sleep(d)
	used := make(map[string]float64)
	for name, u := range m.used(t) {
		used[name] = u.Used - before[name].Used
		if used[name] < 0 {
			t.Errorf("%s: usage fell by %v", name, -used[name])
		}
	}
	return used
}

// settled waits until every named group has used the given processor time, which shows that its
// programs run.
func (m *machine) settled(t *testing.T, seconds float64, names ...string) {
	t.Helper()
	until(t, "they run", func() bool {
		by := m.used(t)
		return !slices.ContainsFunc(names, func(n string) bool { return by[n].Used < seconds })
	})
}

// until waits until a condition holds.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	if err := within(20*time.Second, func() (bool, error) { return is(), nil }); err != nil || !is() {
		t.Fatalf("it is not so that %s", what)
	}
}

func each(t *testing.T, test func(t *testing.T, m *machine)) {
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("it runs programs on this machine, which others may be using: .ci/nightly machines")
	}
	for _, kind := range []string{"cgroup2", "cgroup1", "signals"} {
		t.Run(kind, func(t *testing.T) { test(t, newMachine(t, kind)) })
	}
}

// TestShares checks on this machine that two busy groups with weights 3 and 1 on one processor
// get 3/4 and 1/4, within 0.02, of their total. After a change in the weights, the new shares
// apply at once. A limit is respected, and a frozen group uses no processor time.
func TestShares(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		one := "taskset -c 0 sh -c '" + burner + "'"
		m.start(t, "1.0.0", one, Limits{})
		m.start(t, "2.0.0", one, Limits{})
		if m.kind == "signals" {
			m.Kernel.(*signals).mu.Lock()
			m.Kernel.(*signals).scheduler.processors = 1
			m.Kernel.(*signals).mu.Unlock()
		}
		m.settled(t, 0.3, "1.0.0", "2.0.0")
		part := func(weight, want float64) {
			t.Helper()
			if err := m.Share([]Share{{"1.0.0", hosts.Share{Weight: weight}}, {"2.0.0", hosts.Share{Weight: 1e-3}}}); err != nil {
				t.Fatal(err)
			}
			u := m.during(t, 1200*time.Millisecond)
			all := u["1.0.0"] + u["2.0.0"]
			got, tolerance := u["1.0.0"]/all, 0.02
			if m.kind == "signals" {
				tolerance += turn.Seconds() / all // The tolerance covers one extra time slice.
			}
			t.Logf("%v to 1: %.4f of %.2f", weight/1e-3, got, all)
			if math.Abs(got-want) > tolerance {
				t.Errorf("%v to 1: %.4f, want %.4f within %.3f", weight/1e-3, got, want, tolerance)
			}
		}
		part(3e-3, 0.75)
		part(1e-3, 0.5)

		if err := m.Share([]Share{{"1.0.0", hosts.Share{Weight: 1, Limit: 0.2}}, {"2.0.0", hosts.Share{Weight: 1}}}); err != nil {
			t.Fatal(err)
		}
		span := 600 * time.Millisecond
		if got := m.during(t, span)["1.0.0"] / span.Seconds(); got > 0.2+0.03+turn.Seconds()/span.Seconds() || got < 0.02 {
			t.Errorf("limited to 0.2 it got %.4f", got)
		}
		if err := m.Freeze("1.0.0"); err != nil {
			t.Fatal(err)
		}
		if got := m.during(t, 300*time.Millisecond)["1.0.0"]; got > 0.001 {
			t.Errorf("frozen it used %v", got)
		}
		if err := m.Thaw("1.0.0"); err != nil {
			t.Fatal(err)
		}
		if err := m.Kill("2.0.0"); err != nil {
			t.Fatal(err)
		}
		if got := m.during(t, 400*time.Millisecond)["1.0.0"]; got < 0.005 {
			t.Errorf("thawed it used %v", got)
		}
	})
}

// TestForked checks that a process started by a group that has long been idle counts as the
// group's and is stopped with it, even if its parent ends at once.
func TestForked(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		m.start(t, "7.0.0", "sleep 0.7; (sh -c '"+burner+"' &); sleep 1000", Limits{})
		m.settled(t, 0.1, "7.0.0")
		if err := m.Freeze("7.0.0"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		if got := m.during(t, 300*time.Millisecond)["7.0.0"]; got > 0.001 {
			t.Errorf("frozen it used %v", got)
		}
	})
}

// TestContinued checks that a group is stopped again if it was stopped after its time slice and
// another process continued it.
func TestContinued(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		k, ok := m.Kernel.(*signals)
		if !ok {
			t.Skip(m.kind, "does not stop who waits for its turn")
		}
		m.start(t, "1.0.0", burner, Limits{})
		m.start(t, "2.0.0", burner, Limits{})
		m.settled(t, 0.1, "1.0.0", "2.0.0")
		if err := m.Share([]Share{{"1.0.0", hosts.Share{Weight: 1}}, {"2.0.0", hosts.Share{Weight: 1, Limit: 1e-9}}}); err != nil { // a group whose time slice has ended
			t.Fatal(err)
		}
		stands := func() bool { return m.during(t, 250*time.Millisecond)["2.0.0"] < 0.001 }
		until(t, "one stands", stands)
		k.mu.Lock()
		k.groups["2.0.0"].each(unix.SIGCONT)
		k.mu.Unlock()
		until(t, "it stands again", stands)
	})
}

// TestKill checks that a group that forks as fast as possible is killed completely, even if it
// is frozen, and that no process is left.
func TestKill(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		mark := filepath.Join(t.TempDir(), "mark")
		cmd := m.start(t, "3.0.0", "f() { sleep 1000 & sleep 0.01; f; }; trap '' TERM; f # "+mark, Limits{Processes: 100})
		until(t, "it runs", func() bool { return len(marked(mark)) > 0 })
		time.Sleep(200 * time.Millisecond)
		if err := m.Freeze("3.0.0"); err != nil {
			t.Fatal(err)
		}
		if err := m.Kill("3.0.0"); err != nil {
			t.Error(err)
		}
		cmd.Wait() // its supervisor has no process left to wait for
		if left := marked(mark); len(left) > 0 {
			t.Errorf("%q is left", left)
		}
		if err := m.Kill("3.0.0"); err != nil {
			t.Errorf("kill nobody: %v", err)
		}
	})
}

// TestOrphans checks that a group is killed completely even if its supervisor was killed first.
func TestOrphans(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		mark := filepath.Join(t.TempDir(), "mark")
		cmd := m.start(t, "9.0.0", "(sleep 1000; :) & sleep 1000; : # "+mark, Limits{})
		until(t, "it runs", func() bool { return len(marked(mark)) == 2 })
		cmd.Process.Kill()
		cmd.Wait()
		if left := marked(mark); len(left) != 2 {
			t.Errorf("%q is left by its supervisor", left)
		}
		if err := m.Kill("9.0.0"); err != nil {
			t.Error(err)
		}
		until(t, "none is left", func() bool { return len(marked(mark)) == 0 })
	})
}

// marked returns the processes whose command contains mark, except supervisors.
func marked(mark string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		if s := string(text); strings.Contains(s, mark) && strings.HasPrefix(s, "sh\x00") {
			found = append(found, s)
		}
	}
	return found
}

// TestAdopt checks that a second kernel, opened after the first was closed, finds and controls
// the groups, and that their usage does not restart at 0.
func TestAdopt(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		m.start(t, "4.0.0", burner, Limits{})
		m.settled(t, 0.02, "4.0.0")
		before := m.used(t)["4.0.0"].Used
		if err := m.Close(); err != nil { // the groups continue to run
			t.Error(err)
		}
		k, err := Open(m.kind, m.Config)
		if err != nil {
			t.Fatal(err)
		}
		m.Kernel = k
		if names, err := m.List(); err != nil || !slices.Equal(names, []string{"4.0.0"}) {
			t.Fatalf("found %v: %v", names, err)
		}
		if got := m.used(t)["4.0.0"].Used; got < before {
			t.Errorf("it has used %v, %v before", got, before)
		}
		if err := m.Make("4.0.0", Limits{}); err == nil {
			t.Error("a group was made twice")
		}
		if err := m.Kill("4.0.0"); err != nil {
			t.Error(err)
		}
	})
}

// TestBounds checks that a group that exceeds its memory limit is killed and reports this, and
// that at most the permitted number of processes runs in it.
func TestBounds(t *testing.T) {
	each(t, func(t *testing.T, m *machine) {
		if memory, processes := m.Bounds(); !memory || !processes {
			t.Skip(m.kind, "bounds nothing")
		}
		m.start(t, "5.0.0", "x=0123456789abcdef; while :; do x=$x$x; done", Limits{Memory: 32e6})
		until(t, "memory runs out", func() bool { return m.used(t)["5.0.0"].OutOfMemory })
		m.start(t, "6.0.0", "while :; do sleep 100 & sleep 0.01; done 2>/dev/null", Limits{Processes: 8})
		time.Sleep(500 * time.Millisecond)
		k := m.Kernel.(*cgroups)
		if found, err := k.procs("6.0.0"); err != nil || len(found) == 0 || len(found) > 8 {
			t.Errorf("%d processes, want some, at most 8: %v", len(found), err)
		}
	})
}

// TestNames checks that a name is never a path.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "../x", "a/b", "a b", "a\x00"} {
		if CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
	if err := CheckName("17.0.1"); err != nil {
		t.Error(err)
	}
}
