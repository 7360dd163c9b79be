//go:build linux

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/linux/kerneltest"
)

// A world is a machine, its kernel and minders, which outlive agents; and who is told,
// by messages that get lost, late and doubled.
type world struct {
	tester
	dir     string
	now     float64
	boot    int
	kernel  *kerneltest.Fake
	minders map[string]bool // started ones, by name: whether it lives
	crash   int             // calls until the agent is killed in one
	after   bool            // it has been done

	agent   *Agent // nil if it was killed
	deal    int64
	orders  []Order
	told    []Told
	starts  map[string]int
	ends    map[string]End     // told
	truth   map[string]exit    // what minders wrote
	acked   map[string]bool    // ends that an agent took as acknowledged
	booked  map[string]float64 // used, by readings
	dropped map[string]bool    // an order was made without it
	termed  map[string]bool    // it was ordered to end
	applies int64              // deal of the order that is applied now
	seen    int64              // the highest that an agent has applied
}

type tester interface {
	Fatalf(format string, args ...any)
}

type killed struct{}

func newWorld(t tester, dir string) *world {
	w := &world{tester: t, dir: dir, now: 1000, kernel: kerneltest.New(), minders: make(map[string]bool),
		starts: make(map[string]int), ends: make(map[string]End), truth: make(map[string]exit),
		acked: make(map[string]bool), booked: make(map[string]float64), dropped: make(map[string]bool), termed: make(map[string]bool)}
	w.kernel.Before = func(call, name string) { w.step(false) }
	w.kernel.After = func(call, name string) { w.step(true) }
	return w
}

// step kills the agent, if it is time.
func (w *world) step(after bool) {
	if w.crash > 0 && w.after == after {
		if w.crash--; w.crash == 0 {
			panic(killed{})
		}
	}
}

// alive, start and reap are the agent's minders.
func (w *world) alive(folder string) (bool, error) { return w.minders[filepath.Base(folder)], nil }

func (w *world) reap() {}

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
	if g := w.kernel.Groups[name]; g == nil {
		w.Fatalf("%s has no group", name)
	} else {
		g.Running = true
	}
	w.minders[name] = true
	return nil
}

// do calls f with the agent, which may be killed meanwhile.
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

// apply makes an agent that lives apply an order.
func (w *world) apply(o Order) {
	w.do(func(a *Agent) error {
		for name := range w.minders {
			wanted := slices.ContainsFunc(o.Wanted, func(x Wanted) bool { return x.Name == name })
			w.dropped[name] = w.dropped[name] || !wanted && o.Deal >= w.seen
		}
		w.applies = o.Deal
		err := a.Apply(o)
		w.seen = max(w.seen, o.Deal)
		return err
	})
}

// open opens an agent where there is none.
func (w *world) open() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			w.agent, w.crash = nil, 0
		}
	}()
	w.now += 1e-6 // no two agents are opened in one instant
	a, err := Open(Config{
		Dir: w.dir, Kernel: w.kernel, Grace: 2, Keep: 30,
		clock: func() float64 { return w.now }, boot: fmt.Sprint("boot", w.boot), minders: w,
	})
	if err != nil {
		w.Fatalf("%v", err)
	}
	w.agent = a
}

