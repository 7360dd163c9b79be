package broker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/sim"
	"bourse/market"
)

// A goldenHost is a host in the golden cases of several resources.
type goldenHost struct {
	CPUs, Cap, Memory, Disk, Bandwidth float64
	Countables                         map[string]int32
	Priced                             []string           // resources with a price; nil means all resources that the host has
	Floor                              map[string]float64 // $ per second and unit
	Whole                              bool
}

// A goldenTask is a task or a request in these cases.
type goldenTask struct {
	ID, Nodes                                      int
	Do                                             string
	Bid                                            market.Rate
	Limit, Arrival, Work, Deadline, Budget, MinCPU float64
	Holds                                          map[string]float64
}

// A naming lists the names of kinds of resources; a name's index is the number of its kind.
type naming []string

// kinds returns the kinds of countable resources of the hosts.
func kinds(of []goldenHost) naming {
	counts := map[string]bool{}
	for _, h := range of {
		for name := range h.Countables {
			counts[name] = true
		}
	}
	return append(naming{"cpu", "memory", "disk", "bandwidth"}, slices.Sorted(maps.Keys(counts))...)
}

func (n naming) kind(name string) hosts.Kind { return hosts.Kind(slices.Index(n, name)) }

// spec returns the specification of h.
func (n naming) spec(name string, h *goldenHost) hosts.Spec {
	s := hosts.Spec{Name: name, CPUs: h.CPUs, Speed: 1, Cap: h.Cap, Whole: h.Whole, Room: hosts.Resources{Memory: h.Memory, Disk: h.Disk, Bandwidth: h.Bandwidth}}
	for name, units := range h.Countables {
		s.Room.Counts[n.kind(name)-hosts.Countable] = units
	}
	for name, price := range h.Floor {
		s.Floor[n.kind(name)] = price
	}
	return s
}

// priced returns the kinds of held resources that have a price: the listed kinds, or all kinds
// that a host has.
func (n naming) priced(of []goldenHost) (all []hosts.Kind) {
	for k := hosts.Memory; int(k) < len(n); k++ {
		if slices.ContainsFunc(of, func(h goldenHost) bool {
			s := n.spec("", &h)
			return s.Room.Of(k) > 0 && (h.Priced == nil || slices.Contains(h.Priced, n[k]))
		}) {
			all = append(all, k)
		}
	}
	return all
}

// needs returns the resources that a node of t needs.
func (n naming) needs(t *goldenTask) (r contracts.Requirement) {
	for name, x := range t.Holds {
		switch k := n.kind(name); k {
		case hosts.Memory:
			r.Min.Memory = x
		case hosts.Disk:
			r.Min.Disk = x
		case hosts.Bandwidth:
			r.Min.Bandwidth = x
		default:
			r.Min.Counts[k-hosts.Countable] = int32(x)
		}
	}
	r.Max.Resources = r.Min.Resources
	r.Min.CPU, r.Max.CPU = t.MinCPU, t.Limit
	return r
}

// goldenCases calls run with each case of a kind in testdata, or in the folder that
// BOURSE_GOLDEN_RESOURCES names.
func goldenCases[In, Out any](t *testing.T, kind string, run func(t *testing.T, in *In, want *Out)) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("BOURSE_GOLDEN_RESOURCES"), "testdata/resources"), kind+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID     string
			Input  In
			Expect Out
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			run(t, &c.Input, &c.Expect)
		})
	}
}

// alike reports whether a and b are equal within the tolerance of the cases.
func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1e-9, math.Abs(a), math.Abs(b)) }

