package queue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
	"bourse/hosts/availability/sched"
)

// A chat sends events to a queue and describes its actions.
type chat struct {
	*policytest.Board
	policy  *Queue
	actions []contracts.Action
}

// tell returns the actions that follow from an event: "admit 3 on h1, refuse 2: why".
func (c *chat) tell(now float64, kind contracts.EventKind, what int32) string {
	c.actions = c.policy.Handle(now, contracts.Event{Kind: kind, Contract: what, Host: hosts.ID(what)}, c.Board)
	var out []string
	for _, a := range c.actions {
		switch a.Verb {
		case contracts.Enqueue:
			out = append(out, fmt.Sprintf("enqueue %d at %d", a.Contract, a.Place))
		case contracts.Refuse:
			out = append(out, fmt.Sprintf("refuse %d: %v", a.Contract, a.Decision.Reason))
		case contracts.Admit:
			out = append(out, fmt.Sprintf("admit %d on h%d for %d", a.Contract, a.Decision.Placements[0].Host, a.Decision.Placements[0].Bid))
		}
	}
	if kind == contracts.Tick || kind == contracts.Submitted { // the market sends Continue, because all actions were carried out
		c.policy.Handle(now, contracts.Event{Kind: contracts.Continue}, c.Board)
	}
	return strings.Join(out, ", ")
}

// ask returns the actions for one more request of 10 s, a dollar and one node, modified by
// change.
func (c *chat) ask(now float64, change func(r *contracts.Request)) string {
	i := int32(len(c.Requests))
	r := contracts.Request{ID: contracts.ID(100 + i), Submit: now, Work: 10, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 1e6}}
	if change != nil {
		change(&r)
	}
	c.Requests = append(c.Requests, r)
	return c.tell(now, contracts.Submitted, i)
}

// newChat opens a queue for two hosts that is examined at 100, 160, 220...
func newChat(t tb, matchmaker string) *chat {
	t.Helper()
	o := Options{From: 100, Interval: 60, QueueOptions: sched.DefaultQueue()}
	o.Hold = 0
	m := must(sched.Table(rand.New(rand.NewPCG(1, 2))).New(matchmaker, nil))
	c := &chat{Board: &policytest.Board{Speeds: []float64{1, 1}, Gone: make([]bool, 2)}, policy: must(New(o, m))}
	c.tell(0, contracts.Opened, 0)
	return c
}

// expect fails the test if the queue returns other actions, or has another next time.
func (c *chat) expect(t tb, got, want string, next float64) {
	t.Helper()
	if at, last := c.policy.Next(); got != want || at != next || !last {
		t.Errorf("%q, next look at %v, last %v; want %q, %v", got, at, last, want, next)
	}
}

// TestQueueTalk checks a sequence of events of the queue (Zhang, Phillips, §4). Jobs wait for
// the next examination and are served first come, first served, one per host. A job whose hard
// deadline has passed is rejected at the next examination, and a job whose host leaves waits
// behind all other jobs. A job that is cancelled, or whose owner cannot pay, leaves the queue.
func TestQueueTalk(t *testing.T) {
	t.Parallel()
	never := math.Inf(1)
	c := newChat(t, "first-available")
	c.expect(t, "", "", never)
	c.expect(t, c.ask(40, nil), "enqueue 0 at 0", 100)
	c.Queue = []int32{0}
	c.expect(t, c.ask(100, nil), "enqueue 1 at 1", 100)
	c.expect(t, c.tell(100, contracts.Tick, 0), "admit 0 on h0 for 1000, admit 1 on h1 for 1000", never)
	c.Queue = nil
	c.expect(t, c.ask(101, nil), "enqueue 2 at 0", 160)
	c.expect(t, c.ask(159, func(r *contracts.Request) { r.SLA.Deadline = 61 }), "enqueue 3 at 0", 160)
	c.expect(t, c.tell(160, contracts.Tick, 0), "", 220)
	c.expect(t, c.ask(200, func(r *contracts.Request) { r.SLA.Deadline, r.SLA.Soft = 1, true }), "enqueue 4 at 0", 220)
	c.expect(t, c.ask(200, func(r *contracts.Request) { r.SLA.Deadline = 20.5 }), "enqueue 5 at 0", 220)
	c.expect(t, c.tell(220, contracts.Tick, 0), "refuse 3: cannot end by its deadline", 280)
	c.expect(t, c.tell(230, contracts.Over, 5), "", 280) // the owner withdraws the job
	c.expect(t, c.tell(230, contracts.Over, 0), "", 280)
	c.expect(t, c.tell(280, contracts.Tick, 0), "admit 2 on h0 for 1000", 340)
	c.expect(t, c.tell(300, contracts.Lost, 2), "enqueue 2 at 0", 340)
	c.expect(t, c.tell(300, contracts.Gone, 0), "", 340)
	c.expect(t, c.tell(340, contracts.Tick, 0), "", 400)
	c.expect(t, c.tell(390, contracts.Came, 0), "", 400)
	c.expect(t, c.ask(395, nil), "enqueue 6 at 0", 400)
	c.expect(t, c.tell(400, contracts.Tick, 0), "admit 4 on h0 for 1000000000", 460)
	c.expect(t, c.tell(410, contracts.Over, 4), "", 460)
	c.expect(t, c.tell(420, contracts.Over, 1), "", 460)
	c.expect(t, c.tell(460, contracts.Tick, 0), "admit 2 on h0 for 1000, admit 6 on h1 for 1000", never)
}

