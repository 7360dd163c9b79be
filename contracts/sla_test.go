package contracts_test

import (
	"math"
	"testing"

	"bourse/contracts"
)

// TestPenalty checks the linear penalty, bounded and not (SLA paper, eq. 1).
func TestPenalty(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct {
		penalty contracts.Penalty
		delay   float64
		want    float64
	}{
		{contracts.Penalty{}, 100, 0},
		{contracts.Penalty{Rate: 2, Max: inf}, 0, 0},
		{contracts.Penalty{Rate: 2, Max: inf}, -5, 0},
		{contracts.Penalty{Rate: 2, Max: inf}, 100, 200},
		{contracts.Penalty{Rate: 2, Max: 150}, 100, 150},
		{contracts.Penalty{Rate: 2, Max: 150}, 75, 150},
		{contracts.Penalty{Rate: 2, Max: 150}, 70, 140},
		{contracts.Penalty{Rate: 2, Max: 0}, 70, 0},
		{contracts.Penalty{Rate: 0, Max: inf}, inf, 0},
	} {
		if got := c.penalty.Of(c.delay); got != c.want {
			t.Errorf("%+v of %v s = %v, want %v", c.penalty, c.delay, got, c.want)
		}
	}
}

// TestDelay checks that a contract is late by finish - due where its work goes on
// (SLA paper, eq. 2), and else by what is left at the promised pace.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		state contracts.State
		soft  bool
		ended float64
		byDue float64 // of 2 x 100
		want  float64
	}{
		{"running", contracts.Active, false, 0, 0, 0},
		{"in time", contracts.Fulfilled, true, 150, 200, 0},
		{"soft", contracts.Violated, true, 175, 130, 25},
		{"hard, a quarter left", contracts.Violated, false, 150, 150, 12.5},
		{"hard, nothing done", contracts.Violated, false, 150, 0, 50},
		{"hard, more than was asked for", contracts.Violated, false, 150, 300, 0},
	} {
		k := contracts.Contract{
			Request: contracts.Request{Submit: 100, Work: 100, Nodes: 2, SLA: contracts.SLA{Deadline: 50, Soft: c.soft}},
			State:   c.state, Ended: c.ended, ByDue: c.byDue,
		}
		if got := k.Delay(); got != c.want {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
}
