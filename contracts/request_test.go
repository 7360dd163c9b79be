package contracts_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
	"bourse/market"
)

// sound returns a valid request.
func sound() contracts.Request {
	return contracts.Request{
		ID: 1, Work: 100, Nodes: 4,
		SLA: contracts.SLA{Budget: bank.Micros(1e6), Deadline: 50, Penalty: contracts.Penalty{Rate: 1, Max: math.Inf(1)}},
	}
}

// TestRate checks the spending rate b = v/(d n), rounded toward zero to the nano-dollar, so
// that the spending by the deadline never exceeds the budget (spec §2).
func TestRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		micros   int64
		deadline float64
		nodes    int
		want     market.Rate // rate of one node
	}{
		{1e6, 100, 1, 10_000_000},
		{1e6, 100, 4, 2_500_000},
		{1e6, 3, 1, 333_333_333},
		{1e6, 7, 3, 47_619_047},
		{1, 999, 1, 1},
		{1, 1001, 1, 0},
		{1, 3e-9, 1, 333_333_333_333},
		{1e15, 1e-9, 1, 0}, // beyond the range of a rate
	} {
		r := sound()
		r.SLA.Budget, r.SLA.Deadline, r.Nodes = bank.Micros(c.micros), c.deadline, c.nodes
		if got := r.NodeRate(); got != c.want || r.Rate() != c.want*market.Rate(c.nodes) {
			t.Errorf("%d micro-dollars over %v s and %d nodes: %v, want %v", c.micros, c.deadline, c.nodes, got, c.want)
		}
	}
}

// TestGang checks that the nodes of a request are spread evenly over its parts, and that each
// part has at least one node.
func TestGang(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes, parts int
		want         string
	}{
		{5, 0, "[5]"}, {5, 1, "[5]"}, {5, 2, "[3 2]"}, {5, 3, "[2 2 1]"}, {6, 3, "[2 2 2]"}, {5, 5, "[1 1 1 1 1]"}, {2, 5, "[1 1]"},
	} {
		r := contracts.Request{Nodes: c.nodes, Parts: c.parts}
		var got []int
		for n := range r.Gangs() {
			got = append(got, r.Gang(n))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d nodes in %d parts: %v, want %s", c.nodes, c.parts, got, c.want)
		}
	}
}

// TestHolds checks that a task reserves the free amount of a resource, but at least its minimum
// and at most its maximum, and that it reserves the minimum if no maximum is stated.
func TestHolds(t *testing.T) {
	t.Parallel()
	bound := func(memory, disk, bandwidth float64) contracts.Bound {
		return contracts.Bound{Resources: hosts.Resources{Memory: memory, Disk: disk, Bandwidth: bandwidth}}
	}
	r := contracts.Requirement{Min: bound(4, 4, 4), Max: bound(8, 0, 6)}
	for _, c := range []struct{ room, want hosts.Resources }{
		{hosts.Resources{Memory: 100, Disk: 100, Bandwidth: 100}, hosts.Resources{Memory: 8, Disk: 4, Bandwidth: 6}},
		{hosts.Resources{Memory: 7, Disk: 7, Bandwidth: 5}, hosts.Resources{Memory: 7, Disk: 4, Bandwidth: 5}},
		{hosts.Resources{Memory: 4, Disk: 4, Bandwidth: 4}, hosts.Resources{Memory: 4, Disk: 4, Bandwidth: 4}},
		{hosts.Resources{}, hosts.Resources{Memory: 4, Disk: 4, Bandwidth: 4}}, // the task does not fit
	} {
		if got := r.Holds(new(hosts.Spec), c.room); got != c.want {
			t.Errorf("in %+v holds %+v, want %+v", c.room, got, c.want)
		}
	}
	if got := (&contracts.Requirement{}).Holds(new(hosts.Spec), hosts.Resources{Memory: 5}); !got.Zero() {
		t.Errorf("a request without requirement holds %+v", got)
	}
}

// TestValidate checks that every invalid field is rejected by name, and that valid requests are
// accepted.
func TestValidate(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	if r := sound(); r.Validate() != nil {
		t.Errorf("refused: %v", r.Validate())
	}
	for _, c := range []struct {
		field string
		spoil func(r *contracts.Request)
	}{
		{"submit", func(r *contracts.Request) { r.Submit = nan }},
		{"submit", func(r *contracts.Request) { r.Submit = inf }},
		{"work", func(r *contracts.Request) { r.Work = 0 }},
		{"work", func(r *contracts.Request) { r.Work = -1 }},
		{"work", func(r *contracts.Request) { r.Work = nan }},
		{"work", func(r *contracts.Request) { r.Work = inf }},
		{"nodes", func(r *contracts.Request) { r.Nodes = 0 }},
		{"nodes", func(r *contracts.Request) { r.Nodes = -3 }},
		{"parts", func(r *contracts.Request) { r.Parts = -1 }},
		{"parts", func(r *contracts.Request) { r.Nodes, r.Parts = 2, 3 }},
		{"budget", func(r *contracts.Request) { r.SLA.Budget = bank.Amount{} }},
		{"budget", func(r *contracts.Request) { r.SLA.Budget = bank.Micros(-1) }},
		{"deadline", func(r *contracts.Request) { r.SLA.Deadline = 0 }},
		{"deadline", func(r *contracts.Request) { r.SLA.Deadline = nan }},
		{"deadline", func(r *contracts.Request) { r.SLA.Deadline = inf }},
		{"penalty rate", func(r *contracts.Request) { r.SLA.Penalty.Rate = -1 }},
		{"penalty rate", func(r *contracts.Request) { r.SLA.Penalty.Rate = inf }},
		{"maximum penalty", func(r *contracts.Request) { r.SLA.Penalty.Max = nan }},
		{"maximum penalty", func(r *contracts.Request) { r.SLA.Penalty.Max = -1 }},
		{"cpu", func(r *contracts.Request) { r.Needs.Min.CPU = -1 }},
		{"cpu", func(r *contracts.Request) { r.Needs.Min.CPU, r.Needs.Max.CPU = 2, 1 }},
		{"memory", func(r *contracts.Request) { r.Needs.Min.Memory = nan }},
		{"disk", func(r *contracts.Request) { r.Needs.Max.Disk = inf }},
		{"bandwidth", func(r *contracts.Request) { r.Needs.Min.Bandwidth, r.Needs.Max.Bandwidth = 2, 1 }},
		{"not a valid rate", func(r *contracts.Request) { r.SLA.Budget, r.SLA.Deadline = bank.Micros(1), 1e6 }},
		{"not a valid rate", func(r *contracts.Request) { r.SLA.Budget, r.SLA.Deadline = bank.Micros(1e15), 1e-9 }},
	} {
		r := sound()
		c.spoil(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "request 1: ") || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// TestRemaining checks the estimated remaining work between two events.
func TestRemaining(t *testing.T) {
	t.Parallel()
	c := contracts.Contract{Request: sound(), Done: 100, Rate: 2, At: 10}
	for now, want := range map[float64]float64{10: 300, 60: 200, 160: 0, 500: 0} {
		if got := c.Remaining(now); got != want {
			t.Errorf("at %v %v are left, want %v", now, got, want)
		}
	}
}
