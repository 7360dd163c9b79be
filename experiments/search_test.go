package experiments

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// TestLeast checks for random predicates that the number found succeeds and the next smaller
// number fails. If every larger number succeeds too, the number found must be the smallest one
// and reported as monotone. Up to 24 steps, it must be the smallest one in any case.
func TestLeast(t *testing.T) {
	t.Parallel()
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 2))
	missed := 0
	for trial := range 20000 {
		most := rng.Int64N(1 << (1 + rng.IntN(20)))
		from := 1 + rng.Int64N(2*most+1)
		to := int64(1 << 40)
		if rng.IntN(2) == 0 {
			to = from + rng.Int64N(most+1)
		}
		does := func(n int64) bool { return n >= from && n <= to }
		f, err := Least(most, func(n int64) (bool, error) {
			if n < 1 || n > most {
				t.Fatalf("seed %d, trial %d: tries %d of %d", seed, trial, n, most)
			}
			return does(n), nil
		})
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Steps > 0 && (!does(f.Steps) || does(f.Steps-1)):
			t.Fatalf("seed %d, trial %d: found %d, what does is %d to %d", seed, trial, f.Steps, from, to)
		case to > most && (f.Steps != from && from <= most || f.Steps != 0 && from > most || !f.Monotone):
			t.Fatalf("seed %d, trial %d: found %+v, what does is %d and more", seed, trial, f, from)
		case most <= singly && from <= most && (f.Steps != from || f.Monotone != (to >= most)):
			t.Fatalf("seed %d, trial %d: found %+v, what does is %d to %d", seed, trial, f, from, to)
		case f.Tried > 120:
			t.Fatalf("%d tries", f.Tried)
		case f.Steps == 0 && from <= most:
			missed++
		}
	}
	t.Logf("of 20000, half of them with an end, %d were missed", missed)
}

// TestLeastAgain checks that a wide range of successes before a later one is found and
// reported.
func TestLeastAgain(t *testing.T) {
	t.Parallel()
	f, err := Least(100000, func(n int64) (bool, error) { return n >= 300 && n < 1500 || n >= 3000, nil })
	if err != nil || f.Steps != 300 || f.Monotone {
		t.Errorf("found %+v, %v", f, err)
	}
}

// TestLeastFails checks that an error ends the search.
func TestLeastFails(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	n := 0
	_, err := Least(1000, func(int64) (bool, error) { n++; return n == 4, map[bool]error{true: failed}[n == 3] })
	if !errors.Is(err, failed) || n != 3 {
		t.Errorf("after %d: %v", n, err)
	}
}
