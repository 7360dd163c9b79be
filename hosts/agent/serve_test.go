//go:build linux

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts"
	"bourse/hosts/link"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// A box is a machine of two processors with its kernel and supervisors, which survive agents.
// Each running task uses up to half a processor, and is paused when its lease ends.
type box struct {
	fakeKernel
	t     *testing.T
	dir   string
	began time.Time
	rate  float64 // rate of the machine's clock
	lies  float64 // factor by which reported usage exceeds actual usage
	full  bool    // whether the disk is full

	mu          sync.Mutex
	supervisors map[string]bool // started supervisors, by name: whether each is running
	counted     time.Time       // time up to which the usage of running tasks is counted
	stop        chan struct{}
	over        chan os.Signal // signals that a supervisor has ended; nil sends no signal
}

func newBox(t *testing.T) *box {
	b := &box{t: t, dir: t.TempDir(), began: time.Now(), rate: 1, lies: 1, counted: time.Now(), supervisors: map[string]bool{}, stop: make(chan struct{})}
	b.fakeKernel = *newFakeKernel()
	go b.supervise()
	t.Cleanup(func() { close(b.stop) })
	return b
}

// The agent and the supervisors share the kernel.

func (b *box) Make(name string, l linux.Limits) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full {
		return fmt.Errorf("make %s: %w", name, unix.ENOSPC)
	}
	return b.fakeKernel.Make(name, l)
}

func (b *box) Share(s []linux.Share) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fakeKernel.Share(s)
}

func (b *box) Read(out []linux.Usage) ([]linux.Usage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	return b.fakeKernel.Read(out)
}

func (b *box) Freeze(name string) error { return b.change(b.fakeKernel.Freeze, name) }
func (b *box) Thaw(name string) error   { return b.change(b.fakeKernel.Thaw, name) }
func (b *box) Kill(name string) error   { return b.change(b.fakeKernel.Kill, name) }
func (b *box) Remove(name string) error { return b.change(b.fakeKernel.Remove, name) }

func (b *box) change(f func(string) error, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count()
	return f(name)
}

// count adds to the running tasks their usage of the machine until now.
func (b *box) count() {
	var on []*fakeGroup
	for name, lives := range b.supervisors {
		if g := b.Groups[name]; lives && g != nil && !g.Frozen {
			on = append(on, g)
		}
	}
	for _, g := range on {
		g.Used += time.Since(b.counted).Seconds() * min(0.5, 2/float64(len(on))) * b.lies
	}
	b.counted = time.Now()
}

func (b *box) List() ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fakeKernel.List()
}

func (b *box) clock() float64 { return 1000 + time.Since(b.began).Seconds()*b.rate }

func (b *box) reap() {}

func (b *box) ended() <-chan os.Signal { return b.over }

func (b *box) alive(folder string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.supervisors[filepath.Base(folder)], nil
}

func (b *box) start(folder string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := filepath.Base(folder)
	if _, there := b.supervisors[name]; there {
		b.t.Errorf("%s was started twice", name)
	}
	b.count()
	b.supervisors[name] = true
	b.Groups[name].Running = true
	return nil
}

// supervise performs the work of supervisors every 100 ms.
func (b *box) supervise() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
		}
		b.mu.Lock()
		b.count()
		until := readLease(b.dir).until
		for name, lives := range b.supervisors {
			g := b.Groups[name]
			if !lives || g == nil {
				continue
			}
			var o orders
			get(filepath.Join(b.dir, "tasks", name, "orders"), &o)
			stands := o.Paused || b.clock() >= until
			g.Frozen = stands
			if o.KillAt > 0 && b.clock() >= o.KillAt {
				b.exit(name, hosts.Killed)
			} else if o.Until > 0 && b.clock() >= o.Until {
				b.exit(name, hosts.Expired)
			}
		}
		b.mu.Unlock()
	}
}

