//go:build linux

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/remote"
)

// A world is a machine with its kernel and supervisors, which survive agents, and the market's
// side of the exchange, whose messages are lost, delayed and repeated.
type world struct {
	tester
	dir         string
	now         float64
	kernel      *fakeKernel
	supervisors map[string]bool // started supervisors, by name: whether each is running
	crash       int             // number of kernel calls until the agent is killed in one
	after       bool            // whether the agent is killed after the call rather than before it

	agent   *Agent // nil if it was killed
	deal    int64
	orders  []given
	all     []*remote.Told // all reports of agents
	told    float64        // total length of the booked spans of the current session, except the first
	begun   float64        // end of the first span of the session
	starts  map[string]int
	ends    map[int64]hosts.End // ends that agents reported
	truth   map[int64]exit      // ends that supervisors recorded
	acked   map[int64]bool      // ends that an agent received as acknowledged
	booked  map[int64]float64   // used
	dropped map[string]bool     // whether orders were created without the task
	termed  map[string]bool     // whether the task was ordered to end
	applies int64               // the allocation number of the orders being applied
	seen    int64               // the highest allocation number that an agent has applied
	job     string
	session int64  // number of the session whose reports the market accepts
	boot    int    // number of the machine's current boot
	self    string // identity of the agent of that session
	ack     int64  // number of the last booked span
}

type tester interface {
	Fatalf(format string, args ...any)
}

type killed struct{}

func newWorld(t tester, dir string) *world {
	w := &world{tester: t, dir: dir, now: 1000, kernel: newFakeKernel(), supervisors: make(map[string]bool),
		starts: make(map[string]int), ends: make(map[int64]hosts.End), truth: make(map[int64]exit),
		acked: make(map[int64]bool), booked: make(map[int64]float64), dropped: make(map[string]bool), termed: make(map[string]bool)}
	text := []byte(`{"command":["x"]}`)
	sum := sha256.Sum256(text)
	w.job = hex.EncodeToString(sum[:])
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "blobs"), 0o700), os.WriteFile(filepath.Join(dir, "blobs", w.job), text, 0o600)); err != nil {
		w.Fatalf("%v", err)
	}
	w.kernel.Before = func(call, name string) { w.step(false) }
	w.kernel.After = func(call, name string) { w.step(true) }
	return w
}

// step kills the agent if its time has come.
func (w *world) step(after bool) {
	if w.crash > 0 && w.after == after {
		if w.crash--; w.crash == 0 {
			panic(killed{})
		}
	}
}

// alive, start and reap implement supervisors for the agent.
func (w *world) alive(folder string) (bool, error) { return w.supervisors[filepath.Base(folder)], nil }

func (w *world) reap() {}

func (w *world) ended() <-chan os.Signal { return nil }

func (w *world) start(folder string) error {
	w.step(false)
	defer w.step(true)
	name := filepath.Base(folder)
	w.starts[name]++
	if w.starts[name] > 1 {
		w.Fatalf("%s was started twice", name)
	}
	if w.applies < w.seen {
		w.Fatalf("%s was started by order %d, after order %d", name, w.applies, w.seen)
	}
	w.checkUnits(name)
	if g := w.kernel.Groups[name]; g == nil {
		w.Fatalf("%s has no group", name)
	} else {
		g.Running = true
	}
	w.supervisors[name] = true
	return nil
}

// checkUnits checks that the task with the given name holds one GPU if it wants one, and none that a
// task with running processes holds.
func (w *world) checkUnits(name string) {
	held := func(name string) []int {
		var r record
		if _, err := get(filepath.Join(w.dir, "tasks", name, "task.json"), &r); err != nil {
			w.Fatalf("%v", err)
		}
		return r.Numbers["gpu"]
	}
	own := held(name)
	if len(own) != int(named(name).Counts["gpu"]) {
		w.Fatalf("%s holds GPUs %v, want %d", name, own, named(name).Counts["gpu"])
	}
	for other, g := range w.kernel.Groups {
		if g.Running && other != name && slices.ContainsFunc(held(other), func(n int) bool { return slices.Contains(own, n) }) {
			w.Fatalf("%s and %s hold GPUs %v and %v", name, other, own, held(other))
		}
	}
}

