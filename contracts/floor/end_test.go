package floor

import (
	"fmt"
	"testing"

	"bourse/contracts"
	"bourse/contracts/sharing"
	"bourse/hosts"
)

// A pace is a rule of equal shares with a configurable ending of tasks and limit of their work.
type pace struct {
	ending sharing.Ending
	limit  float64
}

func (p pace) Allocate(_ float64, _ hosts.ID, on []contracts.Allocation, _ contracts.View) {
	for i := range on {
		on[i].Share = hosts.Share{Weight: 1}
	}
}
func (p pace) Ending() sharing.Ending           { return p.ending }
func (p pace) Limit(*contracts.Request) float64 { return p.limit }

// TestEndWithHost checks that tasks with at most a tick of work left end together with a task
// that ends on their host, and that they end by themselves under other rules.
func TestEndWithHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ending sharing.Ending
		more   float64 // additional work of the second task
		want   string
	}{
		{sharing.WithHost, 4e-7, "20 done 0, 20 done 1"},
		{sharing.WithHost, 1e-6, "20 done 0, 20 done 1"},
		{sharing.WithHost, 3e-6, "20 done 0, 20.000003 done 1"},
		{sharing.ByItself, 5e-6, "20 done 0, 20.000005 done 1"},
	} {
		f := open(hostConfig(pace{c.ending, 1e9}, 1))
		place(t, f, 0, request(1, 1, true), 10, on(0))
		place(t, f, 0, request(2, 1, true), 10+c.more, on(0))
		check(t, fmt.Sprint(c.ending, ", ", c.more, " more"), play(f, 100), c.want)
		check(t, "done", f.Contract(1).Done, 10+c.more)
	}
	f := open(hostConfig(pace{sharing.WithHost, 1e9}, 1)) // The span is exactly one tick.
	place(t, f, 0, request(1, 1, true), sharing.Tick, on(0))
	place(t, f, 0, request(2, 1, true), 2*sharing.Tick, on(0))
	check(t, "a tick more", len(f.Advance(f.Next())), 2)
	f = open(hostConfig(pace{sharing.WithHost, 1e9}, 1)) // nodes with a common total do not end separately
	place(t, f, 0, request(1, 1, true), 10, on(0))
	place(t, f, 0, request(2, 1, false), 10+4e-7, on(0))
	check(t, "towards one sum", f.Advance(f.Next())[0].Run, 0)
	check(t, "left", len(f.On(0)), 1)
}

// TestEndWithNodes checks that the nodes of one contract that are done end together, in one
// event, and that a node that is not done continues.
func TestEndWithNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ending sharing.Ending
		slow   float64 // speed of the second host
		want   string
	}{
		{sharing.WithNodes, 1, "10 done 0"},
		{sharing.WithNodes, 1 - 1e-10, "10 done 0"},
		{sharing.WithNodes, 0.5, "10 left 0, 20 done 0"},
		{sharing.ByItself, 1, "10 left 0, 10 done 0"},
	} {
		f := open(hostConfig(pace{c.ending, 1e9}, 1, c.slow))
		i := place(t, f, 0, request(1, 2, true), 10, on(0, 1))
		check(t, fmt.Sprint(c.ending, " beside speed ", c.slow), play(f, 100), c.want)
		check(t, "done", f.Contract(i).Done, 20)
	}
}

// TestRound checks that tasks on another host that are due within four float64 steps end now,
// with the other tasks of their contracts, and that tasks due later end later.
func TestRound(t *testing.T) {
	t.Parallel()
	for moments, together := range map[float64]bool{1: true, 2: true, 4: true, 8: false} {
		f := open(hostConfig(pace{sharing.WithHost, 1e9}, 1, 1))
		later := 10 + moments*contracts.Moment(10)
		place(t, f, 0, request(1, 1, true), 10, on(0))
		place(t, f, 0, request(2, 1, true), later, on(1))
		check(t, "the first", fmt.Sprint(f.Advance(f.Next())), fmt.Sprint([]Event{{Kind: Done, Run: 0}}))
		events, more := f.Round(10)
		check(t, fmt.Sprint(moments, " moments later"), more, together)
		if together {
			check(t, "the second", fmt.Sprint(events), fmt.Sprint([]Event{{Kind: Done, Run: 1}}))
			events, more = f.Round(10)
		}
		check(t, "then", fmt.Sprint(events, more), "[] false")
		check(t, "owed", f.Contract(1).Placements[0].Left, together)
	}
	for _, ending := range []sharing.Ending{sharing.WithNodes, sharing.WithHost} {
		f := open(hostConfig(pace{ending, 1e9}, 1, 1-1e-8))
		place(t, f, 0, request(1, 2, true), 10, on(0, 1))
		check(t, fmt.Sprint(ending, ", 1e-7 s apart"), play(f, 100), "10 left 0, 10.0000001 done 0")
	}
	f := open(hostConfig(pace{sharing.WithHost, 1e9}, 1)) // reaching a limit does not end a task
	must(f.Place(0, request(1, 1, true), hosts.Task{Work: 20}, on(0), 10))
	events, more := f.Round(10)
	check(t, "a limit alone", fmt.Sprint(events, more), "[] false")
}

