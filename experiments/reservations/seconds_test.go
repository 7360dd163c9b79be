package reservations

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/hosts/timetable"
)

// within returns the request of j, submitted up to one second earlier.
func (e *engine) within(j *Job, sooner float64) contracts.Request {
	r := e.request(j)
	r.Submit -= sooner
	r.SLA.Deadline += sooner
	r.Lead += sooner
	return r
}

// TestWithinSecond checks that a request submitted within a second has the same outcome as one
// submitted at the next second, on both kinds of clusters and with wrong estimates.
func TestWithinSecond(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 5))
		d := demand{jobs: 60, share: 0.7, laxity: 1, nodes: 6, clusters: 2, meanGap: 3, inexact: rng.IntN(2) == 0}
		o := standard()
		o.Preempt = rng.IntN(2) == 0
		whole := newEngine(t, d.config(t, "mli").Clusters, o, nil)
		parts := newEngine(t, d.config(t, "mli").Clusters, o, nil)
		sooner, last := 0.0, int64(-1)
		for _, j := range d.draw(seed) {
			j.Arrival, j.Earliest = j.Arrival+1, j.Earliest+1
			if j.Kind == timetable.Advance {
				j.Deadline++
			}
			if j.Arrival != last {
				sooner = 1
			}
			sooner, last = sooner*rng.Float64(), j.Arrival
			now := float64(j.Arrival)
			whole.ask(t, now, whole.request(&j), float64(j.Runtime))
			if d := parts.ask(t, now-sooner, parts.within(&j, sooner), float64(j.Runtime)); sooner > 0 && d.Verdict != contracts.Defer {
				t.Fatalf("job %d at %v: %v", j.ID, now-sooner, d.Verdict)
			}
		}
		whole.drain(t)
		parts.drain(t)
		a, b := whole.Ended(), parts.Ended()
		if len(a) != len(b) {
			t.Fatalf("%d contracts within a second, %d at the next", len(b), len(a))
		}
		for i := range a {
			if x, y := a[i], b[i]; x.ID != y.ID || x.Began != y.Began || x.Ended != y.Ended || x.Outcome != y.Outcome {
				t.Fatalf("%d: %v from %v to %v, at the next second %d: %v from %v to %v", y.ID, y.Outcome, y.Began, y.Ended, x.ID, x.Outcome, x.Began, x.Ended)
			}
		}
	})
}

// TestKeptWithinSeconds checks that with exact estimates, no accepted reservation is late
// or killed, whatever arrives or is cancelled within seconds, and that all start at whole
// seconds.
func TestKeptWithinSeconds(t *testing.T) {
	seeds(t, func(t *rapid.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 6))
		d := demand{jobs: 60, share: 0.8, laxity: 1, nodes: 6, clusters: 2, meanGap: 3}
		o := standard()
		o.Preempt = rng.IntN(2) == 0
		e := newEngine(t, d.config(t, "mli").Clusters, o, nil)
		now := 0.0
		for _, j := range d.draw(seed) {
			now = max(now, float64(j.Arrival)+rng.Float64())
			e.ask(t, now, e.within(&j, float64(j.Arrival)-now), float64(j.Runtime))
			if rng.IntN(3) == 0 {
				now += 3 * rng.Float64()
				if err := e.Advance(now); err != nil {
					t.Fatal(err)
				}
				_ = e.Cancel(now, contracts.ID(j.ID)) // ignore the error, because the contract may have ended
			}
		}
		e.drain(t)
		for _, c := range e.Ended() {
			if c.Outcome.Violated() || c.Began != math.Floor(c.Began) {
				t.Errorf("%d: %v from %v to %v, due %v", c.ID, c.Outcome, c.Began, c.Ended, c.Due())
			}
		}
	})
}
