// Package order defines the orders that a user signs for a market: the terms of a contract and
// its job. It parses and formats the market's own lines of a [bourse/bank/order], and creates
// a [contracts.Request] from them.
//
// The package is independent of keys, networks and the current time.
//
// # Format
//
// An order of kind order has these lines between account and expires, each exactly once and in
// this order:
//
//	class cac            admission class; - leaves it to the market
//	nodes 2              number of hosts
//	cpus 1.5             maximum number of processors per node; omitted if 1
//	memory 8000000000    bytes that each node holds; omitted if the market decides
//	disk 20000000000     bytes of disk that each node holds; omitted if the market decides
//	bandwidth 1000000    bytes per second that each node holds; omitted if 0
//	count gpu 1          units of countable resources that each node holds, separated by commas
//	licence matlab 2     units of the market's licences that the contract holds, separated by commas
//	work 540             processor-seconds per node
//	deadline 600         seconds after the market receives the order
//	budget 1.500000      dollars
//	job sha256:5f7c…     the [Sum] of the [Text] of the job
//	warn 30              seconds of notice before the deadline; omitted if 0, as all that follow
//	checkpoint 600       seconds between two checkpoints that are sent to the market
//	requeue 2            further attempts after exit status 75
//	project film         account project:film pays; omitted if the account itself pays
//	array A1 7 3         index 7 of array A1, of which 3 may be unfinished at a time; 0 is all
//	after 15,16          contracts that must have been fulfilled before
//	after_ended 17       contracts that must have ended before
//	after_failed 18      contracts that must have ended before, without being fulfilled
//
// An order of kind cancel or read has one line:
//
//	contract 17
//
// An order of kind bid changes the budget of a contract. It has two lines:
//
//	contract 17
//	budget 2.500000
//
// Each number has only one valid form, as written by strconv.
package order

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/contracts"
)

// A Head contains the parts that all orders have: the sender, the market and the expiry.
type Head struct {
	Ledger, Market, ID, Account string
	Expires                     float64 // seconds since 2000-01-01 UTC, as used by banks
}

// Terms are the terms that a user requests.
type Terms struct {
	Class     string           // admission class; empty means that the market chooses it
	Nodes     int              // number of hosts
	CPUs      float64          // maximum number of processors per node
	Memory    int64            // number of bytes that each node holds; 0 means that the market chooses it
	Disk      int64            // number of bytes of disk that each node holds; 0 means that the market chooses it
	Bandwidth int64            // number of bytes per second that each node holds
	Counts    map[string]int32 // number of units of each countable resource that each node holds, by name
	Licences  map[string]int32 // number of units of each licence of the market that the contract holds, by name
	Work      float64          // processor-seconds per node
	Deadline  float64          // seconds after submission
	Budget    bank.Amount
	Job       string // Sum of the job's text

	Warn       float64    // seconds before the deadline at which the programs are notified; 0 means that the market chooses it
	Checkpoint float64    // seconds between two checkpoints that the market stores; 0 means that only checkpoints after a notice are stored
	Requeue    int        // maximum number of further attempts after exit status 75
	Project    string     // project whose account, project:Project, pays; empty if the account itself pays
	Array      Array      // array of the contract; the zero value means no array
	After      [3][]int64 // contracts that must end before this contract, by [Condition]
}

// An Array identifies a contract as one of several contracts.
type Array struct {
	ID    string // ID, unique among the arrays of an account
	Index int
	Most  int // maximum number of contracts that may be unfinished at the same time; 0 means all
}

// A Condition is the outcome with which a contract must have ended before another contract can
// start.
type Condition int

// The contract must have been fulfilled, or have ended in any way, or have ended without being
// fulfilled.
const (
	Fulfilled Condition = iota
	Ended
	Failed
)

// conditions are the names of the lines for each condition.
var conditions = [...]string{"after", "after_ended", "after_failed"}

// Waits reports whether the market may have to hold the order before the decision.
func (t *Terms) Waits() bool {
	return t.Array.Most > 0 || len(t.After[Fulfilled])+len(t.After[Ended])+len(t.After[Failed]) > 0
}

