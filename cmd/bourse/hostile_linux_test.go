package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bourse/experiments/live"
)

// hostilePrograms lists programs of tenants who try to take resources from others. For each, it
// contains the possible causes of a violation of its contract. Programs that use their full
// share may also be delayed by other load on this machine, so any cause is possible for them.
var hostilePrograms = []struct {
	name, script string
	causes       []string
}{
	{"a fork bomb", "exec perl -e 'fork while 1'", nil},
	{"a hog of memory", `exec perl -e 'my @a; push @a, "x" x 1e5 while 1'`, []string{"program"}},
	{"a large file", "dd if=/dev/zero of=x bs=1M count=45; true", []string{"program"}},
	{"a file without end", "exec dd if=/dev/zero of=x bs=1M", []string{"program"}},
	{"small files", "i=0; while [ $i -lt 3000 ]; do echo x > f$i; i=$((i+1)); done", nil},
	{"folders in folders", "i=0; while mkdir d && cd d; do i=$((i+1)); [ $i -lt 2000 ] || break; done", nil},
	{"a file with holes", "truncate -s 900M x; exec sleep 60", nil},
	{"a file that is open and deleted", "exec perl -e 'open F,\">\",\"x\"; unlink \"x\"; print F \"x\" x 1e6 while 1'", nil},
	{"memory as files", "exec dd if=/dev/zero of=/dev/shm/x bs=1M", nil},
	{"a filler of /tmp", "exec dd if=/dev/zero of=/tmp/x bs=1M", nil},
	{"a flood of standard error", "exec yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2", nil},
	{"one that leaves others behind", "for i in 1 2 3; do setsid sh -c 'trap : TERM HUP; while :; do :; done' & done; sleep 1", nil},
	{"one that kills all", "kill -9 -1; kill -STOP -1; exec sleep 60", nil},
	{"one that stops itself", "kill -STOP $$", nil},
	{"one that sleeps", "exec sleep 60", []string{"asked", "price"}},
	{"one that fails", "exit 3", []string{"program"}},
	{"one that is not there", "exec ./none", []string{"program"}},
	{"one that wants all processors", "for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait", nil},
}

