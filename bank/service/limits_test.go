package service

import "testing"

// TestBuckets checks that each client has its own rate, and a burst of one second.
func TestBuckets(t *testing.T) {
	t.Parallel()
	b := Buckets{Rate: 3}
	for _, c := range []struct {
		now  float64
		want int
	}{{0, 3}, {0, 0}, {1, 3}, {1.5, 1}, {100, 3}} {
		took := 0
		for range 100 {
			if b.Take("user:ann", c.now) {
				took++
			}
		}
		if took != c.want {
			t.Errorf("at %v s %d of 100, want %d", c.now, took, c.want)
		}
	}
	if !b.Take("user:bob", 0) {
		t.Error("another has less for it")
	}
}