const (
	mostNodes  = 1_000_000
	mostWork   = 1e12
	mostCPUs   = 1e6
	mostAfter  = 16      // maximum number of contracts that an order waits for
	mostIndex  = 1 << 31 // maximum index in an array
	mostTries  = 1000
	mostBytes  = 1 << 50 // maximum number of bytes of memory or disk, or per second
	mostCounts = 8       // maximum number of countable resources of a market
	mostUnits  = 1 << 20 // maximum number of units of a countable resource
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
	for _, f := range t.amounts() {
		if *f.of > 0 {
			fields = append(fields, order.Field{Name: f.name, Value: strconv.FormatInt(*f.of, 10)})
		}
	}
	for _, f := range t.units() {
		if len(*f.of) > 0 {
			fields = append(fields, order.Field{Name: f.name, Value: unitsText(*f.of)})
		}
	}
	fields = append(fields,
		order.Field{Name: "work", Value: number(t.Work)},
		order.Field{Name: "deadline", Value: number(t.Deadline)},
		order.Field{Name: "budget", Value: t.Budget.String()},
		order.Field{Name: "job", Value: t.Job})
	if t.Warn > 0 {
		fields = append(fields, order.Field{Name: "warn", Value: number(t.Warn)})
	}
	if t.Checkpoint > 0 {
		fields = append(fields, order.Field{Name: "checkpoint", Value: number(t.Checkpoint)})
	}
	if t.Requeue > 0 {
		fields = append(fields, order.Field{Name: "requeue", Value: strconv.Itoa(t.Requeue)})
	}
	if t.Project != "" {
		fields = append(fields, order.Field{Name: "project", Value: t.Project})
	}
	if a := t.Array; a.ID != "" {
		fields = append(fields, order.Field{Name: "array", Value: fmt.Sprintf("%s %d %d", a.ID, a.Index, a.Most)})
	}
	for on, name := range conditions {
		if ids := t.After[on]; len(ids) > 0 {
			fields = append(fields, order.Field{Name: name, Value: strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ",")})
		}
	}
	return h.order("order", fields...)
}

// About returns the order of kind cancel or read to sign for a contract.
func About(h Head, kind string, contract int64) (*order.Order, error) {
	return h.order(kind, order.Field{Name: "contract", Value: strconv.FormatInt(contract, 10)})
}

// Bid returns the order of kind bid to sign for a contract.
func Bid(h Head, contract int64, budget bank.Amount) (*order.Order, error) {
	return h.order("bid", order.Field{Name: "contract", Value: strconv.FormatInt(contract, 10)}, order.Field{Name: "budget", Value: budget.String()})
}

// ParseBid returns the contract and the budget of an order of kind bid.
func ParseBid(o *order.Order) (contract int64, budget bank.Amount, err error) {
	contract, err = strconv.ParseInt(o.Value("contract"), 10, 64)
	budget = o.Money("budget")
	if err != nil || o.Kind != "bid" {
		return 0, budget, fmt.Errorf("found an order of kind %s about contract %.40q, want bid, and a whole number", o.Kind, o.Value("contract"))
	}
	if again, err := Bid(HeadOf(o), contract, budget); err != nil || again.String() != o.String() {
		return 0, budget, errors.New("found other lines, want contract and budget")
	}
	return contract, budget, nil
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
	if err := t.later(o); err != nil {
		return nil, err
	}
	again, err := t.Order(HeadOf(o))
	if err != nil {
		return nil, err
	}
	if again.String() != o.String() {
		return nil, errors.New("found other lines or a different order, want class, nodes, cpus (if not 1), memory, disk, bandwidth, count and licence (if any), work, deadline, budget, job, and the optional lines after it")
	}
	return t, nil
}

// A line is an optional line, with the field that it sets.
type line[T any] struct {
	name string
	of   *T
}

// amounts returns the lines of bytes, in their order.
func (t *Terms) amounts() []line[int64] {
	return []line[int64]{{"memory", &t.Memory}, {"disk", &t.Disk}, {"bandwidth", &t.Bandwidth}}
}

// units returns the lines of units, in their order.
func (t *Terms) units() []line[map[string]int32] {
	return []line[map[string]int32]{{"count", &t.Counts}, {"licence", &t.Licences}}
}

// unitsText returns units as one line, sorted by name.
func unitsText(units map[string]int32) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(units)) {
		all = append(all, fmt.Sprintf("%s %d", name, units[name]))
	}
	return strings.Join(all, ",")
}

