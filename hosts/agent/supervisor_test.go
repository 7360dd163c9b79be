//go:build linux

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 5 && os.Args[1] == agentRole {
		fmt.Fprintln(os.Stderr, runAgent(os.Args[2], os.Args[3], os.Args[4]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A bench is an agent on this machine that uses the machine's clock.
type bench struct {
	*Agent
	t      testing.TB
	config Config
	kind   string
	wanted []remote.Wanted
	deal   int64
	ends   map[string]exit // ends that the agent reported
}

// each runs a test with every kind of kernel that this machine supports. Tests that measure do
// not run in parallel.
func each(t *testing.T, measures bool, test func(t *testing.T, b *bench)) {
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("it runs programs on this machine, which others may be using: .ci/nightly machines")
	}
	if !measures {
		t.Parallel()
	}
	for _, kind := range []string{"cgroup2", "cgroup1", "signals"} {
		t.Run(kind, func(t *testing.T) {
			if !measures {
				t.Parallel()
			}
			test(t, newBench(t, kind))
		})
	}
}

// benches is the number of benches. Each bench has its own users, because limits on the number
// of processes apply per user.
var benches atomic.Int32

func newBench(t testing.TB, kind string) *bench {
	dir, err := os.MkdirTemp("", "bourse-agent")
	if err != nil {
		t.Fatal(err)
	}
	return newBenchIn(t, kind, dir)
}

// newBenchIn returns a bench whose agent uses the folder dir.
func newBenchIn(t testing.TB, kind, dir string) *bench {
	var err error
	b := &bench{t: t, kind: kind, ends: make(map[string]exit)}
	b.config = Config{
		Dir: dir, At: linux.Config{Group: filepath.Base(dir), Dir: filepath.Join(dir, "groups")},
		Network: true, Grace: 1, Keep: 3600,
		Limits: remote.Limits{Memory: 64e6, Processes: 64, Files: 256, Disk: 4e6, Log: 10_000},
	}
	if kind == "signals" {
		b.config.At.Processors = 1 // one group runs at a time
	}
	if os.Geteuid() == 0 {
		b.config.Users = 1_900_000_000 + 5000*(os.Getpid()%20_000) + 100*int(benches.Add(1))
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if b.config.Kernel, err = linux.Open(kind, b.config.At); err != nil {
		os.RemoveAll(dir)
		t.Skip(err)
	}
	t.Cleanup(func() {
		b.wanted = nil
		b.until("nothing runs", func() bool { b.apply(); return len(b.shares()) == 0 })
		if left, err := b.Kernel.List(); err != nil || len(left) > 0 {
			t.Errorf("groups left: %v, %v", left, err)
		}
		b.Kernel.Close()
		os.RemoveAll(dir)
	})
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.Agent, err = Open(b.config); err != nil {
		b.t.Fatal(err)
	}
}

// want adds a wanted task that runs a shell command.
func (b *bench) want(name, command string, set func(*remote.Wanted, *remote.Job)) {
	w, job := named(name), remote.Job{Command: []string{"sh", "-c", command}}
	w.Counts = nil // a bench has no GPUs
	if set != nil {
		set(&w, &job)
	}
	w.Job = b.put(&job)
	b.wanted = append(b.wanted, w)
	b.apply()
}

// apply renews the orders for 20 s and reads the agent's report.
func (b *bench) apply() {
	b.t.Helper()
	b.deal++
	sent, o := b.Now(), b.take()
	if err := b.Apply(o, b.seq, sent); err != nil {
		b.t.Error(err)
	}
}

// put stores a job and returns its hash.
func (b *bench) put(job *remote.Job) string {
	text, err := json.Marshal(job)
	if err != nil {
		b.t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	sha := hex.EncodeToString(sum[:])
	if err := b.keep(sha, text); err != nil {
		b.t.Fatal(err)
	}
	return sha
}

// take reads the agent's report and returns orders that answer it.
func (b *bench) take() *remote.Orders {
	b.t.Helper()
	told, err := b.Tell()
	o := &remote.Orders{
		Session: told.Session, Boot: told.Boot, Ack: told.First + int64(len(told.Spans)) - 1,
		Deal: b.deal, Lease: 20, Wanted: b.wanted,
	}
	for _, e := range told.Ends {
		o.Known = append(o.Known, e.Name)
		for _, t := range b.tasks {
			if t.number == e.Name {
				b.ends[t.name] = *t.end
			}
		}
	}
	if err := errors.Join(err, b.acknowledge(o)); err != nil {
		b.t.Error(err)
	}
	return o
}

// until calls Look until is returns true.
func (b *bench) until(what string, is func() bool) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("it is not so that %s; what has ended: %+v", what, b.ends)
		}
		if err := b.Look(); err != nil {
			b.t.Error(err)
		}
		b.take()
	}
}

// end waits for the end of a task.
func (b *bench) end(name string) exit {
	b.t.Helper()
	b.until(name+" has ended", func() bool { _, ok := b.ends[name]; return ok })
	return b.ends[name]
}

// waitPaused waits, without the agent, until a task uses no processor time.
func (b *bench) waitPaused(name, why string) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		b.Kernel.List()
		before := b.used(name)
		time.Sleep(250 * time.Millisecond)
		if b.used(name)-before < 0.001 {
			return
		}
	}
	b.t.Errorf("%s: it goes on", why)
}

