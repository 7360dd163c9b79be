package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestPartsKilled kills each process of a market at random times while orders arrive. Each
// answered order must have exactly one contract, the accounts and the log must agree, and no
// unwanted task may run. Three other tests kill them at each step: TestProcessesKilled in
// experiments/live, TestAgentKilledAt in hosts/agent and TestKilled in experiments/live/client.
func TestPartsKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("programs run on the machine in the nightly part machines: BOURSE_CI=1 runs them")
	}
	const rounds = 20
	for _, c := range []struct {
		name string
		kill func(w *town, rng *rand.Rand)
	}{
		{"market", func(w *town, _ *rand.Rand) { w.market.kill() }},
		{"bank", func(w *town, _ *rand.Rand) { w.bank.kill() }},
		{"agent", func(w *town, rng *rand.Rand) { w.hosts[rng.IntN(len(w.hosts))].kill() }},
		{"minder", func(w *town, rng *rand.Rand) { w.killTask(rng) }},
		{"host", func(w *town, rng *rand.Rand) { w.killHost(w.hosts[rng.IntN(len(w.hosts))]) }},
		{"client", nil},
		{"all", func(w *town, _ *rand.Rand) { w.killAll() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			rng := rand.New(rand.NewPCG(seed, 3))
			w := newTown(t, seed, 2, nil)
			for range rounds {
				var all sync.WaitGroup
				for range 3 {
					own, kill := rand.New(rand.NewPCG(rng.Uint64(), 4)), time.Duration(0)
					if c.kill == nil {
						kill = time.Duration(rng.IntN(150)+1) * time.Millisecond
					}
					all.Go(func() { w.submit(own, kill) })
				}
				time.Sleep(time.Duration(rng.IntN(150)) * time.Millisecond)
				if c.kill != nil {
					c.kill(w, rng)
				}
				all.Wait()
			}
			w.heal(true)
			w.prove()
		})
	}
}

// countingPolicy is a script that rejects every third request. Its decisions contain the number
// of decisions so far.
const countingPolicy = `def start():
    return {"n": 0}

def decide(request, market, state):
    state["n"] += 1
    on = market.place()
    if type(on) == "string" or state["n"] % 3 == 0:
        return reject("number %d" % state["n"])
    return accept(on, {"n": state["n"]})
`

// TestScriptKilled kills a market 50 times during decisions of its policy, a script that counts
// its decisions. No decision may be lost or made twice.
func TestScriptKilled(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("programs run on the machine in the nightly part machines: BOURSE_CI=1 runs them")
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	w := newTown(t, seed, 2, nil, countingPolicy)
	for range 50 {
		var all sync.WaitGroup
		for range 3 {
			own := rand.New(rand.NewPCG(rng.Uint64(), 4))
			all.Go(func() { w.submit(own, 0) })
		}
		time.Sleep(time.Duration(rng.IntN(150)) * time.Millisecond)
		w.market.kill()
		all.Wait()
	}
	w.heal(true)
	refused := map[string]bool{}
	for k, a := range w.answered {
		if a.Verdict == "reject" {
			if refused[a.Reason] {
				t.Errorf("seed %d: order %d is refused as %s, and another one, too", seed, k, a.Reason)
			}
			refused[a.Reason] = true
		}
	}
	for n := 3; n <= len(w.answered); n += 3 {
		if !refused[fmt.Sprintf("number %d", n)] {
			t.Errorf("seed %d: of %d orders, none is refused as number %d", seed, len(w.answered), n)
		}
	}
	w.prove()
}

// killTask kills the supervisor of a task, if a task is running.
func (w *town) killTask(rng *rand.Rand) {
	var minders []process
	for _, p := range w.tasks() {
		if p.minder {
			minders = append(minders, p)
		}
	}
	if len(minders) > 0 {
		syscall.Kill(minders[rng.IntN(len(minders))].pid, syscall.SIGKILL)
	}
}

