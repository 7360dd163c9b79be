package floor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/availability"
)

// history returns the history of a host that is available from the first to the second time,
// from the third to the fourth, and so on.
func history(at ...float64) *availability.History {
	var records []availability.Record
	for i := 0; i < len(at); i += 2 {
		records = append(records, availability.Record{Start: at[i], End: at[i+1], State: availability.Available})
	}
	return must(availability.NewHistory("", 1, records, 0))
}

// churn returns a floor with two hosts of speed 1, of which the first is absent from 10 to 20
// and from 40 on.
func churn(rule Leaving, charged bool) *Floor {
	c := hostConfig(auction, 1, 1)
	c.Availability = &Availability{Leaving: rule, Charged: charged, Histories: []*availability.History{history(0, 10, 20, 40), history(0, 1e6)}}
	return open(c)
}

// TestLeavingRules checks the outcome of a run with two nodes of 15 units of work when the host
// of the first leaves at 10. Depending on the rule, the run is lost on all hosts and must be
// placed again; or that node is lost, and also the run if its nodes are promised separately; or
// that node pauses until its host is back.
func TestLeavingRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule    Leaving
		perHost bool
		want    string
		wasted  float64
		done    float64
	}{
		{Resubmit, false, "10 lost 0, 10 gone h0", 20, 0},
		{Resubmit, true, "10 lost 0, 10 gone h0", 20, 0},
		{Lose, false, "10 left 0, 10 gone h0, 20 came h0, 30 done 0", 10, 30},
		{Lose, true, "10 broken 0, 10 gone h0", 10, 10},
		{Suspend, false, "10 gone h0, 20 done 0, 20 came h0", 0, 30},
		{Suspend, true, "10 gone h0, 15 left 0, 20 came h0, 25 done 0", 0, 30},
	} {
		f := churn(c.rule, false)
		i := place(t, f, 0, request(1, 2, c.perHost), 15, on(0, 1))
		run := f.Contract(i)
		name, until := fmt.Sprint(c.rule, " ", c.perHost), 39.0
		if c.rule == Resubmit || c.rule == Lose && c.perHost {
			until = 10
		}
		check(t, name, play(f, until), c.want)
		check(t, name+": wasted, done", fmt.Sprint(run.Wasted, run.Done, run.Losses), fmt.Sprint(c.wasted, c.done, min(1, c.wasted)))
		check(t, name+": tasks left", len(f.On(0))+len(f.On(1)), 0)
	}
}

// TestPlaceAgain checks that a lost run keeps its number and limit, is marked as a repeat, and
// starts from scratch on its new hosts. If lost work is charged, each host is owed the charges
// accrued on it.
func TestPlaceAgain(t *testing.T) {
	t.Parallel()
	for _, charged := range []bool{false, true} {
		f := churn(Resubmit, charged)
		i := must(f.Place(2, request(1, 2, false), hosts.Task{Work: 12}, on(0, 1), 33))
		c := f.Contract(i)
		check(t, "events", play(f, 12), "10 lost 0, 10 gone h0")
		check(t, "lost", fmt.Sprint(c.Repeat, c.Done, c.Rate, c.Wasted, c.Losses, c.Placements[0].Owed), "true 0 0 16 1 0")
		var want []contracts.Placement
		if charged {
			want = []contracts.Placement{{Host: 0, Owed: 8}, {Host: 1, Owed: 8}}
		}
		check(t, "arrears", fmt.Sprint(f.Arrears(i)), fmt.Sprint(want))
		check(t, "next: the limit, or the host", f.Next(), 20)
		if err := f.PlaceAgain(12, i, on(1)); err != nil {
			t.Fatal(err)
		}
		check(t, "began", c.Began, 2)
		check(t, "events", play(f, 30), "20 came h0, 24 done 0")
		check(t, "done", fmt.Sprint(c.Done, c.Placements[0].Owed), "12 12")
		check(t, "number of the next", place(t, f, 30, request(2, 1, false), 1, on(1)), i)
		check(t, "arrears of the next", fmt.Sprint(f.Arrears(i)), "[]")
	}
	f := churn(Resubmit, true)
	f.MoveTo(10)
	i := place(t, f, 10, request(1, 1, false), 5, on(0))
	check(t, "placed as its host leaves", play(f, 10), "10 lost 0, 10 gone h0")
	check(t, "arrears where nothing has accrued", len(f.Arrears(i)), 0)
	f = churn(Resubmit, true)
	f.Place(2, request(1, 1, false), hosts.Task{Work: 12}, on(0), 15)
	check(t, "a limit while it waits", play(f, 19), "10 lost 0, 10 gone h0, 15 expired 0")
}

