package live

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/hosts/remote"
)

// TestRanks checks with random contracts that every node receives the addresses of all nodes,
// in the order of their numbers, before it starts. A contract gets the first four ports that
// are in the ranges of its hosts and unused there. The results must be the same after kills and
// in a replay of the log.
func TestRanks(t *testing.T) {
	t.Parallel()
	const seed, hosts = 3, 5
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newTown(t, "name: lab", hosts)
	offers := make(map[string]remote.Offer)
	for h := range hosts {
		name := fmt.Sprintf("h%02d", h)
		offers[name] = remote.Offer{Address: fmt.Sprintf("10.0.0.%d", h/2), Ports: [2]int32{2000 + int32(h), 2021}, Busy: []int32{2013}} // two hosts share each address
		w.agents[h].Offer = offers[name]
	}
	w.pass(1)
	for _, a := range w.agents {
		a.Exits = func(int64) float64 { return 5 }
	}
	job := order.Text(&remote.Job{Command: []string{"true"}})
	shared, without, full := 0, 0, 0
	for n := range 60 {
		nodes := 1 + rng.IntN(3)
		s := w.sign(fmt.Sprint(n), "user:0", 9000, &order.Terms{Class: "be", Nodes: nodes, CPUs: 1, Work: 5 + 20*rng.Float64(), Deadline: 60, Budget: bank.Micros(20_000)}, job)
		w.turn(message{Submit: &s})
		if n%7 == 0 {
			w.crash()
		}
		used := make(map[string]int64) // contract that uses each address and port
		seen := make(map[int64][]remote.Wanted)
		where := make(map[int64][]string)
		for h := range hosts {
			name := fmt.Sprintf("h%02d", h)
			for _, one := range w.orders(name).Wanted {
				seen[one.Contract], where[one.Contract] = append(seen[one.Contract], one), append(where[one.Contract], name)
			}
		}
		for id, all := range seen {
			first := &all[0]
			if first.Nodes == 1 {
				if without++; first.Peers != nil || first.Port != 0 {
					t.Errorf("%d has one node, and peers %v, port %d", Short(id), first.Peers, first.Port)
				}
				continue
			}
			for i := range all {
				one, offer := &all[i], offers[where[id][i]]
				if !slices.Equal(one.Peers, first.Peers) || len(one.Peers) != int(one.Nodes) || one.Port != first.Port || one.Peers[one.Node] != offer.Address {
					t.Fatalf("node %d of %d at %s: peers %v, port %d; node %d: %v, %d", one.Node, Short(id), offer.Address, one.Peers, one.Port, first.Node, first.Peers, first.Port)
				}
				if full++; one.Port == 0 {
					continue
				}
				full--
				if one.Port < offer.Ports[0] || one.Port+3 > offer.Ports[1] || one.Port <= 2013 && one.Port+3 >= 2013 {
					t.Errorf("port %d on %s, which offers %v", one.Port, where[id][i], offer)
				}
				for p := range int32(remote.BlockPorts) {
					key := fmt.Sprint(offer.Address, " ", one.Port+p)
					if was, is := used[key]; is && was != id {
						t.Errorf("%s is used by %d and %d", key, Short(was), Short(id))
					} else if is {
						shared++ // two nodes of the contract have the same address
					}
					used[key] = id
				}
			}
		}
		w.pass(rng.IntN(6))
	}
	if shared == 0 || without == 0 || full == 0 {
		t.Errorf("seed %d: %d, %d and %d cases: too few to tell", seed, shared, without, full)
	}
	w.check(1)
}

// TestReach checks that a market ignores invalid addresses and ports in an offer.
func TestReach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		offer remote.Offer
		want  reach
	}{
		{remote.Offer{}, reach{}},
		{remote.Offer{Address: "fe80::1%eth0", Ports: [2]int32{2000, 2003}, Busy: []int32{1, 2001}}, reach{Address: "fe80::1%eth0", Ports: [2]int32{2000, 2003}, Busy: []int32{2001}}},
		{remote.Offer{Address: "a\nb", Ports: [2]int32{80, 90}, Busy: []int32{85}}, reach{}},
		{remote.Offer{Address: "node-1.lab_x", Ports: [2]int32{2000, 70000}}, reach{Address: "node-1.lab_x"}},
		{remote.Offer{Address: "$(id)", Ports: [2]int32{2003, 2000}}, reach{}},
	} {
		if got := reachOf("", &c.offer); !got.same(&c.want) {
			t.Errorf("what no host can mean: %+v: %+v, want %+v", c.offer, got, c.want)
		}
	}
}