// do calls f with the agent, which may be killed during the call.
func (w *world) do(f func(a *Agent) error) {
	if w.agent == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			w.agent, w.crash = nil, 0
		}
	}()
	if err := f(w.agent); err != nil {
		w.Fatalf("%v", err)
	}
}

// named returns the wanted task with the given folder name. Tasks with even numbers hold a GPU.
func named(name string) (w remote.Wanted) {
	if _, err := fmt.Sscanf(name, "%d.%d.%d", &w.Contract, &w.Node, &w.Name); err != nil {
		panic(err)
	}
	if w.Weight = 1; w.Name%2 == 0 {
		w.Counts = map[string]int32{"gpu": 1}
	}
	return w
}

// given contains orders that answer a report sent at a given time.
type given struct {
	*remote.Orders
	seq  int64
	sent float64
}

// apply makes a living agent apply orders, if they are not too late.
func (w *world) apply(o given) {
	w.do(func(a *Agent) error {
		heeded := o.Boot == a.self && o.seq > a.heard
		if heeded {
			for name := range w.supervisors {
				wanted := slices.ContainsFunc(o.Wanted, func(x remote.Wanted) bool { return x.Folder() == name })
				w.dropped[name] = w.dropped[name] || !wanted
			}
		}
		before := w.applies
		w.applies = o.Deal
		err := a.Apply(o.Orders, o.seq, o.sent)
		if !heeded {
			w.applies = before
		} else {
			w.seen = max(w.seen, o.Deal)
			for _, name := range o.Known {
				w.acked[name] = true
			}
		}
		return err
	})
}

// open opens an agent if there is none.
func (w *world) open() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			w.agent, w.crash = nil, 0
		}
	}()
	w.now += 1e-6 // no two agents are opened at the same time
	a, err := Open(Config{
		Dir: w.dir, Kernel: w.kernel, Grace: 2, Keep: 30, Devices: Devices{"gpu": {"", ""}},
		clock: func() float64 { return w.now }, boot: fmt.Sprint("boot", w.boot), supervisors: w,
	})
	if err != nil {
		w.Fatalf("%v", err)
	}
	w.agent = a
}

// pass advances time by d: running tasks use it, and supervisors carry out their orders.
func (w *world) pass(d float64) {
	w.now += d
	for name, lives := range w.supervisors {
		g := w.kernel.Groups[name]
		if !lives || g == nil {
			continue
		}
		folder := filepath.Join(w.dir, "tasks", name)
		until := readLease(w.dir).until
		g.Frozen = w.now >= until
		if !g.Frozen {
			g.Used += d / 2
		}
		var o orders
		if _, err := get(filepath.Join(folder, "orders"), &o); err != nil {
			w.Fatalf("%v", err)
		}
		if o.KillAt > 0 && !w.dropped[name] || o.KillAt == 0 && w.termed[name] {
			w.Fatalf("%s is to end at %v: not wanted %v, ordered to end %v", name, o.KillAt, w.dropped[name], w.termed[name])
		}
		w.termed[name] = o.KillAt > 0
		if o.KillAt > 0 && w.now >= o.KillAt {
			w.end(name, hosts.Killed)
		} else if o.Until > 0 && w.now >= o.Until {
			w.end(name, hosts.Expired)
		}
	}
}

// end ends a task as its supervisor does.
func (w *world) end(name string, why hosts.End) {
	e := exit{Why: why, Used: w.kernel.Groups[name].Used, Span: 1}
	if err := put(filepath.Join(w.dir, "tasks", name, "exit.json"), e, false); err != nil {
		w.Fatalf("%v", err)
	}
	w.kernel.Groups[name].Running = false
	w.supervisors[name] = false
	w.truth[named(name).Name] = e
}

