package live

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/hosts/remote/remotetest"

	"github.com/cockroachdb/pebble/v2"
)

var (
	loadSeconds = flag.Float64("load.seconds", 20, "for how long BenchmarkLoad asks, s")
	loadQuiet   = flag.Float64("load.quiet", 20, "for how long it then has tasks run, s")
	loadOpen    = flag.Int("load.open", 2000, "contracts that are open at once in BenchmarkLoad, of a task each; live.md §18 means 5000, of 2000 tasks")
)

// The load of live.md §18 and the required results.
const (
	LoadHosts    = 100
	loadOrders   = 200.0 // orders per second
	loadBusy     = 600.0 // seconds of a day in which orders arrive
	loadReads    = 2000.0
	loadWatchers = 50
)

// A timed collects durations in seconds.
type timed struct {
	mu  sync.Mutex
	all []float64
}

func (t *timed) add(seconds float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, seconds)
}

func (t *timed) quantile(p float64) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == 0 {
		return math.NaN()
	}
	slices.Sort(t.all)
	return t.all[int(p*float64(len(t.all)-1))]
}

// A loadMeter is a [Meter] that stores the durations of steps.
type loadMeter struct {
	unmetered
	turns timed
}

func (m *loadMeter) Turn(seconds float64) { m.turns.add(seconds) }

// Ways contains the functions by which hosts and clients call a market.
type Ways struct {
	Sync   func(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error)
	Submit func(ctx context.Context, order, job []byte) (*Answer, error)
	Prices func(ctx context.Context, host string, since float64) error
	Watch  func(ctx context.Context) // follows all events until ctx ends
}

// Directly returns the ways of hosts and clients that are in the market's process.
func Directly(_ *testing.B, m *Market, _ World, _ string) Ways {
	return Ways{
		Sync: m.Sync, Submit: m.Submit,
		Prices: func(_ context.Context, host string, since float64) error {
			_, err := m.Prices(host, since)
			return err
		},
		Watch: func(ctx context.Context) {
			for last := int64(0); ctx.Err() == nil; {
				events, err := m.Events(ctx, last)
				if err == nil {
					last = events[len(events)-1].Seq
				}
			}
		},
	}
}

