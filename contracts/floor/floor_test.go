package floor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/sim"
	"bourse/market"
	"bourse/market/forecast"
)

// asBid charges every task its bid.
func asBid(on []contracts.Allocation, _ Prices, _, _ float64) {
	for i := range on {
		on[i].Paying = on[i].Bid.Float64()
	}
}

const dollar market.Rate = 1_000_000_000

// auction is the paper's sharing rule.
var auction = must(sharing.Table().New("auction", func(any) error { return nil }))

// hostConfig returns the configuration of a floor with hosts of the given speeds, each with one
// processor.
func hostConfig(rule sharing.Rule, speeds ...float64) Config {
	c := Config{Sharing: rule, Charges: Charges{Tariff: asBid}, Window: 100, Ties: rand.New(rand.NewPCG(1, 2)),
		Forecast: must(forecast.Table().New("empirical", func(any) error { return nil }))}
	for h, speed := range speeds {
		c.Machines = append(c.Machines, sim.New(hosts.Spec{Name: fmt.Sprint("h", h), CPUs: 1, Speed: speed, Room: hosts.Resources{Memory: 8}}))
	}
	return c
}

// open returns the floor of c.
func open(c Config) *Floor {
	f := new(Floor)
	f.Reset(c)
	return f
}

// request returns a request whose nodes each have their own work, or share one total.
func request(id contracts.ID, nodes int, perHost bool) *contracts.Request {
	return &contracts.Request{ID: id, Nodes: nodes, PerHost: perHost}
}

// on places a node on each of the given hosts with a bid of a dollar per second.
func on(where ...hosts.ID) (out []contracts.Placement) {
	for _, h := range where {
		out = append(out, contracts.Placement{Host: h, Bid: dollar})
	}
	return out
}

// place places a run without limit.
func place(t *testing.T, f *Floor, now float64, r *contracts.Request, work float64, where []contracts.Placement) int32 {
	t.Helper()
	i, err := f.Place(now, r, hosts.Task{Work: work}, where, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

var kinds = [...]string{"done", "left", "expired", "spent", "lost", "broken", "came", "gone"}

// play advances the floor and returns the events. Expired runs are removed.
func play(f *Floor, until float64) string {
	var out []string
	for f.Next() <= until {
		now := f.Next()
		events := append([]Event(nil), f.Advance(now)...)
		for more := true; more; {
			var rest []Event
			rest, more = f.Round(now)
			events = append(events, rest...)
		}
		for _, e := range events {
			what := fmt.Sprintf("%.9g %s %d", now, kinds[e.Kind], e.Run)
			if e.Kind >= Came {
				what = fmt.Sprintf("%.9g %s h%d", now, kinds[e.Kind], e.Host)
			}
			if out = append(out, what); e.Kind == Expired {
				f.Remove(now, e.Run)
			}
		}
	}
	return strings.Join(out, ", ")
}

// check fails the test unless got equals want.
func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestShareOfBids checks eq. 4 on one host. Bids of 1 and 3 get one and three quarters, and the
// first gets the whole host when it is the only bidder. Each pays its bid per second. The state
// of a run that is read between two events is correct at that time.
func TestShareOfBids(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 2))
	one := place(t, f, 0, request(1, 1, true), 40, []contracts.Placement{{Bid: dollar}})
	three := place(t, f, 0, request(2, 1, false), 30, []contracts.Placement{{Bid: 3 * dollar}})
	check(t, "price", f.Price(0), 4*dollar)
	next, c := f.Peek(three)
	check(t, "completion of three", next, 20.0) // 30 units of work at 1.5 per second
	check(t, "rate of three", c.Rate, 1.5)
	f.MoveTo(10)
	if next, _ := f.Peek(one); !math.IsInf(next, 1) {
		t.Errorf("a run whose nodes have their own work is looked at, at %v", next)
	}
	check(t, "shares", fmt.Sprint(f.On(0)[0].Rate, f.On(0)[1].Rate), "0.5 1.5")
	check(t, "events", play(f, 100), "20 done 1, 35 done 0") // at 20 s, 10 of 40 units are done; the rate is 2 per second from then on
	check(t, "done", fmt.Sprint(f.Contract(one).Done, f.Contract(three).Done), "40 30")
	check(t, "owed", fmt.Sprint(f.Contract(one).Placements[0].Owed, f.Contract(three).Placements[0].Owed), "35 60")
	check(t, "price", f.Price(0), 0)
	check(t, "price record", fmt.Sprint(f.Prices().Steps()), fmt.Sprint([]market.Step{{At: 0, Total: 4 * dollar}, {At: 20, Total: dollar}, {At: 35}}))
	check(t, "next", f.Next(), math.Inf(1))
}