// living returns the names of tasks with living supervisors.
func (w *world) living() (names []string) {
	for name, lives := range w.supervisors {
		if lives {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// receive processes a report as the market does: late and repeated reports give the same
// result.
func (w *world) receive(told *remote.Told) {
	if told.Session < w.session {
		return
	}
	if told.Session > w.session {
		w.session, w.self, w.ack = told.Session, told.Boot, 0
	}
	if told.Boot != w.self {
		w.Fatalf("%s and %s are both session %d", told.Boot, w.self, w.session)
	}
	for i, s := range told.Spans {
		if told.First+int64(i) != w.ack+1 {
			continue
		}
		if w.ack++; w.ack == 1 {
			w.told, w.begun = 0, s.At // the first span overlaps its predecessor's; the others may come with it
		} else if w.told += s.Length; w.told > w.now-w.begun+1e-6 {
			w.Fatalf("spans of %v s are told in %v s", w.told, w.now-w.begun)
		}
		for _, u := range s.Used {
			if u.Seconds < w.booked[u.Name] {
				w.Fatalf("%d has used %v, and then %v", u.Name, w.booked[u.Name], u.Seconds)
			}
			w.booked[u.Name] = u.Seconds
		}
	}
	for _, e := range told.Ends {
		if before, known := w.ends[e.Name]; known && before != e.Why {
			w.Fatalf("%d has ended as %v, and as %v", e.Name, before, e.Why)
		}
		w.ends[e.Name] = e.Why
		want, wrote := w.truth[e.Name]
		if e.Why != hosts.Lost {
			if e.Why != want.Why || w.booked[e.Name] != want.Used {
				w.Fatalf("%d has ended as %v with %v used, not as %+v", e.Name, e.Why, w.booked[e.Name], want)
			}
		} else if wrote {
			w.Fatalf("%d is lost, although its supervisor has written how it ended", e.Name)
		}
	}
}

// tell returns the agent's report.
func (w *world) tell(a *Agent) (*remote.Told, error) {
	told, err := a.Tell()
	for _, e := range told.Ends {
		if w.acked[e.Name] {
			w.Fatalf("the end of %d is told after it was acknowledged", e.Name)
		}
	}
	w.all = append(w.all, told)
	return told, err
}

// order makes the agent report and answers with orders for the given names.
func (w *world) order(names []string) (o given) {
	w.do(func(a *Agent) error {
		told, err := w.tell(a)
		w.receive(told)
		w.deal++
		o = given{&remote.Orders{Session: w.session, Boot: w.self, Ack: w.ack, Deal: w.deal, Lease: 5}, told.Seq, w.now}
		for name := range w.ends {
			o.Known = append(o.Known, name)
		}
		for _, name := range names {
			one := named(name)
			if _, ended := w.ends[one.Name]; ended {
				continue // after receiving this, the market does not want the task again
			}
			one.Left, one.Job = 20, w.job
			o.Wanted = append(o.Wanted, one)
		}
		return err
	})
	return o
}

// TestOnce kills the agent at any step, and supervisors and the machine at any time. It loses,
// delays and repeats orders, answers and acknowledgements. It checks that each name is started
// at most once, that each end and usage is reported until it is acknowledged and never
// afterwards, that nothing remains of unwanted tasks, and that no two tasks hold the same GPU.
func TestOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("/dev/shm", "bourse-agent")
		if err != nil {
			dir, err = os.MkdirTemp("", "bourse-agent")
		}
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		w := newWorld(r, dir)
		w.open()
		names := []string{"1.0.1", "1.1.2", "2.0.3", "2.0.4", "3.0.5", "4.0.6"}
		r.Repeat(map[string]func(*rapid.T){
			"order": func(r *rapid.T) {
				o := w.order(rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(r, "names"))
				if o.Orders == nil {
					return
				}
				w.orders = append(w.orders, o)
				if rapid.IntRange(0, 3).Draw(r, "late") > 0 {
					w.apply(o)
				}
			},
			"late order": func(r *rapid.T) {
				if len(w.orders) > 0 {
					w.apply(rapid.SampledFrom(w.orders).Draw(r, "order"))
				}
			},
			"look": func(r *rapid.T) {
				w.pass(rapid.Float64Range(0, 3).Draw(r, "seconds"))
				w.do((*Agent).Look)
				w.do(func(a *Agent) error {
					for _, name := range w.living() {
						if g := w.kernel.Groups[name]; g != nil && w.now >= a.lease && !g.Frozen {
							w.Fatalf("%s runs without a lease", name)
						}
					}
					return nil
				})
			},
			"tell": func(r *rapid.T) {
				w.do(func(a *Agent) error {
					told, err := w.tell(a)
					if rapid.Bool().Draw(r, "comes") {
						w.receive(told)
					}
					return err
				})
			},
			"told again": func(r *rapid.T) {
				if len(w.all) > 0 {
					w.receive(rapid.SampledFrom(w.all).Draw(r, "told"))
				}
			},
			"end": func(r *rapid.T) {
				if names := w.living(); len(names) > 0 {
					w.end(rapid.SampledFrom(names).Draw(r, "name"), hosts.Exited)
				}
			},
			"kill a supervisor": func(r *rapid.T) {
				if names := w.living(); len(names) > 0 {
					w.supervisors[rapid.SampledFrom(names).Draw(r, "name")] = false
				}
			},
			"kill the agent": func(r *rapid.T) {
				w.crash, w.after = rapid.IntRange(0, 6).Draw(r, "calls"), rapid.Bool().Draw(r, "after")
				if w.crash == 0 {
					w.agent = nil
				}
			},
			"open": func(r *rapid.T) {
				if w.agent == nil {
					w.open()
				}
			},
			"start the machine again": func(r *rapid.T) {
				if rapid.IntRange(0, 5).Draw(r, "seldom") == 0 {
					w.agent, w.crash = nil, 0
					w.boot++
					clear(w.kernel.Groups)
					for name := range w.supervisors {
						w.supervisors[name] = false
					}
				}
			},
		})

		w.agent, w.crash = nil, 0
		w.kernel.Groups["9.9.9"] = &fakeGroup{Running: true} // a group without a folder
		w.open()
		for range 20 {
			w.apply(w.order([]string{"5.0.7"}))
			w.pass(1)
		}
		w.order(nil)
		if w.starts["5.0.7"] != 1 {
			r.Fatalf("what is wanted was started %d times", w.starts["5.0.7"])
		}
		for name := range w.starts {
			if _, told := w.ends[named(name).Name]; !told && name != "5.0.7" {
				r.Fatalf("%s ran, and its end was never told", name)
			}
		}
		for name := range w.kernel.Groups {
			if name != "5.0.7" {
				r.Fatalf("the group %s is left", name)
			}
		}
		w.now += 100
		w.do((*Agent).Look)
		if left, _ := os.ReadDir(filepath.Join(dir, "tasks")); len(left) != 1 {
			r.Fatalf("%d folders are left", len(left))
		}
	})
}

