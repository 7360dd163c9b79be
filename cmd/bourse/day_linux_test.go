package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/client"
	"bourse/experiments/live/service"
	"bourse/hosts/remote"
	"bourse/workloadgen/swf"
)

var daySeconds = flag.Float64("day", 4, "seconds that the day of TestDay takes")

// The requirements for a day of ten minutes. For a shorter day, memory and log size are not
// checked.
const (
	dayMemory = 0.10        // maximum relative difference between the market's memory at minute two and at the end
	dayKeep   = 120.0       // retention time of the log in seconds
	daySlack  = 125.0       // extra retention time in seconds: between two checkpoints, until the next one, and during the removal
	dayLog    = 1e9 / 86400 // maximum log bytes per second
)

// dayOwner is the account that users pay for hosts.
const dayOwner = "host:all"

// TestDay runs a market and its bank, each in its own process, through the busiest day of a
// recorded log. It divides all times of the log by the ratio of 86,400 s to the duration of the
// test. It divides the work by a smaller number, so that the log of a machine with a load of 70
// % requests all of the market's capacity. Hosts are simulated, each with its own agent and
// connection. In ten minutes, there are as many hosts as the log's machine had processors. Jobs
// request what their users requested and end when they did. At midnight, the remaining users
// cancel their jobs. Every contract must then be settled, and the accounts and the log must
// pass their checks. After ten minutes, the market must need the same memory as after two. Its
// log must stay below the maximum size and must cover the retention time.
func TestDay(t *testing.T) {
	t.Parallel()
	log, err := swf.ReadFile("../../../shared/traces/KTH-SP2-1996-2.1-cln.swf.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the log is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &day{T: t, dir: t.TempDir(), hosts: 10, exits: make(map[string]float64), contracts: make(map[int64]float64), verdicts: make(map[string]int), known: make(map[int64]live.Contract)}
	if d.whole = *daySeconds >= 600; d.whole {
		d.hosts = 100
	}
	d.jobs = busiest(log.Records)
	d.open()
	d.live()
	d.close()
}

// A day is a market that runs for one day of the log.
type day struct {
	*testing.T
	dir    string
	whole  bool // whether the day takes ten minutes
	hosts  int
	jobs   []swf.Record // jobs in order of submission; times are in seconds since midnight
	bank   *exec.Cmd
	market *exec.Cmd
	home   client.Home
	web    *http.Client
	served serving
	begun  time.Time

	mu        sync.Mutex
	exits     map[string]float64 // work after which a program ends, keyed by the hash of its job
	contracts map[int64]float64  // the same work, keyed by contract, as hosts receive it
	verdicts  map[string]int
	known     map[int64]live.Contract // states that were seen last
	failed    atomic.Int64            // number of messages of hosts that were not answered
	said      atomic.Int64

	memory []float64 // memory of the market in bytes, measured each second
}

// busiest returns the jobs of the day with the most jobs.
func busiest(all []swf.Record) []swf.Record {
	days := make(map[int][]swf.Record)
	most := 0
	for _, r := range all {
		if r.Run <= 0 || r.Width() < 1 {
			continue
		}
		on := int(r.Submit / 86400)
		r.Submit -= 86400 * float64(on)
		days[on] = append(days[on], r)
		if n := len(days[on]); n > len(days[most]) || n == len(days[most]) && on < most {
			most = on
		}
	}
	return days[most]
}

// faster and less are the divisors of the log's seconds and of its work.
func (d *day) faster() float64 { return 86400 / *daySeconds }
func (d *day) less() float64   { return d.faster() * 100 / 144 }

// live runs the hosts and users of the market until the end of the day.
func (d *day) live() {
	d.Helper()
	ctx, over := context.WithCancel(d.Context())
	var all, joined sync.WaitGroup
	defer func() {
		over()
		all.Wait()
	}()
	d.begun = time.Now()
	joined.Add(d.hosts)
	for h := range d.hosts {
		all.Go(func() { d.host(ctx, hostName(h), &joined) })
	}
	joined.Wait()
	if d.Failed() {
		return
	}
	c, err := client.Open(d.home)
	if err != nil {
		d.Fatal(err)
	}
	defer c.Close()
	midnight := time.Now()
	all.Go(func() { d.watch(ctx, c, midnight) })
	var asked sync.WaitGroup
	for i := range d.jobs {
		time.Sleep(time.Until(midnight.Add(d.after(d.jobs[i].Submit))))
		asked.Go(func() { d.ask(c, &d.jobs[i]) })
	}
	asked.Wait()
	time.Sleep(time.Until(midnight.Add(d.after(86400))))
	d.Logf("%d jobs of %d hosts in %.0f s: %v; %d words of hosts, %d not answered", len(d.jobs), d.hosts, time.Since(midnight).Seconds(), d.verdicts, d.said.Load(), d.failed.Load())
	back := make(map[int64]bool) // jobs that have been cancelled
	if err := insist(func() error {
		open, err := c.List(d.Context(), live.Filter{Account: c.Account})
		for i := range open {
			if id := open[i].ID; !back[id] {
				_, err := c.Cancel(d.Context(), id)
				back[id] = !errors.As(err, new(*service.Away)) // the contract was cancelled or had already ended
			}
		}
		if err == nil && len(open) > 0 {
			err = fmt.Errorf("%d contracts are not settled", len(open))
		}
		return err
	}); err != nil {
		d.Error(err)
	}
	now, list := d.list(c)
	d.settled(now, list)
}

// list records all contracts known to the market and returns them with the time.
func (d *day) list(c *client.Client) (now float64, all []live.Contract) {
	d.Helper()
	if err := insist(func() error {
		about, err := c.About(d.Context())
		if now = about.Now; err == nil {
			all, err = c.List(d.Context(), live.Filter{Account: c.Account, Ended: true})
		}
		return err
	}); err != nil {
		d.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range all {
		d.known[k.ID] = k
	}
	return now, all
}

// settled checks that each job is a contract that has ended. The market must know the
// contracts that ended within the retention time of the log, and none that ended long
// before.
func (d *day) settled(now float64, list []live.Contract) {
	d.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) != len(d.jobs) {
		d.Errorf("%d contracts of %d jobs", len(d.known), len(d.jobs))
	}
	states := make(map[string]int)
	for _, k := range d.known {
		states[k.State]++
		there := slices.ContainsFunc(list, func(o live.Contract) bool { return o.ID == k.ID })
		switch ago := now - k.Ended; {
		case there && !k.Over():
			d.Errorf("not settled: %+v", k)
		case !there && ago < dayKeep:
			d.Errorf("it ended %v s ago and is not known: %+v", ago, k)
		case there && ago > dayKeep+daySlack:
			d.Errorf("it ended %v s ago and is known: %+v", ago, k)
		}
	}
	d.Logf("%d contracts: %v", len(d.known), states)
}

// after returns how long after midnight the given second of the log occurs.
func (d *day) after(seconds float64) time.Duration {
	return time.Duration(seconds / d.faster() * 1e9)
}

// ask submits an order for one job of the log.
func (d *day) ask(c *client.Client, r *swf.Record) {
	run, said := r.Run/d.less(), max(r.Run, r.ReqTime)/d.less()
	width := min(float64(r.Width()), 100)
	task := client.Task{Job: remote.Job{Command: []string{"job", strconv.FormatInt(r.Job, 10)}}}
	task.Terms = order.Terms{
		Class: []string{"be", "sac", "cac"}[r.Job%3], CPUs: 1, Work: said, Deadline: 2*said + 10,
		Nodes: int(math.Ceil(width * float64(d.hosts) / 100)),
	}
	worth := 0.01 * float64(1+r.User%4) // dollars per processor-second
	var err error
	if task.Terms.Budget, err = bank.Dollars(0.01 + worth*said*float64(task.Terms.Nodes)); err != nil {
		d.Error(err)
		return
	}
	d.mu.Lock()
	d.exits[strings.TrimPrefix(order.Sum(order.Text(&task.Job)), "sha256:")] = run
	d.mu.Unlock()
	a, err := c.Submit(d.Context(), &task)
	if err != nil {
		d.Error(err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.verdicts[strings.TrimSpace(task.Terms.Class+" "+a.Verdict+" "+a.Reason)]++
}

// watch reads the market's memory each second, and its metrics and page every five seconds,
// until ctx ends.
func (d *day) watch(ctx context.Context, c *client.Client, midnight time.Time) {
	for second := 1; ; second++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(midnight.Add(time.Duration(second) * time.Second))):
		}
		if second%5 == 0 {
			for _, path := range []string{"/metrics", "/"} {
				if r, err := d.web.Get(d.served.URL + path); err == nil {
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
			}
		}
		if second%30 == 0 {
			d.list(c)
			d.Logf("%3d s: %5.1f MB, log %.2f MB", second, d.resident()/1e6, d.logged()/1e6)
		}
		if float64(second) <= *daySeconds {
			d.memory = append(d.memory, d.resident())
		}
	}
}

// close stops the market and checks its accounts and its log. After a whole day, it also
// checks the memory used.
func (d *day) close() {
	d.Helper()
	if d.Failed() {
		return
	}
	bytes := d.logged()
	d.stop(d.market)
	d.stop(d.bank)
	if err := os.Symlink("../books", filepath.Join(d.dir, "lab", "books")); err != nil {
		d.Fatal(err)
	}
	for _, line := range []string{"ledger audit books", "live check lab"} {
		text := d.bourse(strings.Fields(line)...)
		d.Logf("%s: %s", line, strings.TrimSpace(text))
		if !strings.Contains(text, "clean") || strings.HasPrefix(line, "ledger") && !strings.Contains(text, "+ escrow 0.000000") {
			d.Errorf("%s: want it clean, and nothing in escrow", line)
		}
	}
	if !d.whole {
		return
	}
	minute := func(before int) (mean float64) {
		for _, m := range d.memory[before-60 : before] {
			mean += m / 60
		}
		return mean
	}
	two, end := minute(120), minute(len(d.memory))
	d.Logf("memory %.1f MB at minute two, %.1f MB at the end: %.3f of it; log %.2f MB, bound %.2f MB", two/1e6, end/1e6, end/two, bytes/1e6, dayLog*(dayKeep+daySlack)/1e6)
	if math.Abs(end/two-1) > dayMemory {
		d.Errorf("memory at the end is %.3f of that at minute two, want within %v of 1", end/two, dayMemory)
	}
	if bytes > dayLog*(dayKeep+daySlack) {
		d.Errorf("the log has %.0f bytes, want at most %.0f", bytes, dayLog*(dayKeep+daySlack))
	}
}