// later reads the optional lines.
func (t *Terms) later(o *order.Order) (err error) {
	for _, f := range t.amounts() {
		if s := o.Value(f.name); s != "" {
			if *f.of, err = strconv.ParseInt(s, 10, 64); err != nil {
				return fmt.Errorf("%s: found %.40q, want bytes", f.name, s)
			}
		}
	}
	for _, f := range t.units() {
		s := o.Value(f.name)
		if s == "" {
			continue
		}
		*f.of = make(map[string]int32)
		for one := range strings.SplitSeq(s, ",") {
			name, units, _ := strings.Cut(one, " ")
			n, err := strconv.ParseInt(units, 10, 32)
			if err != nil {
				return fmt.Errorf("%s: found %.40q, want names and units, such as gpu 1", f.name, s)
			}
			(*f.of)[name] = int32(n)
		}
	}
	if s := o.Value("warn"); s != "" {
		if t.Warn, err = strconv.ParseFloat(s, 64); err != nil {
			return fmt.Errorf("warn: found %.40q, want seconds", s)
		}
	}
	if s := o.Value("checkpoint"); s != "" {
		if t.Checkpoint, err = strconv.ParseFloat(s, 64); err != nil {
			return fmt.Errorf("checkpoint: found %.40q, want seconds", s)
		}
	}
	if s := o.Value("requeue"); s != "" {
		if t.Requeue, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("requeue: found %.40q, want a whole number", s)
		}
	}
	t.Project = o.Value("project")
	if s := o.Value("array"); s != "" {
		if _, err := fmt.Sscanf(s, "%s %d %d", &t.Array.ID, &t.Array.Index, &t.Array.Most); err != nil {
			return fmt.Errorf("array: found %.40q, want an id, an index and a limit, such as A1 7 3", s)
		}
	}
	for on, name := range conditions {
		if o.Value(name) == "" {
			continue
		}
		for s := range strings.SplitSeq(o.Value(name), ",") {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return fmt.Errorf("%s: found %.40q, want contracts, such as 17,18", name, o.Value(name))
			}
			t.After[on] = append(t.After[on], n)
		}
	}
	return nil
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

// Notice returns the number of seconds before its deadline at which a contract is notified:
// Warn or, if Warn is not set, one twentieth of the deadline, but at most 30 s. Notice also
// reports whether the user has chosen the time.
func (t *Terms) Notice() (seconds float64, chosen bool) {
	if t.Warn > 0 {
		return t.Warn, true
	}
	return min(t.Deadline/20, 30), false
}

// Request returns the request described by t. The market sets the user, the number and the
// submission time. Each node's work is promised separately. An order has no line for a
// penalty, because users could demand any penalty at the market's expense.
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
	case t.Project != "" && (strings.Contains(t.Project, ":") || bank.CheckName("project:"+t.Project) != nil):
		return fmt.Errorf("project: found %.40q, want the name of an account without project:, such as film", t.Project)
	case t.Warn != 0 && !within(t.Warn, t.Deadline):
		return fmt.Errorf("warn: found %v, want seconds above 0, at most the deadline, %v", t.Warn, t.Deadline)
	case t.Checkpoint != 0 && !(t.Checkpoint >= 1 && t.Checkpoint <= mostWork):
		return fmt.Errorf("checkpoint: found %v, want seconds, at least 1", t.Checkpoint)
	case t.Requeue < 0 || t.Requeue > mostTries:
		return fmt.Errorf("requeue: found %d, want 0 to %d", t.Requeue, mostTries)
	case t.Array != Array{} && (t.Array.ID == "" || len(t.Array.ID) > 40 || t.Array.Index < 0 || t.Array.Index > mostIndex || t.Array.Most < 0 || t.Array.Most > mostIndex):
		return fmt.Errorf("array: found %+v, want an id of at most 40 bytes, and numbers from 0", t.Array)
	}
	for _, f := range t.amounts() {
		if *f.of < 0 || *f.of > mostBytes {
			return fmt.Errorf("%s: found %d, want bytes, at most %d", f.name, *f.of, int64(mostBytes))
		}
	}
	for _, f := range t.units() {
		for name, units := range *f.of {
			if !IsCountable(name) || units < 1 || units > mostUnits || len(*f.of) > mostCounts {
				return fmt.Errorf("%s: found %.40q: %d of %d names, want at most %d names of lower-case letters, digits and underscores, each with 1 to %d units", f.name, name, units, len(*f.of), mostCounts, mostUnits)
			}
		}
	}
	after := 0
	for on, ids := range t.After {
		if after += len(ids); len(ids) > 0 && slices.Min(ids) < 0 || after > mostAfter {
			return fmt.Errorf("%s: found %d contracts, want at most %d numbers from 0", conditions[on], after, mostAfter)
		}
	}
	r := t.Request()
	return r.Validate()
}

// IsCountable reports whether a countable resource can have the given name. It must consist of
// at most 40 lower-case letters, digits and underscores, and must not be the name of another
// resource.
func IsCountable(name string) bool {
	other := []string{"", "cpu", "memory", "disk", "bandwidth"}
	return len(name) <= 40 && !slices.Contains(other, name) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// number returns the canonical form of x.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
