package broker

import (
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/reserve"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/sim"
	"bourse/market/forecast"
)

// A listener is a policy that records the events that it receives, and may ignore some kinds.
type listener struct {
	contracts.Policy
	told []contracts.EventKind
	over []contracts.Outcome
	deaf contracts.EventKind // kind of event that the listener ignores; Opened if none
}

func (l *listener) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	if e.Kind == contracts.Over {
		l.over = append(l.over, e.Outcome)
	}
	if l.told = append(l.told, e.Kind); e.Kind == l.deaf && l.deaf != contracts.Opened {
		return nil
	}
	return l.Policy.Handle(now, e, m)
}

// An office is a broker of one host with one processor, whose policy is a listener.
type office struct {
	*Broker
	policy  *listener
	entries journal
	ann     bank.Account
}

func newOffice(policy string, options func(any) error, churn *floor.Availability) *office {
	o := new(office)
	l := bank.New(&o.entries)
	o.ann = must(l.Account("user:ann"))
	must(0, l.Mint(0, o.ann, bank.Micros(10e6)))
	o.policy = &listener{Policy: must(policies.Table(nil, nil).New(policy, options))}
	o.Broker = New(Config{
		Fleet: []hosts.Machine{sim.New(hosts.Spec{Name: "h0", CPUs: 1, Speed: 1})}, Owners: []bank.Account{must(l.Account("host:h0"))},
		Provider: must(l.Account("provider")), Policy: o.policy, Sharing: must(sharing.Table().New(policies.Of(policy).Sharing, noOptions)),
		Payment: must(Payments().New("spot", nil)), Window: 300, Forecast: must(forecast.Table().New("chebyshev", noOptions)),
		Teller: l, Notes: true, Availability: churn,
	})
	return o
}

// ask submits a request with 10 s of estimated work.
func (o *office) ask(now float64, id contracts.ID, truth float64, budget int64) *contracts.Decision {
	r := contracts.Request{ID: id, Owner: o.ann, Submit: now, Work: 10, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(budget), Deadline: 100}}
	return must(o.Submit(now, &r, hosts.Task{Work: truth}))
}

// expect fails the test unless the numbers of active and of waiting contracts are as given.
func (o *office) expect(t *testing.T, when string, active, waiting int) {
	t.Helper()
	if o.Active() != active || o.Waiting() != waiting {
		t.Errorf("%s: %d active and %d wait, want %d and %d", when, o.Active(), o.Waiting(), active, waiting)
	}
}

// TestCounts checks the numbers of active contracts and waiting requests. A request that waits
// for a decision is not yet a contract; a contract that waits to be placed again is. After a
// cancellation the waiting requests are proposed at once.
func TestCounts(t *testing.T) {
	t.Parallel()
	history := must(availability.NewHistory("", 1, []availability.Record{
		{Start: 0, End: 8, State: availability.Available}, {Start: 8, End: 20, State: availability.Unavailable},
		{Start: 20, End: 1e9, State: availability.Available},
	}, 0))
	o := newOffice("fcfs", noOptions, &floor.Availability{Leaving: floor.Resubmit, Histories: []*availability.History{history}})
	o.expect(t, "at first", 0, 0)
	for id := range contracts.ID(3) {
		o.ask(0, id, 10, 1e6)
	}
	o.expect(t, "one runs", 1, 2)
	must(0, o.Advance(5))
	must(0, o.Cancel(5, 0))
	o.expect(t, "it is taken back, and the next runs", 1, 1)
	must(0, o.Advance(10))
	o.expect(t, "the host has left: it waits to be placed again, behind the last", 1, 1)
	must(0, o.Advance(25))
	o.expect(t, "the host is back: the last runs, and it still waits", 2, 0)
	must(0, o.Advance(40))
	o.expect(t, "all are done", 0, 0)
}

// TestOutcomes checks that the policy is notified of the outcome of each contract.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	o := newOffice("fcfs", noOptions, nil)
	o.ask(0, 1, 10, 1e6)
	o.ask(0, 2, 1000, 1e6)
	o.ask(0, 3, 10, 1e6)
	must(0, o.Advance(50))
	must(0, o.Cancel(50, 3))
	must(0, o.Advance(1000))
	o.ask(1000, 4, 10, 1e6)
	must(0, o.Advance(1005))
	must(0, o.Cancel(1005, 4))
	if want := []contracts.Outcome{contracts.Fulfilled, contracts.Cancelled, contracts.Late, contracts.Cancelled}; !slices.Equal(o.policy.over, want) {
		t.Errorf("told %v, want %v", o.policy.over, want)
	}
}

// TestNoUse checks that a contract whose host has left is broken at once if the policy does not
// enqueue the contract.
func TestNoUse(t *testing.T) {
	t.Parallel()
	history := must(availability.NewHistory("", 1, []availability.Record{
		{Start: 0, End: 8, State: availability.Available}, {Start: 8, End: 1e9, State: availability.Unavailable},
	}, 0))
	o := newOffice("fcfs", noOptions, &floor.Availability{Leaving: floor.Resubmit, Histories: []*availability.History{history}})
	o.policy.deaf = contracts.Lost
	o.ask(0, 1, 10, 1e6)
	must(0, o.Advance(9))
	if e := o.Ended(); len(e) != 1 || e[0].Outcome != contracts.Broken || e[0].Ended != 8 {
		t.Errorf("%+v, want it broken at 8", e)
	}
}

