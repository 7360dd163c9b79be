//go:build linux

package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/remote"
)

// TestNotice checks that a program is notified, with the reason, before its deadline and before
// its contract moves to other hosts. If a program does not handle the signal, the notice ends
// it early only if its owner requested the notice. A program that the notice ended has not
// failed.
func TestNotice(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		const obeys = "trap 'cat notice; exit 0' TERM; echo up; while :; do sleep 0.01; done"
		notified := func(warn float64, asked bool) func(*remote.Wanted, *remote.Job) {
			return func(w *remote.Wanted, _ *remote.Job) { w.Left, w.Warn, w.Asked = 3, warn, asked }
		}
		b.want("1.0.1", obeys, notified(2, true))
		b.want("2.0.2", obeys, notified(2, false))
		b.want("3.0.3", "exec sleep 60", notified(2, true))
		b.want("4.0.4", "exec sleep 60", notified(2, false))
		b.want("5.0.5", "trap 'exit 3' TERM; while :; do sleep 0.01; done", notified(2, true))
		b.want("6.0.6", "ln -s ../task.json notice; ln -s ../task.json .notice; "+obeys, notified(2, true))
		b.want("7.0.7", obeys, nil)
		b.want("8.0.8", obeys, nil)
		b.until("two are up", func() bool { return b.text("7.0.7", "out") != "" && b.text("8.0.8", "out") != "" })
		record := b.text("6.0.6", "task.json")
		o := b.take()
		o.Deal, o.Wanted, o.Moved = b.deal+1, b.wanted[:6], []int64{7}
		b.deal++
		if err := b.Apply(o, b.seq, b.Now()); err != nil {
			t.Error(err)
		}
		b.wanted = b.wanted[:6]
		const deadline = "up\n{\"reason\":\"deadline\",\"in\":2}\n"
		for _, c := range []struct {
			name, out, signal string
			why               hosts.End
			status            int
			least, most       float64
		}{
			{"1.0.1", deadline, "", hosts.Exited, 0, 1, 2},
			{"2.0.2", deadline, "", hosts.Exited, 0, 1, 2},
			{"3.0.3", "", "SIGTERM", hosts.Expired, 0, 1, 2},
			{"4.0.4", "", "SIGKILL", hosts.Expired, 0, 3, 9},
			{"5.0.5", "", "", hosts.Failed, 3, 1, 2},
			{"6.0.6", deadline, "", hosts.Exited, 0, 1, 2},
			{"7.0.7", "up\n{\"reason\":\"moved\",\"in\":1}\n", "", hosts.Killed, 0, 0, 3},
			{"8.0.8", "up\n{\"reason\":\"cancelled\",\"in\":1}\n", "", hosts.Killed, 0, 0, 3},
		} {
			e := b.end(c.name)
			if e.Why != c.why || e.Status != c.status || e.Signal != c.signal || e.Span < c.least || e.Span > c.most {
				t.Errorf("%s: %+v, want %v, %d, %q after %v to %v s", c.name, e, c.why, c.status, c.signal, c.least, c.most)
			}
			if got := b.text(c.name, "out"); got != c.out {
				t.Errorf("%s printed %q, want %q", c.name, got, c.out)
			}
		}
		if b.text("6.0.6", "task.json") != record {
			t.Error("a notice was written through a link")
		}
	})
}

// TestPlace checks that a file placed into a folder of a program replaces links, pipes and
// files. Nothing must be written through a link, and no pipe must block the writer.
func TestPlace(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"nothing":            func(string) error { return nil },
		"a file":             func(path string) error { return os.WriteFile(path, []byte("old"), 0o600) },
		"a link outside":     func(path string) error { return os.Symlink(outside, path) },
		"a link to the same": func(path string) error { return os.Link(outside, path) },
		"a pipe":             func(path string) error { return unix.Mkfifo(path, 0o600) },
		"an empty folder":    func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		for _, at := range []string{"notice", ".notice"} {
			dir := t.TempDir()
			if err := make(filepath.Join(dir, at)); err != nil {
				t.Fatal(err)
			}
			done := time.AfterFunc(20*time.Second, func() { panic(name + ": it waits") })
			err := place(dir, "notice", []byte("new"))
			done.Stop()
			text, wrong := os.ReadFile(filepath.Join(dir, "notice"))
			if wrong = errors.Join(err, wrong); (wrong != nil || string(text) != "new") && !(name == "an empty folder" && at == "notice") {
				t.Errorf("%s as %s: %q, %v", name, at, text, wrong)
			}
			if secret, _ := os.ReadFile(outside); !strings.HasPrefix(string(secret), "a secret") {
				t.Errorf("%s as %s: it was written to", name, at)
			}
		}
	}
}
