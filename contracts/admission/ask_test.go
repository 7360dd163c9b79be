package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// A script is a decider with a fixed verdict for each request. It records the requests that it
// was asked about and counts the passes.
type script struct {
	says  map[contracts.ID]contracts.Decision
	asked []contracts.ID
	scans int
}

func (s *script) Decide(_ float64, r *contracts.Request, _ contracts.View) contracts.Decision {
	s.asked = append(s.asked, r.ID)
	return s.says[r.ID]
}

func (s *script) Scan() { s.scans++ }

// An asking is an adapter with requests 0 to 9. It notifies the adapter of events and carries
// out its actions.
type asking struct {
	*policytest.Board
	policy contracts.Policy
	script *script
}

func newAsking(order *Order) *asking {
	a := &asking{Board: &policytest.Board{Requests: make([]contracts.Request, 10)}, script: &script{says: map[contracts.ID]contracts.Decision{}}}
	for i := range a.Requests {
		a.Requests[i].ID = contracts.ID(i)
		a.script.says[contracts.ID(i)] = contracts.Decision{Verdict: contracts.Defer}
	}
	if order == nil {
		a.policy = Immediate(a.script)
		return a
	}
	if order.Scan != nil {
		order.Scan = a.script
	}
	a.policy = Queued(a.script, *order)
	return a
}

// tell notifies the adapter of an event of request i and then of completed actions. It returns
// the actions and the requests that the decider was asked about: "admit 1; asked 0 1".
func (a *asking) tell(kind contracts.EventKind, i int32) string {
	var out []string
	a.script.asked = nil
	for e := (contracts.Event{Kind: kind, Contract: i}); ; e.Kind = contracts.Continue {
		actions := a.policy.Handle(0, e, a.Board)
		if len(actions) == 0 {
			break
		}
		for _, act := range actions {
			switch act.Verb {
			case contracts.Enqueue:
				a.Queue = slices.Insert(slices.Clone(a.Queue), act.Place, act.Contract)
				out = append(out, fmt.Sprintf("enqueue %d at %d", act.Contract, act.Place))
				continue
			case contracts.Admit:
				out = append(out, fmt.Sprintf("admit %d", act.Contract))
			case contracts.Refuse:
				out = append(out, fmt.Sprintf("refuse %d", act.Contract))
			}
			a.Queue = slices.DeleteFunc(slices.Clone(a.Queue), func(i int32) bool { return i == act.Contract })
		}
	}
	return strings.Join(out, ", ") + fmt.Sprint("; asked ", a.script.asked)
}

func (a *asking) says(v contracts.Verdict, ids ...contracts.ID) {
	for _, id := range ids {
		a.script.says[id] = contracts.Decision{Verdict: v}
	}
}

// expect fails the test unless the adapter returns exactly the expected actions.
func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestImmediate checks that a decider without a queue is asked at submission, and that a
// deferred request waits. Whenever resources may be free, the adapter must ask the decider
// about all waiting requests from the front, and again after each acceptance.
func TestImmediate(t *testing.T) {
	t.Parallel()
	a := newAsking(nil)
	expect(t, a.tell(contracts.Freed, 0), "; asked []")
	a.says(contracts.Accept, 0)
	expect(t, a.tell(contracts.Submitted, 0), "admit 0; asked [0]")
	a.says(contracts.Reject, 1)
	expect(t, a.tell(contracts.Submitted, 1), "refuse 1; asked [1]")
	for i := range int32(4) {
		expect(t, a.tell(contracts.Submitted, 2+i), fmt.Sprintf("enqueue %d at %d; asked [%d]", 2+i, i, 2+i))
	}
	expect(t, a.tell(contracts.Came, 0), "; asked []")
	expect(t, a.tell(contracts.Freed, 0), "; asked [2 3 4 5]")
	a.says(contracts.Accept, 4)
	a.says(contracts.Reject, 3)
	expect(t, a.tell(contracts.Freed, 0), "refuse 3, admit 4; asked [2 3 4 2 5]")
	expect(t, a.tell(contracts.Overdue, 5), "refuse 5; asked []")
	expect(t, a.tell(contracts.Lost, 6), "enqueue 6 at 1; asked []")
}

// TestRepeatWaits checks that an accepted contract that lost its hosts is not rejected when it
// must be placed again, unless it is too late.
func TestRepeatWaits(t *testing.T) {
	t.Parallel()
	a := newAsking(nil)
	a.Requests[0].Repeat, a.Requests[1].Repeat = true, true
	a.script.says[0] = contracts.Decision{Reason: contracts.TooFewHosts}
	a.script.says[1] = contracts.Decision{Reason: contracts.TooLate}
	expect(t, a.tell(contracts.Lost, 0), "enqueue 0 at 0; asked []")
	expect(t, a.tell(contracts.Lost, 1), "enqueue 1 at 1; asked []")
	expect(t, a.tell(contracts.Freed, 1), "refuse 1; asked [0 1]")
}

// TestQueued checks that a pass covers the queue from the front until a request is deferred or,
// with Scan, the whole queue, and that Scan is notified of each pass. It also checks that
// requests wait behind requests of equal order, and that a patient queue does not reject
// requests at their deadline.
func TestQueued(t *testing.T) {
	t.Parallel()
	a := newAsking(&Order{Patient: true})
	a.says(contracts.Accept, 0)
	expect(t, a.tell(contracts.Submitted, 0), "enqueue 0 at 0, admit 0; asked [0]")
	expect(t, a.tell(contracts.Submitted, 1), "enqueue 1 at 0; asked [1]")
	expect(t, a.tell(contracts.Submitted, 2), "enqueue 2 at 1; asked [1]")
	expect(t, a.tell(contracts.Overdue, 1), "; asked []")
	a.says(contracts.Accept, 1, 2)
	expect(t, a.tell(contracts.Freed, 0), "admit 1, admit 2; asked [1 2]")

	a = newAsking(&Order{Scan: new(script), Less: func(a, b *contracts.Request) bool { return a.ID/2 < b.ID/2 }})
	expect(t, a.tell(contracts.Freed, 0), "; asked []")
	if a.script.scans != 0 {
		t.Errorf("%d passes over nobody", a.script.scans)
	}
	expect(t, a.tell(contracts.Submitted, 4), "enqueue 4 at 0; asked [4]")
	expect(t, a.tell(contracts.Submitted, 2), "enqueue 2 at 0; asked [2 4]")
	expect(t, a.tell(contracts.Submitted, 3), "enqueue 3 at 1; asked [2 3 4]")
	expect(t, a.tell(contracts.Submitted, 5), "enqueue 5 at 3; asked [2 3 4 5]")
	if a.script.scans != 4 {
		t.Errorf("%d passes began, want 4", a.script.scans)
	}
	a.says(contracts.Accept, 3)
	expect(t, a.tell(contracts.Freed, 0), "admit 3; asked [2 3 2 4 5]")
	if a.script.scans != 6 {
		t.Errorf("%d passes began, want 6", a.script.scans)
	}
	a.says(contracts.Accept, 2)
	expect(t, a.tell(contracts.Freed, 0), "admit 2; asked [2 4 5]")
	if a.script.scans != 8 {
		t.Errorf("%d passes began, want 8", a.script.scans)
	}
	expect(t, a.tell(contracts.Overdue, 4), "refuse 4; asked []")
}
