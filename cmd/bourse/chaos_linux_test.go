package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/bank/store/postgres/pgtest"
	"bourse/bank/whole"
)

var (
	chaosRounds = flag.Int("chaos", 20, "rounds of TestChaos, twenty a town")
	chaosSeed   = flag.Uint64("chaos.seed", 0, "seed of the first town of TestChaos (default: another each time)")
	chaosFile   = flag.String("chaos.file", "", "`FILE` that has the seeds of the towns that were in order, with which TestChaos goes on")
)

const (
	roundsOfTown = 20
	townsBeside  = 4 // only the nightly part runs them, because their rounds consist of waiting
)

// TestChaos makes a cluster of processes take orders while a failure occurs every 0.2 to 3
// seconds. A process is killed or stopped, its messages are cut, withheld or delayed, or its
// disk is full. In every third cluster, the ledger of the bank is in PostgreSQL. Two copies of
// a node must never run at the same time. Afterwards, each answered order must have exactly one
// contract, the ledger and the log must pass their checks, no money may be in escrow or lost,
// and no unwanted task may run. The seed determines which failures occur and when. Their
// effects differ between runs. Clocks do not jump in this test; TestClockJumps of
// experiments/live covers this. Every commit runs twenty rounds, with four clusters at the same
// time.
func TestChaos(t *testing.T) {
	t.Parallel()
	all := programsRun(t)
	seed, done := *chaosSeed, 0
	if seed == 0 {
		seed = rand.Uint64()>>12 + 1
	}
	if !all {
		var towns sync.WaitGroup
		for i := range uint64(townsBeside) {
			towns.Go(func() {
				t.Run(fmt.Sprint(seed+i), func(t *testing.T) { chaos(t, seed+i, roundsOfTown/townsBeside) })
			})
		}
		towns.Wait()
		return
	}
	if *chaosFile != "" {
		text, err := os.ReadFile(*chaosFile)
		if err == nil {
			_, err = fmt.Sscan(string(text), &seed, &done)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s: %v", *chaosFile, err)
		}
	}
	for ; done*roundsOfTown < *chaosRounds && !t.Failed(); done++ {
		if *chaosFile != "" {
			if err := whole.Write(*chaosFile, fmt.Appendln(nil, seed, done)); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(fmt.Sprint(seed+uint64(done)), func(t *testing.T) {
			chaos(t, seed+uint64(done), min(roundsOfTown, *chaosRounds-done*roundsOfTown))
		})
	}
	if *chaosFile != "" && !t.Failed() {
		if err := os.Remove(*chaosFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// chaos runs rounds with one cluster.
func chaos(t *testing.T, seed uint64, rounds int) {
	var db *pgtest.Proxy
	if seed%3 == 0 && pgtest.Found() {
		db = pgtest.NewProxy(t, pgtest.URL(t))
	}
	w := newTown(t, seed, 3, db)
	rng := rand.New(rand.NewPCG(seed, 5))
	var over atomic.Bool
	var all sync.WaitGroup
	for range 2 {
		own := rand.New(rand.NewPCG(rng.Uint64(), 6))
		all.Go(func() {
			for !over.Load() {
				kill := time.Duration(0)
				if own.IntN(4) == 0 {
					kill = time.Duration(own.IntN(200)+1) * time.Millisecond
				}
				w.submit(own, kill)
				switch own.IntN(8) {
				case 0: // while other goroutines send requests
					w.run("submit", "--resume", "--home", "ann")
				case 1:
					w.cancel(own)
				}
				time.Sleep(time.Duration(own.IntN(600)) * time.Millisecond)
			}
		})
	}
	all.Go(func() {
		for !over.Load() {
			w.watch()
			time.Sleep(100 * time.Millisecond)
		}
	})
	for range rounds {
		w.harm(rng)
	}
	over.Store(true)
	w.mend()
	all.Wait()
	w.heal(true)
	w.prove()
}

// cancel cancels one of the admitted orders, probably not one of the first.
func (w *town) cancel(rng *rand.Rand) {
	w.mu.Lock()
	a := w.answered[w.orders-rng.IntN(min(w.orders, 10))]
	w.mu.Unlock()
	if a.Verdict != "accept" {
		return
	}
	if out, err := w.run("cancel", fmt.Sprint(a.Contract), "--home", "ann", "--json"); err == nil && strings.Contains(out, `"cancelled"`) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancelled = append(w.cancelled, a.Contract)
	}
}

// mend ends all failures of processes and connections.
func (w *town) mend() {
	for _, l := range w.wires {
		l.fail(false, false, 0)
	}
	if w.db != nil {
		w.db.Fail(-1, false)
	}
	for _, p := range w.parts {
		p.signal(syscall.SIGCONT)
		w.empty(p)
	}
}

// harm causes one random failure for some time.
func (w *town) harm(rng *rand.Rand) {
	pause := time.Duration(200+rng.IntN(2800)) * time.Millisecond
	p, l := w.parts[rng.IntN(len(w.parts))], w.wires[rng.IntN(len(w.wires))]
	what := rng.IntN(12)
	switch {
	case what < 4:
		w.say("kill", p.name)
		p.kill()
	case what == 4:
		w.say("kill", "a task")
		w.killTask(rng)
	case what == 5:
		h := w.hosts[rng.IntN(len(w.hosts))]
		w.say("kill", "all of "+h.name)
		w.killHost(h)
	case what == 6 && rng.IntN(4) == 0:
		w.say("kill", "all")
		w.killAll()
	case what < 8:
		w.say("stop", p.name)
		p.signal(syscall.SIGSTOP)
		time.Sleep(pause)
		p.signal(syscall.SIGCONT)
		return
	case what < 10 && w.db != nil && rng.IntN(3) == 0:
		silent := rng.IntN(2) == 0
		w.say("cut", fmt.Sprintf("the database, silent %v", silent))
		w.db.Fail(rng.Int64N(2000), silent)
		time.Sleep(pause + time.Duration(rng.IntN(3))*time.Second)
		w.db.Fail(-1, false)
		return
	case what < 10:
		cut := rng.IntN(2) == 0
		w.say("cut", fmt.Sprintf("wire %d, %v", slices.Index(w.wires, l), cut))
		l.fail(cut, !cut, 0)
		time.Sleep(pause + time.Duration(rng.IntN(3))*time.Second)
		l.fail(false, false, 0)
		return
	case what == 10:
		w.say("delay", fmt.Sprintf("wire %d", slices.Index(w.wires, l)))
		l.fail(false, false, pause/10)
		time.Sleep(pause)
		l.fail(false, false, 0)
		return
	case w.small:
		w.say("fill", p.name)
		w.fill(p)
		time.Sleep(pause)
		w.empty(p)
		return
	}
	time.Sleep(pause)
}

// say logs an action with the time, next to the output of the processes.
func (w *town) say(what, whom string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = append(w.done, time.Now().Format("15:04:05.000 ")+what+" "+whom)
}

// disk mounts a small disk at the folder of a process. It requires root.
func (w *town) disk(folder string) {
	if os.Getuid() != 0 {
		return
	}
	dir := w.path(folder)
	if err := os.MkdirAll(dir, 0o711); err != nil {
		w.Fatal(err)
	}
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=96m,mode=711"); err != nil {
		w.Logf("no small disks: %v", err)
		return
	}
	w.small = true
	w.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			w.Error(err)
		}
	})
}

