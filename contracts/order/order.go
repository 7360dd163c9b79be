// Package order is what a user signs for a market: the terms of a contract as text, and
// what is to run under it. It reads and writes the lines of a [bourse/bank/order] that
// are a market's own, and makes a [contracts.Request] of them.
//
// It does not know keys, networks, or what time it is.
//
// # Format
//
// An order of kind order has, between account and expires, these lines, each once and in
// this order:
//
//	class cac            admission class; - leaves it to the market
//	nodes 2              so many hosts
//	cpus 1.5             processors that one node uses at most; left out, 1
//	work 540             of a node, processor-seconds
//	deadline 600         s after the market has it
//	budget 1.500000      dollars
//	job sha256:5f7c…     what is to run, the [Sum] of its [Text]
//
// An order of kind cancel or read has one:
//
//	contract 17
//
// A number is written in one way only, as strconv does.
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

// A Head is who orders where, and until when.
type Head struct {
	Ledger, Market, ID, Account string
	Expires                     float64 // s since 2000-01-01 UTC, as banks count them
}

// Terms are what a user asks for.
type Terms struct {
	Class    string  // of admission, empty leaves it to the market
	Nodes    int     // hosts
	CPUs     float64 // processors that one node uses at most
	Work     float64 // of a node, processor-seconds
	Deadline float64 // s after it is submitted
	Budget   bank.Amount
	Job      string // the sum of what is to run
}

const (
	mostNodes = 1_000_000
	mostWork  = 1e12
	mostCPUs  = 1e6
)

// Order returns the text that is to be signed for t.
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

// About returns the text that is to be signed for an order of kind cancel or read, about a
// contract.
func About(h Head, kind string, contract int64) (*order.Order, error) {
	return h.order(kind, order.Field{Name: "contract", Value: strconv.FormatInt(contract, 10)})
}

func (h Head) order(kind string, own ...order.Field) (*order.Order, error) {
	fields := []order.Field{{Name: "ledger", Value: h.Ledger}, {Name: "market", Value: h.Market}, {Name: "id", Value: h.ID}, {Name: "account", Value: h.Account}}
	return order.New(kind, append(append(fields, own...), order.Expiry(h.Expires))...)
}

// HeadOf returns who orders where.
func HeadOf(o *order.Order) Head {
	return Head{o.Value("ledger"), o.Value("market"), o.Value("id"), o.Value("account"), o.Expires()}
}

// Parse returns the terms of an order, which has a market's own lines and no others.
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

// Contract returns the contract that an order of kind cancel or read is about.
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

// Request returns what t asks for. Who pays, its number and when it was asked for are the
// market's to say. The work of every node is promised by itself. An order has no line for a
// penalty, which a user could set as high as he liked at the market's cost.
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

// check tells what of t no market takes.
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

// number writes x in its one form.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