// exit ends a task as its supervisor does and returns its usage.
func (b *box) exit(name string, why hosts.End) float64 {
	b.count()
	g := b.Groups[name]
	if err := put(filepath.Join(b.dir, "tasks", name, "exit.json"), exit{Why: why, Used: g.Used}, false); err != nil {
		b.t.Error(err)
	}
	g.Running, b.supervisors[name] = false, false
	return g.Used
}

// runs returns the number of running tasks that are not frozen.
func (b *box) runs() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, lives := range b.supervisors {
		if g := b.Groups[name]; lives && g != nil && !g.Frozen {
			n++
		}
	}
	return n
}

// agent runs an agent of this machine with market m until it is killed or ends.
func (b *box) agent(m Market) (kill func(), ended <-chan error) {
	a, err := Open(Config{
		Dir: b.dir, Kernel: b, Grace: 2, Keep: 3600, Offer: remote.Offer{Kind: "fake", CPUs: 2},
		clock: b.clock, boot: "boot", supervisors: b,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- a.Serve(ctx, m, "h00", func(string) {}) }()
	return func() { cancel(); <-over }, over
}

// An office is a market of one host, with a lease of 20 s.
type office struct {
	mu      sync.Mutex
	machine *remote.Machine
	began   time.Time
	changed chan struct{}
	deal    int64
	blobs   map[string][]byte
	saved   []remote.Checkpoint
	job     string
	heard   time.Time
	gone    bool // whether the host is removed
	away    bool // whether reports are not processed, so that answers are outdated
	last    remote.Orders
	closed  string // value that the host reported last
	drain   bool
	asks    []remote.Log
	put     []remote.Log

	names int64
	slots map[hosts.Slot]int64 // the keys of the wanted slots
	done  map[int64]float64    // the work read, in seconds
	ended map[int64]hosts.Report
}

func newOffice() *office {
	o := &office{
		machine: remote.New(hosts.Spec{Name: "h00", CPUs: 2, Speed: 1}), began: time.Now(), changed: make(chan struct{}),
		blobs: map[string][]byte{}, slots: map[hosts.Slot]int64{}, done: map[int64]float64{}, ended: map[int64]hosts.Report{},
	}
	o.job = o.keep(`{"command":["x"]}`)
	return o
}

func (o *office) keep(text string) string {
	sum := sha256.Sum256([]byte(text))
	sha := hex.EncodeToString(sum[:])
	o.blobs[sha] = []byte(text)
	return sha
}

func (o *office) now() float64 { return time.Since(o.began).Seconds() }

// deals publishes the wanted tasks to hosts.
func (o *office) deals() {
	o.deal = o.machine.Deal()
	close(o.changed)
	o.changed = make(chan struct{})
}

// start adds a wanted task.
func (o *office) start(until float64) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names++
	slot, err := o.machine.Start(o.now(), hosts.Task{Key: o.names, Work: math.Inf(1), Until: until}, hosts.Share{Weight: 1})
	if err != nil {
		panic(err)
	}
	o.slots[slot] = o.names
	o.deals()
	return o.names
}

// stopOne removes one of the wanted tasks and reports whether there was one.
func (o *office) stopOne() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for slot := range o.slots {
		o.machine.Stop(o.now(), slot)
		delete(o.slots, slot)
		o.deals()
		return true
	}
	return false
}

func (o *office) Sync(ctx context.Context, _ string, t *remote.Told) (*remote.Orders, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return nil, link.ErrUnknown
	}
	o.closed = t.Closed
	if o.away {
		return &o.last, nil
	}
	known, ok := o.machine.Hear(o.now(), t)
	if ok {
		o.heard = time.Now()
	}
	for _, r := range o.machine.Readings(nil) {
		o.done[o.slots[r.Slot]] += r.Work
	}
	for _, r := range o.machine.Advance(o.now(), nil) {
		if _, again := o.ended[r.Key]; again || o.slots[r.Slot] != r.Key {
			panic(fmt.Sprintf("%+v after %+v", r, o.ended[r.Key]))
		}
		o.ended[r.Key] = r
		delete(o.slots, r.Slot)
		o.deals()
	}
	if o.deal == 0 {
		o.deals()
	}
	if ok && o.deal == t.Have && len(known) == 0 {
		changed, late := o.changed, time.After(time.Second)
		o.mu.Unlock()
		select {
		case <-changed:
		case <-late:
		case <-ctx.Done():
		}
		o.mu.Lock()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all := o.machine.Orders(o.now(), known)
	all.Lease, all.Drain, all.Logs = 20, o.drain, o.asks
	for i := range all.Wanted {
		w := &all.Wanted[i]
		w.Contract, w.Job = w.Key, o.job
	}
	o.last = all
	return &all, nil
}

