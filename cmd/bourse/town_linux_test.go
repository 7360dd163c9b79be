package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bourse/bank/store/postgres/pgtest"
	"bourse/experiments/live"
)

// A town is a bank, a market and hosts with one user. Each is a process that is restarted
// when it ends. All connections between them go through wires.
type town struct {
	*testing.T
	dir          string
	seed         uint64
	parts        []*townPart // all processes of the cluster
	bank, market *townPart
	hosts        []*townPart
	wires        []*cable      // connections from the market to the bank, from the user, and from each host
	db           *pgtest.Proxy // proxy before the bank's PostgreSQL server; nil if the ledger is in a folder

	mu        sync.Mutex
	answered  map[int]live.Answer // answers, keyed by the number of the order
	orders    int
	done      []string // failures that were caused
	env       []string // variables added to the environment of the processes
	small     bool     // whether the processes have disks of their own
	cancelled []int64  // contracts that were cancelled according to an answer
}

// The rules of the market, by which a host is lost after a short silence.
const townRules = `name: lab
number: 1
listen: %s
bank: http://%s
link: {interval: 0.2, lease: 2, lost: 4, patience: 1}
`

// newTown creates a cluster with the given number of hosts. The bank's ledger is behind db
// or in a folder. Policy is the text of a script, or omitted for the default policy.
func newTown(t *testing.T, seed uint64, hosts int, db *pgtest.Proxy, policy ...string) *town {
	t.Helper()
	books := "bank/books"
	if db != nil {
		books = db.URL
	}
	dir, err := os.MkdirTemp("", "bourse-town") // other users need access to folders in it
	if err != nil {
		t.Fatal(err)
	}
	w := &town{T: t, dir: dir, seed: seed, db: db, answered: make(map[int]live.Answer)}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	w.disk("bank")
	w.disk("lab")
	bank, market := free(t), free(t)
	w.wires = append(w.wires, newWire(t, "127.0.0.1", bank), newWire(t, "127.0.0.1", market))
	w.bourses(
		"key new operator --name operator", "key new recovery --name recovery", "key new me --name me", "key new lab/keys/market --name market",
		"bank init "+books, "bank own "+books+" --operator operator.pub --recovery recovery.pub",
		"bank enrol "+books+" market:lab --key market.pub --operator operator",
		"bank right "+books+" market:lab settle --number 1 --key operator",
		"bank enrol "+books+" user:me --key me.pub --operator operator",
		"bank right "+books+" user:me payee --market lab --key operator",
		"bank right "+books+" operator mint --cap 1000 --period 604800 --key operator",
		"bank mint "+books+" user:ann 1000 --id week-1 --key operator",
		"bank invite "+books+" user:ann --key operator")
	rules := fmt.Sprintf(townRules, market, w.wires[0].address)
	for _, text := range policy {
		rules += "admission: {name: script, file: mine.star}\n"
		w.write("lab/mine.star", text)
	}
	w.write("lab/market.yaml", rules)
	w.bank = w.part("bank", "bank", "serve", books, "--plain", "--listen", bank, "--secrets", "bank/secrets")
	w.market = w.part("market", "market", "serve", "lab", "--home", "keeper")
	w.until(30*time.Second, "the market answers", func() bool { return w.can("host", "list", "--dir", "lab", "--home", "keeper") })
	for i := range hosts {
		name, wire, args := hostName(i), (*cable)(nil), []string(nil)
		if ns, link, address := w.network(i); ns == "" {
			wire = newWire(t, "127.0.0.1", market)
		} else {
			wire, args = newWire(t, address, market), []string{"--netns", ns}
			wire.link = link
		}
		w.wires = append(w.wires, wire)
		w.disk(name)
		token := strings.Replace(w.bourse("host", "invite", name, "--dir", "lab", "--home", "keeper"), market, wire.address, 1)
		w.write(name+".token", token)
		w.hosts = append(w.hosts, w.part(name, append([]string{"agent", name, "--join", "@" + name + ".token", "--kind", "signals", "--trust", "user:ann", "--cpus", "0.5"}, args...)...))
	}
	invitation, served := w.read("invitation"), struct{ URL, Pin string }{}
	if err := json.Unmarshal([]byte(w.read("lab/serving.json")), &served); err != nil {
		t.Fatal(err)
	}
	w.bourse("join", fmt.Sprintf("https://%s/%s/%s/user:ann", w.wires[1].address, strings.TrimSpace(invitation), served.Pin), "--home", "ann")
	w.until(30*time.Second, "all hosts are there", func() bool {
		out, _ := w.run("host", "list", "--dir", "lab", "--home", "keeper")
		return strings.Count(out, " here ") == hosts
	})
	return w
}

// free returns an unused address of this machine.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (w *town) path(name string) string { return filepath.Join(w.dir, name) }

func (w *town) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *town) read(name string) string {
	w.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

// command returns a bourse command that runs in the cluster's folder.
func (w *town) command(args ...string) *exec.Cmd {
	c := exec.Command("bourse", args...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), w.env...)
	return c
}

