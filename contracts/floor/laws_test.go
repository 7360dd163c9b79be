package floor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/memo"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// A site is a floor on which random actions are performed, with independent counts of the work
// and charges of each node.
type site struct {
	*Floor
	now        float64
	open       []int32 // runs on the floor
	gone       []int32 // runs that must be placed again
	done, owed map[int32][]float64
	lost       map[int32]float64 // lost work of each node
	id         contracts.ID
	log        []string
}

func newSite(t *rapid.T) *site {
	speeds := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 0.5}), 1, 4).Draw(t, "speeds")
	c := hostConfig(auction, speeds...)
	if rapid.Bool().Draw(t, "hosts come and go") {
		c.Availability = &Availability{
			Leaving: Leaving(rapid.IntRange(0, 2).Draw(t, "leaving")),
			Charged: rapid.Bool().Draw(t, "charged"),
		}
		for range speeds {
			var at []float64
			for now := 0.0; now < 200; {
				now += rapid.Float64Range(1, 40).Draw(t, "span")
				at = append(at, now)
			}
			c.Availability.Histories = append(c.Availability.Histories, history(at[:len(at)/2*2]...))
		}
	}
	return &site{Floor: open(c), done: map[int32][]float64{}, owed: map[int32][]float64{}, lost: map[int32]float64{}}
}

// pass counts the work and charges until the given time, and checks that shares follow eq. 4:
// each host is allocated completely in proportion to bids, or not at all if it is absent.
func (s *site) pass(t *rapid.T, until float64) {
	dt := until - s.now
	if s.now = until; dt == 0 {
		return // there are more events at this time
	}
	for h := range hosts.ID(s.Fleet()) {
		rate, price := 0.0, market.Rate(0)
		for _, a := range s.On(h) {
			s.done[a.Contract][a.Node] += a.Rate * dt
			s.owed[a.Contract][a.Node] += a.Paying * dt
			rate, price = rate+a.Rate, price+a.Bid
			want := s.Capacity(h) * a.Bid.Float64() / s.Price(h).Float64()
			if s.Unavailable(h) {
				want = 0
			}
			if !(math.Abs(a.Rate-want) <= 1e-12) {
				t.Fatalf("a bid of %v of %v gets %v of %v", a.Bid, s.Price(h), a.Rate, s.Capacity(h))
			}
		}
		if len(s.On(h)) > 0 && !s.Unavailable(h) && math.Abs(rate-s.Capacity(h)) > 1e-12 {
			t.Fatalf("%v of %v is given out", rate, s.Capacity(h))
		}
		if price != s.Price(h) {
			t.Fatalf("bids of %v, and a price of %v", price, s.Price(h))
		}
	}
}

