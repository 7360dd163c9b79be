package packing

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// crowd returns n random items whose times are integers, so that they often coincide.
func crowd(rng *rand.Rand, n int) []Item {
	items := make([]Item, n)
	for i := range items {
		from := float64(rng.IntN(3 * n))
		items[i] = Item{
			From:  from,
			To:    from + float64(1+rng.IntN(20)),
			Units: 1 + rng.IntN(8),
			Value: float64(1 + rng.IntN(100)),
		}
	}
	return items
}

// parts calls visit for each part of items, after setting the prices of the part.
func parts(items []Item, capacity int, visit func(s *Solver, bound float64)) {
	s := &Solver{capacity: int32(capacity), chosen: make([]bool, len(items))}
	s.admit(items)
	s.items = s.rows.build(s.items, s.capacity, s.chosen)
	for rest := s.items; len(rest) > 0; {
		n := s.part.cut(rest)
		visit(s, s.flow.price(&s.part, s.capacity))
		rest = rest[n:]
	}
}

// TestFractional checks that the bound of a flow equals the value of the linear program, as
// computed by gonum's simplex method.
func TestFractional(t *testing.T) {
	t.Parallel()
	seen := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		parts(crowd(rng, 1+rng.IntN(14)), 8+rng.IntN(8), func(s *Solver, bound float64) {
			seen++
			// Minimise -v x with slack: A x + y = capacity, x + z = 1.
			n, rows := len(s.part.items), int(s.part.rows)
			costs := make([]float64, 2*n+rows)
			a := mat.NewDense(rows+n, 2*n+rows, nil)
			limits := make([]float64, rows+n)
			for r := range rows {
				a.Set(r, n+r, 1)
				limits[r] = float64(s.capacity)
			}
			for i, it := range s.part.items {
				costs[i] = -it.value
				for r := it.first; r <= it.last; r++ {
					a.Set(int(r), i, float64(it.nodes))
				}
				a.Set(rows+i, i, 1)
				a.Set(rows+i, n+rows+i, 1)
				limits[rows+i] = 1
			}
			want, _, err := lp.Simplex(costs, a, limits, 1e-10, nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if math.Abs(bound+want) > 1e-7*bound {
				t.Fatalf("seed %d: bound %v, want %v", seed, bound, -want)
			}
		})
	}
	if seen < 150 {
		t.Errorf("only %d problems", seen)
	}
}

// TestDescent checks that the bound of a descent is valid, and that it is within 2 % of the
// flow's bound for large parts.
func TestDescent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 3))
		items := crowd(rng, 1000)
		for i := range items {
			length := items[i].To - items[i].From
			items[i].From = math.Floor(items[i].From / 12)
			items[i].To = items[i].From + length
			if seed%2 == 1 { // the job has a very low or a very high value
				items[i].Value = math.Pow(items[i].Value/20, 8)
			}
		}
		parts(items, 150, func(s *Solver, bound float64) {
			got := s.descent.price(&s.part, s.capacity)
			if got < bound*(1-1e-12) || len(s.part.items) > 500 && got > 1.02*bound {
				t.Errorf("seed %d: %d items have the bound %v, want a little above %v", seed, len(s.part.items), got, bound)
			}
			if again := s.part.assess(s.capacity); again != got {
				t.Errorf("seed %d: the prices left behind give %v, not %v", seed, again, got)
			}
		})
	}
}

// TestForesee checks that, from any row on, the best plan loses at least the computed bound,
// whatever the stretch and the number of states stored.
func TestForesee(t *testing.T) {
	t.Parallel()
	told := 0 // number of problems with a positive bound in several stretches
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 2))
		stretch, width := int32(1+rng.IntN(8)), []int{1, 2, 5, 50, 5000}[rng.IntN(5)]
		parts(crowd(rng, 25), 10+rng.IntN(8), func(s *Solver, bound float64) {
			p, d := &s.part, &s.program
			if s.solve(1<<20, 1<<40) != 0 {
				t.Fatalf("seed %d: not proven", seed)
			}
			for range 2 { // the second call must not depend on the first
				s.foresee(stretch, width, bound)
			}
			loss := 0.0
			for r := p.rows - 1; r >= 0; r-- {
				used := int32(0)
				for _, it := range p.items {
					chosen := s.chosen[it.at]
					if chosen && it.first <= r && r <= it.last {
						used += it.nodes
					}
					if it.first == r && chosen == (it.gain < 0) {
						loss += math.Abs(it.gain)
					}
				}
				loss += p.prices[r] * float64(s.capacity-used)
				if d.ahead[r] < d.ahead[r+1] || d.ahead[r] > loss+1e-9*bound {
					t.Fatalf("seed %d, row %d: foreseen %v, then %v; the best plan loses %v", seed, r, d.ahead[r], d.ahead[r+1], loss)
				}
			}
			f := d.run(0, p.rows, width, 2*bound)
			if f.loss < loss-1e-9*bound || min(f.loss, f.dropped) > loss+1e-9*bound {
				t.Fatalf("seed %d: found %v, gave up %v; the best plan loses %v", seed, f.loss, f.dropped, loss)
			}
			if last := p.rows - 1; d.ahead[0] > 1e-9*bound && d.ahead[0] > d.ahead[last] && d.ahead[last] > 0 {
				told++
			}
		})
	}
	if told < 50 {
		t.Errorf("something is foreseen in %d problems only", told)
	}
}
