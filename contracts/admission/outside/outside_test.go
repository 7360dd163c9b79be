package outside

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
	"bourse/market"
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

// TestRecord checks that a recorded question is unchanged after it is read again.
func TestRecord(t *testing.T) {
	t.Parallel()
	s, r := stand(), policytest.Wish(10, 2, 0.25)
	s.Contracts = []contracts.Contract{{Request: policytest.Wish(20, 1, 0.1), Rate: 0.5}}
	s.Hosts[1].Allocations = []contracts.Allocation{{Bid: 100, Rate: 0.5, Of: 1, Share: hosts.Share{Weight: 100}}}
	q := &Question{Number: 3, Request: &r, View: s, State: []byte(`{"n":1}`), proposed: true, why: "too few hosts", decider: new(decider)}
	q.Percentile(1, "cpu", 0.6)
	first := text(t, q.Record())
	again, _, err := Read(first, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if why := second(again.Place()); why != "too few hosts" {
		t.Errorf("proposes %q, want the recorded reason", why)
	}
	if got, err := again.Percentile(1, "cpu", 0.6); err != nil || got != s.Percentile(1, 0.6) {
		t.Errorf("percentile is %v, want %v: %v", got, s.Percentile(1, 0.6), err)
	}
	if got := text(t, again.Record()); string(got) != string(first) {
		t.Errorf("read again it is\n%s\nwant\n%s", got, first)
	}
}

// gpus is a stand whose GPUs have a price and a floor price.
type gpus struct{ *policytest.Stand }

func (gpus) Priced() []hosts.Kind                               { return []hosts.Kind{hosts.Countable} }
func (gpus) KindName(k hosts.Kind) string                       { return k.Name([]string{"gpu"}) }
func (gpus) PriceOf(hosts.ID, hosts.Kind) market.Rate           { return contractsRate(300_000_000) }
func (gpus) PercentileOf(hosts.ID, hosts.Kind, float64) float64 { return 0.7 }
func (gpus) Floors(hosts.ID) *hosts.Floor                       { return &hosts.Floor{hosts.Countable: 0.2} }

// TestPriced checks the data that a policy gets about resources other than processors, and that
// a recorded question contains the same data.
func TestPriced(t *testing.T) {
	t.Parallel()
	s, r := stand(), policytest.Wish(10, 2, 0.25)
	for h := range s.Hosts {
		s.Hosts[h].Room.Counts[0] = 4
	}
	r.Needs.Max.CPU, r.Needs.Min.Counts[0], r.Needs.Max.Counts[0] = 1, 1, 1
	on := []contracts.Placement{{Host: 0, Bid: 250_000_000}, {Host: 1, Bid: 100_000_000}}
	q := &Question{Number: 3, Request: &r, View: gpus{s}, proposed: true, place: on, decider: new(decider)}
	check := func(q *Question) {
		t.Helper()
		want := []Claim{{"cpu", 0.5, 0.25, 0.5, nil}, {"gpu", 0.25, 0.125, 0.3, nil}} // 1 of 2 processors, 1 of 4 GPUs
		if got := q.Claims(on[0]); !reflect.DeepEqual(got, want) {
			t.Errorf("claims %v, want %v", got, want)
		}
		if !q.Affords(on[0]) || q.Affords(on[1]) {
			t.Error("a bid of 0.25 $/s should reach the floor price of 0.2 $/s, and 0.1 $/s not")
		}
		if x, err := q.Percentile(0, "gpu", 0.6); err != nil || x != 0.7 {
			t.Errorf("percentile %v, %v", x, err)
		}
		if _, err := q.Percentile(0, "disk", 0.6); err == nil || !strings.Contains(err.Error(), "cpu gpu") {
			t.Errorf("percentile of disk: %v", err)
		}
		if !q.Fits(0, &r, false) || !q.Fits(0, &r, true) || !slices.Equal(q.Priced(), []string{"gpu"}) {
			t.Error("one GPU of four does not fit")
		}
	}
	check(q)
	line := q.Line(Parts{Percentiles: []float64{0.6}})
	if got, want := string(text(t, &line)), `"place":[{"host":0,"bid":0.25,"claims":[{"resource":"cpu","part":0.5,"bid":0.25,"price":0.5,"percentile":[`; !strings.Contains(got, want) || !strings.Contains(got, `"below_floor":true`) {
		t.Errorf("a program reads %s", got)
	}
	echo, err := json.Marshal(map[string]any{"ask": 3, "accept": line.Place})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := ParseAnswer(echo, 3, false); err != nil || !reflect.DeepEqual(a.Placements, on) {
		t.Errorf("a program accepts the proposal as %v, %v", a, err)
	}
	again, _, err := Read(text(t, q.Record()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
	a := Answer{Reason: "gpu: share below threshold at spot price", Numbers: make(contracts.Numbers, maxNumbers+perPriced)}
	for i := range a.Numbers {
		a.Numbers[i] = contracts.Counted("n"+strings.Repeat("x", i), i)
	}
	if _, err := q.Check(&a); err != nil {
		t.Error(err)
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
