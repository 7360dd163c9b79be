//go:build linux

package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// TestAgentKilledAt kills an agent, in its own process, with SIGKILL at each step of the start
// and end of a task, and its supervisor at each of the supervisor's steps. The agent that
// adopts the folder must report the end of the task and leave no group. In total, the task is
// started at most once. A task whose supervisor was started survives the agent.
func TestAgentKilledAt(t *testing.T) {
	each(t, false, func(t *testing.T, b *bench) {
		for _, c := range []struct {
			at    string
			why   hosts.End
			count string // text that the task has written to its file
		}{
			{"before make", hosts.Lost, ""},
			{"after make", hosts.Lost, ""},
			{"before share", hosts.Lost, ""},
			{"after share", hosts.Lost, ""},
			{"before start", hosts.Lost, ""},
			{"after start", hosts.Exited, "x\n"},
			{"before remove", hosts.Exited, "x\n"},
			{"after remove", hosts.Exited, "x\n"},
			{"its supervisor, before it starts", hosts.Lost, ""},
			{"its supervisor, while it runs", hosts.Lost, "x\n"},
			{"its supervisor, when it has ended", hosts.Exited, "x\n"},
		} {
			t.Run(c.at, func(t *testing.T) {
				b := newBench(t, b.kind)
				job := remote.Job{Command: []string{"sh", "-c", "echo x >> count; sleep 1"}}
				w := named("1.0.1")
				w.Job = b.put(&job)
				cmd := exec.Command("/proc/self/exe", agentRole, b.kind, b.config.At.Group, b.Dir)
				cmd.Env = append(os.Environ(), "BOURSE_TEST_DIES="+c.at, "BOURSE_TEST_JOB="+w.Job)
				cmd.Stderr = os.Stderr
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Signal(syscall.SIGTERM) })
				defer timer.Stop()
				cmd.Wait()
				if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
					t.Fatalf("it never came to that: %v", cmd.ProcessState)
				}
				b.open()
				b.wanted = []remote.Wanted{w}
				b.apply()
				if e := b.end("1.0.1"); e.Why != c.why || b.text("1.0.1", "dir", "count") != c.count {
					t.Errorf("%+v, and it was started %q; want %v and %q", e, b.text("1.0.1", "dir", "count"), c.why, c.count)
				}
			})
		}
	})
}

// dying kills an agent, or its supervisor, at a step.
type dying struct{ at string }

func (d dying) step(at string) {
	if at == d.at {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

type dyingKernel struct {
	linux.Kernel
	dying
}

func (k dyingKernel) Make(name string, l linux.Limits) error {
	k.step("before make")
	defer k.step("after make")
	return k.Kernel.Make(name, l)
}

func (k dyingKernel) Share(shares []linux.Share) error {
	if len(shares) == 0 {
		return k.Kernel.Share(shares)
	}
	k.step("before share")
	defer k.step("after share")
	return k.Kernel.Share(shares)
}

func (k dyingKernel) Remove(name string) error {
	k.step("before remove")
	defer k.step("after remove")
	return k.Kernel.Remove(name)
}

type dyingSupervisors struct {
	*processes
	dying
}

func (m dyingSupervisors) start(folder string) error {
	m.step("before start")
	defer m.step("after start")
	if err := m.processes.start(folder); err != nil {
		return err
	}
	m.kill("its supervisor, before it starts")
	return nil
}

// look kills the supervisor when its task has reached the step.
func (m dyingSupervisors) look(folder string) {
	for at, file := range map[string]string{"its supervisor, while it runs": "dir/count", "its supervisor, when it has ended": "exit.json"} {
		if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
			m.kill(at)
		}
	}
}

// kill kills the agent, and the supervisor if the step requires it.
func (m dyingSupervisors) kill(at string) {
	if m.at == at {
		for _, pid := range m.mine { // supervisors that have not been waited for
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	m.step(at)
}