// TestNodes checks that nodes promised together share one total, so that a fast host
// compensates for a slow one, and that nodes promised separately end separately.
func TestNodes(t *testing.T) {
	t.Parallel()
	for perHost, want := range map[bool]string{false: "10 done 0", true: "7.5 left 0, 15 done 0"} {
		f := open(hostConfig(auction, 1, 2))
		i := place(t, f, 0, request(1, 2, perHost), 15, on(0, 1))
		check(t, fmt.Sprint("per host ", perHost), play(f, 100), want)
		check(t, "done", f.Contract(i).Done, 30)
	}
}

// TestLimit checks a run that reaches its limit: it is reported, continues if it is extended,
// and returns its work and charges if it is removed. The other runs get the share of the
// removed run at once, and its number is reused.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1))
	i := must(f.Place(0, request(1, 1, false), hosts.Task{Work: 10}, on(0), 4))
	check(t, "next", f.Next(), 4)
	check(t, "events", fmt.Sprint(f.Advance(4)), fmt.Sprint([]Event{{Kind: Expired, Run: i}}))
	check(t, "done by its limit", f.Extend(i, 12), 4)
	j := place(t, f, 4, request(2, 1, false), 10, on(0))
	check(t, "next", f.Next(), 12)
	check(t, "events", fmt.Sprint(f.Advance(12)), fmt.Sprint([]Event{{Kind: Expired, Run: i}}))
	check(t, "next of one that has expired", f.Next(), 24)
	c := f.Remove(12, i)
	check(t, "done and owed", fmt.Sprint(c.Done, c.Placements[0].Owed, c.Placements[0].Done, c.Placements[0].Left), "8 12 8 true")
	check(t, "rate of the rest", fmt.Sprint(f.Next(), f.On(0)[0].Rate), "18 1")
	check(t, "number of the next", place(t, f, 12, request(3, 1, false), 1, on(0)), i)
	check(t, "number of one more", place(t, f, 12, request(4, 1, false), 1, on(0)), j+1)
	check(t, "events", play(f, 100), "15 done 0, 15 done 2, 20 done 1")
	done := must(f.Place(20, request(5, 1, false), hosts.Task{Work: 1}, on(0), 20))
	check(t, "limits now due", play(f, 20), fmt.Sprint("20 expired ", done))
}

// TestNothingToDo checks that a run without work ends at once, even if it gets no share.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for _, bid := range []market.Rate{0, dollar} {
		f := open(hostConfig(auction, 1))
		place(t, f, 0, request(1, 1, true), 10, on(0))
		place(t, f, 5, request(2, 1, false), 0, []contracts.Placement{{Bid: bid}})
		check(t, fmt.Sprint("next, for ", bid), f.Next(), 5)
		check(t, "events", fmt.Sprint(f.Advance(5)), fmt.Sprint([]Event{{Kind: Done, Run: 1}}))
	}
}

// TestExtendIsNoMore checks that Extend reports at most the true work.
func TestExtendIsNoMore(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1))
	i := place(t, f, 0, request(1, 1, false), 10, on(0))
	f.MoveTo(0)
	f.runs[i].Done = 10.5
	check(t, "done", f.Extend(i, 12), 10)
}

// TestTooBig checks that a task that reserves more than the free resources is rejected with the
// name of the host, and that a task that fits holds its resources until it is removed.
func TestTooBig(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1))
	r := request(1, 1, false)
	r.Needs.Min.Memory, r.Needs.Max.Memory = 2, 6
	i := place(t, f, 0, r, 10, on(0))
	check(t, "room", f.Room(0).Memory, 2)
	other := request(2, 1, false)
	if other.Needs.Max.Memory = 8; place(t, f, 0, other, 10, on(0)) != i+1 {
		t.Error("no second run")
	}
	check(t, "room", f.Room(0).Memory, 0)
	_, err := f.Place(0, r, hosts.Task{Work: 1}, on(0), 9)
	if err == nil || !strings.Contains(err.Error(), "on h0: ") {
		t.Errorf("2 in a room of 0: %v", err)
	}
	f.Remove(0, i)
	check(t, "room", f.Room(0).Memory, 6)
	plain := place(t, f, 0, request(3, 1, false), 1, on(0))
	check(t, "what one without needs holds", f.Room(0).Memory, 6)
	f.Remove(0, plain)
}

