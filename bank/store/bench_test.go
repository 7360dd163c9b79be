package store

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bourse/bank"
)

// BenchmarkBatches reports how many times the time of a raw log, which appends the
// hash of each entry and syncs once a group, full groups of transfers take.
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
		start := time.Now()
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
		ours := time.Since(start)
		closeJournal(b, j)

		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		entry := appendEntry(nil, &bank.Entry{Seq: 1e5, Kind: bank.Transfer, Contract: bank.NoContract, Moves: []bank.Move{{From: "user:1", To: "user:2", Amount: bank.Micros(5)}}})
		start = time.Now()
		for range groups {
			var log []byte
			for range GroupSize {
				h := sha256.Sum256(entry)
				log = append(append(log, entry...), h[:]...)
			}
			if _, err := f.Write(log); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
		raw := time.Since(start)
		f.Close()
		b.ReportMetric(groups*GroupSize/ours.Seconds(), "transfers/s")
		b.ReportMetric(float64(ours)/float64(raw), "x-raw-log")
	}
}

// BenchmarkLoneClient reports how many times the median of a raw write and sync a
// client alone waits for a transfer.
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

		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		raw := median(func() {
			if _, err := f.Write(make([]byte, 64)); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		})
		f.Close()
		b.ReportMetric(ours/1e3, "µs")
		b.ReportMetric(ours/raw, "x-raw-sync")
	}
}
