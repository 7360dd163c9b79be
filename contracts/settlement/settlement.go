// Package settlement says what a contract at its end has come to: its outcome and
// its bill. It is pure, and the one door from float64 to money.
//
// It does not know who holds accounts, how a contract ran, or what time it is.
//
// Reference, cited by eq.: Yeo, Buyya, "Service Level Agreement based Allocation of
// Cluster Resources: Handling Penalty to Enhance Utility".
package settlement

import (
	"fmt"
	"math"

	"bourse/bank"
	"bourse/bank/exact"
	"bourse/contracts"
)

// A Case is a contract at its end.
type Case struct {
	Request  *contracts.Request
	Work     float64     // truly needed, per node
	Admitted float64     // instant
	End      float64     // instant
	ByDue    float64     // work over all nodes at the deadline, if it went on after it
	Price    bank.Amount // what all of it costs, at most the budget
	Nodes    []contracts.Placement
	Arrears  []contracts.Placement // what is owed for work that was lost, before Nodes
	Hosts    []Host                // by number
	Measured bool                  // what is done was measured: of programs, which may do more than they were estimated to need
	Exited   bool                  // all programs have come to their ends, and well
}

// A Host is what a bill has to know of one.
type Host struct {
	Owner    bank.Account
	Capacity float64 // work per second
}

// A Verdict is what became of a promise.
type Verdict struct {
	Outcome contracts.Outcome
	Done    float64 // work over all nodes
	Needed  float64 // work truly needed over all nodes
	ByDue   float64 // w_d: work over all nodes by the deadline
	Delay   float64 // how late it is judged to be, s; 0 if the promise was kept
}

// A Bill is what a contract at its end costs whom.
type Bill struct {
	Pay     []bank.Payment // to the owners of its hosts; the rest of the budget goes back
	Paid    bank.Amount    // the sum of Pay
	Penalty bank.Amount    // what is owed to the contract's owner, beyond a price that it was taken from
}

// count returns the number of nodes.
func (c *Case) count() (n int) {
	for i := range c.Nodes {
		n += count(&c.Nodes[i])
	}
	return n
}

func count(n *contracts.Placement) int { return max(1, n.Nodes) }

// work returns what is truly needed of n.
func (c *Case) work(n *contracts.Placement) float64 { return c.Work * float64(count(n)) }

// Judge returns the verdict. The promise is kept if the work that the job truly needed
// was done by its deadline. Cause is the outcome that the table of moves names, or
// [contracts.Open] where it leaves it to Judge.
func (c *Case) Judge(cause contracts.Outcome) (v Verdict) {
	late := c.Request.Late(c.End)
	open := cause != contracts.Cancelled && cause != contracts.Unfinished
	for i := range c.Nodes {
		v.Done += c.Nodes[i].Done
	}
	v.Needed = c.Work * float64(c.count())
	switch v.Outcome = cause; {
	case open && !late && c.Worked():
		v.Outcome, v.ByDue = contracts.Fulfilled, v.Needed
		return v
	case late:
		v.ByDue = c.ByDue
	default:
		v.ByDue = min(v.Done, v.Needed)
	}
	if !open {
		return v
	}
	if cause == contracts.Open {
		v.Outcome = contracts.Late
	}
	if v.Outcome.Missed() {
		v.Delay = c.delay(&v)
	}
	return v
}

// Worked reports whether the work is done, but for what rounding takes by the deadline,
// or by the end if that is later; or, of programs, that they have come to their ends.
func (c *Case) Worked() bool {
	if c.Exited {
		return true
	}
	at := c.End
	if !c.Request.OnDemand {
		at = max(at, c.Request.Due())
	}
	left, rounding, moment := 0.0, 0.0, contracts.Moment(at)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		work := c.work(n)
		undone, lost := work-n.Done, c.rounding(work, n, moment)
		if c.Request.PerHost && undone > lost {
			return false
		}
		left += undone
		rounding += lost
	}
	return c.Request.PerHost || left <= rounding
}

