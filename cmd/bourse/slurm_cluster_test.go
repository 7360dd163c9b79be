//go:build linux

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A slurmCluster is a Slurm cluster for a test. It has a controller and the nodes n1 and n2
// with two processors and 4000 MiB each on this machine, all of which end with the test. Node
// n1 has two GPUs, which are represented by two devices that every machine has.
type slurmCluster struct {
	t   testing.TB
	dir string
}

const slurmSettings = `ClusterName=bourse
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.sock
CredType=cred/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool/%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd-%%n.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd-%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
GresTypes=gpu
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
MessageTimeout=5
KillWait=2
MinJobAge=300
MaxArraySize=%[6]d
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=2 RealMemory=4000 Gres=gpu:2
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=2 RealMemory=4000
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`

// newSlurm starts a cluster whose array task numbers are below maxArray. If Slurm is not
// installed, it skips the test or, with BOURSE_CI, fails it.
func newSlurm(t testing.TB, maxArray int) *slurmCluster {
	t.Helper()
	if err := hasSlurm(); err != nil {
		if os.Getenv("BOURSE_CI") != "" && os.Getuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "bourse-slurm") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	c := &slurmCluster{t, dir}
	t.Cleanup(c.stop)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	key := make([]byte, 128)
	rand.Read(key)
	ports := freePorts(t, 3)
	for name, text := range map[string]string{
		"munge.key": string(key), "gres.conf": "NodeName=n1 Name=gpu File=/dev/zero\nNodeName=n1 Name=gpu File=/dev/full\n",
		"slurm.conf": fmt.Sprintf(slurmSettings, host, dir, ports[0], ports[1], ports[2], maxArray),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"state", "spool/n1", "spool/n2"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	c.must("munged", "--force", "--key-file="+in("munge.key"), "--socket="+in("munge.sock"), "--pid-file="+in("munged.pid"), "--log-file="+in("munged.log"), "--seed-file="+in("munge.seed"))
	c.startController()
	c.startNode("n1")
	c.startNode("n2")
	for range 300 {
		if out, err := c.command("sinfo", "-h", "-o", "%t %D").Output(); err == nil && strings.TrimSpace(string(out)) == "idle 2" {
			return c
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("Slurm does not start: see %s", c.logs())
	return nil
}

// hasSlurm returns the reason why this machine cannot run a cluster, or nil.
func hasSlurm() error {
	for _, program := range []string{"slurmctld", "slurmd", "munged", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("no Slurm here: %w", err)
		}
	}
	if os.Getuid() != 0 {
		return errors.New("nodes of Slurm must be started by root")
	}
	return nil
}

// conf returns the environment variable with which programs of Slurm use the cluster.
func (c *slurmCluster) conf() string { return "SLURM_CONF=" + filepath.Join(c.dir, "slurm.conf") }

// command returns a command whose environment makes it use the cluster.
func (c *slurmCluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), c.conf())
	return cmd
}

// startController starts the controller of the cluster.
func (c *slurmCluster) startController() { c.must("slurmctld") }

// startNode starts the daemon of a node.
func (c *slurmCluster) startNode(name string) { c.must("slurmd", "-N", name) }

// killController kills the controller with SIGKILL.
func (c *slurmCluster) killController() { c.kill("slurmctld.pid") }

// killNode kills a node and all its processes with SIGKILL.
func (c *slurmCluster) killNode(name string) {
	c.kill("slurmd-" + name + ".pid")
	steps, _ := exec.Command("pgrep", "-f", "slurmstepd:.*").Output()
	for _, pid := range strings.Fields(string(steps)) {
		if env, err := os.ReadFile("/proc/" + pid + "/environ"); err == nil && strings.Contains(string(env), c.dir) {
			killTree(pid)
		}
	}
}

// killTree kills a process and all its descendants.
func killTree(pid string) {
	children, _ := exec.Command("pgrep", "-P", pid).Output()
	for _, child := range strings.Fields(string(children)) {
		killTree(child)
	}
	if n, err := strconv.Atoi(pid); err == nil {
		syscall.Kill(n, syscall.SIGKILL)
	}
}

func (c *slurmCluster) must(name string, args ...string) {
	c.t.Helper()
	if out, err := c.command(name, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// kill kills the process whose number is in the given file.
func (c *slurmCluster) kill(pidFile string) {
	text, err := os.ReadFile(filepath.Join(c.dir, pidFile))
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (c *slurmCluster) stop() {
	if out, err := c.command("squeue", "-h", "-o", "%A").Output(); err == nil {
		if jobs := strings.Fields(string(out)); len(jobs) > 0 {
			c.command("scancel", jobs...).Run()
			time.Sleep(time.Second)
		}
	}
	for _, pid := range []string{"slurmd-n1.pid", "slurmd-n2.pid", "slurmctld.pid", "munged.pid"} {
		c.kill(pid)
	}
	if !c.t.Failed() {
		os.RemoveAll(c.dir)
	}
}

func (c *slurmCluster) logs() string { return filepath.Join(c.dir, "*.log") }

// freePorts returns ports that are not in use.
func freePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