// TestSpans checks that usage is reported as totals under the allocation that was in force, and
// that reports repeat it until it is booked. The first span of the next agent starts at the
// time up to which the usage of the previous agent was booked, if that time is known.
func TestSpans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.open()
	tells := func(first int64, want ...remote.Span) {
		t.Helper()
		told, err := w.agent.Tell()
		if err != nil || told.First != first || len(told.Spans) != len(want) {
			t.Fatalf("from %d it tells %v, %v; want from %d %v", told.First, told.Spans, err, first, want)
		}
		for i, s := range told.Spans {
			if s.Deal != want[i].Deal || math.Abs(s.Length-want[i].Length) > 1e-5 || !slices.Equal(s.Used, want[i].Used) {
				t.Fatalf("it tells %v, want %v", told.Spans, want)
			}
		}
	}
	span := func(deal int64, length, used float64) remote.Span {
		return remote.Span{Deal: deal, Length: length, Used: []remote.Used{{Name: 1, Seconds: used}}}
	}
	only := []string{"1.0.1"}
	w.apply(w.order(only))
	w.pass(2)
	w.apply(w.order(only)) // it receives 2 s and books them
	w.pass(3)
	tells(2, span(2, 3, 2.5))
	tells(2, span(2, 3, 2.5))
	w.pass(1)
	tells(2, span(2, 3, 2.5), span(2, 1, 3))
	o := w.order(only)
	o.Ack = 2
	w.apply(o)
	w.pass(1)
	tells(3, span(2, 1, 3), span(3, 1, 3.5))
	w.open()
	w.pass(1)
	tells(1, span(3, 3, 4))
}