// dealt returns a floor of one host with the given tasks under one payment rule.
func dealt(host *goldenHost, tasks []goldenTask, rule string) *floor.Floor {
	names := kinds([]goldenHost{*host})
	c := Config{Payment: must(Payments().New(rule, nil)), Spans: Spans{Resources: names.priced([]goldenHost{*host})}, Fleet: []hosts.Machine{sim.New(names.spec("h", host))},
		Sharing: must(sharing.Table().New("auction", noOptions)), Window: 300, Ties: rand.New(rand.NewPCG(1, 2))}
	f := new(floor.Floor)
	f.Reset(c.floor())
	for i := range tasks {
		t := &tasks[i]
		r := contracts.Request{ID: contracts.ID(i), Nodes: 1, Needs: names.needs(t)}
		must(f.Place(0, &r, hosts.Task{Work: math.Inf(1)}, []contracts.Placement{{Bid: t.Bid}}, math.Inf(1)))
	}
	f.Next()
	return f
}

// TestDealt checks the dominant resources, bids, prices, processors and charges of section 2 of the
// specification of several resources.
func TestDealt(t *testing.T) {
	type input struct {
		Host  goldenHost
		Tasks []goldenTask
		Rules []string
	}
	type output struct {
		Dominant   []string
		Bids       []map[string]market.Rate
		Prices     map[string]market.Rate
		Processors []float64
		Charges    map[string][]float64
	}
	goldenCases(t, "deal", func(t *testing.T, in *input, want *output) {
		names := kinds([]goldenHost{in.Host})
		for _, rule := range in.Rules {
			f := dealt(&in.Host, in.Tasks, rule)
			prices := map[string]market.Rate{"cpu": f.Price(0)}
			for _, k := range f.Priced() {
				prices[names[k]] = f.PriceOf(0, k)
			}
			if !maps.Equal(prices, want.Prices) {
				t.Errorf("prices %v, want %v", prices, want.Prices)
			}
			for i, s := range f.On(0) {
				dominant, bids := "cpu", map[string]market.Rate{"cpu": s.Bid}
				if v := s.Vector; v != nil {
					dominant = names[v.Dominant]
					for k, b := range v.Bids {
						if b > 0 {
							bids[names[k]] = b
						}
					}
				}
				if dominant != want.Dominant[i] || !maps.Equal(bids, want.Bids[i]) {
					t.Errorf("task %d: bids %v, most of %s, want %v, most of %s", i, bids, dominant, want.Bids[i], want.Dominant[i])
				}
				if !alike(s.Rate, want.Processors[i]) || !alike(s.Paying, want.Charges[rule][i]) {
					t.Errorf("%s, task %d: %v processors for $%v/s, want %v for $%v/s", rule, i, s.Rate, s.Paying, want.Processors[i], want.Charges[rule][i])
				}
			}
		}
	})
}

// lowest is a source of random numbers that always returns the lowest number.
type lowest struct{}

func (lowest) Uint64() uint64 { return 1 << 33 }

// bids returns a request with the bid and the nodes of t.
func (n naming) bids(t *goldenTask) *contracts.Request {
	r := &contracts.Request{ID: contracts.ID(t.ID), Nodes: max(1, t.Nodes), Work: 1, Needs: n.needs(t)}
	r.SLA = contracts.SLA{Budget: bank.Micros(int64(t.Bid) * int64(r.Nodes)), Deadline: 1000}
	return r
}

