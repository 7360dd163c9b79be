//go:build unix

package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// BenchmarkBatches compares full groups of transfers with a raw log that appends the hash of
// each entry and syncs once per group. It reports the ratios of elapsed time and of processor
// time, and the cost of hashing the leaves.
func BenchmarkBatches(b *testing.B) {
	const groups = 20
	for b.Loop() {
		j := create(b, filepath.Join(b.TempDir(), "bank"), Options{})
		l := bank.New(j)
		x, _ := l.Account("user:1")
		y, _ := l.Account("user:2")
		if err := l.Mint(0, x, bank.Micros(1e18)); err != nil {
			b.Fatal(err)
		}
		ours := measure(func() {
			for range groups {
				for range GroupSize {
					if err := l.Post(0, nil, bank.Posting{From: x, To: y, Amount: bank.Micros(5)}); err != nil {
						b.Fatal(err)
					}
				}
				if err := j.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
		closeJournal(b, j)

		f, err := vfs.Default.Create(filepath.Join(b.TempDir(), "log"), vfs.WriteCategoryUnspecified)
		if err != nil {
			b.Fatal(err)
		}
		entry := appendEntry(nil, &bank.Entry{Seq: 1e5, Kind: bank.Transfer, Contract: bank.NoContract, Moves: []bank.Move{{From: "user:1", To: "user:2", Amount: bank.Micros(5)}}})
		raw := measure(func() {
			var log []byte
			for range groups {
				log = log[:0]
				for range GroupSize {
					h := sha256.Sum256(entry)
					log = append(append(log, entry...), h[:]...)
				}
				if _, err := f.Write(log); err != nil {
					b.Fatal(err)
				}
				if err := f.SyncData(); err != nil {
					b.Fatal(err)
				}
			}
		})
		f.Close()
		hashing := measure(func() {
			leaf := NewLeaf(Genesis())
			for range LeafSize {
				leaf.b = appendStored(leaf.b, entry)
			}
			for range groups * GroupSize / LeafSize {
				h := sha256.Sum256(leaf.b)
				copy(leaf.b[1:], h[:])
			}
		})
		const n = groups * GroupSize
		b.ReportMetric(n/ours.wall.Seconds(), "transfers/s")
		b.ReportMetric(float64(ours.wall)/float64(raw.wall), "x-raw-log")
		b.ReportMetric(float64(ours.cpu)/float64(raw.cpu), "x-raw-log-cpu")
		b.ReportMetric(float64(ours.cpu)/n, "cpu-ns/transfer")
		b.ReportMetric(float64(hashing.cpu)/n, "hashing-ns/transfer")
	}
}

// A cost is an elapsed time and the processor time used in it.
type cost struct{ wall, cpu time.Duration }

// cpuTime returns the processor time used by this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// middle returns the cost whose time is the median.
func middle(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(a.wall, b.wall) })
	return costs[len(costs)/2]
}

func measure(f func()) cost {
	start, before := time.Now(), cpuTime()
	f()
	return cost{time.Since(start), cpuTime() - before}
}

// BenchmarkLoneClient reports a single client's latency per transfer as a multiple of the
// median latency of a raw write and sync.
func BenchmarkLoneClient(b *testing.B) {
	const n = 300
	median := func(f func()) float64 {
		var took []time.Duration
		for range n {
			start := time.Now()
			f()
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return float64(took[n/2])
	}
	for b.Loop() {
		j := create(b, filepath.Join(b.TempDir(), "bank"), Options{})
		s := NewSequencer(j, bank.New(j))
		ours := median(func() { do(b, s, transfer("", "mint", "user:a", 1)) })
		closeSequencer(b, s)

		f, err := vfs.Default.Create(filepath.Join(b.TempDir(), "log"), vfs.WriteCategoryUnspecified)
		if err != nil {
			b.Fatal(err)
		}
		raw := median(func() {
			if _, err := f.Write(make([]byte, 64)); err != nil {
				b.Fatal(err)
			}
			if err := f.SyncData(); err != nil {
				b.Fatal(err)
			}
		})
		f.Close()
		b.ReportMetric(ours/1e3, "µs")
		b.ReportMetric(ours/raw, "x-raw-sync")
	}
}

// BenchmarkTransfers reports the durable transfers per second of 256 clients, and the ratios to
// a single client and to a raw log that writes and syncs each transfer by itself. It also
// reports the transfers per group and the processor time per transfer, including that of the
// clients. The benchmark measures the three in turn and compares their medians, because the
// speed of disks varies.
func BenchmarkTransfers(b *testing.B) {
	const rounds, clients, n, alone = 11, 256, 256 * 40, 80
	e := transfer("", "user:a", "user:b", 1)
	open := func() (*Sequencer, *counted) {
		j := create(b, filepath.Join(b.TempDir(), "bank"), Options{})
		c := &counted{Backend: j.backend}
		j.backend = c
		s := NewSequencer(j, bank.New(j))
		do(b, s, transfer("", "mint", "user:a", 1e12))
		return s, c
	}
	work := func(s *Sequencer, clients, n int) {
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for range n / clients {
					if _, err := s.Do(context.Background(), e); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	for b.Loop() {
		s, groups := open()
		lone, _ := open()
		f, err := vfs.Default.Create(filepath.Join(b.TempDir(), "log"), vfs.WriteCategoryUnspecified)
		if err != nil {
			b.Fatal(err)
		}
		entry := appendEntry(nil, &e)
		var many, one, raw []cost
		for range rounds {
			one = append(one, measure(func() { work(lone, 1, alone) }))
			many = append(many, measure(func() { work(s, clients, n) }))
			raw = append(raw, measure(func() {
				for range alone {
					if _, err := f.Write(entry); err != nil {
						b.Fatal(err)
					}
					if err := f.SyncData(); err != nil {
						b.Fatal(err)
					}
				}
			}))
		}
		rate := n / middle(many).wall.Seconds()
		b.ReportMetric(rate, "transfers/s")
		b.ReportMetric(rate*middle(one).wall.Seconds()/alone, "x-one-client")
		b.ReportMetric(rate*middle(raw).wall.Seconds()/alone, "x-raw-write-and-sync")
		b.ReportMetric(rounds*n/float64(groups.groups), "transfers/group")
		b.ReportMetric(float64(middle(many).cpu)/n, "cpu-ns/transfer")
		closeSequencer(b, s)
		closeSequencer(b, lone)
		f.Close()
	}
}
