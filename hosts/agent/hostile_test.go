//go:build linux

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"syscall"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// TestHostile runs each of several attackers next to a victim with the same weight on the same
// processor: a fork bomb, programs that fill memory or the disk, a program that leaves
// processes behind, and a program that prints without end. It checks that each end is reported
// correctly, and that the victim receives half of their total processor time, within 0.03.
func TestHostile(t *testing.T) {
	each(t, true, func(t *testing.T, b *bench) {
		if b.kind != "signals" && os.Geteuid() != 0 {
			t.Skip("only root bounds what users take")
		}
		memory, _ := b.Kernel.Bounds()
		// The attacker and the victim use only processor 0.
		const pin = "taskset -pc 0 $$ >/dev/null; "
		b.want("1.0.1", pin+"while :; do :; done", nil)
		b.until("the victim runs", func() bool { b.Agent.read(); return b.used("1.0.1") > 0.05 })
		for i, c := range []struct {
			name, command string
			deadline      float64
			reported      func(e exit) bool
		}{
			{"a fork bomb", "exec perl -e 'fork while 1'", 1.5, func(e exit) bool { return e.Why == hosts.Expired }},
			{"a hog of memory", `exec perl -e 'my @a; push @a, "x" x 1e5 while 1'`, 0, func(e exit) bool {
				return e.Why == hosts.Failed && (!memory || e.OutOfMemory && e.Fault == "memory ran out")
			}},
			{"a filler of the disk", "n=0; while :; do head -c 900000 /dev/zero > $n; n=$((n+1)); done", 0, func(e exit) bool {
				return e.Why == hosts.Failed && strings.HasPrefix(e.Fault, "disk: ")
			}},
			{"a filler of files without names", `for f in 3 4 5 6; do eval "exec $f>f; rm f; head -c 1500000 /dev/zero >&$f"; done; sleep 5`, 0, func(e exit) bool {
				return b.kind == "signals" && os.Geteuid() != 0 || e.Why == hosts.Failed && strings.HasPrefix(e.Fault, "disk: ")
			}},
			{"one that leaves others behind", "for i in 1 2 3; do setsid sh -c 'trap : TERM HUP; while :; do :; done' & done; sleep 0.7", 0, func(e exit) bool {
				return e.Why == hosts.Exited
			}},
			{"one that prints without end", "exec yes", 1.5, func(e exit) bool { return e.Why == hosts.Expired }},
		} {
			name := fmt.Sprintf("%d.0.%d", i+2, i+2)
			b.Agent.read()
			before, began := b.used("1.0.1"), b.Now()
			b.want(name, pin+c.command, func(w *remote.Wanted, _ *remote.Job) { w.Left = c.deadline })
			e := b.end(name)
			victim, span := b.used("1.0.1")-before, b.Now()-began
			t.Logf("%s: %v %q after %.2f s; it got %.3f s, the victim %.3f s", c.name, e.Why, e.Fault, span, e.Used, victim)
			if !c.reported(e) {
				t.Errorf("%s is reported as %+v; it printed %q", c.name, e, b.text(name, "err"))
			}
			tolerance := 0.03 + 0.03/(victim+e.Used) // a program starts before it is bound to processor 0
			if b.kind == "signals" {
				tolerance += 0.1 / (victim + e.Used) // The tolerance covers one extra time slice.
			}
			if part := victim / (victim + e.Used); part < 0.5-tolerance {
				t.Errorf("beside %s the victim got %.3f of both", c.name, part)
			}
			if size := len(b.text(name, "out")); size > int(b.config.Limits.Log)+100 {
				t.Errorf("%s has printed %d bytes", c.name, size)
			}
			b.wanted = b.wanted[:1]
			b.apply()
		}
		if _, ended := b.ends["1.0.1"]; ended {
			t.Errorf("the victim: %+v", b.ends["1.0.1"])
		}
	})
}

// agentRole is the role of a test's own agent, which the test kills; its arguments are kind,
// group and folder.
const agentRole = "bourse-test-agent"

// runAgent runs an agent with one wanted task, whose lease is 1.2 seconds after each order.
func runAgent(kind, group, dir string) error {
	c := Config{Dir: dir, At: linux.Config{Group: group, Dir: dir + "/groups"}, Grace: 1, Network: true}
	var err error
	if c.Kernel, err = linux.Open(kind, c.At); err != nil {
		return err
	}
	d := dying{os.Getenv("BOURSE_TEST_DIES")}
	supervisors := dyingSupervisors{&processes{network: true}, d}
	c.Kernel, c.supervisors = dyingKernel{c.Kernel, d}, supervisors
	a, err := Open(c)
	if err != nil {
		return err
	}
	w, text := named("1.0.1"), []byte(`{"command":["sh","-c","echo x >> count; while :; do :; done"]}`)
	sum := sha256.Sum256(text)
	w.Job = hex.EncodeToString(sum[:])
	if err := a.keep(w.Job, text); err != nil {
		return err
	}
	if job := os.Getenv("BOURSE_TEST_JOB"); job != "" {
		w.Job = job
	}
	for {
		sent := a.Now()
		told, err := a.Tell()
		o := &remote.Orders{Session: told.Session, Boot: told.Boot, Deal: 1, Lease: 1.2, Wanted: []remote.Wanted{w}}
		if err := errors.Join(err, a.Apply(o, told.Seq, sent)); err != nil {
			return err
		}
		supervisors.look(a.path("tasks", "1.0.1"))
		time.Sleep(50 * time.Millisecond)
	}
}

// TestAgentKilled checks that kill -9 of an agent affects neither supervisor nor task; that the
// task is paused when the lease ends; and that the next agent resumes the task rather than
// start it again.
func TestAgentKilled(t *testing.T) {
	each(t, true, func(t *testing.T, b *bench) {
		cmd := exec.Command("/proc/self/exe", agentRole, b.kind, b.config.At.Group, b.Dir)
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		used := func() float64 {
			b.Kernel.List()
			return b.used("1.0.1")
		}
		b.until("the task runs", func() bool { return used() > 0.05 })
		cmd.Process.Kill()
		cmd.Wait()
		at, before := time.Now(), used()
		time.Sleep(500 * time.Millisecond)
		if got := used() - before; got < 0.01 {
			t.Errorf("half a second after its agent was killed the task had used %v", got)
		}
		b.waitPaused("1.0.1", "without a lease")
		if d := time.Since(at); d < time.Second {
			t.Errorf("it stands %v after its agent was killed, under a lease of 1.2 s", d)
		}
		before = used()
		b.open()
		b.want("1.0.1", "", nil)
		b.until("the task goes on", func() bool { return used() > before+0.05 })
		if _, ended := b.ends["1.0.1"]; ended || b.text("1.0.1", "dir", "count") != "x\n" {
			t.Errorf("it was started %q, and ended as %+v", b.text("1.0.1", "dir", "count"), b.ends)
		}
	})
}
