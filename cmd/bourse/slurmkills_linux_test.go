package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bourse/experiments/live"
)

var (
	slurmRounds = flag.Int("slurm.rounds", 0, "rounds of TestSlurmKills, each with a part that is killed; 0 skips it")
	slurmSeed   = flag.Uint64("slurm.seed", 1, "seed of TestSlurmKills")
)

// A slurmTown is a market whose hosts are the nodes of a Slurm cluster.
type slurmTown struct {
	*town
	cluster *slurmCluster
	agent   *townPart
	names   map[string]bool // names of jobs that were in the queue
}

func newSlurmTown(t *testing.T, seed uint64) *slurmTown {
	t.Helper()
	cluster := newSlurm(t, 4)
	dir, err := os.MkdirTemp("", "bourse-slurm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			os.RemoveAll(dir)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	s := &slurmTown{&town{T: t, dir: dir, seed: seed, answered: make(map[int]live.Answer), env: []string{cluster.conf()}}, cluster, nil, map[string]bool{}}
	s.market = s.part("market", "live", "serve", "lab", "--listen", free(t), "--home", "ann")
	s.until(30*time.Second, "the market answers", func() bool { return s.can("live", "host", "list", "--dir", "lab", "--home", "ann") })
	s.write("tokens", s.bourse("live", "host", "invite", "n1", "--dir", "lab", "--home", "ann")+s.bourse("live", "host", "invite", "n2", "--dir", "lab", "--home", "ann"))
	s.agent = s.part("agent", "live", "agent", "--slurm", "all", "--spool", "spool", "--join", "@tokens", "--trust", "user:me")
	s.until(30*time.Second, "both nodes are hosts", func() bool {
		out, _ := s.run("live", "host", "list", "--dir", "lab", "--home", "ann")
		return strings.Count(out, " here ") == 2
	})
	return s
}

// heartbeats is a program that runs for about the given number of tenths of a second. It
// records its start and each tenth.
func heartbeats(tenths int) string {
	return fmt.Sprintf("echo start >> beats; i=0; while [ $i -lt %d ]; do date +%%s%%N >> beats; sleep 0.1; i=$((i+1)); done", tenths)
}

// order submits an order with a unique amount of work. If the order is not answered, settle
// sends it again. The program runs for about the given number of tenths of a second.
func (s *slurmTown) order(nodes, tenths, deadline int) {
	s.orders++
	out, err := s.run("job", "submit", "--home", "ann", "--json", "--quiet", "--work", strconv.FormatFloat(work(s.orders), 'f', -1, 64),
		"--deadline", fmt.Sprint(deadline), "--budget", "0.2", "--nodes", fmt.Sprint(nodes), "--memory", "100MB", "--", "sh", "-c", heartbeats(tenths))
	s.note(s.orders, []byte(out))
	if err != nil && !slices.ContainsFunc([]string{"resume", "nothing was booked", "1 of 1 contract refused"}, func(part string) bool { return strings.Contains(err.Error(), part) }) {
		s.Errorf("seed %d: order %d: %v", s.seed, s.orders, err)
	}
}

// queue returns the jobs in the queue, each as ID NAME STATE NODE.
func (s *slurmTown) queue() []string {
	out, err := s.cluster.command("squeue", "-h", "-o", "%i %j %T %N").Output()
	if err != nil {
		return []string{err.Error()}
	}
	lines := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
	for _, line := range lines {
		if f := strings.Fields(line); len(f) > 1 {
			s.names[f[1]] = true
		}
	}
	return lines
}

// A ranTask describes a task that has started by its first and last heartbeat, in nanoseconds.
type ranTask struct {
	host, name  string
	first, last int64
}

// ran returns the tasks that have started, by contract and node. It fails the test if a program
// was started more than once.
func (s *slurmTown) ran() map[string][]ranTask {
	all := make(map[string][]ranTask)
	files, err := filepath.Glob(s.path("spool/*/tasks/*/dir/beats"))
	if err != nil {
		s.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		folder := filepath.Dir(filepath.Dir(file))
		r := ranTask{host: filepath.Base(filepath.Dir(filepath.Dir(folder))), name: filepath.Base(folder)}
		if n := strings.Count(string(text), "start\n"); n > 1 { // n is 0 while the first line is being written
			s.Errorf("seed %d: the program of %s on %s was started %d times", s.seed, r.name, r.host, n)
		}
		for beat := range strings.FieldsSeq(string(text)) {
			at, err := strconv.ParseInt(beat, 10, 64)
			if err != nil {
				continue // skip the line start
			}
			if r.first == 0 {
				r.first = at
			}
			r.last = at
		}
		node := r.name[:strings.LastIndexByte(r.name, '.')]
		all[node] = append(all[node], r)
	}
	return all
}

// settle waits until all contracts have ended, and checks the contract of each order and the
// starts and heartbeats of each task.
func (s *slurmTown) settle() (states map[string]int) {
	s.Helper()
	s.until(2*time.Minute, "what was signed is answered", func() bool {
		s.run("job", "submit", "--resume", "--home", "ann", "--json")
		left, err := filepath.Glob(s.path("ann/sent/*.order"))
		return err == nil && len(left) == 0
	})
	s.until(6*time.Minute, "all contracts have ended", func() bool {
		out, err := s.run("job", "status", "--home", "ann")
		return err == nil && !strings.Contains(out, "waiting") && !strings.Contains(out, "running")
	})
	s.until(3*time.Minute, "the queue is empty", func() bool { return len(s.queue()) == 0 })
	s.until(3*time.Minute, "all tasks have ended", func() bool {
		all, err := filepath.Glob(s.path("spool/*/tasks/*/task.json"))
		return err == nil && !slices.ContainsFunc(all, func(task string) bool {
			_, err := os.Stat(filepath.Join(filepath.Dir(task), "exit.json"))
			return err != nil
		})
	})
	tasks := s.ran()
	again := 0
	for node, all := range tasks {
		slices.SortFunc(all, func(a, b ranTask) int { return int(a.first - b.first) })
		for i := 1; i < len(all); i++ {
			if again++; all[i].first < all[i-1].last {
				s.Errorf("seed %d: %s runs twice at a time: %+v", s.seed, node, all)
			}
		}
	}
	by := make(map[int]int64)
	states = make(map[string]int)
	all, err := s.contracts("--all")
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range all {
		states[c.State]++
		k := int((c.Work-0.2)*1e5 + 0.5)
		if other, twice := by[k]; twice {
			s.Errorf("seed %d: order %d is contracts %d and %d", s.seed, k, other, c.ID)
		}
		by[k] = c.ID
	}
	for k := 1; k <= s.orders; k++ {
		if by[k] == 0 || s.answered[k].Contract != 0 && s.answered[k].Contract != by[k] {
			s.Errorf("seed %d: order %d was answered %+v, and is contract %d", s.seed, k, s.answered[k], by[k])
		}
	}
	for _, p := range s.parts {
		p.end()
	}
	checked, err := s.run("live", "check", "lab")
	if err != nil || !strings.HasPrefix(checked, "clean") {
		s.Errorf("seed %d: %v: %s", s.seed, err, checked)
	}
	if s.Failed() {
		s.tell()
	}
	s.Logf("seed %d: %d orders, %v; %d jobs seen in the queue; programs of %d nodes of contracts ran, %d of them again; %s",
		s.seed, s.orders, states, len(s.names), len(tasks), again, strings.TrimSpace(checked))
	return states
}

// TestSlurmMarket checks a market on a Slurm cluster. The daemon of a node, the agent and the
// market are killed while a contract of two nodes runs. The contract must still be fulfilled. A
// second job for a task that has started must do nothing. A node that Slurm does not use must
// be closed, and the other node must get the next job. The commands in docs/slurm.md test more
// cases.
func TestSlurmMarket(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	s := newSlurmTown(t, 0)
	s.order(2, 80, 60)
	s.until(30*time.Second, "it runs on both nodes", func() bool { return len(s.ran()) == 2 })
	s.cluster.kill("slurmd-n1.pid")
	s.agent.kill()
	s.market.kill()
	s.cluster.startNode("n1")
	folders, err := filepath.Glob(s.path("spool/n1/tasks/*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("folders of tasks: %v, %v", folders, err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	again := s.cluster.command("sbatch", "-w", "n1", "--wait", "-o", s.path("again"), "--wrap", fmt.Sprintf("exec %s bourse-minder --spool %s", program, folders[0]))
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(s.read("again"), "a supervisor of this task has started before") {
		t.Errorf("a second supervisor: %v: %s, %s", err, out, s.read("again"))
	}
	s.until(30*time.Second, "it has ended", func() bool {
		open, err := s.contracts()
		return err == nil && len(open) == 0
	})
	s.cluster.must("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
	s.until(30*time.Second, "the drained node is closed", func() bool {
		out, err := s.run("live", "host", "list", "--dir", "lab", "--home", "ann")
		return err == nil && strings.Contains(out, "closed (Slurm reports the state drained of node n2)") && strings.Count(out, " here ") == 1
	})
	s.order(1, 10, 60)
	s.until(30*time.Second, "the next job runs", func() bool { return len(s.ran()) == 3 })
	if folders, err = filepath.Glob(s.path("spool/n1/tasks/*")); err != nil || len(folders) != 2 {
		t.Errorf("folders of tasks: %v, %v", folders, err)
	}
	if states := s.settle(); states["fulfilled"] != 2 {
		t.Errorf("contracts ended %v", states)
	}
}

// TestSlurmKills runs rounds. In each round, a part of the market or of the cluster is killed
// with SIGKILL while programs run. Afterwards, each order must have one contract, and the
// program of each task must have been started once. No node of a contract may have run twice at
// the same time, and no job may be left in the queue. A replay of the market's log must give
// the same results.
func TestSlurmKills(t *testing.T) {
	if *slurmRounds == 0 {
		t.Skip("-slurm.rounds N runs it")
	}
	s := newSlurmTown(t, *slurmSeed)
	rng := rand.New(rand.NewPCG(*slurmSeed, 0))
	down := func() { time.Sleep(time.Duration(rng.IntN(15000)) * time.Millisecond) }
	node := func() string { return fmt.Sprint("n", 1+rng.IntN(2)) }
	kinds := []struct {
		name string
		kill func()
	}{
		{"controller", func() { s.cluster.killController(); down(); s.cluster.startController() }},
		{"slurmd", func() { n := node(); s.cluster.kill("slurmd-" + n + ".pid"); down(); s.cluster.startNode(n) }},
		{"node", func() { n := node(); s.cluster.killNode(n); down(); s.cluster.startNode(n) }},
		{"agent", func() { s.agent.kill() }},
		{"market", func() { s.market.kill() }},
	}
	for round := range *slurmRounds {
		for range 1 + rng.IntN(2) {
			s.order(1+rng.IntN(2), 20+rng.IntN(60), 60+rng.IntN(240)) // some tasks are lost and started again on another node
		}
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		k := kinds[rng.IntN(len(kinds))]
		k.kill()
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		t.Logf("round %d: %s killed; queue %q", round+1, k.name, s.queue())
		s.ran()
	}
	s.settle()
}