// TestPlaced checks which hosts the strategy cheapest chooses, the reason if it finds none, and
// the remaining free resources.
func TestPlaced(t *testing.T) {
	type input struct {
		Hosts  []goldenHost
		Events []goldenTask
	}
	type output struct {
		Events []struct {
			Hosts  []hosts.ID
			Reason contracts.Reason
			Room   []map[string]float64
		}
	}
	goldenCases(t, "place", func(t *testing.T, in *input, want *output) {
		names := kinds(in.Hosts)
		c := Config{Payment: must(Payments().New("spot", nil)), Spans: Spans{Resources: names.priced(in.Hosts)}, Sharing: must(sharing.Table().New("auction", noOptions)), Window: 300, Ties: rand.New(lowest{})}
		for h := range in.Hosts {
			c.Fleet = append(c.Fleet, sim.New(names.spec(fmt.Sprint("h", h), &in.Hosts[h])))
		}
		f := new(floor.Floor)
		f.Reset(c.floor())
		place, runs := must(bidding.Table(nil).New("cheapest", noOptions)), map[int]int32{}
		for i := range in.Events {
			e, is, now := &in.Events[i], &want.Events[i], float64(i)
			if run, ok := runs[e.ID]; e.Do == "end" {
				if ok {
					f.Remove(now, run)
				}
			} else {
				r := names.bids(e)
				on, why := place.Place(r, f, nil)
				chosen := []hosts.ID{}
				for _, pl := range on {
					chosen = append(chosen, pl.Host)
				}
				if slices.Sort(chosen); !slices.Equal(chosen, is.Hosts) || why != is.Reason {
					t.Fatalf("event %d: hosts %v, reason %q, want %v, %q", i, chosen, why, is.Hosts, is.Reason)
				}
				if len(on) > 0 {
					runs[e.ID] = must(f.Place(now, r, hosts.Task{Work: math.Inf(1)}, on, math.Inf(1)))
				}
			}
			for h, room := range is.Room {
				left := f.Room(hosts.ID(h))
				for name, want := range room {
					got := left.Of(names.kind(name))
					if name == "cpu" {
						got = float64(left.Cores)
					}
					if got != want {
						t.Errorf("event %d: host %d has %v left of %s, want %v", i, h, got, name, want)
					}
				}
			}
		}
	})
}

// TestRun checks the ends, the work and the payments of jobs on a host of several resources.
// The cases round half a micro-dollar up, but the market rounds half to even, so a payment may
// be one micro-dollar lower.
func TestRun(t *testing.T) {
	type input struct {
		Host goldenHost
		Jobs []goldenTask
		Rule string
	}
	type output struct {
		Jobs map[int]struct {
			Done, End float64
			Paid      int64
		}
	}
	goldenCases(t, "run", func(t *testing.T, in *input, want *output) {
		names, l := kinds([]goldenHost{in.Host}), bank.New(nil)
		c := Config{
			Fleet: []hosts.Machine{sim.New(names.spec("h", &in.Host))}, Owners: []bank.Account{must(l.Account("host"))}, Provider: must(l.Account("provider")), Teller: l,
			Policy:  must(policies.Table(must(bidding.Table(nil).New("cheapest", noOptions)), nil).New("be", noOptions)),
			Payment: must(Payments().New(in.Rule, nil)), Sharing: must(sharing.Table().New("auction", noOptions)), Window: 300, Ties: rand.New(rand.NewPCG(1, 2)),
			Spans: Spans{Resources: names.priced([]goldenHost{in.Host})},
		}
		user := must(l.Account("user"))
		must(0, l.Mint(0, user, bank.Micros(1e9)))
		b := New(c)
		for i := range in.Jobs {
			j := &in.Jobs[i]
			must(0, b.Advance(j.Arrival))
			r := &contracts.Request{ID: contracts.ID(j.ID), Owner: user, Submit: j.Arrival, Work: j.Work, Nodes: 1, Needs: names.needs(j), SLA: contracts.SLA{Budget: bank.Micros(int64(j.Budget)), Deadline: j.Deadline}}
			if got := r.NodeRate(); got != j.Bid {
				t.Fatalf("job %d bids %v, want %v", j.ID, got, j.Bid)
			}
			must(b.Submit(j.Arrival, r, hosts.Task{Work: j.Work}))
		}
		for !b.Idle() {
			must(0, b.Advance(b.Next()))
		}
		for _, e := range b.Ended() {
			if is := want.Jobs[int(e.ID)]; !alike(e.Done, is.Done) || !alike(e.Ended, is.End) || math.Abs(float64(e.Paid.Micros()-is.Paid)) > 1 {
				t.Errorf("job %d: %v done at %v s for %d, want %v at %v s for %d", e.ID, e.Done, e.Ended, e.Paid.Micros(), is.Done, is.End, is.Paid)
			}
		}
		if len(b.Ended()) != len(want.Jobs) {
			t.Errorf("%d contracts, want %d", len(b.Ended()), len(want.Jobs))
		}
	})
}