// run runs a command and returns its output.
func (w *town) run(args ...string) (string, error) {
	c := w.command(args...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("bourse %s: %w: %s", strings.Join(args, " "), err, &errs)
	}
	return string(out), err
}

func (w *town) can(args ...string) bool {
	_, err := w.run(args...)
	return err == nil
}

// bourse runs a command that must succeed.
func (w *town) bourse(args ...string) string {
	w.Helper()
	out, err := w.run(args...)
	if err != nil {
		w.Fatalf("seed %d: %v", w.seed, err)
	}
	return out
}

// bourses creates the bank. The output of commands that create a key or an invitation is
// stored.
func (w *town) bourses(commands ...string) {
	w.Helper()
	for _, name := range []string{"lab/keys", "bank"} {
		if err := os.MkdirAll(w.path(name), 0o711); err != nil {
			w.Fatal(err)
		}
	}
	for _, line := range commands {
		args := strings.Fields(line)
		out := w.bourse(args...)
		switch {
		case args[0] == "key":
			w.write(args[4]+".pub", out)
		case args[1] == "invite":
			w.write("invitation", out)
		}
	}
}

// until waits until a condition is true.
func (w *town) until(patience time.Duration, what string, holds func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			w.tell()
			w.Fatalf("seed %d: not after %v: %s", w.seed, patience, what)
		}
	}
}

// A townPart is a process that is restarted when it ends.
type townPart struct {
	name string
	args []string
	said string // file of the output

	mu   sync.Mutex
	cmd  *exec.Cmd
	over bool
	done chan struct{}
}

// part starts a process of the cluster that runs until the end of the test.
func (w *town) part(name string, args ...string) *townPart {
	w.Helper()
	p := &townPart{name: name, args: args, said: w.path(name + ".said"), done: make(chan struct{})}
	w.parts = append(w.parts, p)
	said, err := os.Create(p.said)
	if err != nil {
		w.Fatal(err)
	}
	go func() {
		defer close(p.done)
		defer said.Close()
		for {
			p.mu.Lock()
			if p.over {
				p.mu.Unlock()
				return
			}
			p.cmd = w.command(args...)
			p.cmd.Stdout, p.cmd.Stderr = said, said
			err := p.cmd.Start()
			p.mu.Unlock()
			if err == nil {
				err = p.cmd.Wait()
			}
			fmt.Fprintf(said, "-- %v\n", err)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	w.Cleanup(p.end)
	return p
}

// signal sends a signal to the process, if it is running.
func (p *townPart) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Signal(s)
	}
}

func (p *townPart) kill() { p.signal(syscall.SIGKILL) }

// end kills the process without restarting it.
func (p *townPart) end() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.kill()
	<-p.done
}

// tell logs the output of the processes.
func (w *town) tell() {
	w.mu.Lock()
	w.Log(strings.Join(w.done, "\n"))
	w.mu.Unlock()
	for _, p := range w.parts {
		text, _ := os.ReadFile(p.said)
		if most := 6000; len(text) > most {
			text = text[len(text)-most:]
		}
		w.Logf("%s:\n%s", p.name, text)
	}
}

// work returns the work of order k. It identifies the order's contract.
func work(k int) float64 { return 0.2 + float64(k)/1e5 }

// order returns a command that submits the next order with its number. Its program sleeps
// or computes.
func (w *town) order(rng *rand.Rand) (k int, args []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders++
	k = w.orders
	args = []string{"submit", "--home", "ann", "--json", "--quiet", "--work", strconv.FormatFloat(work(k), 'f', -1, 64),
		"--deadline", fmt.Sprint(3 + rng.IntN(20)), "--budget", "0.5", "--class", []string{"be", "be", "sac", "cac"}[rng.IntN(4)],
		"--nodes", fmt.Sprint(1 + rng.IntN(2)), "--"}
	if rng.IntN(2) == 0 {
		return k, append(args, "sleep", fmt.Sprintf("%.1f", 3*rng.Float64()))
	}
	return k, append(args, "sh", "-c", "while :; do :; done")
}

// submit submits the next order and records the answer, if there is one. If the given time
// is not 0, the command is killed after that time.
func (w *town) submit(rng *rand.Rand, kill time.Duration) {
	k, args := w.order(rng)
	c := w.command(args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		w.Error(err)
		return
	}
	if kill > 0 {
		timer := time.AfterFunc(kill, func() { c.Process.Kill() })
		defer timer.Stop()
	}
	err := c.Wait()
	w.note(k, out.Bytes())
	allowed := func(part string) bool { return strings.Contains(errs.String(), part) }
	if err != nil && !killed(c) && !slices.ContainsFunc([]string{"resume", "nothing was booked", "no space left", "1 of 1 contract refused"}, allowed) {
		w.Errorf("seed %d: order %d: %v: %s", w.seed, k, err, &errs)
	}
}

// killed reports whether a command was killed by a signal.
func killed(c *exec.Cmd) bool {
	s, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && s.Signaled()
}