// TestHung checks that the agent enforces the lease and ends unwanted tasks if supervisors
// hang, and that the machine accepts no more tasks if the agent cannot end them.
func TestHung(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.open()
	w.apply(w.order([]string{"1.0.1"}))
	g := w.kernel.Groups["1.0.1"]
	look := func(seconds float64) {
		w.now += seconds
		w.do((*Agent).Look)
	}
	if look(4.9); g.Frozen {
		t.Fatalf("it stands before the lease is over")
	}
	if look(0.2); !g.Frozen {
		t.Fatalf("it runs without a lease")
	}
	if w.apply(w.order([]string{"1.0.1"})); g.Frozen {
		t.Fatalf("it stands with a lease")
	}
	w.apply(w.order(nil))
	if look(6.9); !g.Running {
		t.Fatalf("it was not left the time to end")
	}
	if look(0.2); g.Running {
		t.Fatalf("it runs, and is not wanted")
	}
	if closed := w.agent.closed; closed != "" {
		t.Fatalf("the machine is closed: %s", closed)
	}
	if look(60); w.agent.closed == "" {
		t.Fatalf("the machine takes more")
	}
	if w.apply(w.order([]string{"2.0.3"})); w.starts["2.0.3"] > 0 {
		t.Fatalf("it was started on a machine that is closed")
	}
}

// TestGivenUp checks that a task never runs again if it was paused when its lease ended and is
// unwanted when the host is in contact again. Another host may have started it in the meantime.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.open()
	w.apply(w.order([]string{"1.0.1", "2.0.2"}))
	w.now += 5.1
	w.do((*Agent).Look)
	given, kept := w.kernel.Groups["1.0.1"], w.kernel.Groups["2.0.2"]
	if !given.Frozen || !kept.Frozen {
		t.Fatal("one runs without a lease")
	}
	w.apply(w.order([]string{"2.0.2"}))
	if !given.Frozen || kept.Frozen {
		t.Errorf("what was given up stands: %v; what was not: %v", given.Frozen, kept.Frozen)
	}
	if w.pass(0.1); w.supervisors["1.0.1"] || !w.supervisors["2.0.2"] {
		t.Errorf("what was given up lives: %v; what was not: %v", w.supervisors["1.0.1"], w.supervisors["2.0.2"])
	}
}

// TestLate checks that orders start nothing if their lease has ended on arrival, or if they
// answer a report older than that of orders already applied.
func TestLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.open()
	first, second := w.order([]string{"1.0.1"}), w.order([]string{"2.0.2"})
	w.apply(second)
	w.apply(first)
	if w.starts["1.0.1"] > 0 || w.starts["2.0.2"] != 1 {
		t.Errorf("started: %v", w.starts)
	}
	late := w.order([]string{"3.0.3"})
	w.now += 6
	if w.apply(late); w.starts["3.0.3"] > 0 {
		t.Error("it was started without a lease")
	}
	if w.apply(w.order([]string{"3.0.3"})); w.starts["3.0.3"] != 1 {
		t.Error("it was not started with one")
	}
}