// TestKeep checks that only the work after a checkpoint is lost with its host, that the charges
// for the saved work remain owed to the host, and that the run continues with the saved work on
// other hosts, also after a second loss.
func TestKeep(t *testing.T) {
	t.Parallel()
	for _, charged := range []bool{false, true} {
		f := churn(Resubmit, charged)
		i := place(t, f, 0, request(1, 2, true), 15, on(0, 1))
		c := f.Contract(i)
		f.MoveTo(8)
		f.Keep(i, 0, 2)
		f.Keep(i, 0, 5) // an older checkpoint
		f.Keep(i, 7, 0)
		check(t, "events", play(f, 12), "10 lost 0, 10 gone h0")
		check(t, "lost", fmt.Sprint(c.Done, c.Wasted, c.Losses, c.Placements[0].Done, c.Placements[1].Done), "6 14 1 6 0")
		want := []contracts.Placement{{Host: 0, Owed: 6}}
		if charged {
			want = []contracts.Placement{{Host: 0, Owed: 10}, {Host: 1, Owed: 10}}
		}
		check(t, "arrears", fmt.Sprint(f.Arrears(i)), fmt.Sprint(want))
		f.Keep(i, 0, 0) // the run is on no host
		play(f, 20)
		if err := f.PlaceAgain(20, i, on(0, 1)); err != nil {
			t.Fatal(err)
		}
		f.MoveTo(24)
		f.Keep(i, 1, 1)
		check(t, "events", play(f, 28), "")
		f.Gone(28, 0)
		check(t, "lost again", fmt.Sprint(c.Done, c.Wasted, c.Losses, c.Placements[0].Done, c.Placements[1].Done), "9 27 2 6 3")
		last := f.Arrears(i)[len(f.Arrears(i))-1]
		check(t, "owed for the second stay", fmt.Sprint(last.Host, last.Owed), map[bool]string{false: "1 3", true: "1 8"}[charged])
		f.Remove(29, i)
		j := place(t, f, 29, request(2, 1, true), 15, on(1))
		check(t, "a run that has the number again", fmt.Sprint(j, f.Contract(j).Done), "0 0")
		f.Gone(31, 1)
		check(t, "it keeps nothing", fmt.Sprint(f.Contract(j).Wasted, f.Contract(j).Done), "2 0")
	}
}

// TestLostIsCharged checks that the charges accrued on a lost node are owed only if lost work
// is charged.
func TestLostIsCharged(t *testing.T) {
	t.Parallel()
	for charged, want := range map[bool]string{false: "0 20", true: "10 20"} {
		f := churn(Lose, charged)
		i := place(t, f, 0, request(1, 2, false), 15, on(0, 1))
		play(f, 20)
		c := f.Remove(20, i)
		check(t, fmt.Sprint("charged ", charged), fmt.Sprint(c.Placements[0].Owed, c.Placements[1].Owed), want)
	}
}

// TestStandsStill checks that no work is done and no charges accrue on an absent host, that its
// price does not change, and that the host receives no tasks until it is back.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	f := churn(Suspend, false)
	i := place(t, f, 0, request(1, 1, true), 15, on(0))
	check(t, "events", play(f, 12), "10 gone h0")
	f.MoveTo(12)
	check(t, "still", fmt.Sprint(f.Unavailable(0), f.On(0)[0].Rate, f.On(0)[0].Paying, f.Contract(i).Rate, f.Price(0)), fmt.Sprint("true 0 0 0 ", dollar))
	if f.History(0).After(0) != 0 || f.History(1) == nil {
		t.Error("hosts that come and go have no history")
	}
	j := place(t, f, 12, request(2, 1, true), 5, on(0)) // A policy may choose a host that leaves too soon.
	check(t, "given out", fmt.Sprint(f.Cheapest(request(3, 2, true), nil)), "[1]")
	check(t, "events", play(f, 39), "20 came h0, 30 done 0, 30 done 1")
	check(t, "owed", fmt.Sprint(f.Contract(i).Placements[0].Owed, f.Contract(j).Placements[0].Owed), "20 10")
}