// note records the answer to an order.
func (w *town) note(k int, out []byte) {
	var shown contractsShown
	if json.Unmarshal(out, &shown) != nil {
		return // the command was killed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range shown.Answers {
		w.answered[k] = a
	}
}

// contracts returns all contracts.
func (w *town) contracts(args ...string) (all []live.Contract, err error) {
	out, err := w.run(append([]string{"status", "--home", "ann", "--json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var shown contractsShown
	err = json.Unmarshal([]byte(out), &shown)
	return shown.Contracts, err
}

// heal ends all failures. It returns when all orders are answered and all open contracts have
// ended.
func (w *town) heal(cancel bool) {
	w.Helper()
	for _, l := range w.wires {
		l.fail(false, false, 0)
	}
	for _, p := range w.parts {
		p.signal(syscall.SIGCONT)
	}
	w.until(2*time.Minute, "what was signed is answered", func() bool {
		w.run("submit", "--resume", "--home", "ann", "--json")
		left, err := filepath.Glob(w.path("ann/sent/*.order"))
		return err == nil && len(left) == 0
	})
	w.until(2*time.Minute, "all contracts have ended", func() bool {
		open, err := w.contracts()
		for _, c := range open {
			if cancel {
				w.run("cancel", fmt.Sprint(c.ID), "--home", "ann")
			}
		}
		return err == nil && len(open) == 0
	})
	w.until(time.Minute, "nothing runs that is not wanted", func() bool { return len(w.tasks()) == 0 })
}

// A process is a process of a task, or the task's supervisor.
type process struct {
	pid    int
	task   string // CONTRACT.NODE.TRY
	host   string
	minder bool
	stands bool
}

var (
	ofTask   = regexp.MustCompile(`\x00BOURSE_TASK=([^\x00]*)/(h\d\d)/groups/([^\x00/]+)\x00`)
	ofMinder = regexp.MustCompile(`^bourse\x00[^\x00]*\x00([^\x00]*)/(h\d\d)/tasks/([^\x00/]+)\x00`)
)

// tasks returns the processes of this cluster's tasks.
func (w *town) tasks() (all []process) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := w.process(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// process describes a process if it belongs to a task of this cluster.
func (w *town) process(pid int) (process, bool) {
	read := func(name string) string {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		return string(text)
	}
	p := process{pid: pid}
	m := ofTask.FindStringSubmatch("\x00" + read("environ"))
	if m == nil {
		m = ofMinder.FindStringSubmatch(read("cmdline"))
		p.minder = m != nil
	}
	if m == nil || m[1] != w.dir {
		return p, false
	}
	stat := read("stat")
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) == 0 || f[0] == "Z" || f[0] == "X" {
		return p, false
	}
	p.host, p.task, p.stands = m[2], m[3], strings.Contains("Tt", f[0])
	return p, true
}

// prove ends the cluster and compares its ledger, the market's log and the answers.
func (w *town) prove() {
	w.Helper()
	all, err := w.contracts("--all")
	if err != nil {
		w.Fatalf("seed %d: %v", w.seed, err)
	}
	by := make(map[int]live.Contract)
	for _, c := range all {
		k := int((c.Work-0.2)*1e5 + 0.5)
		if other, twice := by[k]; twice {
			w.Errorf("seed %d: order %d is contracts %d and %d", w.seed, k, other.ID, c.ID)
		}
		by[k] = c
	}
	for _, c := range all {
		if slices.Contains(w.cancelled, c.ID) && c.State != "cancelled" && c.State != "fulfilled" { // the work of the contract was done by then
			w.Errorf("seed %d: contract %d was answered to be cancelled, and is %+v", w.seed, c.ID, c)
		}
	}
	for k, a := range w.answered {
		if c := by[k]; c.ID != a.Contract || (c.State == "refused") != (a.Verdict == "reject") {
			w.Errorf("seed %d: order %d was answered %+v, and is contract %+v", w.seed, k, a, c)
		}
	}
	for _, p := range w.parts {
		p.end()
	}
	if w.db != nil {
		w.bourse("bank", "copy", w.db.URL, "lab/books")
	} else if err := os.Symlink("../bank/books", w.path("lab/books")); err != nil {
		w.Fatal(err)
	}
	audit, err := w.run("ledger", "audit", "lab/books")
	if err != nil || !strings.Contains(audit, ": clean\n") || !strings.Contains(audit, "issued 1000.000000 = accounts 1000.000000 + escrow 0.000000") {
		w.Errorf("seed %d: %v: %s", w.seed, err, audit)
	}
	checked, err := w.run("live", "check", "lab")
	if err != nil {
		w.Errorf("seed %d: %v: %s", w.seed, err, checked)
	}
	for _, p := range w.parts {
		if text := w.read(p.name + ".said"); strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") {
			w.Errorf("seed %d: %s has panicked", w.seed, p.name)
		}
	}
	if w.Failed() {
		w.tell()
	}
	states := make(map[string]int)
	for _, c := range all {
		states[c.State]++
	}
	w.Logf("seed %d: %d orders, %d answers, %v; %s", w.seed, w.orders, len(w.answered), states, strings.TrimSpace(checked))
}