// TestQueueUnpaid checks that a job whose owner cannot pay releases its assigned host, even if
// another job was rejected at the same time.
func TestQueueUnpaid(t *testing.T) {
	t.Parallel()
	c := newChat(t, "first-available")
	c.ask(0, func(r *contracts.Request) { r.SLA.Deadline = 50 })
	c.ask(0, nil)
	c.ask(0, nil)
	c.ask(0, nil)
	c.actions = c.policy.Handle(100, contracts.Event{Kind: contracts.Tick}, c.Board)
	if len(c.actions) != 3 || c.actions[0].Verb != contracts.Refuse || c.actions[1].Contract != 1 || c.actions[2].Contract != 2 {
		t.Fatalf("%+v, want 0 refused, 1 and 2 admitted", c.actions)
	}
	c.actions[1].Decision.Verdict = contracts.Reject
	c.policy.Handle(100, contracts.Event{Kind: contracts.Continue}, c.Board)
	if n := len(c.policy.Handle(100, contracts.Event{Kind: contracts.Continue}, c.Board)); n > 0 {
		t.Errorf("%d actions more", n)
	}
	c.expect(t, c.tell(160, contracts.Tick, 0), "admit 3 on h0 for 1000", math.Inf(1))
	c.expect(t, c.ask(170, nil), "enqueue 4 at 0", 220)
	c.expect(t, c.tell(180, contracts.Over, 2), "", 220)
	c.expect(t, c.tell(220, contracts.Tick, 0), "admit 4 on h1 for 1000", math.Inf(1))
	if n := len(c.policy.jobs); n != 4 {
		t.Errorf("%d numbers for 4 jobs at once, want 4", n)
	}
}

// TestQueueForetold checks that hosts without a history are assumed to stay, so that a
// matchmaker with a predictor gives them jobs, and that runtimes depend on the hosts' speeds.
func TestQueueForetold(t *testing.T) {
	t.Parallel()
	const look = 100 + 60*50_000 // a time more than a month later
	c := newChat(t, "threshold")
	c.ask(look, nil)
	c.expect(t, c.tell(look, contracts.Tick, 0), "admit 0 on h0 for 1000", math.Inf(1))
	for _, speeds := range [][]float64{{1, 1}, {2, 4}, {2, 2}, {1, 0.5}} {
		c.Speeds = speeds
		c.tell(0, contracts.Opened, 0)
		for h, want := range speeds {
			if got := c.policy.pool.Speed(hosts.ID(h)); got != want {
				t.Errorf("%v: host %d is taken to have speed %v", speeds, h, got)
			}
		}
	}
}

// TestQueueRefuses checks that a job is rejected if it has several nodes, needs more than any
// host has, or has any requirement although several jobs can be assigned to one host.
func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		matchmaker string
		nodes      int
		memory     float64
		want       string
	}{
		{"first-available", 1, 4, "enqueue 0 at 0"},
		{"first-available", 2, 0, "refuse 0: only jobs of one node are queued"},
		{"first-available", 1, 5, "refuse 0: only jobs of one node are queued"},
		{"pps", 1, 0, "enqueue 0 at 0"},
		{"pps", 1, 4, "refuse 0: only jobs of one node are queued"},
	} {
		got := newChat(t, c.matchmaker).ask(0, func(r *contracts.Request) { r.Nodes, r.Needs.Min.Memory = c.nodes, c.memory })
		if got != c.want {
			t.Errorf("%s, %d nodes of %v: %s, want %s", c.matchmaker, c.nodes, c.memory, got, c.want)
		}
	}
}

// TestQueueLooks checks that after the arrival of a job, the queue is examined at the next time
// that is From plus a multiple of Interval, which may be now, regardless of rounding.
func TestQueueLooks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := Options{From: rapid.Float64Range(0, 1e4).Draw(t, "from"), Interval: rapid.Float64Range(0.01, 1e3).Draw(t, "interval"), QueueOptions: sched.DefaultQueue()}
		c := &chat{Board: &policytest.Board{Speeds: []float64{1}, Gone: []bool{false}}, policy: must(New(o, sched.First{}))}
		c.tell(0, contracts.Opened, 0)
		now := rapid.Float64Range(0, 1e5).Draw(t, "now")
		if rapid.Bool().Draw(t, "at a look") {
			now = o.From + float64(rapid.IntRange(0, 1000).Draw(t, "looks"))*o.Interval
		}
		c.ask(now, nil)
		at, _ := c.policy.Next()
		k := math.Round((at - o.From) / o.Interval)
		if at < now || at != o.From+k*o.Interval || at >= max(now, o.From)+o.Interval*(1+1e-9) {
			t.Fatalf("at %v the next look is at %v", now, at)
		}
	})
}

// TestQueueOptions checks the smallest and largest valid From and Interval, and that errors
// name the invalid option.
func TestQueueOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, interval float64
		wrong          string
	}{
		{0, 60, ""}, {1e12, 1e-3, ""}, {5, 1e9, ""},
		{-1, 60, "from"}, {1.01e12, 60, "from"}, {math.NaN(), 60, "from"},
		{0, 0.9e-3, "interval"}, {0, 1.01e9, "interval"}, {0, math.NaN(), "interval"},
	} {
		_, err := New(Options{From: c.from, Interval: c.interval, QueueOptions: sched.DefaultQueue()}, sched.First{})
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong+": found ") {
			t.Errorf("from %v, interval %v: %v, want %q", c.from, c.interval, err, c.wrong)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	if _, err := newQueue(options{"matchmaker": "threshold", "interval": 30}.Decode, nil, rng); err != nil {
		t.Error(err)
	}
	for _, o := range []options{{"matchmaker": "best"}, {"hold_mode": "wait"}, {"interval": "long"}} {
		if _, err := newQueue(o.Decode, nil, rng); err == nil {
			t.Errorf("%v passes", o)
		}
	}
}
