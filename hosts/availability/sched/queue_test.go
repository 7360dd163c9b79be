package sched

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/availability"
)

// picky takes idle hosts by index and refuses jobs by a rule.
type picky func(now, length float64) bool

func (m picky) Match(now, length float64, p *Pool) hosts.ID {
	if !m(now, length) {
		return None
	}
	for h := range hosts.ID(p.Len()) {
		if p.isIdle(h) {
			return h
		}
	}
	return None
}

func (picky) Piles() bool { return false }

// TestQueue compares the queue with a literal implementation of its rule: at a tick, go through
// the whole queue in order, skip jobs on hold, stop when no host is idle, and put refused jobs
// on hold at their positions.
func TestQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultQueue()
		o.Hold = float64(rapid.SampledFrom([]int{0, 60, 100, 300}).Draw(t, "hold"))
		o.Mode = rapid.SampledFrom([]string{"skip", "block"}).Draw(t, "mode")
		o.Resubmit = rapid.SampledFrom([]string{"tail", "head", "drop"}).Draw(t, "resubmit")
		q, err := NewQueue(o)
		if err != nil {
			t.Fatal(err)
		}
		const n = 3
		p := NewPool(make([]*availability.History, n), false)
		for h := range hosts.ID(n) {
			p.Rise(0, h)
		}
		salt := rapid.Uint64().Draw(t, "salt")
		accepts := picky(func(now, length float64) bool {
			return rand.New(rand.NewPCG(salt, uint64(now*1000+length))).IntN(3) > 0
		})

		type waiting struct {
			job   int32
			until float64
		}
		var plain []waiting
		var running [n]int32
		for h := range running {
			running[h] = -1
		}
		var blocked float64
		jobs := int32(0)
		for tick := range rapid.IntRange(0, 80).Draw(t, "ticks") {
			now := float64(tick) * 60
			for range rapid.IntRange(0, 2).Draw(t, "submitted") {
				q.Submit(jobs, float64(jobs))
				plain = append(plain, waiting{job: jobs})
				jobs++
			}
			for h := range running {
				job := running[h]
				if job < 0 || rapid.Bool().Draw(t, "goes on") {
					continue
				}
				running[h] = -1
				p.End(now, hosts.ID(h))
				if rapid.Bool().Draw(t, "done") {
					continue
				}
				back := q.Resubmit(job)
				if back != (o.Resubmit != "drop") {
					t.Fatalf("resubmit %s: waits again: %v", o.Resubmit, back)
				}
				switch o.Resubmit {
				case "tail":
					plain = append(plain, waiting{job: job})
				case "head":
					plain = append([]waiting{{job: job}}, plain...)
				}
			}

			var want []Placement
			if now >= blocked {
				for i := 0; i < len(plain); {
					if plain[i].until > now {
						i++
						continue
					}
					host := slices.Index(running[:], -1)
					if host < 0 {
						break
					}
					job := plain[i].job
					if !accepts(now, float64(job)) {
						if o.Mode == "block" {
							blocked = now + o.Hold
							break
						}
						plain[i].until = now + o.Hold
						i++
						continue
					}
					running[host] = job
					want = append(want, Placement{job, hosts.ID(host)})
					plain = slices.Delete(plain, i, i+1)
				}
			}
			got := q.Tick(now, p, accepts, nil)
			if !slices.Equal(got, want) {
				t.Fatalf("at %v: placed %v, want %v", now, got, want)
			}
			if q.Len() != len(plain) {
				t.Fatalf("at %v: %d wait, want %d", now, q.Len(), len(plain))
			}
		}
	})
}