func (o *office) Blob(_ context.Context, _, sha string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.blobs[sha]; b != nil {
		return b, nil
	}
	return nil, link.ErrUnknown
}

func (o *office) PutCheckpoint(_ context.Context, _ string, k *remote.Checkpoint) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(k.Sums) == 0 {
		o.blobs[fmt.Sprintf("%x", sha256.Sum256(k.Data))] = k.Data
	} else {
		o.saved = append(o.saved, *k)
	}
	return nil
}

func (o *office) PutLog(_ context.Context, _ string, l *remote.Log) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put, o.asks = append(o.put, *l), nil
	return nil
}

// A storm loses, delays and repeats calls and answers at random.
type storm struct {
	Market
	mu  sync.Mutex
	rng *rand.Rand
	off bool // whether the network is down
	bad int  // number of failing calls out of ten
}

// cut blocks or unblocks all calls.
func (c *storm) cut(off bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = off
}

func (c *storm) Sync(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error) {
	c.mu.Lock()
	kind, late, off := c.rng.IntN(10*5), time.Duration(c.rng.Int64N(int64(4*time.Second))), c.off
	if kind >= c.bad*5 {
		kind = 0
	} else {
		kind = 1 + kind%5
	}
	c.mu.Unlock()
	lost := errors.New("lost")
	if off {
		return nil, lost
	}
	switch kind {
	case 1:
		return nil, lost
	case 2: // the answer is lost
		c.Market.Sync(ctx, host, t)
		return nil, lost
	case 3: // the call arrives late, even if the caller is killed before that
		time.Sleep(late)
		return c.Market.Sync(context.WithoutCancel(ctx), host, t)
	case 4:
		go c.Market.Sync(context.WithoutCancel(ctx), host, t)
	case 5:
		c.Market.Sync(ctx, host, t)
	}
	return c.Market.Sync(ctx, host, t)
}

// eventually waits until is returns true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1200 {
		if is() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("it is never so that %s", what)
}

// TestServe checks, with lost, delayed and repeated messages and killed agents, that each
// wanted task is started once, each end is reported once, and all usage is read without
// truncation.
func TestServe(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			o, b := newOffice(), newBox(t)
			c := &storm{Market: o, rng: rand.New(rand.NewPCG(seed, 3)), bad: 4}
			kill, _ := b.agent(c)
			truth := map[int64]float64{}
			for range 60 {
				time.Sleep(time.Duration(rng.Int64N(int64(3 * time.Second))))
				switch rng.IntN(7) {
				case 0, 1, 2:
					b.mu.Lock()
					few := len(b.supervisors) < 40
					b.mu.Unlock()
					if few {
						o.start(0)
					}
				case 3:
					o.stopOne()
				case 4:
					kill()
					time.Sleep(time.Duration(rng.Int64N(int64(5 * time.Second))))
					kill, _ = b.agent(c)
				default: // a task ends by itself
					b.mu.Lock()
					for name, lives := range b.supervisors {
						if g := b.Groups[name]; lives && g != nil {
							truth[named(name).Name] = b.exit(name, hosts.Exited)
							break
						}
					}
					b.mu.Unlock()
				}
			}
			c.mu.Lock()
			c.bad = 0
			c.mu.Unlock()
			last := o.start(0)
			eventually(t, "the last runs", func() bool {
				o.mu.Lock()
				defer o.mu.Unlock()
				return o.done[last] > 1
			})
			for o.stopOne() {
			}
			eventually(t, "nothing runs", func() bool { return b.runs() == 0 })
			time.Sleep(3 * time.Second)
			kill()
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.machine.Cut() > 0 {
				t.Errorf("seed %d: %d cut", seed, o.machine.Cut())
			}
			for key, used := range truth {
				r, ended := o.ended[key]
				if ended && r.Why == hosts.Exited && (math.Abs(r.Done-used) > 1e-6 || math.Abs(o.done[key]-used) > 1e-6) {
					t.Errorf("seed %d: task %d used %v; done %v, read %v", seed, key, used, r.Done, o.done[key])
				}
			}
			if n := len(o.ended); n < 3 {
				t.Errorf("seed %d: %d ended", seed, n)
			}
		})
	}
}