// drawnHost draws a host with memory and GPUs, and tasks that hold some of both or, if they are plain,
// only processors.
func drawnHost(rng *rand.Rand, plain bool) (h goldenHost, tasks []goldenTask) {
	h = goldenHost{CPUs: pick(rng, 1.0, 2, 7.3, 64), Cap: pick(rng, 0, 1, 2.5), Memory: 64e9, Countables: map[string]int32{"gpu": 8}}
	for i := range 1 + rng.IntN(8) {
		t := goldenTask{ID: i, Bid: 1 + market.Rate(rng.Int64N(pick(rng, int64(5), 1e4, 1e9))), Limit: pick(rng, 0, 0.5, 1, 4.0)}
		if !plain {
			t.Holds = map[string]float64{"memory": float64(rng.IntN(8)) * 1e9, "gpu": float64(rng.IntN(2))}
		}
		tasks = append(tasks, t)
	}
	return h, tasks
}

// paid returns the processors of each task on a host and its charge.
func paid(f *floor.Floor) (rates, charges []float64) {
	for _, s := range f.On(0) {
		rates, charges = append(rates, s.Rate), append(charges, s.Paying)
	}
	return rates, charges
}

// TestLaws checks the laws of section 2 on random hosts, under every payment rule. If tasks use
// only processors, prices, processors and charges are exactly the same as without other priced
// resources. If all tasks claim resources in the same proportions, their memory changes
// nothing. If all tasks claim a smaller fraction of memory than of processors, no share
// changes. A charge is at least the lower of the bid and the floor price, and at most the bid.
func TestLaws(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 21))
		rule := pick(rng, "spot", "usage", "bid", "admission", "scarce", "resource")
		h, tasks := drawnHost(rng, true)
		rates, charges := paid(dealt(&h, tasks, rule))
		h.Priced = []string{}
		if r, c := paid(dealt(&h, tasks, rule)); !slices.Equal(r, rates) || !slices.Equal(c, charges) {
			t.Fatalf("seed %d, %s: processors %v for %v, want %v for %v", seed, rule, rates, charges, r, c)
		}
		h.Priced, h.Cap, h.Countables = nil, 0, nil
		for _, c := range []struct{ cpu, memory float64 }{{0.125, 0.125}, {0.125, 0.0625}, {0.5, 0.125}} {
			if rule == "scarce" {
				break // scarce omits only the term of processors
			}
			for i := range tasks {
				tasks[i].Limit, tasks[i].Holds = h.CPUs*c.cpu, nil
			}
			rates, charges := paid(dealt(&h, tasks, rule))
			for i := range tasks {
				tasks[i].Holds = map[string]float64{"memory": h.Memory * c.memory}
			}
			f := dealt(&h, tasks, rule)
			if f.On(0)[0].Vector == nil {
				t.Fatalf("seed %d: a task has no vector", seed)
			}
			r, p := paid(f)
			for i := range r {
				if !alike(r[i], rates[i]) || c.cpu == c.memory && !alike(p[i], charges[i]) {
					t.Fatalf("seed %d, %s, %v: task %d has %v processors for $%v/s, want %v for $%v/s", seed, rule, c, i, r[i], p[i], rates[i], charges[i])
				}
			}
		}
		h, tasks = drawnHost(rng, false)
		h.Floor = map[string]float64{"cpu": 1e-5 * rng.Float64(), "memory": 1e-14 * rng.Float64(), "gpu": 1e-4 * rng.Float64()}
		for i, s := range dealt(&h, tasks, rule).On(0) {
			least := h.Floor["cpu"] * s.Rate
			for name, x := range tasks[i].Holds {
				least += h.Floor[name] * x
			}
			if b := s.Bid.Float64(); s.Paying > b || s.Paying < min(b, least)*(1-1e-12) {
				t.Fatalf("seed %d, %s: task %d pays $%v/s, want %v to %v", seed, rule, i, s.Paying, min(b, least), b)
			}
		}
	}
}