// killHost kills an agent and all processes on its host.
func (w *town) killHost(agent *townPart) {
	agent.kill()
	for _, p := range w.tasks() {
		if p.host == agent.name {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

// killAll kills all processes of the cluster.
func (w *town) killAll() {
	for _, p := range w.parts {
		p.kill()
	}
	for _, h := range w.hosts {
		w.killHost(h)
	}
}

// TestCheckpointKept repeatedly kills the host of a program that counts to 100, when it has
// reached 40. The program must continue from the last checkpoint that the market has stored.
func TestCheckpointKept(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("programs run on the machine in the nightly part machines: BOURSE_CI=1 runs them")
	}
	const counter = `i=0; mkdir -p checkpoint; [ -f checkpoint/done ] && i=$(cat checkpoint/done)
echo "$BOURSE_TRY $i"
while [ $i -lt 100 ]; do
	sleep 0.05; i=$((i + 1)); echo $i > checkpoint/next; mv checkpoint/next checkpoint/done
done`
	w := newTown(t, 0, 2, nil)
	for round := range 10 {
		w.bourse("submit", "--home", "ann", "--work", fmt.Sprint(10+round), "--deadline", "60", "--budget", "1", "--checkpoint", "1", "--", "sh", "-c", counter)
		var at *townPart
		reached := 0
		w.until(20*time.Second, "it has counted to 40", func() bool {
			for _, h := range w.hosts {
				all, _ := filepath.Glob(w.path(fmt.Sprintf("%s/tasks/%d.*/dir/checkpoint/done", h.name, 1<<32+round+1)))
				for _, name := range all {
					text, _ := os.ReadFile(name)
					if n, _ := strconv.Atoi(strings.TrimSpace(string(text))); n >= 40 && n < 100 {
						at, reached = h, n
					}
				}
			}
			return at != nil
		})
		w.killHost(at)
		if round%2 == 1 { // the host does not return
			all, _ := filepath.Glob(w.path(fmt.Sprintf("%s/tasks/%d.*/dir/checkpoint", at.name, 1<<32+round+1)))
			for _, dir := range all {
				os.RemoveAll(dir)
			}
		}
		w.until(40*time.Second, "it ends", func() bool {
			all, err := w.contracts()
			return err == nil && len(all) == 0
		})
		id := fmt.Sprint(round + 1)
		out := w.bourse("logs", "--home", "ann", id)
		var try, from int
		if _, err := fmt.Sscan(out, &try, &from); err != nil || try != 2 || from < 10 || from > reached+20 {
			t.Errorf("round %d, killed at %d: it printed %q, want a second try from the last checkpoint", round, reached, out)
		}
		t.Logf("round %d: killed at %d, continues from %d", round, reached, from)
		w.until(30*time.Second, "the host is back", func() bool {
			out, _ := w.run("host", "list", "--dir", "lab", "--home", "keeper")
			return strings.Count(out, " here ") == 2
		})
	}
	w.prove()
}

// TestWhatRuns checks that a task keeps running if its agent is killed, and is lost and started
// again if its supervisor is killed.
func TestWhatRuns(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("programs run on the machine in the nightly part machines: BOURSE_CI=1 runs them")
	}
	for _, c := range []struct {
		name   string
		kill   func(w *town)
		losses int
	}{
		{"agent", func(w *town) { w.hosts[0].kill() }, 0},
		{"minder", func(w *town) { w.killTask(rand.New(rand.NewPCG(1, 1))) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, 0, 1, nil)
			w.bourse("submit", "--home", "ann", "--work", "1", "--deadline", "60", "--budget", "1", "--", "sleep", "4")
			w.until(10*time.Second, "it runs", func() bool { return len(w.tasks()) == 2 })
			c.kill(w)
			w.heal(false)
			all, err := w.contracts("--all")
			if err != nil || len(all) != 1 || all[0].State != "fulfilled" || all[0].Losses != c.losses {
				t.Errorf("%+v, %v, want one fulfilled with %d losses", all, err, c.losses)
			}
			w.prove()
		})
	}
}