// TestFence checks, with a host clock that is 500 ppm slower than the market's, that all tasks
// of a killed or disconnected agent are paused before the market considers the host lost, 30 s
// after its last report, and that they resume when the host is in contact again.
func TestFence(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o, b := newOffice(), newBox(t)
			b.rate = 1 - 500e-6
			c := &storm{Market: o, rng: rand.New(rand.NewPCG(1, 1))}
			kill, _ := b.agent(c)
			o.start(0)
			eventually(t, "it runs", func() bool { return b.runs() == 1 })
			time.Sleep(1234 * time.Millisecond)
			c.cut(true)
			if killed {
				kill()
			}
			time.Sleep(18 * time.Second)
			if b.runs() != 1 {
				t.Errorf("killed %v: it stands within its lease", killed)
			}
			eventually(t, "it stands", func() bool { return b.runs() == 0 })
			lost := o.heard.Add(30 * time.Second)
			if now := time.Now(); now.After(lost) {
				t.Errorf("killed %v: it stands %v after the market has given it up", killed, now.Sub(lost))
			}
			c.cut(false)
			if killed {
				kill, _ = b.agent(c)
			}
			eventually(t, "it goes on", func() bool { return b.runs() == 1 })
			kill()
		})
	}
}

// TestSuperseded checks that the later of two agents of one host takes over: the earlier agent
// ends its tasks and itself. The later agent starts nothing before that, even if the earlier
// agent is disconnected or the later agent has been connected before.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		off     bool
		counted int64 // session number in the second agent's folder
	}{{false, 0}, {true, 0}, {false, 100}} {
		synctest.Test(t, func(t *testing.T) {
			o, first, second := newOffice(), newBox(t), newBox(t)
			if err := put(filepath.Join(second.dir, "session"), session{Number: v.counted}, false); err != nil {
				t.Fatal(err)
			}
			c := &storm{Market: o, rng: rand.New(rand.NewPCG(1, 1))}
			kill, _ := first.agent(c)
			o.start(0)
			eventually(t, "it runs", func() bool { return first.runs() == 1 })
			kill()
			_, ended := first.agent(c)
			time.Sleep(2 * time.Second)
			if o.start(0); first.runs() != 1 {
				t.Errorf("%d run", first.runs())
			}
			eventually(t, "it runs, too, at once", func() bool { return first.runs() == 2 })
			c.cut(v.off)
			began := time.Now()
			kill, _ = second.agent(o)
			eventually(t, "the second runs both", func() bool {
				if n, m := first.runs(), second.runs(); n > 0 && m > 0 {
					t.Fatalf("%d and %d run after %v", n, m, time.Since(began))
				}
				return second.runs() == 2
			})
			c.cut(false)
			if err := <-ended; !errors.Is(err, ErrSuperseded) {
				t.Errorf("the first ended with %v", err)
			}
			first.mu.Lock()
			for name, lives := range first.supervisors {
				if lives {
					t.Errorf("%s lives on the first", name)
				}
			}
			first.mu.Unlock()
			kill()
		})
	}
}

