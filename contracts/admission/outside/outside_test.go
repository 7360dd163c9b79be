package outside

import (
	"errors"
	"math"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

// stand is a market of three hosts.
func stand() *policytest.Stand {
	s := new(policytest.Stand)
	for range 3 {
		s.Hosts = append(s.Hosts, policytest.Stall{Spec: hosts.Spec{CPUs: 2, Speed: 1}, Price: 0.5})
	}
	return s
}

// TestCheck checks that an answer that the market must not carry out is rejected (open.md §3).
func TestCheck(t *testing.T) {
	t.Parallel()
	r := policytest.Wish(10, 2, 0.25)
	q := &Question{Request: &r, View: stand()}
	on := func(bids ...int) (all []contracts.Placement) {
		for h, b := range bids {
			all = append(all, contracts.Placement{Host: hosts.ID(h), Bid: contractsRate(b)})
		}
		return all
	}
	twice := on(1, 1)
	twice[1].Host = 0
	beyond := on(1, 1)
	beyond[1].Host = 3
	many := make(contracts.Numbers, 17)
	for i := range many {
		many[i] = contracts.Counted("n"+strings.Repeat("x", i), i)
	}
	accept := func(on []contracts.Placement) Answer { return Answer{Verdict: contracts.Accept, Placements: on} }
	number := func(n contracts.Number) Answer {
		return Answer{Verdict: contracts.Defer, Numbers: contracts.Numbers{n}}
	}
	for _, c := range []struct {
		what string
		a    Answer
		want string // text in the error; empty if the answer is valid
	}{
		{"two hosts", accept(on(250_000_000, 250_000_000)), ""},
		{"one host", accept(on(1)), "on 1 hosts, want 2"},
		{"no host", accept(nil), "on 0 hosts, want 2"},
		{"three hosts", accept(on(1, 1, 1)), "on 3 hosts, want 2"},
		{"a host twice", accept(twice), "host 0 twice"},
		{"a host that does not exist", accept(beyond), "host 3, want 0 to 2"},
		{"a bid of 0", accept(on(1, 0)), "a bid of 0 $/s on host 1"},
		{"bids above the rate", accept(on(250_000_000, 250_000_001)), "more than the rate of the request, 0.5"},
		{"bids that overflow", accept(on(math.MaxInt64, math.MaxInt64)), "more than the rate"},
		{"a reason", Answer{Reason: "price above the limit, 0.5 - later."}, ""},
		{"no reason", Answer{}, `reason ""`},
		{"a forged reason", Answer{Reason: `no","decision":"accept`}, "found the reason"},
		{"a long reason", Answer{Reason: strings.Repeat("a", 61)}, "found the reason"},
		{"a number", number(contracts.Measured("price", 1)), ""},
		{"many numbers", Answer{Verdict: contracts.Defer, Numbers: many}, "17 numbers, want at most 16"},
		{"NaN", number(contracts.Measured("price", math.NaN())), "price is NaN, want a finite number"},
		{"infinity", number(contracts.Measured("price", math.Inf(1))), "price is +Inf"},
		{"a field of a note", number(contracts.Measured("deadline", 1)), "name deadline, which notes"},
		{"a forged name", number(contracts.Measured(`a":1,"on`, 1)), "a letter of a-z"},
		{"an upper-case name", number(contracts.Measured("Price", 1)), "a letter of a-z"},
		{"a name twice", Answer{Verdict: contracts.Defer, Numbers: contracts.Numbers{contracts.Counted("n", 1), contracts.Counted("n", 2)}}, "two numbers with the name n"},
		{"a large state", Answer{Verdict: contracts.Defer, State: make([]byte, MaxState+1)}, "65537 bytes"},
		{"a state that is no JSON", Answer{Verdict: contracts.Defer, State: []byte("{")}, "not JSON"},
	} {
		_, err := q.Check(&c.a)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// fixed is a mind that always gives the same answer.
type fixed struct {
	Answer
	err error
}

func (f fixed) Decide(q *Question) (Answer, error)       { q.Random(); return f.Answer, f.err }
func (f fixed) Ended(*Question) ([]byte, error)          { return f.State, f.err }
func (f fixed) Key(*Question) (key []float64, err error) { return key, f.err }

// TestRecord checks that a recorded question can be read again and is then the same.
func TestRecord(t *testing.T) {
	t.Parallel()
	s, r := stand(), policytest.Wish(10, 2, 0.25)
	s.Contracts = []contracts.Contract{{Request: policytest.Wish(20, 1, 0.1), Rate: 0.5}}
	s.Hosts[1].Allocations = []contracts.Allocation{{Bid: 100, Rate: 0.5, Of: 1, Share: hosts.Share{Weight: 100}}}
	q := &Question{Number: 3, Request: &r, View: s, State: []byte(`{"n":1}`), proposed: true, why: "too few hosts", decider: new(decider)}
	q.Percentile(1, 0.6)
	first := text(t, q.Record())
	again, _, err := Read(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	if why := second(again.Place()); why != "too few hosts" {
		t.Errorf("proposes %q, want the recorded reason", why)
	}
	if got, want := again.Percentile(1, 0.6), s.Percentile(1, 0.6); got != want {
		t.Errorf("percentile is %v, want %v", got, want)
	}
	if got := text(t, again.Record()); string(got) != string(first) {
		t.Errorf("read again it is\n%s\nwant\n%s", got, first)
	}
}

func second[A, B any](_ A, b B) B { return b }

// TestFailureEndsPolicy checks that a policy whose mind failed returns no more actions.
func TestFailureEndsPolicy(t *testing.T) {
	t.Parallel()
	r := policytest.Wish(10, 2, 0.25)
	broken := errors.New("broken")
	p := New(fixed{err: broken}, Terms{}, nil, newRand())
	if d := p.Decide(7, &r, stand()); d.Verdict != contracts.Defer {
		t.Errorf("decided %v, want no decision", d.Verdict)
	}
	var failed *Error
	if err := p.Err(); !errors.As(err, &failed) || !errors.Is(err, broken) || failed.Job != 99 || failed.At != 7 {
		t.Errorf("error is %v, want broken, with job and time", err)
	}
}
