// Package settlement judges and bills a contract that has ended. [Case.Judge] computes the
// outcome and the delay, and [Case.Bill] the charges and the penalty. Its functions are pure.
//
// This is the only package under contracts that converts float64 dollars to money. Every
// rounding is therefore in one place: a sum is rounded once, and its parts add up to the
// rounded sum. The package is independent of accounts, of the way a contract ran, and of the
// current time.
//
// Reference, cited by eq.: Yeo, Buyya, "Service Level Agreement based Allocation of Cluster
// Resources: Handling Penalty to Enhance Utility".
package settlement

import (
	"fmt"
	"math"

	"bourse/bank"
	"bourse/bank/exact"
	"bourse/contracts"
)

// A Case is a contract that has ended, with all data on which its verdict and bill depend.
type Case struct {
	Request  *contracts.Request
	Work     float64     // true work per node, processor-seconds
	Admitted float64     // time of admission, s
	End      float64     // time of the end, s
	ByDue    float64     // work done over all nodes by the deadline, for a contract that continued after it
	Price    bank.Amount // price of the whole contract, at most the budget
	Nodes    []contracts.Placement
	Arrears  []contracts.Placement // charges for work that was lost before the last placement
	Hosts    []Host                // hosts by number
	Measured bool                  // whether the work was measured on real programs, which may do more than estimated
	Exited   bool                  // whether all programs ended successfully

	Rated     bool // whether each stay of a node on a host is charged separately
	Exhausted bool // whether the charges have reached the budget
}

// A Host holds the properties of a host on which a bill depends.
type Host struct {
	Owner    bank.Account
	Capacity float64 // work per second
}

// A Verdict states whether a promise was kept and, if not, how late the contract was.
type Verdict struct {
	Outcome contracts.Outcome
	Done    float64 // work done over all nodes
	Needed  float64 // true work over all nodes
	ByDue   float64 // w_d: work done over all nodes by the deadline
	Delay   float64 // delay used for the settlement, s; 0 if the promise was kept
}

// A Bill lists the payments for a contract that has ended.
type Bill struct {
	Pay     []bank.Payment // payments to the owners of the hosts; the rest of the budget is refunded
	Paid    bank.Amount    // sum of Pay
	Penalty bank.Amount    // penalty owed to the contract's owner, beyond the part already deducted from the price
}

// measured returns the sum of the work that each node did, up to the work that was promised for
// the node. A program on a real host that continues after its work does not make up for another
// node.
func (c *Case) measured() (done float64) {
	for i := range c.Nodes {
		done += min(c.Nodes[i].Done, c.work(&c.Nodes[i]))
	}
	return done
}

// count returns the number of nodes of c.
func (c *Case) count() (n int) {
	for i := range c.Nodes {
		n += count(&c.Nodes[i])
	}
	return n
}

// count returns the number of nodes of the contract in placement n.
func count(n *contracts.Placement) int { return max(1, n.Nodes) }

// work returns the true work of placement n, in processor-seconds.
func (c *Case) work(n *contracts.Placement) float64 { return c.Work * float64(count(n)) }

// Judge returns the verdict. The promise is kept if the true work was done by the deadline,
// regardless of the user's estimate. The argument cause is the outcome from the table of
// moves, or [contracts.Open] if the table leaves the decision to Judge.
//
// For a contract that ended in time, the work by the deadline is the work done. A contract
// that its owner cancelled, or that the close of the market ended, keeps that outcome and has
// no delay.
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
		if open && c.Measured && c.Request.PerHost {
			v.ByDue = c.measured()
		}
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

// Worked reports whether the work is done. Work that rounding can lose by the deadline, or by
// the end if that is later, does not count as missing. A program is done if it has ended
// successfully. If a program has not ended successfully, its measured work must reach the work
// requested.
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

// rounding returns the maximum error that float64 can cause in the given work of n: the
// relative tolerance, plus the work that the host does in two of the smallest steps of float64
// time.
func (c *Case) rounding(work float64, n *contracts.Placement, moment float64) float64 {
	return contracts.Tolerance*work + 2*moment*c.Hosts[n.Host].Capacity
}

// roundings returns the maximum error that float64 can cause by the end in the work of all
// nodes.
func (c *Case) roundings() (sum float64) {
	moment := contracts.Moment(c.End)
	for i := range c.Nodes {
		sum += c.rounding(c.work(&c.Nodes[i]), &c.Nodes[i], moment)
	}
	return sum
}

// delay returns the delay of a broken promise in seconds (eq. 2). There are these cases:
//
//   - If the contract continued after its deadline, it is finish − due.
//   - If it stopped at the deadline, it is the time that the undone work would have taken at
//     the promised pace, total / deadline. For example, with a deadline of 100 s and 90 % of
//     the work done, the delay is 10 s.
//   - If a host left with the work, it is computed as in the second case, or is finish − due if
//     that is more.
//   - If the contract was killed, its work is useless, so it is late by its whole deadline.
//
// Differences between times are rounded to the number of decimal places to which the times are
// known.
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

// known returns seconds rounded to the number of decimal places that are known, or 0 if seconds
// is negative. For example, a span of 5 s from 110.1 to 115.1 is 4.999999999999986 s as a
// difference of float64s. A penalty computed from this difference could be a micro-dollar too
// low.
func (c *Case) known(seconds float64) float64 {
	if !(seconds > 0) || math.IsInf(seconds, 1) {
		return max(0, seconds)
	}
	return exact.Round(seconds, c.places())
}

