//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/remote"
)

// A shelf is an agent with ended tasks on a disk of a thousand bytes. On this disk, scarce is a
// quarter and least is a twentieth. The field used is the space that other programs use.
type shelf struct {
	*Agent
	t    *testing.T
	used int64
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{t: t}
	space := func(dir string) (free, total int64, err error) {
		free = 1000 - s.used
		tasks, _ := os.ReadDir(filepath.Join(dir, "tasks"))
		for _, one := range tasks {
			free -= stored(filepath.Join(dir, "tasks", one.Name()))
		}
		return max(0, free), 1000, nil
	}
	a, err := Open(Config{Dir: t.TempDir(), Kernel: newFakeKernel(), boot: "boot", clock: func() float64 { return 100 }, space: space, supervisors: noSupervisors{}})
	if err != nil {
		t.Fatal(err)
	}
	s.Agent = a
	return s
}

// noSupervisors implements supervisors without processes.
type noSupervisors struct{}

func (noSupervisors) start(string) error         { return errors.New("none is started") }
func (noSupervisors) alive(string) (bool, error) { return false, nil }
func (noSupervisors) reap()                      {}
func (noSupervisors) ended() <-chan os.Signal    { return nil }

// put adds a task of account that ended at a given time with the given size of output.
func (s *shelf) put(number int64, account string, at float64, bytes int) {
	t := &task{name: fmt.Sprintf("%d.0.%d", number, number), number: number, swept: true}
	t.folder = s.path("tasks", t.name)
	t.record = record{Name: t.name, Account: account, Boot: "boot", Began: at - 1}
	if err := errors.Join(os.MkdirAll(filepath.Join(t.folder, "dir"), 0o700), os.WriteFile(filepath.Join(t.folder, "out"), make([]byte, bytes), 0o600)); err != nil {
		s.t.Fatal(err)
	}
	s.conclude(t, exit{Why: hosts.Exited, Span: 1})
	s.tasks[t.name] = t
}

// deleted returns the tasks whose output was deleted, and checks that the output of all other
// tasks exists.
func (s *shelf) deleted() string {
	s.t.Helper()
	if err := s.makeRoom(); err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, d := range s.deletions() {
		all = append(all, fmt.Sprint(d.Name))
	}
	for _, t := range s.tasks {
		if got := stored(t.folder); (got == 0) != (t.deleted.Bytes > 0) {
			s.t.Errorf("%s stores %d bytes, and %+v was deleted", t.name, got, t.deleted)
		}
	}
	return strings.Join(all, " ")
}

// TestMakeRoom checks which output is deleted when disk space is short: the oldest of the
// account that stores most, and no more than necessary. It also checks that an account over its
// limit loses its oldest output, and that the host closes only if deleting is not enough.
func TestMakeRoom(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(1, "user:ann", 10, 100)
	s.put(2, "user:ann", 20, 150)
	s.put(3, "user:bob", 5, 200)
	s.used = 300
	if got := s.deleted(); got != "" || s.stored != 450 {
		t.Errorf("with 250 bytes free %s was deleted, %d are stored", got, s.stored)
	}
	s.used = 301
	if got := s.deleted(); got != "1" {
		t.Errorf("with 249 bytes free %q was deleted, want 1: ann stores most, and 1 is her oldest", got)
	}
	s.used = 500
	if got := s.deleted(); got != "1 3" {
		t.Errorf("%q was deleted, want 3 too: bob stores most", got)
	}
	if s.closed != "" {
		t.Errorf("closed: %s", s.closed)
	}
	s.used = 960
	if got := s.deleted(); got != "1 2 3" || s.closed != diskFull {
		t.Errorf("with 40 bytes free %q was deleted, and the host is %q, want closed", got, s.closed)
	}
	text := s.part(remote.Log{Name: 2}).Fault
	if want := "its output of 150 bytes was deleted: the disk of the host was nearly full"; text != want {
		t.Errorf("who asks for it is told %q, want %q", text, want)
	}

	s = newShelf(t)
	s.Stored = 150
	s.put(1, "user:ann", 10, 100)
	s.put(2, "user:bob", 5, 150)
	if got := s.deleted(); got != "" {
		t.Errorf("%s was deleted, and each stores what it may", got)
	}
	s.put(3, "user:ann", 20, 51)
	if got := s.deleted(); got != "1" {
		t.Errorf("%q was deleted, want 1", got)
	}
	// The next agent of the folder knows which output was deleted.
	a, err := Open(Config{Dir: s.Dir, Kernel: newFakeKernel(), boot: "boot", clock: func() float64 { return 100 }, supervisors: noSupervisors{}, space: s.space})
	if err != nil {
		t.Fatal(err)
	}
	if d := a.deletions(); len(d) != 1 || d[0].Name != 1 || d[0].Bytes != 100 {
		t.Errorf("after a restart: %+v", d)
	}
}

// TestReserve checks that the reserve uses part of the disk, that a full disk has space for the
// agent's state after the reserve is released, and that the reserve is allocated again.
func TestReserve(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 8<<20)
	a, err := Open(Config{Dir: dir, Kernel: newFakeKernel(), boot: "boot", clock: func() float64 { return 100 }, supervisors: noSupervisors{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.makeRoom(); err != nil {
		t.Fatal(err)
	}
	free, total, _ := diskSpace(dir)
	if reserve := reserved(total); total-free < reserve {
		t.Fatalf("%d of %d bytes are free: want %d reserved", free, total, reserve)
	}
	fill(t, dir)
	if err := put(a.path("word"), "x", true); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("a full disk took a word: %v", err)
	}
	if err := errors.Join(a.releaseReserve(), put(a.path("word"), "x", true)); err != nil {
		t.Error(err)
	}
	if err := a.makeRoom(); err != nil || a.closed != diskFull {
		t.Errorf("%q, %v, want closed", a.closed, err)
	}
	os.Remove(dir + "/filler")
	if err := a.makeRoom(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(a.path("reserve")); err != nil || info.Size() != reserved(total) {
		t.Errorf("%v, %v, want the reserve again", info, err)
	}
}

// TestTenantsFillDisk checks, on a disk of 24 MB, that tenants who fill it do not affect
// others: the lease is renewed, a running task keeps its processor, and each tenant's task ends
// normally.
func TestTenantsFillDisk(t *testing.T) {
	each(t, true, func(t *testing.T, b *bench) {
		b = newBenchIn(t, b.kind, smallDisk(t, 24<<20))
		b.Agent.Limits.Disk = 16 << 20
		b.want("1.0.1", "while :; do :; done", nil)
		for n := 2; n <= 5; n++ {
			name := fmt.Sprintf("%d.0.%d", n, n)
			b.want(name, "dd if=/dev/zero of=x bs=1M count=12; true", func(w *remote.Wanted, _ *remote.Job) { w.Account = "user:eve" })
			if e := b.end(name); e.Why != hosts.Exited {
				t.Errorf("%s: %+v", name, e)
			}
		}
		fill(t, b.Dir)
		b.Agent.read()
		before, until := b.used("1.0.1"), b.Agent.lease
		b.until("the task goes on under a new lease", func() bool {
			b.apply()
			return b.used("1.0.1") > before+0.3 && b.Agent.lease > until
		})
		os.Remove(b.Dir + "/filler")
		if len(b.deletions()) == 0 {
			t.Error("nothing was deleted")
		}
	})
}
