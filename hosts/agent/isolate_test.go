//go:build linux

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
)

// TestIsolation checks the view and rights of a task: it has its own user and processes, no
// capabilities and no way to gain any. It can write only to its folder and its own /tmp, and
// sees neither the agent's folder nor the folders of other tasks.
func TestIsolation(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		secret := filepath.Join(b.Dir, "key")
		if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
		b.want("1.0.1", "echo mine > file; sleep 5", nil)
		b.until("the other writes", func() bool { return b.text("1.0.1", "dir", "file") != "" })
		mark := filepath.Base(b.Dir) + "-mark"
		other := filepath.Join(b.Dir, "tasks", "1.0.1", "dir", "file")
		b.want("2.0.2", fmt.Sprintf(`
			id -u
			grep -E '^(NoNewPrivs|CapEff|CapPrm|CapBnd|CapInh|CapAmb):' /proc/self/status | sort | tr -d '\t\n'; echo
			ls /proc | grep -c '^[0-9]'
			echo x > $HOME/x && echo x > /tmp/%[5]s && cat $HOME/x
			for f in %[1]s %[2]s; do cat $f; done
			for f in / /etc /usr /var/tmp /dev %[3]s %[3]s/tasks /sys/fs/cgroup/cpu; do echo x 2>/dev/null > $f/%[5]s; done
			cat %[3]s/lease %[3]s/tasks/1.0.0/task.json
			mount -t tmpfs none /tmp && echo mounted
			unshare -Ur true && echo "a namespace"
			kill -9 %[4]d && echo killed
			echo done`, secret, other, b.Dir, os.Getpid(), mark), nil)
		e := b.end("2.0.2")
		if os.Getenv("BOURSE_CI") == "" && slices.ContainsFunc(e.Lacks, func(what string) bool { return strings.HasPrefix(what, "namespaces") }) {
			t.Skipf("this machine cannot: %q", e.Lacks)
		}
		got := strings.Split(b.text("2.0.2", "out"), "\n")
		if e.Why != hosts.Exited || len(got) != 6 || got[4] != "done" || got[3] != "x" {
			t.Fatalf("%+v: it printed %q and %q", e, got, b.text("2.0.2", "err"))
		}
		if os.Geteuid() == 0 && got[0] != strconv.Itoa(b.Users+1) {
			t.Errorf("its user is %s", got[0])
		}
		zero := strings.Repeat("0", 16)
		bound := zero
		if os.Geteuid() != 0 && !strings.Contains(got[1], "CapBnd:"+zero) {
			bound = got[1][strings.Index(got[1], "CapBnd:")+7:][:16]
		}
		if want := "CapAmb:" + zero + "CapBnd:" + bound + "CapEff:" + zero + "CapInh:" + zero + "CapPrm:" + zero + "NoNewPrivs:1"; got[1] != want {
			t.Errorf("it has %s, want %s", got[1], want)
		}
		if n, err := strconv.Atoi(got[2]); err != nil || n > 5 {
			t.Errorf("it sees %s processes", got[2])
		}
		for _, dir := range []string{"/tmp", "/", "/etc", "/usr", "/var/tmp", "/dev", b.Dir, filepath.Join(b.Dir, "tasks"), "/sys/fs/cgroup/cpu"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				t.Errorf("it wrote to the machine's %s", dir)
				os.Remove(filepath.Join(dir, mark))
			}
		}
		if len(e.Lacks) > 0 {
			t.Errorf("lacks %q", e.Lacks)
		}
	})
}