// places returns the number of decimal places to which a span of c is known. The unit of the
// last place is more than 16 times the smallest step of float64 time at the end of c.
func (c *Case) places() int {
	moments := 16 * contracts.Moment(max(c.End, c.Request.Submit+c.Request.SLA.Deadline))
	return max(0, int(math.Floor(-math.Log10(moments))))
}

// mostOwed replaces an unbounded penalty or charge, in dollars. This amount exceeds any
// balance, but fits into an int64 in micro-dollars.
const mostOwed = 4e12

// Bill computes the bill. It charges the whole price if whole is set, and the accrued charges
// if not. A contract that ended because the market closed pays nothing. Bill appends the
// payments to pay. If the verdict or the bill is impossible, it returns an error, because money
// must not move on invalid input.
func (c *Case) Bill(whole bool, v *Verdict, pay []bank.Payment) (b Bill, err error) {
	if b.Penalty, err = c.penalty(v); err != nil {
		return b, err
	}
	switch b.Pay = pay; {
	case v.Outcome == contracts.Unfinished:
	case whole:
		err = c.whole(&b, v)
	case c.Rated:
		err = c.stays(&b)
	default:
		err = c.metered(&b)
	}
	if err == nil {
		err = c.check(v, &b)
	}
	return b, err
}

// metered charges the sum of the charges accrued on all hosts, rounded once, half to even, and
// limited to the budget. Each host receives its part in proportion to the amount owed to it.
// If the budget is insufficient, all hosts therefore receive the same fraction of their
// charges. For example, a budget of $9 and charges of $8 and $4 lead to payments of $6 and $3.
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

// stays charges each stay of a node on a host separately, rounded half to even. If the
// contract is exhausted, or if the sum exceeds the budget by rounding, the stays share the
// budget in proportion to the amounts owed to them.
func (c *Case) stays(b *Bill) error {
	budget, sum := c.Request.SLA.Budget, int64(0)
	var few [16]uint64
	parts := few[:0]
	for _, on := range [...][]contracts.Placement{c.Arrears, c.Nodes} {
		for i := range on {
			part, err := bank.Nearest(min(on[i].Owed, mostOwed))
			if err != nil {
				return err
			}
			parts = append(parts, uint64(part.Micros()))
			sum += part.Micros()
		}
	}
	if c.Exhausted || sum > budget.Micros() {
		_, dollars := math.Frexp(owed(c.Arrears, c.Nodes))
		parts = weigh(weigh(parts[:0], c.Arrears, 63-dollars), c.Nodes, 63-dollars)
		sum = budget.Micros()
		distribute(sum, parts)
	}
	b.Pay = c.pay(c.pay(b.Pay, c.Arrears, parts), c.Nodes, parts[len(c.Arrears):])
	b.Paid = bank.Micros(sum)
	return nil
}

// whole charges the price minus the penalty, divided among the hosts in proportion to the
// number of nodes, if the work is done or the owner cancelled the contract. Otherwise it
// charges nothing. If the penalty is at least the price, whole charges nothing and the rest of
// the penalty remains owed.
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

// Debits appends the debits that pay the penalty of b. First the hosts pay, from their
// earnings on this contract and in proportion to these earnings. The provider pays the rest.
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

// check returns an error if the verdict or the bill contradicts the case. It catches errors of
// the simulation before they reach the ledger.
func (c *Case) check(v *Verdict, b *Bill) error {
	switch {
	case !(v.ByDue >= 0 && v.ByDue <= v.Needed):
		return fmt.Errorf("%v of %v work done by the deadline", v.ByDue, v.Needed)
	case !c.Measured && v.Done > v.Needed && v.Done > v.Needed+c.roundings():
		return fmt.Errorf("%v of %v work done", v.Done, v.Needed)
	case !(c.Admitted >= c.Request.Submit && c.End >= c.Admitted):
		return fmt.Errorf("submitted at %v, admitted at %v, ended at %v", c.Request.Submit, c.Admitted, c.End)
	case b.Paid.Sign() < 0 || b.Paid.Cmp(c.Request.SLA.Budget) > 0:
		return fmt.Errorf("charged %v of a budget of %v", b.Paid, c.Request.SLA.Budget)
	}
	return nil
}

// penalty returns the penalty that the provider owes for v's delay (eq. 1): the exact product
// of rate and delay, rounded toward zero, and limited to the contract's maximum.
//
// A delay such as 107.38 s / 3 has no exact decimal form. The product with such a delay can be
// below a whole micro-dollar only because the delay was rounded. This micro-dollar is owed if
// the difference is at most half a unit of the last known place and at most a thousandth of a
// micro-dollar.
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
	if v.Outcome != contracts.Killed { // for a killed contract, the delay is exactly the deadline
		delay += min(math.Pow10(-c.places())/2, 1e-9/p.Rate)
	}
	if owed, err = bank.Product(p.Rate, delay); owed.Cmp(most) > 0 {
		owed = most
	}
	return owed, err
}

// Price returns x dollars as money, rounded toward zero. The broker uses it for the price that
// a policy asks for a contract.
func Price(x float64) (bank.Amount, error) { return bank.Dollars(x) }

// Owed returns x dollars as money, rounded up: the lowest budget that covers charges of x.
func Owed(x float64) (bank.Amount, error) {
	a, err := bank.Dollars(x)
	if err == nil && a.Float64() < x {
		a, err = a.Add(bank.Micros(1))
	}
	return a, err
}

// Fee returns the part of price that is owed for a cancelled contract: price × due / of, at
// most the price, rounded toward zero.
func Fee(price bank.Amount, due, of float64) (bank.Amount, error) {
	if due >= of {
		return price, nil
	}
	return price.Part(due, of)
}