// pass lets time pass: what runs uses it, minders do what they are ordered.
func (w *world) pass(d float64) {
	w.now += d
	for name, lives := range w.minders {
		g := w.kernel.Groups[name]
		if !lives || g == nil {
			continue
		}
		folder := filepath.Join(w.dir, "tasks", name)
		until, _ := leaseUntil(w.dir)
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

// end ends a task as its minder does.
func (w *world) end(name string, why hosts.End) {
	e := exit{Why: why, Used: w.kernel.Groups[name].Used, Span: 1}
	if err := put(filepath.Join(w.dir, "tasks", name, "exit.json"), e, false); err != nil {
		w.Fatalf("%v", err)
	}
	w.kernel.Groups[name].Running = false
	w.minders[name] = false
	w.truth[name] = e
}

// living returns the names of tasks whose minders live.
func (w *world) living() (names []string) {
	for name, lives := range w.minders {
		if lives {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// receive is what who is told does with it: the same whatever comes late or twice.
func (w *world) receive(told Told) {
	last := Reading{}
	for _, r := range told.Readings {
		if r.Name == last.Name && (r.Deal < last.Deal || r.Span < last.Span || r.Used < last.Used) {
			w.Fatalf("totals fall: %v after %v", r, last)
		}
		last = r
		w.booked[r.Name] = max(w.booked[r.Name], r.Used)
	}
	for _, e := range told.Ends {
		if before, known := w.ends[e.Name]; known && (before.Why != e.Why || before.Used > e.Used) {
			w.Fatalf("%s has ended as %+v, and as %+v", e.Name, before, e)
		}
		w.ends[e.Name] = e
		if e.Why != hosts.Lost {
			if want := w.truth[e.Name]; e.Why != want.Why || e.Used != want.Used {
				w.Fatalf("%s has ended as %+v, not as %+v", e.Name, want, e)
			}
		} else if _, wrote := w.truth[e.Name]; wrote {
			w.Fatalf("%s is lost, although its minder has written how it ended", e.Name)
		}
	}
}

// tell returns what the agent tells.
func (w *world) tell(a *Agent) Told {
	told := a.Tell()
	for _, e := range told.Ends {
		if w.acked[e.Name] {
			w.Fatalf("the end of %s is told after it was acknowledged", e.Name)
		}
	}
	w.told = append(w.told, told)
	return told
}

// acknowledge tells the agent that what it told has come; now or late.
func (w *world) acknowledge(told Told) {
	w.do(func(a *Agent) error {
		err := a.Acknowledge(told.Session, told.Seq)
		for _, e := range told.Ends {
			if told.Session == a.session {
				w.acked[e.Name] = true
			}
		}
		return err
	})
}

// order makes an order of these names.
func (w *world) order(names []string) Order {
	w.deal++
	o := Order{Deal: w.deal, Sent: w.now, Lease: 5}
	for _, name := range names {
		if _, ended := w.ends[name]; ended {
			continue // who has heard that does not want it again
		}
		o.Wanted = append(o.Wanted, Wanted{Name: name, Share: hosts.Share{Weight: 1}, Remaining: 20, Job: Job{Command: []string{"x"}}})
	}
	return o
}

// TestOnce checks that under any order of kills, of the agent in the middle of whatever it
// does, of minders and of the machine, and of orders, answers and acknowledgements that are lost, late and
// doubled, a name is started once; what ran is told, with what it used, until that is
// acknowledged, and never after; and in the end nothing is left of what is not wanted.
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
		names := []string{"1.0.0", "1.1.0", "2.0.0", "2.0.1", "3.0.0", "4.0.0"}
		r.Repeat(map[string]func(*rapid.T){
			"order": func(r *rapid.T) {
				o := w.order(rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(r, "names"))
				w.orders = append(w.orders, o)
				w.apply(o)
			},
			"late order": func(r *rapid.T) {
				if len(w.orders) > 0 {
					o := rapid.SampledFrom(w.orders).Draw(r, "order")
					w.apply(o)
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
					told := w.tell(a)
					if rapid.Bool().Draw(r, "comes") {
						w.receive(told)
						if rapid.Bool().Draw(r, "and the answer") {
							w.acknowledge(told)
						}
					}
					return nil
				})
			},
			"told again": func(r *rapid.T) {
				if len(w.told) > 0 {
					told := rapid.SampledFrom(w.told).Draw(r, "told")
					w.receive(told)
					w.acknowledge(told)
				}
			},
			"end": func(r *rapid.T) {
				if names := w.living(); len(names) > 0 {
					w.end(rapid.SampledFrom(names).Draw(r, "name"), hosts.Exited)
				}
			},
			"kill a minder": func(r *rapid.T) {
				if names := w.living(); len(names) > 0 {
					w.minders[rapid.SampledFrom(names).Draw(r, "name")] = false
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
					for name := range w.minders {
						w.minders[name] = false
					}
				}
			},
		})

		w.agent, w.crash = nil, 0
		w.kernel.Groups["9.9.9"] = &kerneltest.Group{Running: true} // whose folder is gone
		w.open()
		for range 20 {
			o := w.order([]string{"5.0.0"})
			w.apply(o)
			w.pass(1)
			w.do(func(a *Agent) error {
				told := w.tell(a)
				w.receive(told)
				w.acknowledge(told)
				return nil
			})
		}
		if w.starts["5.0.0"] != 1 {
			r.Fatalf("what is wanted was started %d times", w.starts["5.0.0"])
		}
		for name := range w.starts {
			e, told := w.ends[name]
			if !told && name != "5.0.0" {
				r.Fatalf("%s ran, and its end was never told", name)
			}
			if w.booked[name] > e.Used && told && e.Why != hosts.Lost {
				r.Fatalf("%s used %v, and %v was booked", name, e.Used, w.booked[name])
			}
		}
		for name := range w.kernel.Groups {
			if name != "5.0.0" {
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

// TestReadings checks that what was used is told under the deal that stood, as totals,
// again until it is acknowledged, and then no more but what has come since.
func TestReadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.open()
	tells := func(want ...Reading) {
		if got := w.agent.Tell().Readings; !slices.Equal(got, want) {
			t.Fatalf("it tells %v, want %v", got, want)
		}
	}
	began := w.now
	w.apply(w.order([]string{"1.0.0"}))
	w.pass(2)
	w.apply(w.order([]string{"1.0.0"}))
	w.pass(3)
	w.do((*Agent).Look)
	first, second := Reading{"1.0.0", 1, began + 2 - began, 1}, Reading{"1.0.0", 2, began + 5 - began, 2.5}
	tells(first, second)
	tells(first, second)
	told := w.agent.Tell()
	w.pass(1)
	w.do((*Agent).Look)
	w.acknowledge(told)
	third := Reading{"1.0.0", 2, began + 6 - began, 3}
	tells(third)
	w.acknowledge(told)
	tells(third)
}

// TestHung checks that where minders hang the agent keeps the lease and ends what is not
// wanted, and that the machine takes no more if even that does not help.
func TestHung(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.open()
	w.apply(w.order([]string{"1.0.0"}))
	g := w.kernel.Groups["1.0.0"]
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
	if w.apply(w.order([]string{"1.0.0"})); g.Frozen {
		t.Fatalf("it stands with a lease")
	}
	w.apply(w.order(nil))
	if look(6.9); !g.Running {
		t.Fatalf("it was not left the time to end")
	}
	if look(0.2); g.Running {
		t.Fatalf("it runs, and is not wanted")
	}
	if closed := w.agent.Tell().Closed; closed != "" {
		t.Fatalf("the machine is closed: %s", closed)
	}
	if look(60); w.agent.Tell().Closed == "" {
		t.Fatalf("the machine takes more")
	}
	if w.apply(w.order([]string{"2.0.0"})); w.starts["2.0.0"] > 0 {
		t.Fatalf("it was started on a machine that is closed")
	}
}