// TestBooked checks that a booked run is on its host only between Resume and Pause, retains its
// work, and records its pauses.
func TestBooked(t *testing.T) {
	t.Parallel()
	c := hostConfig(must(sharing.Table().New("planned", func(any) error { return nil })))
	c.Machines = []hosts.Machine{sim.New(hosts.Spec{CPUs: 1, Speed: 1}), sim.New(hosts.Spec{CPUs: 2, Speed: 1})}
	f := open(c)
	i := f.Book(1, request(1, 2, true), hosts.Task{Work: 10}, []contracts.Placement{{Host: 1, Nodes: 2, Bid: dollar}}, 90)
	b := f.Contract(i)
	check(t, "booked", fmt.Sprint(b.Gang, b.Host, b.Admitted, math.IsInf(b.Began, 1), len(f.On(1)), f.Price(1), f.Next()), "true 1 1 true 0 0 90")
	if err := f.Resume(5, i, 0); err != nil {
		t.Fatal(err)
	}
	check(t, "resumed", fmt.Sprint(b.Began, b.Paused, len(f.On(1)), f.Price(1)), fmt.Sprint("5 [] 1 ", dollar))
	check(t, "done", play(f, 10), "")
	f.Pause(10, i, 0)
	check(t, "paused", fmt.Sprint(b.Placements[0].Done, b.Placements[0].Owed, b.Paused, len(f.On(1)), f.Price(1), f.Next()), "10 5 [{0 10 +Inf}] 0 0 90")
	if err := f.Resume(12, i, 0); err != nil {
		t.Fatal(err)
	}
	check(t, "resumed", fmt.Sprint(b.Began, b.Paused), "5 [{0 10 12}]")
	if next, half := f.Next(), 20*contracts.Tolerance/2; math.Abs(next-(17-half/2)) > 1e-12 {
		t.Errorf("done at %v, want half the tolerance of 20, at 2 a second, before 17", next)
	}
	check(t, "events", play(f, 20), "17 done 0")
	check(t, "done, and still there", fmt.Sprint(b.Placements[0].Done, len(f.On(1))), "20 0")
	check(t, "next", f.Next(), 90)
	check(t, "removed", f.Remove(20, i).Done, 20)
	check(t, "next", f.Next(), math.Inf(1))
}

// TestBookedApart checks that each part of a booked run is on its own host and is resumed and
// paused separately. The rate of the run is the sum over its parts, and the run records the
// times at which a part had no nodes while other parts had nodes.
func TestBookedApart(t *testing.T) {
	t.Parallel()
	c := hostConfig(must(sharing.Table().New("planned", func(any) error { return nil })))
	c.Machines = []hosts.Machine{sim.New(hosts.Spec{CPUs: 4, Speed: 1}), sim.New(hosts.Spec{CPUs: 4, Speed: 0.5})}
	f := open(c)
	r := request(1, 3, true)
	i := f.Book(1, r, hosts.Task{Work: 10}, []contracts.Placement{{Host: 1, Nodes: 2}, {Host: 0, Nodes: 1}}, 90)
	b := f.Contract(i)
	resume := func(now float64, n int32) {
		t.Helper()
		if err := f.Resume(now, i, n); err != nil {
			t.Fatal(err)
		}
	}
	resume(5, 0)
	check(t, "one part", fmt.Sprint(b.Began, b.Paused, len(f.On(0)), len(f.On(1)), f.Running(i)), "5 [{1 5 +Inf}] 0 1 1")
	resume(5, 1)
	check(t, "both at once", fmt.Sprint(b.Began, b.Paused, len(f.On(0)), len(f.On(1)), f.Running(i)), "5 [] 1 1 2")
	check(t, "done", play(f, 10), "")
	f.Pause(10, i, 1)
	check(t, "paused", fmt.Sprint(b.Placements[1].Done, b.Paused, f.Running(i)), "5 [{1 10 +Inf}] 1")
	check(t, "first part", play(f, 30), "25 done 0")
	f.Pause(25, i, 0)
	resume(26, 1)
	check(t, "given back", fmt.Sprint(b.Paused, f.Running(i)), "[{1 10 26} {0 25 +Inf}] 1")
	check(t, "second part", play(f, 40), "31 done 0")
	k := f.Remove(31, i)
	check(t, "removed", fmt.Sprint(k.Placements[0].Done, k.Placements[1].Done, k.Done), "20 10 30")
	check(t, "next", f.Next(), math.Inf(1))
}