// Load puts a load on a market and its bank on disk. 100 hosts with tasks report each second,
// and there are 200 orders per second, 2,000 reads of prices per second, and 50 watchers of all
// events. Hosts and clients are in the same process, so the measured processor time and memory
// include theirs. Orders arrive for some time, and the tasks of the last ones keep running. The
// usage that hosts report is up to 0.1 ms old. Load prints the results next to the
// requirements.
func Load(b *testing.B, reach func(*testing.B, *Market, World, string) Ways) {
	n := int(loadOrders * *loadSeconds)
	dir := b.TempDir()
	books := filepath.Join(dir, "books")
	j := must(store.Create(books, store.Options{}))
	ledger := store.NewSequencer(j, bank.New(j))
	defer ledger.Close()
	for _, e := range ownerstest.Begin() {
		must(ledger.Do(b.Context(), e))
	}
	clock := NewBootClock()
	begun := clock.Now()
	const long = 1e9 // orders must not expire
	meter := new(loadMeter)
	conf := must(Parse("lab.yaml", []byte(file+"limits: {orders_per_second: 1000000}\n")))
	world := World{
		Bank: ledger, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: clock, Meter: meter,
		KeyOf: func(_ context.Context, account string) (string, error) { return ownerstest.Public(account), nil },
	}
	m := must(Open(filepath.Join(dir, "market"), conf, world))
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		if err := m.Run(ctx); err != nil {
			b.Error(err)
		}
	})
	var answered sync.Map // time of the answer, by contract
	deals, ways := new(timed), reach(b, m, world, dir)
	var running atomic.Int64
	for h := range LoadHosts {
		name := LoadHost(h)
		must(ledger.Do(ctx, ownerstest.Says("operator", "right", "p-"+name, "operator", "of", "host:"+name, "right", "payee", "market", "lab")))
		spec := hosts.Spec{Name: name, CPUs: float64(*loadOpen) / LoadHosts, Speed: 1}
		if err := m.Join(ctx, spec, "host:"+name, ""); err != nil {
			b.Fatal(err)
		}
		a := remotetest.New(spec)
		a.Exits = func(contract int64) float64 {
			if contract > ownerstest.Contract(int64(n-*loadOpen)) {
				return math.Inf(1)
			}
			return float64(*loadOpen) / loadOrders
		}
		all.Go(func() {
			seen := make(map[int64]bool)
			for was := 0; ctx.Err() == nil; {
				told := a.Tell(clock.Now())
				told.Have = a.Deal()
				for i := range told.Spans {
					s := &told.Spans[i]
					s.Used = slices.Clone(s.Used)
					for j := range s.Used {
						s.Used[j].Seconds -= min(s.Used[j].Seconds, 1e-4*rand.Float64())
					}
				}
				o, err := ways.Sync(ctx, name, told)
				if err != nil {
					continue
				}
				a.Obey(clock.Now(), o)
				for i := range o.Wanted {
					if w := &o.Wanted[i]; !seen[w.Name] {
						seen[w.Name] = true
						if at, ok := answered.LoadAndDelete(w.Contract); ok {
							deals.add(time.Since(at.(time.Time)).Seconds())
						}
					}
				}
				running.Add(int64(a.Running() - was))
				was = a.Running()
			}
		})
	}
	for range loadWatchers {
		all.Go(func() { ways.Watch(ctx) })
	}
	const readers = 4
	for range readers {
		all.Go(func() {
			t := time.NewTicker(time.Duration(readers / loadReads * 1e9))
			defer t.Stop()
			for ctx.Err() == nil {
				<-t.C
				if err := ways.Prices(ctx, LoadHost(rand.IntN(LoadHosts)), clock.Now()-60); err != nil && ctx.Err() == nil {
					b.Error(err)
				}
			}
		})
	}

	// Orders arrive at a fixed rate, whether or not earlier ones have been answered.
	w := &town{t: b}
	took, late := new(timed), 0.0
	var most, refused atomic.Int64
	var asking sync.WaitGroup
	meter.turns.all = nil
	cpu, at := processTime(), time.Now()
	for i := range n {
		order := w.orderUntil(fmt.Sprintf("order-%d", i), fmt.Sprintf("user:%d", i%3), "be", 1, 10, 6000, 0.0001, begun+long)
		time.Sleep(time.Until(at.Add(time.Duration(float64(i) / loadOrders * 1e9))))
		late = max(late, time.Since(at).Seconds()-float64(i)/loadOrders)
		most.Store(max(most.Load(), running.Load()))
		asking.Go(func() {
			sent := time.Now()
			a, err := ways.Submit(ctx, []byte(order.Order), []byte(order.Job))
			if err != nil || a.Verdict != "accept" {
				refused.Add(1)
				return
			}
			took.add(time.Since(sent).Seconds())
			answered.Store(a.Contract, sent)
		})
	}
	asking.Wait()
	spent := time.Since(at).Seconds()
	used := processTime() - cpu
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	turns := meter.turns.quantile(0.99)
	time.Sleep(time.Duration(float64(*loadOpen)/loadOrders*1e9) + 2*time.Second) // wait until other contracts have ended
	m.mu.RLock()
	quiet, since := m.log.seq, time.Now()
	m.mu.RUnlock()
	time.Sleep(time.Duration(*loadQuiet * 1e9))
	rested := time.Since(since).Seconds()
	stop()
	all.Wait()
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	again := time.Now()
	m = must(Open(filepath.Join(dir, "market"), conf, world))
	opened := time.Since(again).Seconds()
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	whole, later := logBytes(b, filepath.Join(dir, "market"), quiet)
	busy, rest := (whole-later)/spent, later/rested // bytes per second
	if refused.Load() > 0 {
		b.Errorf("%d orders were not accepted", refused.Load())
	}
	b.Logf("%d orders in %.1f s, the last %.2f s late; at most %d tasks at once", n, spent, late, most.Load())
	for _, row := range []struct {
		what, unit  string
		found, goal float64
	}{
		{"order, p50", "ms", 1e3 * took.quantile(0.5), 10}, {"order, p99", "ms", 1e3 * took.quantile(0.99), 60},
		{"order to its host, p99", "ms", 1e3 * deals.quantile(0.99), 50}, {"turn, p99", "ms", 1e3 * turns, 20},
		{"processors, hosts and clients among them", "cores", used / spent, 1}, {"memory, hosts and clients among it", "MB", float64(memory.Sys) / 1e6, 300},
		{"log, ten minutes of it and a day of tasks", "GB a day", (busy*loadBusy + rest*(86400-loadBusy)) / 1e9, 1},
		{"log, at this rate all day", "GB a day", busy / 1e9 * 86400, 1}, {"start", "s", opened, 3},
	} {
		b.Logf("%-42s %10.4g %-9s goal %5v  %.2f of it", row.what, row.found, row.unit, row.goal, row.found/row.goal)
	}
}

// processTime returns the processor time of this process in seconds.
func processTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// logBytes returns the size of a log in bytes, without checkpoints, whose number does not grow
// with time. Of the records, it includes only those after the last checkpoint.
func logBytes(b *testing.B, dir string, after int64) (all, later float64) {
	b.Helper()
	without := func(from, to []byte) {
		l := must(openLog(dir, nil, false, nil))
		err := l.db.DeleteRange(from, to, pebble.Sync)
		if err := errors.Join(err, l.db.Compact(b.Context(), []byte{0}, []byte{255}, true), l.db.Close()); err != nil {
			b.Fatal(err)
		}
	}
	without([]byte{checkpointTable}, []byte{checkpointTable + 1})
	all = folderBytes(b, dir)
	without([]byte{0}, key(recordTable, after+1))
	without([]byte{recordTable + 1}, []byte{255})
	return all, folderBytes(b, dir)
}

// folderBytes returns the size of the data in a Pebble folder in bytes.
func folderBytes(b testing.TB, dir string) (sum float64) {
	b.Helper()
	for _, e := range must(os.ReadDir(dir)) {
		if filepath.Ext(e.Name()) != ".log" { // Pebble reuses this file
			sum += float64(must(e.Info()).Size())
		}
	}
	return sum
}

// LoadHost returns the name of host number i.
func LoadHost(h int) string { return fmt.Sprintf("h%02d", h) }