// TestStoppedEarly checks that a task ends at the limit that its sharing rule sets, and has
// done that amount of work.
func TestStoppedEarly(t *testing.T) {
	t.Parallel()
	for _, ending := range []sharing.Ending{sharing.ByItself, sharing.WithHost} {
		f := open(hostConfig(pace{ending, 6}, 1))
		one := place(t, f, 0, request(1, 1, true), 10, on(0))
		place(t, f, 0, request(2, 1, true), 2, on(0))
		place(t, f, 0, request(3, 1, true), 6+4e-7, on(0))
		want := "6 done 1, 14 done 0, 14 done 2"
		check(t, fmt.Sprint(ending), play(f, 100), want)
		check(t, "done", fmt.Sprint(f.Contract(one).Done, f.Contract(2).Done), "6 6")
	}
}

// TestTooEarly checks that a completion predicted too early by rounding is predicted again
// until the work is done.
func TestTooEarly(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 3))
	i := must(f.Place(0, request(1, 1, false), hosts.Task{Work: 1e6}, on(0), 4e5))
	f.MoveTo(0)
	enter(&f.heaps.ends, i, &f.runs[i].next, 1e5)
	check(t, "events too early", len(f.Advance(1e5)), 0)
	check(t, "events", play(f, 5e5), "333333.333 done 0")
}

// TestNoTime checks that a run is done if its remaining work takes less time than a float64 can
// represent. Without this rule, the run would be checked forever.
func TestNoTime(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1))
	// Near this time, floating-point numbers are 1.2e-4 s apart.
	place(t, f, 1e12, request(1, 1, false), 10+5e-5, on(0))
	check(t, "events", fmt.Sprint(f.Advance(f.Next())), fmt.Sprint([]Event{{Kind: Done, Run: 0}}))
	check(t, "now", f.now, 1e12+10)
}

// TestPlacedAsOneEnds checks that a task is the only task on its host if it is placed at the
// time at which another task ends on that host, even before that end is reported.
func TestPlacedAsOneEnds(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(auction, 1, 1))
	place(t, f, 0, request(1, 1, true), 10, on(0))
	place(t, f, 0, request(2, 1, true), 10, on(1))
	check(t, "events", len(f.Advance(f.Next())), 1)
	place(t, f, 10, request(3, 1, true), 7, on(1))
	check(t, "rate", fmt.Sprint(f.Next(), f.On(1)[0].Rate, f.On(1)[1].Rate), "10 0 1")
	check(t, "events", play(f, 100), "10 done 1, 17 done 0")
}

// TestRoundOfNodes checks that nodes that are done end, in one event, together with a node that
// rounding has delayed. Nothing is rounded on a host that is so fast that it does more than a
// tick of work in the smallest time step.
func TestRoundOfNodes(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(pace{sharing.WithNodes, 1e99}, 1, 1, 1))
	place(t, f, 0, request(1, 1, true), 10, on(0))
	place(t, f, 0, request(2, 2, true), 10+2*contracts.Moment(10), on(1, 2))
	f.Advance(f.Next())
	events, more := f.Round(10)
	check(t, "both nodes", fmt.Sprint(events, more), fmt.Sprint([]Event{{Kind: Done, Run: 1}}, true))

	f = open(hostConfig(pace{sharing.WithHost, 1e99}, 1, 1e12))
	place(t, f, 0, request(1, 1, true), 10, on(0))
	place(t, f, 0, request(2, 1, true), (10+3*contracts.Moment(10))*1e12, on(1))
	f.Advance(f.Next())
	events, more = f.Round(10)
	check(t, "a fast host", fmt.Sprint(events, more), "[] false")
}

// TestStoppedTogether checks that tasks that must be stopped on one host end together, like
// tasks that complete.
func TestStoppedTogether(t *testing.T) {
	t.Parallel()
	f := open(hostConfig(pace{sharing.WithHost, 6}, 1))
	place(t, f, 0, request(1, 1, true), 10, on(0))
	check(t, "next", f.Next(), 6)
	place(t, f, 4e-7, request(2, 1, true), 10, on(0))
	check(t, "the first", f.Next() < 12, true)
	check(t, "both", len(f.Advance(f.Next())), 2)
}