// TestTaskLimits checks that each limit is enforced, that each violation is reported correctly,
// and that logs are cut with a notice while the program continues to print.
func TestTaskLimits(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		memory, processes := b.Kernel.Bounds()
		b.want("1.0.1", "x=0123456789abcdef; while :; do x=$x$x; done", nil)
		b.want("2.0.2", "i=0; while :; do head -c 1000000 /dev/zero > $i; i=$((i+1)); sleep 0.02; done", nil)
		b.want("3.0.3", "head -c 9000000 /dev/zero > big; wc -c < big", nil)
		b.want("4.0.4", "yes | head -c 3000000; echo end >&2", nil)
		b.want("5.0.5", "ulimit -n; ulimit -c; n=0; while [ $n -lt 100 ]; do sleep 9 & n=$((n+1)); done; echo $n", nil)
		if e := b.end("1.0.1"); e.Why != hosts.Failed || memory && (!e.OutOfMemory || e.Fault != "memory ran out") {
			t.Errorf("a hog of memory: %+v", e)
		}
		if e := b.end("2.0.2"); e.Why != hosts.Failed || !strings.HasPrefix(e.Fault, "disk: ") {
			t.Errorf("a filler of the disk: %+v", e)
		}
		b.end("3.0.3")
		if got := strings.TrimSpace(b.text("3.0.3", "out")); got != "4000000" && got != "3998720" {
			t.Errorf("a file of %s bytes, want 4e6: %q, %+v", got, b.text("3.0.3", "err"), b.ends["3.0.3"])
		}
		if e := b.end("4.0.4"); e.Why != hosts.Exited || b.text("4.0.4", "err") != "end\n" {
			t.Errorf("one that prints much: %+v", e)
		}
		if out := b.text("4.0.4", "out"); out != strings.Repeat("y\n", 5000)+"\n[cut after 10000 bytes]\n[2990000 bytes were discarded]\n" {
			t.Errorf("it printed %d bytes, at last %q", len(out), out[max(0, len(out)-40):])
		}
		e := b.end("5.0.5")
		if out := b.text("5.0.5", "out"); !strings.HasPrefix(out, "256\n0\n") || strings.Contains(out, "100") || e.Why != hosts.Failed {
			t.Errorf("groups bound processes: %v; it printed %q, %+v", processes, out, e)
		}
	})
}

// TestLease checks that tasks are paused when the lease ends, with or without an agent, that
// they resume when it is renewed, and that a paused task stays paused.
func TestLease(t *testing.T) {
	each(t, true, func(t *testing.T, b *bench) {
		b.want("1.0.1", "while :; do :; done", nil)
		used := func() float64 {
			b.Agent.read()
			return b.used("1.0.1")
		}
		b.until("it runs", func() bool { return used() > 0.05 })
		b.wanted[0].Weight = 0
		b.apply()
		b.waitPaused("1.0.1", "paused")
		b.wanted[0].Weight = 1
		b.apply()
		before := used()
		b.until("it goes on", func() bool { return used() > before+0.05 })
		// From here on the agent does nothing: only the supervisor enforces the lease.
		if err := writeLease(b.Dir, lease{until: 1, deal: b.deal}); err != nil {
			t.Fatal(err)
		}
		b.waitPaused("1.0.1", "without a lease")
		b.apply()
		if err := writeLease(b.Dir, lease{until: b.Now() + 20, deal: b.deal}); err != nil {
			t.Fatal(err)
		}
		before = used()
		b.until("it goes on", func() bool { return used() > before+0.05 })
	})
}

// TestKilled checks that a task dies with its killed supervisor and is reported as Lost with
// its measured usage. A second agent, opened after the first has ended, adopts running tasks,
// reports tasks that ended before it was opened, and starts no task again.
func TestKilled(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		count := "echo x >> count; "
		b.want("1.0.1", count+"while :; do :; done", nil)
		b.want("2.0.2", count+"while :; do :; done", nil)
		b.want("3.0.3", count+"sleep 0.3; echo x >> count", nil)
		b.until("they run", func() bool {
			b.Agent.read()
			return b.used("1.0.1") > 0.05 && b.used("2.0.2") > 0.05
		})
		pid := b.Agent.supervisors.(*processes).mine[0]
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if e := b.end("1.0.1"); e.Why != hosts.Lost || e.Used < 0.05 {
			t.Errorf("a task whose supervisor was killed: %+v", e)
		}
		// This agent is no longer used, but its supervisors are still children of this process.
		b.Agent.supervisors.(*processes).mine = nil
		time.Sleep(400 * time.Millisecond)
		before := b.used("2.0.2")
		b.open()
		b.apply()
		if e := b.end("3.0.3"); e.Why != hosts.Exited || b.text("3.0.3", "dir", "count") != "x\nx\n" {
			t.Errorf("a task that ended while there was no agent: %+v", e)
		}
		b.until("the task is read", func() bool { b.Agent.read(); return b.used("2.0.2") > before })
		if _, ended := b.ends["2.0.2"]; ended || b.text("2.0.2", "dir", "count") != "x\n" || b.text("1.0.1", "dir", "count") != "x\n" {
			t.Errorf("after the agent was opened again: %+v, %q", b.ends, b.text("2.0.2", "dir", "count"))
		}
	})
}
