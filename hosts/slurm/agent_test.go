//go:build linux

package slurm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/agent"
	"bourse/hosts/remote"
)

// A market is a fake market that orders one task on a host of two cores.
type market struct {
	mu      sync.Mutex
	machine *remote.Machine
	job     string
	silent  bool // whether the market does not answer
	end     *remote.End
	used    float64 // s
	began   time.Time
}

const lease = 7 // s; longer than the interval at which supervisors read it

func (m *market) Sync(ctx context.Context, _ string, t *remote.Told) (*remote.Orders, error) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.silent {
		return nil, errors.New("away")
	}
	known, _ := m.machine.Hear(time.Since(m.began).Seconds(), t)
	if len(t.Ends) > 0 {
		m.end = &t.Ends[0]
	}
	for _, r := range m.machine.Readings(nil) {
		m.used += r.Work
	}
	m.machine.Advance(0, nil)
	m.machine.Deal()
	o := m.machine.Orders(0, known)
	for i := range o.Wanted {
		w := &o.Wanted[i]
		w.Contract, w.Nodes, w.Job, w.Counts = 17, 1, hash(m.job), map[string]int32{"gpu": 1} // Slurm chooses the unit
	}
	o.Lease = lease
	return &o, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (m *market) Blob(context.Context, string, string) ([]byte, error) { return []byte(m.job), nil }
func (m *market) PutLog(context.Context, string, *remote.Log) error    { return nil }

func (m *market) PutCheckpoint(context.Context, string, *remote.Checkpoint) error { return nil }

func (m *market) set(silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = silent
}

// TestSupervised runs a task with its own supervisor, which a fake Slurm starts. It checks that
// the task starts once, stops when the lease ends and continues when the lease is renewed, and
// that its end and its usage are reported.
func TestSupervised(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the end of a lease")
	}
	job, err := json.Marshal(remote.Job{Command: []string{"sh", "-c",
		`echo gpu $CUDA_VISIBLE_DEVICES secret $SLURM_SECRET; while ! test -e stop; do echo x >> beats; sleep 0.1; done`}})
	program, wrong := os.Executable()
	if err = errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	m := &market{machine: remote.New(hosts.Spec{CPUs: 4, Speed: 1, Whole: true}), job: string(job), began: time.Now()}
	m.machine.Start(0, hosts.Task{Work: math.Inf(1), Holds: hosts.Resources{Cores: 2}}, hosts.Share{Weight: 1, Limit: 2})
	f := &fake{states: map[string]string{"n1": "idle", "n2": "idle"}, runs: true}
	spool, err := os.MkdirTemp("", "bourse-spool") // users of tasks need access to folders in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(spool) })
	p, err := open(t.Context(), "all", spool, program, f.run, agent.SpoolTime)
	if err = errors.Join(err, os.Chmod(spool, 0o711)); err != nil {
		t.Fatal(err)
	}
	p.Market = "lab"
	n := p.Nodes()[0]
	a, err := agent.LoadOn(n.Backend(), n.Dir(), agent.Settings{Trust: []string{"user:ann"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { p.Run(ctx, func(string) {}) })
	all.Go(func() { a.Serve(ctx, m, "n1", func(string) {}) })
	defer all.Wait()
	defer stop()

	folder := filepath.Join(n.Dir(), "tasks", "17.0.1")
	beats := func() int {
		text, _ := os.ReadFile(filepath.Join(folder, "dir", "beats"))
		return len(text)
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				log, _ := os.ReadFile(filepath.Join(folder, "minder"))
				t.Fatalf("not after 30 s: %s; %s", what, log)
			}
		}
	}
	until("it runs", func() bool { return beats() > 0 })
	if err := f.execute("99", f.scripts[0]); err == nil { // like a controller after it was killed
		t.Error("a second job has started the task again")
	}
	if job, ok := agent.Started(folder); !ok || job != "1" {
		t.Errorf("job %q has started the task, want 1", job)
	}
	m.set(true)
	still := func() bool {
		before := beats()
		time.Sleep(1200 * time.Millisecond)
		return beats() == before
	}
	silent := time.Now()
	until("it stops, because the market is silent", still)
	if after := time.Since(silent).Seconds(); after > lease+5 {
		t.Errorf("it stopped after %v s, want at most %d", after, lease+5)
	}
	b, ok, err := agent.ReadBeat(folder)
	if !ok || err != nil || !b.Frozen && !still() {
		t.Errorf("its supervisor reports %+v, %v", b, err)
	}
	m.set(false)
	until("it continues", func() bool { return !still() })

	// The supervisor waits for this file, as it would if the file system did not answer.
	orders := filepath.Join(folder, "orders")
	if err := errors.Join(os.WriteFile(orders+".kept", []byte("{}"), 0o600), unix.Mkfifo(orders, 0o600)); err != nil {
		t.Fatal(err)
	}
	until("it stops, because its supervisor hangs", still)
	pipe, err := os.OpenFile(orders, os.O_RDWR, 0)
	if err = errors.Join(err, os.Rename(orders+".kept", orders), pipe.Close()); err != nil {
		t.Fatal(err)
	}
	until("it continues again", func() bool { return !still() })
	if err := os.WriteFile(filepath.Join(folder, "dir", "stop"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	until("its end is reported", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.end != nil
	})
	if m.end.Why != hosts.Exited || m.end.Name != 1 {
		t.Errorf("it ended %+v", m.end)
	}
	if out, err := os.ReadFile(filepath.Join(folder, "out")); err != nil || strings.TrimSpace(string(out)) != "gpu 3 secret" || !(m.used > 0) {
		t.Errorf("it printed %q, and used %v s: %v", out, m.used, err)
	}
}