// TestDoneAsItLeaves checks that a task is done if it ends at the time at which its host
// leaves, within rounding, and is lost if more work remains.
func TestDoneAsItLeaves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		work    float64
		perHost bool
		want    string
	}{
		{10, true, "10 done 0, 10 gone h0"},
		{10, false, "10 done 0, 10 gone h0"},
		{10 + 5e-9, true, "10 done 0, 10 gone h0"},
		{10 + 5e-9, false, "10 done 0, 10 gone h0"},
		{10 + 2e-8, true, "10 lost 0, 10 gone h0"},
		{10 + 2e-8, false, "10 lost 0, 10 gone h0"},
	} {
		f := churn(Resubmit, false)
		i := place(t, f, 0, request(1, 1, c.perHost), c.work, on(0))
		check(t, fmt.Sprint(c.work, " of 10, per host ", c.perHost), play(f, 10), c.want)
		if strings.HasPrefix(c.want, "10 done") {
			if got := f.Contract(i).Done; got < 10 || got > c.work {
				t.Errorf("%v is done of %v", got, c.work)
			}
		}
	}
	f := churn(Resubmit, false) // the first of two nodes is done as its host leaves, and the other continues
	place(t, f, 0, request(1, 2, true), 10+5e-9, []contracts.Placement{{Host: 0, Bid: dollar}, {Host: 1, Bid: dollar}})
	place(t, f, 0, request(2, 1, true), 10, on(1))
	check(t, "a node of two", play(f, 10), "10 left 0, 10 gone h0")

	for work, want := range map[float64]string{1000.2: "1e+12 done 0, 1e+12 gone h0", 1000.3: "1e+12 lost 0, 1e+12 gone h0"} {
		c := hostConfig(auction, 1e3) // the task does 0.24 in two of the smallest time steps, which is more than the tolerance
		c.Availability = &Availability{Histories: []*availability.History{history(0, 1e12)}}
		f := open(c)
		place(t, f, 1e12-1, request(1, 1, true), work, on(0))
		check(t, fmt.Sprint(work, " of 1000"), play(f, 1e12), want)
	}
	for limit, want := range map[float64]string{10 + 5e-9: "10 lost 0, 10 gone h0", 10 + 8e-9: "10 done 0, 10 gone h0"} {
		c := hostConfig(pace{limit: limit}, 1) // a task that must be stopped before its work is done is not done
		c.Availability = &Availability{Histories: []*availability.History{history(0, 10)}}
		f := open(c)
		place(t, f, 0, request(1, 1, true), 10+8e-9, on(0))
		check(t, fmt.Sprint("stopped at ", limit), play(f, 10), want)
	}
}

// TestAwayAtFirst checks hosts that are absent at the beginning, arrive late, leave
// permanently, or never arrive.
func TestAwayAtFirst(t *testing.T) {
	t.Parallel()
	c := hostConfig(auction, 1, 1, 1)
	c.Availability = &Availability{Histories: []*availability.History{history(5, 7), history(), history(-3, 2, 4, 6)}}
	f := open(c)
	check(t, "away", fmt.Sprint(f.Unavailable(0), f.Unavailable(1), f.Unavailable(2)), "true true false")
	check(t, "there", fmt.Sprint(f.Cheapest(request(1, 3, true), nil)), "[2]")
	check(t, "events", play(f, 100), "2 gone h2, 4 came h2, 5 came h0, 6 gone h2, 7 gone h0")
	check(t, "next", f.Next(), math.Inf(1))
}

// TestStays checks that the prediction for a host is the result of the predictor for the host's
// history, and 1 for a span of 0 s.
func TestStays(t *testing.T) {
	t.Parallel()
	f := churn(Resubmit, false)
	check(t, "nobody predicts", f.Stays(0, 5), 1)
	f.Availability.Predictor = oracle{}
	f.MoveTo(4)
	check(t, "predicted", fmt.Sprint(f.Stays(0, 6), f.Stays(0, 7), f.Stays(1, 7), f.Stays(0, 0), f.Stays(0, -1), f.Stays(0, math.NaN())), "1 0 1 1 1 1")
}

// An oracle is a predictor that returns the actual availability.
type oracle struct{}

func (oracle) Stays(h *availability.History, now, span float64) float64 {
	if !(span > 0) {
		panic("asked about no time")
	}
	if in, here := h.At(now); here && now+span <= in.End {
		return 1
	}
	return 0
}

// TestLeavingOf checks that every rule has a name, and that the error for any other name lists
// the valid ones.
func TestLeavingOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Leaving{"resubmit": Resubmit, "lost": Lose, "suspend": Suspend} {
		if got, err := Leavings().New(name, nil); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := Leavings().New("stay", nil); err == nil || !strings.Contains(err.Error(), "lost, resubmit, suspend") {
		t.Errorf("stay: %v", err)
	}
}