// text returns the content of a file in the task's folder.
func (b *bench) text(name string, path ...string) string {
	text, _ := os.ReadFile(filepath.Join(append([]string{b.Dir, "tasks", name}, path...)...))
	return string(text)
}

// TestEnds checks each way in which a task can end: by itself, with an error, by a signal,
// without a start, at its deadline, and when it becomes unwanted. It also checks that a task
// runs in its own folder with its variables, and that the remaining processes of a task are
// killed.
func TestEnds(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		mark := fmt.Sprintf("%d.%d", 100000+os.Getpid(), benches.Add(1))
		b.want("1.0.1", `echo "$GREETING"; echo ~; pwd; echo x > made; sleep `+mark+` & exit 0`,
			func(_ *remote.Wanted, job *remote.Job) { job.Env = []string{"GREETING=hello"} })
		b.want("2.0.2", "echo oh >&2; exit 7", nil)
		b.want("3.0.3", "kill -SEGV $$", nil)
		b.want("4.0.4", "", func(_ *remote.Wanted, job *remote.Job) { job.Command = []string{"./nothing"} })
		b.want("5.0.5", "trap '' TERM; while :; do sleep 0.01; done", func(w *remote.Wanted, _ *remote.Job) { w.Left = 0.8 })
		b.want("6.0.6", "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.01; done", nil)
		b.want("7.0.7", "trap '' TERM; echo up; sleep "+mark, nil)
		b.until("two are up", func() bool { return b.text("6.0.6", "out") != "" && b.text("7.0.7", "out") != "" })
		b.wanted = b.wanted[:5]
		b.apply()
		for _, c := range []struct {
			name, signal string
			why          hosts.End
			status       int
		}{
			{"1.0.1", "", hosts.Exited, 0},
			{"2.0.2", "", hosts.Failed, 7},
			{"3.0.3", "SIGSEGV", hosts.Failed, 0},
			{"5.0.5", "SIGKILL", hosts.Expired, 0},
			{"6.0.6", "", hosts.Killed, 3},
			{"7.0.7", "SIGKILL", hosts.Killed, 0},
		} {
			if e := b.end(c.name); e.Why != c.why || e.Status != c.status || e.Signal != c.signal || e.Fault != "" {
				t.Errorf("%s: %+v, want %v, %d, %q; it printed %q", c.name, e, c.why, c.status, c.signal, b.text(c.name, "err"))
			}
		}
		if e := b.end("4.0.4"); e.Why != hosts.Failed || !strings.HasPrefix(e.Fault, "command: ") {
			t.Errorf("what cannot start: %+v", e)
		}
		if e := b.ends["5.0.5"]; e.Span < 0.8 || e.Span > 5 {
			t.Errorf("a deadline of 0.8 s ended it after %v s", e.Span)
		}
		dir := filepath.Join(b.Dir, "tasks", "1.0.1", "dir")
		if got, want := b.text("1.0.1", "out"), "hello\n"+dir+"\n"+dir+"\n"; got != want {
			t.Errorf("it printed %q, want %q", got, want)
		}
		if b.text("1.0.1", "dir", "made") != "x\n" || b.text("2.0.2", "err") != "oh\n" || b.text("6.0.6", "out") != "up\nbye\n" {
			t.Error("its folder and logs are not what it wrote")
		}
		if out, _ := exec.Command("pgrep", "-f", "sleep "+mark).Output(); len(out) > 0 {
			t.Errorf("left behind: %s", out)
		}
		for name, e := range b.ends {
			if len(e.Lacks) > 0 {
				t.Logf("%s lacks %q", name, e.Lacks)
			}
		}
	})
}

// TestFolderGone checks that a task whose folder is removed ends, with or without an agent.
// Without this, nothing could end such a task.
func TestFolderGone(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		mark := fmt.Sprintf("%d.%d", 200000+os.Getpid(), benches.Add(1))
		b.want("1.0.1", "echo up; sleep "+mark+"; :", nil)
		b.until("it is up", func() bool { return b.text("1.0.1", "out") != "" })
		if err := os.RemoveAll(filepath.Join(b.Dir, "tasks", "1.0.1")); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if out, _ := exec.Command("pgrep", "-f", "sleep "+mark).Output(); len(out) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatal("it is left behind")
			}
		}
		delete(b.tasks, "1.0.1")
		if err := b.Kernel.Remove("1.0.1"); err != nil {
			t.Error(err)
		}
		b.wanted = nil
	})
}

// TestEnvironment checks that each name occurs once in an environment, with its last value, so
// that a job can override defaults but not the market's values.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	m := supervisor{folder: "/x", record: record{Name: "7.0.1", Job: remote.Job{Env: append(
		[]string{"PATH=/opt/bin", "BOURSE_CONTRACT=1", "A=1", "A=2", "BOURSE_TASK=no", "HOME="}, variables(&task{wanted: &wanted{Wanted: remote.Wanted{Contract: 7, Nodes: 1}}}, 0)...)}}}
	got := m.environment()
	want := []string{"PATH=/opt/bin", "HOME=", "TMPDIR=/tmp", "LANG=C.UTF-8", "BOURSE_CONTRACT=7", "A=2", "BOURSE_TASK=7.0.1", "BOURSE_NODE=0", "BOURSE_NODES=1", "BOURSE_TRY=1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
