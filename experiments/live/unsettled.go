package live

import (
	"fmt"
	"math"

	"bourse/bank"
)

// An unsettled is a settlement, penalty or refund that the bank has refused. For example, the
// bank refuses a settlement if the owner of a host is no longer a payee. The market repeats
// the call until the bank books it. Until then, the money of the contract stays at the bank.
// Other calls do not wait for it.
type unsettled struct {
	question
	why  string  // reason for the last refusal
	wait float64 // seconds between the last two attempts
	next float64 // time of the next attempt
}

// The delay between attempts starts at the first number of seconds and doubles each time up to
// the second.
const (
	firstRetry = 1
	mostRetry  = 300
)

// String returns the refused call and the reason.
func (u *unsettled) String() string {
	return fmt.Sprintf("%s of contract %d: %s", u.Kind, Short(u.Contract), u.why)
}

// waits reports whether a call of the given kind for a contract is unsettled.
func (k *core) waits(contract int64, kind string) bool {
	for i := range k.unsettled {
		if u := &k.unsettled[i]; u.Contract == contract && u.Kind == kind {
			return true
		}
	}
	return false
}

// refused adds the calls for c that the bank has refused in this step, in which c ended, to
// the unsettled calls. It reports whether there were any such calls.
func (k *core) refused(c *Contract) (any bool) {
	for i := range k.calls.made {
		q := &k.calls.made[i]
		if q.Contract != c.ID || q.Refused == "" || q.Kind != "settle" && q.Kind != "penalty" {
			continue
		}
		if q.Kind == "settle" {
			c.Paid, c.Back = bank.Amount{}, bank.Amount{}
			divide(c.Charges, c.Paid)
		}
		k.set(q)
		any = true
	}
	k.reason(c)
	return any
}

// set adds a call to the unsettled calls.
func (k *core) set(q *call) {
	k.unsettled = append(k.unsettled, unsettled{q.question, q.Refused, firstRetry, k.now + firstRetry})
}

// reason records in c why the contract is not settled.
func (k *core) reason(c *Contract) {
	c.Unsettled = ""
	for i := range k.unsettled {
		if u := &k.unsettled[i]; u.Contract == c.ID && c.Unsettled == "" {
			c.Unsettled = u.why
		}
	}
}

// giveBack refunds the escrow of an unknown contract.
func (k *core) giveBack(o *orphan) error {
	r, err := k.calls.giveBack(k.now, o)
	if err == nil && r.Refused != "" {
		k.set(&k.calls.made[len(k.calls.made)-1])
	}
	return err
}

// retry sends the unsettled calls that are due to the bank again.
func (k *core) retry() error {
	var left []unsettled
	for i := range k.unsettled {
		u := k.unsettled[i]
		if u.next > k.now {
			left = append(left, u)
			continue
		}
		r, err := k.calls.repeat(k.now, u.question)
		if err != nil {
			return err
		}
		if r.Refused != "" {
			u.why, u.wait = r.Refused, math.Min(2*u.wait, mostRetry)
			u.next = k.now + u.wait
			left = append(left, u)
			continue
		}
		if c := k.open[u.Contract]; c != nil {
			c.booked(k.now, u.Kind, r)
		}
	}
	all := k.unsettled
	k.unsettled = left
	for i := range all {
		c := k.open[all[i].Contract]
		if c == nil {
			continue
		}
		if k.reason(c); c.Unsettled == "" {
			k.end(c)
		}
	}
	return nil
}

// booked records that the bank has booked a call that it had refused before.
func (c *Contract) booked(now float64, kind string, r reply) {
	switch kind {
	case "settle":
		c.Settlement, c.Settled, c.Back = r.Receipt, now, r.Moved
		c.Paid, _ = c.Budget.Sub(r.Moved)
	case "penalty":
		c.Penalty, _ = c.Withheld.Add(r.Moved) // the sum is at most the budget
	}
}
