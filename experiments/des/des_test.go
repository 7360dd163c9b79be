package des

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A ticks is a source that counts the times to which it is advanced.
type ticks struct {
	name  string
	every float64
	at    float64
	left  int
	seen  []float64
	log   *[]string
}

func (s *ticks) Next() float64 {
	if s.left == 0 {
		return math.Inf(1)
	}
	return s.at
}

func (s *ticks) Advance(now float64) error {
	s.seen = append(s.seen, now)
	if s.log != nil {
		*s.log = append(*s.log, s.name)
	}
	s.at, s.left = s.at+s.every, s.left-1
	return nil
}

// TestOrder checks that sources are advanced in the order of time up to the horizon, and in
// the given order if their times are equal.
func TestOrder(t *testing.T) {
	t.Parallel()
	var log []string
	a := &ticks{name: "a", every: 2, at: 2, left: 9, log: &log}
	b := &ticks{name: "b", every: 3, at: 3, left: 9, log: &log}
	if err := Run(context.Background(), new(Virtual), 6, a, b); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "a", "a", "b"}; !slices.Equal(log, want) {
		t.Errorf("advanced %v, want %v", log, want)
	}
}

// TestOrderIsKept checks the case that one source makes another source due at the current time.
// The other source must be advanced before the sources that follow it in the given order.
func TestOrderIsKept(t *testing.T) {
	t.Parallel()
	var log []string
	a := &ticks{name: "a", at: 1, left: 1, log: &log}
	b := &waker{ticks{name: "b", every: 9, at: 1, left: 1, log: &log}, a}
	c := &ticks{name: "c", every: 9, at: 1, left: 1, log: &log}
	if err := Run(context.Background(), new(Virtual), 6, a, b, c); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "a", "c"}; !slices.Equal(log, want) {
		t.Errorf("advanced %v, want %v", log, want)
	}
}

// A waker is a source that makes another source due when it is advanced.
type waker struct {
	ticks
	other *ticks
}

func (w *waker) Advance(now float64) error {
	w.other.left++
	return w.ticks.Advance(now)
}

// TestWallIsVirtual checks that a source sees the same times under both pacers.
func TestWallIsVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []Pacer{new(Virtual), Wall{Now: sinceNow()}} {
			s := &ticks{every: 60, at: 60, left: 3}
			if err := Run(context.Background(), p, 3600, s); err != nil {
				t.Fatal(err)
			}
			for i, at := range s.seen {
				if want := 60 * float64(i+1); math.Abs(at-want) > 1e-6 {
					t.Errorf("%T: instant %d at %v, want %v", p, i, at, want)
				}
			}
		}
	})
}

// TestStuck checks that a source whose next time does not advance ends the run.
func TestStuck(t *testing.T) {
	t.Parallel()
	if err := Run(context.Background(), new(Virtual), 10, &ticks{at: 1, left: 5}); err == nil {
		t.Error("a source stuck at 1 s went on")
	}
}

// TestCancelled checks that a run ends when its context ends, under both pacers.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range []Pacer{new(Virtual), Wall{Now: sinceNow()}} {
		s := &ticks{every: 1, at: 1, left: 1e6}
		if err := Run(ctx, p, 1e9, s); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: %v, want %v", p, err, context.Canceled)
		}
	}
}

// sinceNow returns a clock that starts at the time of the call.
func sinceNow() func() float64 {
	begin := time.Now()
	return func() float64 { return time.Since(begin).Seconds() }
}