// network gives the last host of the test its own network. It creates a namespace and a
// device by which the host reaches this machine at an address. It requires root.
func (w *town) network(host int) (namespace, device, address string) {
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 || host != 2 {
		return "", "", ""
	}
	n := rand.Uint32()
	namespace, device = fmt.Sprintf("bourse-%x", n), fmt.Sprintf("bourse%x", n)
	net := fmt.Sprintf("10.%d.%d.", n>>8&255, n&255)
	w.Cleanup(func() { exec.Command("ip", "netns", "del", namespace).Run() })
	for _, line := range []string{
		"netns add " + namespace, "link add " + device + " type veth peer name eth0 netns " + namespace,
		"addr add " + net + "1/30 dev " + device, "link set " + device + " up",
		"-n " + namespace + " addr add " + net + "2/30 dev eth0", "-n " + namespace + " link set eth0 up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			w.Logf("no network of its own: ip %s: %v: %s", line, err, out)
			return "", "", ""
		}
	}
	return namespace, device, net + "1"
}

// folder returns the folder of a process.
func (w *town) folder(p *townPart) string {
	if p == w.market {
		return "lab"
	}
	return p.name
}

// fill fills the disk of a process.
func (w *town) fill(p *townPart) {
	f, err := os.Create(filepath.Join(w.path(w.folder(p)), "full"))
	if err != nil {
		return
	}
	defer f.Close()
	for _, buf := range [][]byte{make([]byte, 1<<20), make([]byte, 1<<12), make([]byte, 1)} {
		for err = nil; err == nil; {
			_, err = f.Write(buf)
		}
	}
}

func (w *town) empty(p *townPart) { os.Remove(filepath.Join(w.path(w.folder(p)), "full")) }

// watch detects two copies of a node that run at the same time. If one copy is seen both before
// and after another copy, the two ran at the same time.
func (w *town) watch() {
	first := w.tasks()
	for i, a := range first {
		for _, b := range first[i+1:] {
			if a.minder || b.minder || a.task == b.task || node(a.task) != node(b.task) || a.stands || b.stands {
				continue
			}
			if a, ok := w.process(a.pid); ok && !a.stands {
				if b, ok := w.process(b.pid); ok && !b.stands {
					w.say("FOUND", fmt.Sprintf("%s of %s beside %s of %s", a.task, a.host, b.task, b.host))
					w.Errorf("seed %d: two copies of a node run: %+v, %+v", w.seed, a, b)
				}
			}
		}
	}
}

// node returns CONTRACT.NODE of a task.
func node(task string) string { return task[:strings.LastIndexByte(task, '.')] }