// TestHostileMarket lets tenants with one cent each run hostile programs on one small host and
// flood the market with orders. Another tenant's contracts run at the same time. No violation
// of these contracts may be attributed to that tenant's program, and none of that tenant's
// funds may remain in escrow. The causes of the other tenants' violations must be their own
// programs. The host's disk has 192 MB, and the tenants write more than that. The test requires
// root and runs in nightly parts.
func TestHostileMarket(t *testing.T) {
	if !programsRun(t) {
		t.Skip("two minutes of the processors: the nightly part hostile runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root keeps users apart")
	}
	dir, err := os.MkdirTemp("", "bourse-hostile") // other users need access to folders in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	disk := filepath.Join(dir, "keeper", "lab", "host")
	if err := errors.Join(os.Chmod(dir, 0o711), os.MkdirAll(disk, 0o711)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=192m,nr_inodes=20k,mode=711"); err != nil {
		t.Skip("this machine mounts no disk in memory:", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	bourse := func(home string, args ...string) *exec.Cmd {
		c := exec.Command("bourse", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "BOURSE_HOME="+filepath.Join(dir, home))
		return c
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	market := bourse("keeper", "live", "--listen", "127.0.0.1:0")
	market.Stderr = said
	if err := market.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		market.Process.Signal(syscall.SIGINT)
		market.Wait()
	})
	t.Cleanup(end)
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if out, _ := bourse("keeper", "host", "list").Output(); strings.Contains(string(out), " here ") {
			if !strings.Contains(string(out), "cgroup") {
				t.Skip("this machine has no control groups: users are not isolated")
			}
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the market does not answer")
		}
	}
	for _, user := range []string{"eve", "mallory", "trudy"} {
		token, err := bourse("keeper", "user", "invite", "user:"+user, "--money", "1").Output()
		if err != nil {
			t.Fatal(err)
		}
		join := bourse(user, "join", "-")
		join.Stdin = bytes.NewReader(token)
		if out, err := join.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	// run submits a program for a user and returns the outcome of the job, or nil if it was
	// refused.
	run := func(user string, script string, args ...string) *live.Contract {
		c := bourse(user, append(append([]string{"submit", "--json", "--quiet", "--wait"}, args...), "--", "sh", "-c", script)...)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, _ := c.Output()
		var shown contractsShown
		if err := json.Unmarshal(out, &shown); err != nil {
			t.Errorf("%s: %v: %s %s", user, err, out, &errs)
			return nil
		}
		if len(shown.Contracts) == 0 {
			return nil
		}
		return &shown.Contracts[0]
	}

	// The victim computes for one second and prints its longest pause in ms.
	const victim = `exec perl -MTime::HiRes=time -e '$l=time; $m=0; while((times)[0]+(times)[1]<1){$n=time; $m=$n-$l if $n-$l>$m; $l=$n} printf "%d\n",$m*1e3'`
	var over atomic.Bool
	var all sync.WaitGroup
	var mu sync.Mutex
	var victims []*live.Contract
	all.Go(func() {
		for !over.Load() {
			if c := run("keeper", victim, "--work", "1", "--deadline", "20", "--budget", "0.20", "--class", "cac"); c != nil {
				mu.Lock()
				victims = append(victims, c)
				mu.Unlock()
			} else {
				time.Sleep(time.Second)
			}
		}
	})
	all.Go(func() { // this user floods the market with orders that it cannot fulfil
		for !over.Load() {
			bourse("trudy", "submit", "--work", "1000", "--deadline", "1", "--budget", "0.01", "--nodes", "50", "--", "true").Run()
		}
	})
	causes, refused := make(map[string]int), 0
	for i, p := range slices.Concat(hostilePrograms, hostilePrograms) {
		user := []string{"eve", "mallory"}[i%2]
		c := run(user, p.script, "--work", "1", "--deadline", "6", "--budget", "0.01", "--memory", "64MB")
		if c == nil || c.State == "refused" { // the host's disk was full, so the host was closed
			refused++
			continue
		}
		cause := ""
		if c.Served != nil {
			cause = c.Served.Cause
		}
		if causes[c.State+" "+cause]++; c.State == "violated" && p.causes != nil && !slices.Contains(p.causes, cause) {
			t.Errorf("%s of %s is violated by %q, want one of %v: %+v %+v", p.name, user, cause, p.causes, c.Served, c.Ends)
		}
	}
	over.Store(true)
	all.Wait()

	states, worst := make(map[string]int), 0
	for _, c := range victims {
		cause := ""
		if c.Served != nil {
			cause = c.Served.Cause
		}
		if states[c.State+" "+cause]++; c.State == "violated" && (cause == "program" || cause == "asked") {
			t.Errorf("contract %d of the victim is violated by %q: %+v %+v", c.ID, cause, c.Served, c.Ends)
		}
		out, _ := bourse("keeper", "logs", strconv.FormatInt(c.ID, 10)).Output()
		if ms, err := strconv.Atoi(strings.TrimSpace(string(out))); err == nil {
			worst = max(worst, ms)
		}
	}
	if len(victims) < 10 {
		t.Errorf("the victim ran %d contracts, want 10 or more", len(victims))
	}
	if worst > 5000 { // the longest possible pause lasts until the lease is renewed
		t.Errorf("the victim stood still for %d ms", worst)
	}
	text, _ := os.ReadFile(said.Name())
	if strings.Contains(string(text), "lease") || strings.Contains(string(text), "panic") {
		t.Errorf("the market has printed\n%s", text)
	}
	end()
	for _, args := range [][]string{{"live", "check"}, {"ledger", "audit", "keeper/lab/books"}} {
		if out, err := bourse("keeper", args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", args, err, out)
		} else {
			t.Logf("%s: %s", strings.Join(args, " "), strings.SplitN(string(out), "\n", 2)[0])
		}
	}
	t.Logf("victim: %v, stood still for %d ms at most; hostile: %v, %d refused", states, worst, causes, refused)
}