// TestAway checks that the next agent of a folder starts the wanted tasks at once, because it
// supersedes no other agent, even if the market cannot process its session for a while.
func TestAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		kill, _ := b.agent(o)
		o.start(0)
		eventually(t, "it runs", func() bool { return b.runs() == 1 })
		kill()
		o.mu.Lock()
		o.away = true
		o.mu.Unlock()
		kill, _ = b.agent(o)
		time.Sleep(3 * time.Second)
		o.start(0)
		o.mu.Lock()
		o.away = false
		o.mu.Unlock()
		time.Sleep(3 * time.Second)
		if b.runs() != 2 {
			t.Errorf("%d run", b.runs())
		}
		kill()
	})
}

// TestRestored checks that an agent whose market was restored from a backup, and knows only an
// earlier agent, is not superseded: the agent ends unwanted tasks and continues.
func TestRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		kill, _ := b.agent(o)
		time.Sleep(time.Second)
		kill()
		kill, ended := b.agent(o)
		o.start(0)
		eventually(t, "it runs", func() bool { return b.runs() == 1 })
		o.mu.Lock()
		o.machine = remote.New(*o.machine.Spec())
		o.machine.Hear(o.now(), &remote.Told{Session: 1, Boot: "earlier", First: 1})
		clear(o.slots)
		slot, err := o.machine.Start(o.now(), hosts.Task{}, hosts.Share{Weight: 1}) // name 1 is already in use
		if err != nil {
			t.Error(err)
		}
		o.machine.Stop(o.now(), slot)
		o.deals()
		o.mu.Unlock()
		eventually(t, "it does not run", func() bool { return b.runs() == 0 })
		o.start(0)
		eventually(t, "another runs", func() bool { return b.runs() > 0 })
		select {
		case err := <-ended:
			t.Error(err)
		default:
		}
		kill()
	})
}

// TestFull checks that a host reports that its disk is full, reports tasks that it could not
// start as lost, and reports no fault when the disk has space again.
func TestFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		kill, _ := b.agent(o)
		defer kill()
		b.mu.Lock()
		b.full = true
		b.mu.Unlock()
		key := o.start(0)
		is := func(closed string, why hosts.End) func() bool {
			return func() bool {
				o.mu.Lock()
				defer o.mu.Unlock()
				return o.closed == closed && o.ended[key].Why == why
			}
		}
		eventually(t, "it is closed", is(diskFull, hosts.Lost))
		b.mu.Lock()
		b.full = false
		b.mu.Unlock()
		eventually(t, "it is open again", is("", hosts.Lost))
		o.start(0)
		eventually(t, "it runs", func() bool { return b.runs() == 1 })
	})
}

// TestLying checks that reported usage beyond the possible maximum is truncated and counted.
func TestLying(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		b.lies = 14
		kill, _ := b.agent(o)
		one, two := o.start(0), o.start(0)
		time.Sleep(10 * time.Second)
		kill()
		if got, most := o.done[one]+o.done[two], 2*10*1.02+0.02*12; got > most || got < 15 || o.machine.Cut() < 5 {
			t.Errorf("believed %v of at most %v, %d cut", got, most, o.machine.Cut())
		}
	})
}

// TestEndsAtOnce checks that the end of a task is reported immediately.
func TestEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		b.over = make(chan os.Signal, 1)
		kill, _ := b.agent(o)
		defer kill()
		key := o.start(0)
		eventually(t, "it runs", func() bool { return b.runs() == 1 })
		time.Sleep(2300 * time.Millisecond)
		began := time.Now()
		b.mu.Lock()
		b.exit("1.0.1", hosts.Exited)
		b.mu.Unlock()
		b.over <- os.Interrupt
		for heard := false; !heard; time.Sleep(time.Millisecond) {
			o.mu.Lock()
			_, heard = o.ended[key]
			o.mu.Unlock()
		}
		if d := time.Since(began); d > 2*leastWait {
			t.Errorf("it was told after %v", d)
		}
	})
}

