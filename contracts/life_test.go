package contracts_test

import (
	"math"
	"testing"

	"bourse/contracts"
)

// TestOutcomes checks which outcomes break a promise: late, broken and killed, and also
// unstarted, which is not the market's fault. It also checks the three words that ledgers use
// for all outcomes.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for o, want := range map[contracts.Outcome]string{
		contracts.Fulfilled: "fulfilled", contracts.Late: "violated", contracts.Broken: "violated", contracts.Killed: "violated", contracts.Unstarted: "violated",
		contracts.Cancelled: "cancelled", contracts.Unfinished: "cancelled", contracts.Refused: "cancelled",
	} {
		if violated := want == "violated"; o.State() != want || o.Violated() != violated || o.Missed() != (violated && o != contracts.Unstarted) {
			t.Errorf("%v is %s, violated %v and missed %v, want %s", o, o.State(), o.Violated(), o.Missed(), want)
		}
	}
}

// TestInstants checks the times at which a request is due, opens and is late. It is late if it
// ends after its deadline by more than 1e-6 s plus 1e-9 of the deadline, the allowance for
// rounding.
func TestInstants(t *testing.T) {
	t.Parallel()
	r := sound()
	r.Submit, r.Lead, r.SLA.Deadline = 100, 7, 1000
	if r.Due() != 1100 || r.Opens() != 107 || r.Total() != 400 {
		t.Errorf("due at %v, opens at %v, work %v; want 1100, 107, 400", r.Due(), r.Opens(), r.Total())
	}
	for end, want := range map[float64]bool{1000: false, 1100: false, 1100 + 1.5e-6: false, 1100 + 2.5e-6: true, 1101: true} {
		if r.Late(end) != want {
			t.Errorf("an end %v s after the deadline is late: %v", end-1100, !want)
		}
	}
	r = contracts.Request{}
	if r.Late(1e-6) || !r.Late(1.1e-6) {
		t.Error("late before or not after a deadline by 1e-6 s")
	}
	r.OnDemand = true
	if !math.IsInf(r.Due(), 1) || r.Late(1e9) {
		t.Errorf("no instant is promised, and due at %v", r.Due())
	}
}

// TestLeft checks the work left on one node, which is below 0 if the estimate was too low.
func TestLeft(t *testing.T) {
	t.Parallel()
	c := contracts.Contract{Request: sound()} // a contract with work of 100 per node
	s := contracts.Allocation{Done: 10, Rate: 2, At: 30}
	for now, want := range map[float64]float64{30: 90, 50: 50, 80: -10} {
		if got := s.Left(now, &c); got != want {
			t.Errorf("at %v %v are left, want %v", now, got, want)
		}
	}
	if got := contracts.Moment(1); got != 0x1p-52 {
		t.Errorf("instants at 1 are %v apart, want 2⁻⁵²", got)
	}
}

// TestValidateEdges checks that the smallest and largest valid values are accepted.
func TestValidateEdges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *contracts.Request){
		"one node":             func(r *contracts.Request) { r.Nodes = 1 },
		"no lead":              func(r *contracts.Request) { r.Lead = 0 },
		"a lead":               func(r *contracts.Request) { r.Lead = 3 },
		"no penalty":           func(r *contracts.Request) { r.SLA.Penalty = contracts.Penalty{} },
		"maximum and minimum":  func(r *contracts.Request) { r.Needs.Min.CPU, r.Needs.Max.CPU = 2, 2 },
		"a minimum, no bounds": func(r *contracts.Request) { r.Needs.Min.CPU = 2 },
	} {
		r := sound()
		if change(&r); r.Validate() != nil {
			t.Errorf("%s: %v", name, r.Validate())
		}
	}
	for _, lead := range []float64{-1, math.NaN(), math.Inf(1)} {
		r := sound()
		if r.Lead = lead; r.Validate() == nil {
			t.Errorf("a lead of %v passes", lead)
		}
	}
}