// rounding returns what float64 may lose or add to so much work of n: the tolerance,
// and what its host does in two moments.
func (c *Case) rounding(work float64, n *contracts.Placement, moment float64) float64 {
	return contracts.Tolerance*work + 2*moment*c.Hosts[n.Host].Capacity
}

// roundings returns what float64 may lose or add to the work of all nodes by the end.
func (c *Case) roundings() (sum float64) {
	moment := contracts.Moment(c.End)
	for i := range c.Nodes {
		sum += c.rounding(c.work(&c.Nodes[i]), &c.Nodes[i], moment)
	}
	return sum
}

// delay returns how late a broken promise is (eq. 2). Where the work goes on it is
// finish - due. Where it stops at the deadline, it is what the work left undone would
// have taken at the promised pace, total / deadline; so it is where a host left with
// the work, if that is more. Of a contract that is killed nothing is of use: it is
// late by the whole of its deadline. What is computed of instants is rounded to the
// decimal places in which they are known.
func (c *Case) delay(v *Verdict) float64 {
	sla, over := &c.Request.SLA, c.End-c.Request.Due()
	switch {
	case v.Outcome == contracts.Killed:
		return sla.Deadline
	case sla.GoesOn() && v.Outcome != contracts.Broken:
		return c.known(over)
	}
	total := c.Request.Total()
	undone := (total - v.ByDue) * sla.Deadline / total
	if sla.GoesOn() {
		undone = max(undone, over)
	}
	return c.known(undone)
}

// known returns so many seconds, 0 if they are less, rounded to the places that are known: a
// span of 5 s from 110.1 to 115.1 comes to 4.999999999999986 s as a difference of float64s.
func (c *Case) known(seconds float64) float64 {
	if !(seconds > 0) || math.IsInf(seconds, 1) {
		return max(0, seconds)
	}
	return exact.Round(seconds, c.places())
}

// places returns how many decimal places of a span are known: the unit of the last is more
// than 16 moments at the end of c.
func (c *Case) places() int {
	moments := 16 * contracts.Moment(max(c.End, c.Request.Submit+c.Request.SLA.Deadline))
	return max(0, int(math.Floor(-math.Log10(moments))))
}

// mostOwed is what an unbounded penalty, or charge, may come to, in dollars: more than
// anybody has.
const mostOwed = 4e12

// Bill bills the whole price or, otherwise, what has accrued; a contract that the
// market's close cut short pays nothing. Pay is appended to.
func (c *Case) Bill(whole bool, v *Verdict, pay []bank.Payment) (b Bill, err error) {
	if b.Penalty, err = c.penalty(v); err != nil {
		return b, err
	}
	switch b.Pay = pay; {
	case v.Outcome == contracts.Unfinished:
	case whole:
		err = c.whole(&b, v)
	default:
		err = c.metered(&b)
	}
	if err == nil {
		err = c.check(v, &b)
	}
	return b, err
}

// metered bills what has accrued on all hosts together, rounded once, half to even, and
// never more than the budget. Each host gets its part in proportion to what it is owed, so
// that where the money does not suffice all are paid at the same rate.
func (c *Case) metered(b *Bill) error {
	due := owed(c.Arrears, c.Nodes)
	total, err := bank.Nearest(min(due, mostOwed))
	if err != nil {
		return err
	}
	if budget := c.Request.SLA.Budget; total.Cmp(budget) > 0 {
		total = budget
	}
	var few [16]uint64
	_, dollars := math.Frexp(due) // due < 2^dollars
	weights := weigh(few[:0], c.Arrears, 63-dollars)
	weights = weigh(weights, c.Nodes, 63-dollars)
	distribute(total.Micros(), weights)
	b.Pay = c.pay(c.pay(b.Pay, c.Arrears, weights), c.Nodes, weights[len(c.Arrears):])
	b.Paid = total
	return nil
}

