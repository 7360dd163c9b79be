package sched

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/availability"
)

// TestPool checks the order of idle hosts against a plain list: by the time at which they
// became idle, with ties by index, whatever happened in between.
func TestPool(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const n = 8
		p := NewPool(make([]*availability.History, n), false)
		type state struct {
			up    bool
			jobs  int
			since float64
		}
		var plain [n]state
		now := 0.0
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			now += float64(rapid.IntRange(0, 1).Draw(t, "later"))
			h := hosts.ID(rapid.IntRange(0, n-1).Draw(t, "host"))
			s := &plain[h]
			switch {
			case !s.up:
				s.up, s.since = true, now
				p.Rise(now, h)
			case s.jobs == 0 && rapid.Bool().Draw(t, "falls"):
				s.up = false
				p.Fall(h)
			case s.jobs > 0 && rapid.Bool().Draw(t, "ends"):
				if s.jobs--; s.jobs == 0 {
					s.since = now
				}
				p.End(now, h)
			default:
				s.jobs++
				p.Begin(h)
			}
			var want, got []hosts.ID
			up := 0
			for i, s := range plain {
				if s.up {
					up++
				}
				if s.up && s.jobs == 0 {
					want = append(want, hosts.ID(i))
				}
			}
			slices.SortFunc(want, func(a, b hosts.ID) int {
				return cmp.Or(cmp.Compare(plain[a].since, plain[b].since), cmp.Compare(a, b))
			})
			for h := p.firstIdle(); h != None; h = p.nextIdle(h) {
				got = append(got, h)
			}
			if !slices.Equal(got, want) || p.idle != len(want) || p.Available() != up {
				t.Fatalf("idle %v of %d, want %v of %d", got, p.Available(), want, up)
			}
		}
	})
}

// TestOwners checks that an owner uses the recorded load of its host, from the start of the
// record on.
func TestOwners(t *testing.T) {
	t.Parallel()
	h, err := availability.NewHistory("h", 1, []availability.Record{
		{Start: 0, End: 100, State: availability.Available, Load: 0.25}, {Start: 100, End: 200, State: availability.Available, Load: 0.5},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool([]*availability.History{h}, false)
	for _, c := range [][2]float64{{0, 0.25}, {99, 0.25}, {100, 0.5}, {150, 0.5}} {
		if got := p.load(c[0], 0); got != c[1] {
			t.Errorf("at %v: %v, want %v", c[0], got, c[1])
		}
	}
}