// TestNothingOffered checks that a request without a budget is rejected.
func TestNothingOffered(t *testing.T) {
	t.Parallel()
	for budget, want := range map[int64]contracts.Reason{0: contracts.NoRate, 1: contracts.None} {
		if d := newOffice("fcfs", noOptions, nil).ask(0, 1, 10, budget); d.Reason != want {
			t.Errorf("budget %d: %q, want %q", budget, d.Reason, want)
		}
	}
}

// TestToldOfRoom checks that the policy is notified of free resources when a running
// reservation is cancelled, but not when a reservation is cancelled before its start.
func TestToldOfRoom(t *testing.T) {
	t.Parallel()
	o := newOffice("reserve", noOptions, nil)
	o.ask(0, 1, 10, 1e6)
	o.ask(0, 2, 10, 1e6)
	o.ask(0, 3, 10, 1e6)
	must(0, o.Advance(4))
	for _, c := range []struct {
		id   contracts.ID
		want bool
	}{{3, false}, {1, true}} {
		o.policy.told = nil
		must(0, o.Cancel(4, c.id))
		if got := slices.Contains(o.policy.told, contracts.Freed); got != c.want || o.policy.told[0] != contracts.Withdrawn {
			t.Errorf("%d is taken back: told %v", c.id, o.policy.told)
		}
	}
}

// TestKilledIsNoted checks that the ledger marks a contract stopped by its policy as killed,
// but not a contract that ended by itself.
func TestKilledIsNoted(t *testing.T) {
	t.Parallel()
	for truth, want := range map[float64]bool{10: false, 30: true} {
		o := newOffice("reserve", func(v any) error {
			v.(*reserve.Options).Overrun = "kill"
			return nil
		}, nil)
		o.ask(0, 1, truth, 1e6)
		must(0, o.Advance(50))
		if got := strings.Contains(o.entries.String(), `"killed":true`); got != want || len(o.Ended()) != 1 {
			t.Errorf("work %v: the ledger says %s", truth, o.entries.String())
		}
	}
}

// TestPhases checks the phases of a contract that yields to a more urgent one: it pauses while
// the other contract runs, and then continues to its end.
func TestPhases(t *testing.T) {
	t.Parallel()
	o := newOffice("reserve", func(v any) error {
		v.(*reserve.Options).Preempt = true
		return nil
	}, nil)
	o.ask(0, 1, 10, 1e6)
	must(0, o.Advance(4))
	urgent := contracts.Request{ID: 2, Owner: o.ann, Submit: 4, Work: 3, Nodes: 1, SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 4}}
	must(o.Submit(4, &urgent, hosts.Task{Work: 3}))
	for _, c := range []struct {
		now           float64
		first, second contracts.Phase
	}{
		{4, contracts.Paused, contracts.Running}, {6, contracts.Paused, contracts.Running},
		{7, contracts.Running, contracts.Ended}, {12, contracts.Running, contracts.Ended}, {13, contracts.Ended, contracts.Ended},
	} {
		must(0, o.Advance(c.now))
		first, open := o.Phase(1)
		second, _ := o.Phase(2)
		if first != c.first || second != c.second || open != (first != contracts.Ended) {
			t.Errorf("at %v: %v, open %v, and %v, want %v and %v", c.now, first, open, second, c.first, c.second)
		}
	}
}

// TestBookedIsNoted checks that the ledger records the opening time of a booked contract, and
// the hosts of a contract that starts at once.
func TestBookedIsNoted(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{"reserve": `"opens":`, "fcfs": `"on":`} {
		o := newOffice(policy, noOptions, nil)
		o.ask(0, 1, 10, 1e6)
		for _, said := range []string{`"opens":`, `"on":`} {
			if got := strings.Contains(o.entries.String(), said); got != (said == want) {
				t.Errorf("%s: the ledger says %s, want %s", policy, o.entries.String(), want)
			}
		}
	}
}

// TestFaultFreesHost checks that if a command cannot be started on a host, the next waiting
// request gets the host, and the ledger records the fault only for that contract.
func TestFaultFreesHost(t *testing.T) {
	t.Parallel()
	o := newOffice("fcfs", noOptions, nil)
	o.ask(0, 1, 10, 1e6)
	o.ask(0, 2, 10, 1e6)
	must(0, o.Advance(5))
	o.expect(t, "before", 1, 1)
	must(0, o.Fault(5, 1, 0))
	o.expect(t, "after", 1, 0)
	must(0, o.Advance(50))
	if want := []contracts.Outcome{contracts.Unstarted, contracts.Fulfilled}; !slices.Equal(o.policy.over, want) {
		t.Errorf("told %v, want %v", o.policy.over, want)
	}
	for line := range strings.Lines(o.entries.String()) {
		first, fault := strings.Contains(line, " settle 1 ["), strings.Contains(line, `"fault":"command"`)
		if first != fault {
			t.Errorf("of a settlement the ledger says %s", line)
		}
	}
	if !strings.Contains(o.entries.String(), " settle 1 [") {
		t.Error("the ledger has no settlement of the first")
	}
}
