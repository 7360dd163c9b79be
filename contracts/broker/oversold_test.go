package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market"
)

// TestNeverOversold performs 100,000 random arrivals, ends and losses on 20 hosts of six
// resources, under all bidding strategies. It checks that all tasks on a host fit on it, that
// each price is the sum of the bids for its resource, and that exactly all resources of an
// empty host are free. It computes the sums from the requests, independently of the floor.
func TestNeverOversold(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 1))
	var priced []hosts.Kind
	for k := hosts.Memory; k < hosts.Countable+3; k++ {
		priced = append(priced, k)
	}
	c := Config{Payment: must(Payments().New("spot", nil)), Sharing: must(sharing.Table().New("auction", noOptions)), Window: 300, Ties: rand.New(rand.NewPCG(31, 2)), Spans: Spans{Resources: priced}}
	c.Availability = &floor.Availability{Leaving: floor.Resubmit}
	for h := range 20 {
		s := hosts.Spec{Name: fmt.Sprint("h", h), CPUs: pick(rng, 1.0, 4, 64), Speed: 1, Whole: h%5 == 0, Room: hosts.Resources{Memory: pick(rng, 4e9, 64e9), Disk: 1e12, Bandwidth: 125e6}}
		s.Room.Counts = [hosts.MaxCounts]int32{int32(rng.IntN(5)), int32(rng.IntN(3)), 7}
		c.Fleet = append(c.Fleet, sim.New(s))
	}
	f := new(floor.Floor)
	f.Reset(c.floor())
	var strategies []bidding.Strategy
	table := bidding.Table(rng)
	for _, name := range table.Names() {
		strategies = append(strategies, must(table.New(name, noOptions)))
	}
	type running struct {
		run int32
		r   *contracts.Request
		on  []contracts.Placement
	}
	var all []running
	placed, lost, whole := 0, 0, 0
	place := func(now float64, r *contracts.Request, again *int32) bool {
		on, why := strategies[rng.IntN(len(strategies))].Place(r, f, nil)
		if why != contracts.None {
			return false
		}
		var run int32
		if again != nil {
			run = *again
			must(0, f.PlaceAgain(now, run, on))
		} else {
			run = must(f.Place(now, r, hosts.Task{Work: math.Inf(1)}, on, math.Inf(1)))
		}
		placed++
		all = append(all, running{run, r, on})
		return true
	}
	check := func(h hosts.ID) {
		spec, held, prices := f.Spec(h), hosts.Resources{}, floor.Prices{}
		for i := range all {
			for _, pl := range all[i].on {
				if pl.Host != h {
					continue
				}
				n := all[i].r.Needs
				held.Memory, held.Disk, held.Bandwidth = held.Memory+n.Min.Memory, held.Disk+n.Min.Disk, held.Bandwidth+n.Min.Bandwidth
				for k := range held.Counts {
					held.Counts[k] += n.Min.Counts[k]
				}
				if spec.Whole {
					held.Cores += int32(n.Max.CPU)
					whole++
				}
				claims := [hosts.Kinds]float64{min(n.Max.CPU, spec.CPUs) / spec.CPUs}
				most := claims[hosts.CPU]
				for _, k := range priced {
					if x := n.Min.Of(k); x > 0 {
						claims[k] = x / spec.Room.Of(k)
						most = max(most, claims[k])
					}
				}
				for k, a := range claims {
					switch {
					case a == most:
						prices[k] += pl.Bid
					case a > 0:
						prices[k] += max(1, market.Rate(math.Floor(float64(pl.Bid)*(a/most))))
					}
				}
			}
		}
		if offers := spec.Offers(); !held.Fit(offers) {
			t.Fatalf("host %d: %+v held of %+v", h, held, offers)
		} else if room := f.Room(h); room != offers.Sub(held) {
			t.Fatalf("host %d: room %+v, want %+v", h, room, offers.Sub(held))
		}
		for k, want := range prices[:hosts.Countable+3] {
			if got := f.PriceOf(h, hosts.Kind(k)); got != want {
				t.Fatalf("host %d: price of kind %d is %d, want %d", h, k, got, want)
			}
		}
	}
	events := 100_000
	if testing.Short() {
		events = 10_000
	}
	for i := range events {
		now := float64(i)
		switch kind := rng.IntN(40); {
		case kind == 0: // a host leaves; the runs on it are placed again or end
			h := hosts.ID(rng.IntN(20))
			for _, e := range f.Gone(now, h) {
				if e.Kind != floor.Lost {
					continue
				}
				for j := range all {
					if all[j].run == e.Run {
						was := all[j]
						all = append(all[:j], all[j+1:]...)
						if lost++; !place(now, was.r, &was.run) {
							f.Remove(now, was.run)
						}
						break
					}
				}
			}
		case kind < 4:
			f.Came(now, hosts.ID(rng.IntN(20)))
		case kind < 21 && len(all) > 0:
			j := rng.IntN(len(all))
			f.Remove(now, all[j].run)
			all = append(all[:j], all[j+1:]...)
		default:
			r := &contracts.Request{ID: contracts.ID(i), Work: 1, Nodes: 1 + rng.IntN(3), SLA: contracts.SLA{Budget: bank.Micros(1000 + rng.Int64N(1e6)), Deadline: 100}}
			r.Needs.Max.CPU = pick(rng, 1.0, 1, 2, 4)
			r.Needs.Min.Memory, r.Needs.Min.Disk = pick(rng, 0, 1e9, 3e9), pick(rng, 0, 0, 5e11)
			r.Needs.Min.Bandwidth = pick(rng, 0, 0, 5e7)
			r.Needs.Min.Counts = [hosts.MaxCounts]int32{int32(rng.IntN(2)), int32(max(0, rng.IntN(4)-2)), int32(max(0, rng.IntN(4)-2))}
			r.Needs.Max.Resources = r.Needs.Min.Resources
			place(now, r, nil)
		}
		f.Next()
		check(hosts.ID(rng.IntN(20)))
	}
	for _, k := range all {
		f.Remove(float64(events), k.run)
	}
	all = nil
	for h := range hosts.ID(20) {
		check(h)
	}
	if placed < events/10 || lost < events/200 || whole == 0 {
		t.Errorf("%d placed, %d lost, %d on whole cores: too few to tell", placed, lost, whole)
	}
}
