package clearing

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
)

type goldenKarma struct {
	Capacity int
	Alpha    float64
	Users    []string
	Credits  json.RawMessage // a number of credits, or a map from users to numbers of credits
	Demands  []map[string]int
}

type goldenQuanta struct {
	Guaranteed, Shared *int
	Quanta             []struct {
		Alloc   map[string]int
		Credits map[string]int64
	}
}

func TestGoldenKarma(t *testing.T) {
	golden(t, "karma", func(t *testing.T, in goldenKarma, want goldenQuanta) {
		k := NewKarma(KarmaOptions{Alpha: in.Alpha}).(*karma)
		credits := map[string]int64{}
		if json.Unmarshal(in.Credits, &k.Credits) != nil {
			if err := json.Unmarshal(in.Credits, &credits); err != nil {
				t.Fatal(err)
			}
		}
		users := slices.Sorted(slices.Values(in.Users))
		for i, u := range users {
			k.users = append(k.users, int32(i))
			if c, ok := credits[u]; ok {
				k.credits = append(k.credits, c)
			} else {
				k.credits = append(k.credits, k.Credits)
			}
		}
		r := new(Result)
		for q, demands := range in.Demands {
			b := &Book{Capacity: in.Capacity}
			for i, u := range users {
				b.Bids = append(b.Bids, Bid{User: int32(i), Units: demands[u]})
			}
			if err := k.Clear(b, r); err != nil {
				t.Fatal(err)
			}
			alloc, credits := map[string]int{}, map[string]int64{}
			for i, u := range users {
				alloc[u], credits[u] = r.Units[i], k.credits[i]
			}
			if w := want.Quanta[q]; !same(alloc, w.Alloc) || !same(credits, w.Credits) {
				t.Errorf("quantum %d: %v, credits %v, want %v, %v", q, alloc, credits, w.Alloc, w.Credits)
			}
		}
	})
}

type goldenSlices struct {
	Capacity int
	Users    []struct {
		Name   string
		Demand int
		Weight *float64
	}
}

func TestGoldenSlices(t *testing.T) {
	golden(t, "slices", func(t *testing.T, in goldenSlices, want struct{ Slices map[string]int }) {
		b, r, got := &Book{Capacity: in.Capacity}, new(Result), map[string]int{}
		for i, u := range in.Users {
			b.Bids = append(b.Bids, Bid{User: int32(i), Units: u.Demand})
		}
		weight := func(user int32) float64 {
			if w := in.Users[user].Weight; w != nil {
				return *w
			}
			return 1
		}
		if err := NewSlices(weight).Clear(b, r); err != nil {
			t.Fatal(err)
		}
		for i, u := range in.Users {
			got[u.Name] = r.Units[i]
		}
		if !same(got, want.Slices) {
			t.Errorf("slices %v, want %v", got, want.Slices)
		}
	})
}

// TestDivisions checks that karma and slices give no user more than it demands, and leave no
// unit idle that a user demands.
func TestDivisions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		k, s := NewKarma(KarmaOptions{Alpha: rng.Float64(), Credits: 1e9}).(*karma), NewSlices(func(int32) float64 { return 1 })
		capacity, n, r := 1+rng.IntN(12), 1+rng.IntN(5), new(Result)
		for range 10 {
			b, demand := &Book{Capacity: capacity}, 0
			for range rng.IntN(8) {
				b.Bids = append(b.Bids, Bid{User: int32(rng.IntN(n)), Units: rng.IntN(5)})
				demand += b.Bids[len(b.Bids)-1].Units
			}
			for _, m := range []Mechanism{k, s} {
				if err := m.Clear(b, r); err != nil {
					t.Fatal(err)
				}
				sum := 0
				for i, got := range r.Units {
					if sum += got; got > b.Bids[i].Units {
						t.Fatalf("%d units for a bid of %d", got, b.Bids[i].Units)
					}
				}
				if sum != min(demand, capacity) {
					t.Fatalf("%d units divided, want %d of %d", sum, demand, capacity)
				}
			}
		}
	}
}