// TestDrained checks that a leaving host leaves when no task is running and its market knows,
// and that a removed host ends its tasks.
func TestDrained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		_, ended := b.agent(o)
		one := o.start(5)
		eventually(t, "it runs", func() bool { return b.runs() == 1 })
		o.mu.Lock()
		o.drain = true
		o.mu.Unlock()
		if err := <-ended; err != ErrDrained || b.runs() > 0 || o.ended[one].Why != hosts.Expired {
			t.Errorf("%v, %d run, %+v", err, b.runs(), o.ended)
		}
		o.drain = false
		_, ended = b.agent(o)
		o.start(0)
		eventually(t, "it runs", func() bool { return b.runs() == 1 })
		o.mu.Lock()
		o.gone = true
		o.mu.Unlock()
		if err := <-ended; !errors.Is(err, link.ErrUnknown) || b.runs() > 0 {
			t.Errorf("%v, %d run", err, b.runs())
		}
	})
}

// TestJobs checks that a job and its files are fetched once; that an invalid or missing job is
// reported as failed for that reason; and that logs are uploaded in the requested parts.
func TestJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), newBox(t)
		kill, _ := b.agent(o)
		defer kill()
		file := o.keep("a file")
		for i, c := range []struct{ job, fault string }{
			{`{"command":["x"],"files":{"in.txt":"` + file + `"}}`, ""},
			{`{"command":["x"],"files":{"../in.txt":"` + file + `"}}`, "want a name without folders"},
			{`{"command":["x"],"files":{"in.txt":"` + strings.Repeat("0", 64) + `"}}`, "does not know"},
			{`{"command":7}`, "json"},
			{`{"command":["` + strings.Repeat("x", mostJob) + `"]}`, "bytes"},
		} {
			o.mu.Lock()
			o.job = o.keep(c.job)
			o.mu.Unlock()
			key := o.start(0)
			name := fmt.Sprintf("%d.0.%d", key, i+1)
			if c.fault == "" {
				eventually(t, "it runs", func() bool { return b.runs() == 1 })
				text, err := os.ReadFile(filepath.Join(b.dir, "tasks", name, "dir", "in.txt"))
				if err != nil || string(text) != "a file" {
					t.Errorf("its file: %q, %v", text, err)
				}
				var r record
				get(filepath.Join(b.dir, "tasks", name, "task.json"), &r)
				if env := strings.Join(r.Job.Env, " "); env != "BOURSE_CONTRACT=1 BOURSE_NODE=0 BOURSE_NODES=0 BOURSE_TRY=1 CUDA_VISIBLE_DEVICES=-1 NVIDIA_VISIBLE_DEVICES=void ROCR_VISIBLE_DEVICES=-1" {
					t.Errorf("its environment: %s", env)
				}
				continue
			}
			eventually(t, "it has failed", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return o.ended[key].Key == key })
			var e exit
			get(filepath.Join(b.dir, "tasks", name, "exit.json"), &e)
			if r := o.ended[key]; r.Why != hosts.Failed || !strings.HasPrefix(e.Fault, "command: ") || !strings.Contains(e.Fault, c.fault) {
				t.Errorf("%s: %v, %q", c.job, r.Why, e.Fault)
			}
		}
		if err := os.WriteFile(filepath.Join(b.dir, "tasks", "1.0.1", "out"), []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, ask := range []remote.Log{{Name: 1, From: 4}, {Name: 99}} {
			o.mu.Lock()
			o.asks, o.put = []remote.Log{ask}, nil
			o.mu.Unlock()
			eventually(t, "it is put", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return len(o.put) > 0 })
			if l := o.put[0]; ask.Name == 1 && (string(l.Text) != "456789" || l.Size != 10 || l.From != 4 || l.Fault != "") || ask.Name == 99 && l.Fault == "" {
				t.Errorf("%+v: %+v", ask, l)
			}
		}
	})
}