// end checks that the work and charges of run i equal the independent counts.
func (s *site) end(t *rapid.T, i int32, c *contracts.Contract, done float64) {
	sum := 0.0
	for n, pl := range c.Placements {
		if !near(pl.Done, s.done[i][n]) || !near(pl.Owed, s.owed[i][n]) {
			t.Fatalf("node %d of run %d did %v and accrued %v, want %v and %v", n, i, pl.Done, pl.Owed, s.done[i][n], s.owed[i][n])
		}
		sum += pl.Done
	}
	if !near(sum, done) || !near(c.Wasted, s.lost[i]) {
		t.Fatalf("run %d did %v and lost %v, want %v and %v", i, sum, c.Wasted, done, s.lost[i])
	}
	for k, j := range s.open {
		if i == j {
			s.open = append(s.open[:k], s.open[k+1:]...)
			break
		}
	}
	s.log = append(s.log, fmt.Sprint(i, *c))
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// where draws at most n available hosts.
func (s *site) where(r *contracts.Request) (out []contracts.Placement) {
	for k, h := range s.Cheapest(r, nil) {
		out = append(out, contracts.Placement{Host: h, Bid: market.Rate(1+k) * dollar / 4})
	}
	return out
}

// begin starts to count for run i.
func (s *site) begin(i int32, nodes int) {
	s.done[i], s.owed[i] = make([]float64, nodes), make([]float64, nodes)
}

// step performs one random action.
func (s *site) step(t *rapid.T, what, nodes int, work float64) {
	switch at := s.Next(); {
	case what == 0: // place one more run
		r := request(s.id, nodes, work > 20)
		s.id++
		if to := s.where(r); len(to) == nodes {
			i := must(s.Place(s.now, r, hosts.Task{Work: work}, to, s.now+3*work))
			s.begin(i, nodes)
			s.lost[i] = 0
			s.open = append(s.open, i)
		}
	case what == 1 && len(s.gone) > 0: // place a run again
		i := s.gone[0]
		if to := s.where(&s.runs[i].Request); len(to) == s.runs[i].Nodes {
			if err := s.PlaceAgain(s.now, i, to); err != nil {
				t.Fatal(err)
			}
			s.begin(i, len(to))
			s.gone, s.open = s.gone[1:], append(s.open, i)
		}
	case what == 2 && len(s.open) > 0: // remove a run
		i := s.open[nodes%len(s.open)]
		c := s.Remove(s.now, i)
		s.end(t, i, c, c.Done)
	case what == 3: // Time passes without an event.
		s.pass(t, min(s.now+work/10, at))
		s.MoveTo(s.now)
	case !math.IsInf(at, 1):
		s.pass(t, at)
		for _, e := range s.Advance(at) {
			s.happened(t, e)
		}
	}
}

// happened records e in the log.
func (s *site) happened(t *rapid.T, e Event) {
	s.log = append(s.log, fmt.Sprint(s.now, e))
	if e.Kind >= Came {
		if s.Unavailable(e.Host) != (e.Kind == Gone) {
			t.Fatalf("%v, and away %v", e, s.Unavailable(e.Host))
		}
		return
	}
	c := s.Contract(e.Run)
	switch e.Kind {
	case Done:
		s.end(t, e.Run, c, s.runs[e.Run].total())
	case Expired:
		for k, i := range s.gone {
			if i == e.Run {
				s.gone = append(s.gone[:k], s.gone[k+1:]...)
				break
			}
		}
		done := s.Extend(e.Run, s.now)
		c := s.Remove(s.now, e.Run)
		if !c.PerHost && !near(done, c.Done) {
			t.Fatalf("run %d did %v until its limit, and %v", e.Run, done, c.Done)
		}
		s.end(t, e.Run, c, c.Done)
	case Lost:
		for n := range s.done[e.Run] {
			s.lost[e.Run] += s.done[e.Run][n]
			s.done[e.Run][n], s.owed[e.Run][n] = 0, 0
		}
		for k, i := range s.open {
			if i == e.Run {
				s.open = append(s.open[:k], s.open[k+1:]...)
				break
			}
		}
		s.gone = append(s.gone, e.Run)
	case Left, Broken:
		for n, pl := range c.Placements {
			if pl.Left && pl.Done == 0 && s.done[e.Run][n] > 0 { // the node's work was lost
				s.lost[e.Run] += s.done[e.Run][n]
				if s.done[e.Run][n] = 0; !s.Availability.Charged {
					s.owed[e.Run][n] = 0
				}
			}
		}
		if e.Kind == Broken {
			s.end(t, e.Run, c, c.Done)
		}
	}
}

// TestMetering checks work and charges for random runs on random hosts that may come and go.
// After any actions and events, each node has done the work of its shares and accrued the
// charges for that time, within rounding. Each host is allocated completely in proportion to
// bids, and its price is the sum of the bids.
func TestMetering(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSite(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s.step(t, rapid.IntRange(0, 6).Draw(t, "what"), rapid.IntRange(1, 2).Draw(t, "nodes"), rapid.Float64Range(1, 40).Draw(t, "work"))
		}
	})
}

// TestMemo checks that a floor recalled from a memo, in the memory of a floor with other runs,
// continues like the original: events, times, work and charges are the same to the last bit.
func TestMemo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, other := newSite(t), newSite(t)
		drawn := func(s ...*site) {
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				what, nodes, work := rapid.IntRange(0, 6).Draw(t, "what"), rapid.IntRange(1, 2).Draw(t, "nodes"), rapid.Float64Range(1, 40).Draw(t, "work")
				for _, s := range s {
					s.step(t, what, nodes, work)
				}
			}
		}
		drawn(s)
		drawn(other)
		kept := &struct {
			State
			Machines   []hosts.Machine
			ties       *rand.Rand
			open, gone []int32
			done, owed map[int32][]float64
			lost       map[int32]float64
		}{s.Memo(), s.Machines, s.Ties, s.open, s.gone, s.done, s.owed, s.lost}
		kept = memo.Copy(kept, reflect.TypeFor[availability.History]())
		c := s.Config
		c.Machines, c.Ties = kept.Machines, kept.ties
		copied := &site{Floor: other.Floor, now: s.now, open: kept.open, gone: kept.gone, done: kept.done, owed: kept.owed, lost: kept.lost, id: s.id}
		copied.Recall(c, kept.State)
		s.log = nil
		drawn(s, copied)
		if got, want := fmt.Sprint(copied.log, copied.Next(), copied.On(0)), fmt.Sprint(s.log, s.Next(), s.On(0)); got != want {
			t.Fatalf("recalled: %s\nwant: %s", got, want)
		}
	})
}