// TestBookedIsDone checks that a booked run that is done has no work left, even if it is
// resumed again.
func TestBookedIsDone(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1))
	i := f.Book(0, request(1, 1, true), hosts.Task{Work: 2}, []contracts.Placement{{Nodes: 1, Bid: dollar}}, 90)
	for range 2 {
		if err := f.Resume(f.now, i, 0); err != nil {
			t.Fatal(err)
		}
		if at := f.Next(); at > 2 {
			t.Fatalf("done at %v, want 2", at)
		}
		play(f, 2)
	}
}

// TestView checks the data about the floor that policies can read.
func TestView(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1, 2))
	i := place(t, f, 0, request(7, 1, true), 100, on(1))
	check(t, "fleet", f.Fleet(), 2)
	check(t, "spec", f.Spec(1).Name, "h1")
	check(t, "capacity", f.Capacity(1), 2)
	check(t, "contract", f.Contract(i).ID, 7)
	f.MoveTo(50) // price was 1 for half of the window of 100 s
	check(t, "percentile", fmt.Sprint(f.Percentile(1, 0.9), f.Percentile(0, 0.9)), "1 0")
	check(t, "stays, nobody predicts", f.Stays(0, 9), 1)
	if f.History(0) != nil || f.Unavailable(0) {
		t.Error("hosts that stay have a history, or are away")
	}
	c := f.Config
	c.Machines = hostConfig(auction, 1, 2).Machines
	for window, want := range map[float64]float64{100: 0, 30: 1} {
		c.Window = window
		f.Reset(c)
		check(t, "percentile of a floor that is new", f.Percentile(1, 0.9), 0)
		place(t, f, 60, request(7, 1, true), 100, on(1))
		f.MoveTo(100) // the price was 1 for 40 s
		check(t, fmt.Sprint("percentile over ", window, " s"), f.Percentile(1, 0.5), want)
		c.Machines = hostConfig(auction, 1, 2).Machines
	}
	c = hostConfig(auction, 1)
	c.NoPrices = true
	f = open(c)
	place(t, f, 0, request(1, 1, true), 1, on(0))
	check(t, "steps of a record that is not kept", len(f.Prices().Steps()), 0)
}

// TestChanged checks that each call of Changed returns each host that has changed since the
// previous call once.
func TestChanged(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1, 1, 1))
	check(t, "nothing", fmt.Sprint(f.Changed()), "[]")
	i := place(t, f, 0, request(1, 1, true), 5, on(2))
	place(t, f, 0, request(2, 2, true), 9, on(2, 0))
	check(t, "placed on 2 and 0", fmt.Sprint(f.Changed()), "[2 0]")
	check(t, "asked again", fmt.Sprint(f.Changed()), "[]")
	f.Remove(1, i)
	check(t, "removed from 2", fmt.Sprint(f.Changed()), "[2]")
	play(f, 20)
	check(t, "both nodes done, at 9 and 9.5", fmt.Sprint(f.Changed()), "[0 2]")
}

// TestCheapest checks that Cheapest returns the hosts with the lowest prices among those that
// are present and have room.
func TestCheapest(t *testing.T) {
	t.Parallel()
	c := hostConfig(auction, 1, 1, 1, 1)
	always := history(0, 1e6)
	c.Availability = &Availability{Histories: []*availability.History{always, always, history(0, 5, 8, 1e6), always}, Leaving: Suspend}
	f := open(c)
	for h, bid := range []market.Rate{3, 2, 1, 4} {
		place(t, f, 0, request(contracts.ID(h), 1, true), 1e5, []contracts.Placement{{Host: hosts.ID(h), Bid: bid}})
	}
	big := request(9, 1, true)
	big.Needs.Min.Memory = 5
	place(t, f, 0, big, 1e5, []contracts.Placement{{Host: 1, Bid: 0}})
	check(t, "two", fmt.Sprint(f.Cheapest(request(10, 2, true), []hosts.ID{77})), "[77 2 1]")
	big.Nodes = 4
	check(t, "with room for 5", fmt.Sprint(f.Cheapest(big, nil)), "[2 0 3]")
	play(f, 5)
	check(t, "one has left", fmt.Sprint(f.Cheapest(request(10, 4, true), nil)), "[1 0 3]")
	play(f, 8)
	check(t, "it is back", fmt.Sprint(f.Cheapest(request(10, 4, true), nil)), "[2 1 0 3]")
}

// TestTooMuch checks that the floor panics if the sum of the bids at one time overflows a
// rate. This is impossible in practice, because no account has so much money.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1, 1))
	defer func() { check(t, "panic", recover(), any("floor: sum of bids out of range")) }()
	for id := range contracts.ID(1100) {
		place(t, f, 0, request(id, 1, true), 1, []contracts.Placement{{Host: hosts.ID(id % 2), Bid: market.MaxRate}})
	}
}