// whole bills the price less the penalty, distributed in proportion to nodes, if the work is
// done or its owner takes it back, and nothing otherwise.
func (c *Case) whole(b *Bill, v *Verdict) (err error) {
	if v.Outcome != contracts.Cancelled && !c.Worked() {
		return nil
	}
	if b.Penalty.Cmp(c.Price) >= 0 {
		b.Penalty, err = b.Penalty.Sub(c.Price)
		return err
	}
	b.Paid, _ = c.Price.Sub(b.Penalty)
	b.Penalty = bank.Amount{}
	var few [16]uint64
	nodes := few[:0]
	for i := range c.Nodes {
		nodes = append(nodes, uint64(count(&c.Nodes[i])))
	}
	distribute(b.Paid.Micros(), nodes)
	b.Pay = c.pay(b.Pay, c.Nodes, nodes)
	return nil
}

// Debits appends who pays b's penalty, and how much of it. Hosts pay first: out of what they
// earn on this contract, each in proportion to that. The provider pays the rest.
func (b *Bill) Debits(provider bank.Account, debits []bank.Debit) []bank.Debit {
	rest := b.Penalty
	if b.Paid.Sign() > 0 {
		by := min(rest.Micros(), b.Paid.Micros())
		var few [16]uint64
		parts := few[:0]
		for _, p := range b.Pay {
			parts = append(parts, uint64(p.Amount.Micros()))
		}
		distribute(by, parts)
		for i, part := range parts {
			if part > 0 {
				debits = append(debits, bank.Debit{From: b.Pay[i].To, Most: bank.Micros(int64(part))})
			}
		}
		rest = bank.Micros(rest.Micros() - by)
	}
	if rest.Sign() > 0 {
		debits = append(debits, bank.Debit{From: provider, Most: rest})
	}
	return debits
}

// check reports what cannot be true of a contract that is settled.
func (c *Case) check(v *Verdict, b *Bill) error {
	switch {
	case !(v.ByDue >= 0 && v.ByDue <= v.Needed):
		return fmt.Errorf("%v of %v work done by the deadline", v.ByDue, v.Needed)
	case !c.Measured && v.Done > v.Needed && v.Done > v.Needed+c.roundings():
		return fmt.Errorf("%v of %v work done", v.Done, v.Needed)
	case !(c.Admitted >= c.Request.Submit && c.End >= c.Admitted):
		return fmt.Errorf("submitted at %v, admitted at %v, ended at %v", c.Request.Submit, c.Admitted, c.End)
	case b.Paid.Sign() < 0 || b.Paid.Cmp(c.Request.SLA.Budget) > 0:
		return fmt.Errorf("%v charged of a budget of %v", b.Paid, c.Request.SLA.Budget)
	}
	return nil
}

// penalty returns what the provider owes for v's delay (eq. 1): the exact product of rate and
// delay, rounded toward zero, and no more than the most that the contract allows. A delay
// such as 107.38 s / 3 has no last decimal place; where its product is short of a
// micro-dollar only by half a unit of the last place that is known, and by no more than a
// thousandth of a micro-dollar, that micro-dollar is owed.
func (c *Case) penalty(v *Verdict) (owed bank.Amount, err error) {
	p := c.Request.SLA.Penalty
	if v.Delay <= 0 || p.Rate == 0 {
		return owed, nil
	}
	most, err := bank.Dollars(min(p.Max, mostOwed))
	if err != nil || p.Rate*v.Delay >= 2*mostOwed {
		return most, err
	}
	delay := v.Delay
	if v.Outcome != contracts.Killed { // of those that are killed it is the deadline itself
		delay += min(math.Pow10(-c.places())/2, 1e-9/p.Rate)
	}
	if owed, err = bank.Product(p.Rate, delay); owed.Cmp(most) > 0 {
		owed = most
	}
	return owed, err
}

// Price returns x dollars as money, rounded toward zero: what a policy asks for a
// contract.
func Price(x float64) (bank.Amount, error) { return bank.Dollars(x) }

// Fee returns the part due / of of price, and no more than all, that is owed for a contract
// taken back, rounded toward zero.
func Fee(price bank.Amount, due, of float64) (bank.Amount, error) {
	if due >= of {
		return price, nil
	}
	return price.Part(due, of)
}
