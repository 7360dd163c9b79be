// Package order defines the orders that a user signs for a market: the terms of a contract and
// its job. It reads and writes the market's own lines of a [bourse/bank/order] and creates a
// [contracts.Request] from them.
//
// The package is independent of keys, networks and the current time.
//
// # Format
//
// An order of kind order has these lines between account and expires, each once and in this
// order:
//
//	class cac            admission class; - leaves it to the market
//	nodes 2              number of hosts
//	cpus 1.5             maximum processors per node; omitted if 1
//	work 540             processor-seconds per node
//	deadline 600         seconds after the market receives the order
//	budget 1.500000      dollars
//	job sha256:5f7c…     the [Sum] of the [Text] of the job
//
// An order of kind cancel or read has one line:
//
//	contract 17
//
// Each number has only one valid form, as written by strconv.
package order

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/contracts"
)

// A Head identifies the sender and the market of an order, and its expiry.
type Head struct {
	Ledger, Market, ID, Account string
	Expires                     float64 // seconds since 2000-01-01 UTC, as used by banks
}

// Terms are the terms that a user requests.
type Terms struct {
	Class    string  // admission class; empty leaves it to the market
	Nodes    int     // hosts
	CPUs     float64 // maximum processors per node
	Work     float64 // processor-seconds per node
	Deadline float64 // seconds after submission
	Budget   bank.Amount
	Job      string // Sum of the job's text
}

const (
	mostNodes = 1_000_000
	mostWork  = 1e12
	mostCPUs  = 1e6
)

// Order returns the order to sign for t.
func (t *Terms) Order(h Head) (*order.Order, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	fields := []order.Field{{Name: "class", Value: t.class()}, {Name: "nodes", Value: strconv.Itoa(t.Nodes)}}
	if t.CPUs != 1 {
		fields = append(fields, order.Field{Name: "cpus", Value: number(t.CPUs)})
	}
	return h.order("order", append(fields,
		order.Field{Name: "work", Value: number(t.Work)},
		order.Field{Name: "deadline", Value: number(t.Deadline)},
		order.Field{Name: "budget", Value: t.Budget.String()},
		order.Field{Name: "job", Value: t.Job})...)
}

// About returns the order of kind cancel or read to sign for a contract.
func About(h Head, kind string, contract int64) (*order.Order, error) {
	return h.order(kind, order.Field{Name: "contract", Value: strconv.FormatInt(contract, 10)})
}

func (h Head) order(kind string, own ...order.Field) (*order.Order, error) {
	fields := []order.Field{{Name: "ledger", Value: h.Ledger}, {Name: "market", Value: h.Market}, {Name: "id", Value: h.ID}, {Name: "account", Value: h.Account}}
	return order.New(kind, append(append(fields, own...), order.Expiry(h.Expires))...)
}

// HeadOf returns the head of an order.
func HeadOf(o *order.Order) Head {
	return Head{o.Value("ledger"), o.Value("market"), o.Value("id"), o.Value("account"), o.Expires()}
}

// Parse returns the terms of an order, which must have exactly the market's own lines.
func Parse(o *order.Order) (*Terms, error) {
	if o.Kind != "order" {
		return nil, fmt.Errorf("found an order of kind %s, want order", o.Kind)
	}
	t := &Terms{Class: o.Value("class"), CPUs: 1, Budget: o.Money("budget"), Job: o.Value("job")}
	if t.Class == "-" {
		t.Class = ""
	}
	var err error
	if t.Nodes, err = strconv.Atoi(o.Value("nodes")); err != nil {
		return nil, fmt.Errorf("nodes: found %.40q, want a whole number", o.Value("nodes"))
	}
	for _, f := range []struct {
		name string
		to   *float64
	}{{"cpus", &t.CPUs}, {"work", &t.Work}, {"deadline", &t.Deadline}} {
		s := o.Value(f.name)
		if s == "" && f.name == "cpus" {
			continue
		}
		if *f.to, err = strconv.ParseFloat(s, 64); err != nil || number(*f.to) != s {
			return nil, fmt.Errorf("%s: found %.40q, want a number in its shortest form, such as 540 or 0.25", f.name, s)
		}
	}
	again, err := t.Order(HeadOf(o))
	if err != nil {
		return nil, err
	}
	if again.String() != o.String() {
		return nil, errors.New("found other lines or a different order, want class, nodes, cpus (if not 1), work, deadline, budget, job")
	}
	return t, nil
}

// Contract returns the contract of an order of kind cancel or read.
func Contract(o *order.Order) (int64, error) {
	n, err := strconv.ParseInt(o.Value("contract"), 10, 64)
	if err != nil || o.Kind != "cancel" && o.Kind != "read" {
		return 0, fmt.Errorf("found an order of kind %s about contract %.40q, want cancel or read, and a whole number", o.Kind, o.Value("contract"))
	}
	if again, err := About(HeadOf(o), o.Kind, n); err != nil || again.String() != o.String() {
		return 0, errors.New("found other lines, want only contract")
	}
	return n, nil
}

// Request returns the request described by t. The market sets the user, the number and the
// submission time. Each node's work is promised separately. An order has no line for a penalty,
// because users could set it arbitrarily high at the market's cost.
func (t *Terms) Request() contracts.Request {
	r := contracts.Request{Class: t.Class, Work: t.Work, Nodes: t.Nodes, PerHost: true}
	r.Needs.Max.CPU = t.CPUs
	r.SLA = contracts.SLA{Deadline: t.Deadline, Budget: t.Budget, Penalty: contracts.Penalty{Max: math.Inf(1)}}
	return r
}

func (t *Terms) class() string {
	if t.Class == "" {
		return "-"
	}
	return t.Class
}

// check returns an error if no market accepts t.
func (t *Terms) check() error {
	within := func(x, most float64) bool { return x > 0 && x <= most }
	switch {
	case t.Nodes < 1 || t.Nodes > mostNodes:
		return fmt.Errorf("nodes: found %d, want 1 to %d", t.Nodes, mostNodes)
	case !within(t.CPUs, mostCPUs):
		return fmt.Errorf("cpus: found %v, want processors above 0, at most %v", t.CPUs, mostCPUs)
	case !within(t.Work, mostWork):
		return fmt.Errorf("work: found %v, want processor-seconds above 0, at most %v", t.Work, mostWork)
	case !within(t.Deadline, mostWork):
		return fmt.Errorf("deadline: found %v, want seconds above 0, at most %v", t.Deadline, mostWork)
	case !isSum(t.Job):
		return fmt.Errorf("job: found %.80q, want sha256: and 64 hexadecimal digits", t.Job)
	}
	r := t.Request()
	return r.Validate()
}

// number returns the canonical form of x.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
