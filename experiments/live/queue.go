package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	bankorder "bourse/bank/order"
	"bourse/contracts"
	"bourse/contracts/order"
)

// A Quota limits the total usage of the contracts of one account; 0 means no limit. The first
// quota whose name matches an account applies to the account.
type Quota struct {
	Who       string  `yaml:"who" validate:"required" doc:"account, such as user:ann or project:film, or a prefix, such as user:*"`
	Running   int     `yaml:"running" validate:"min=0" doc:"maximum number of contracts that run or wait for a host; in every field, 0 means no limit"`
	CPUs      float64 `yaml:"cpus" validate:"min=0" doc:"maximum number of processors of running and waiting contracts, over all nodes"`
	Memory    float64 `yaml:"memory" validate:"min=0" doc:"maximum memory that running and waiting contracts request, over all nodes, in bytes"`
	GPU       int     `yaml:"gpu" validate:"min=0" doc:"maximum number of GPUs that running and waiting contracts request, over all nodes"`
	Submitted int     `yaml:"submitted" validate:"min=0" doc:"maximum number of contracts that have not ended, including held contracts"`
}

// matches reports whether q applies to an account.
func (q *Quota) matches(account string) bool {
	prefix, any := strings.CutSuffix(q.Who, "*")
	return account == q.Who || any && strings.HasPrefix(account, prefix)
}

// quotaOf returns the quota of an account, or nil.
func (c *Config) quotaOf(account string) *Quota {
	if i := slices.IndexFunc(c.Quotas, func(q Quota) bool { return q.matches(account) }); i >= 0 {
		return &c.Quotas[i]
	}
	return nil
}

// A load is the total usage of several contracts.
type load struct {
	running, submitted, gpu int
	cpus, memory            float64
}

// within reports whether l is within q, ignoring the limit on the number of submitted
// contracts.
func (l load) within(q *Quota) bool {
	const rounding = 1 + 1e-9 // tolerance for sums of fractions of processors
	fits := func(x, most float64) bool { return most == 0 || x <= most*rounding }
	return fits(float64(l.running), float64(q.Running)) && fits(float64(l.gpu), float64(q.GPU)) && fits(l.cpus, q.CPUs) && fits(l.memory, q.Memory)
}

func (l load) plus(o load, sign float64) load {
	n := int(sign)
	return load{l.running + n*o.running, l.submitted + n*o.submitted, l.gpu + n*o.gpu, l.cpus + sign*o.cpus, l.memory + sign*o.memory}
}

// These are the reasons for which an order is held or refused before a policy decides it.
const (
	byQuota  = "quota"            // together with the account's other contracts, the order would exceed the quota
	byArray  = "throttle"         // the maximum number of contracts of its array is already unfinished
	beyond   = "beyond its quota" // the order exceeds the quota by itself
	byCores  = WholeCores         // the order requests a fraction of a processor
	lapsed   = "the order expired while it was held"
	heldWord = "held"
)

// WholeCores means that hosts have whole cores. It is also the reason for which an order of a
// fraction of a processor is refused if only such hosts are present.
const WholeCores = "Slurm, whole cores: a bid affects admission, but not speed"

// wholeOnly reports whether hosts are present and all of them have whole cores.
func (k *core) wholeOnly() (only bool) {
	for _, h := range k.hosts {
		if h.gone || h.removed {
			continue
		}
		if only = h.Spec.Whole; !only {
			return false
		}
	}
	return only
}

// A pending is a dependency: a contract whose end an order waits for.
type pending struct {
	contract int64
	on       order.Condition
}

// verdict returns the effect that the final state of a contract has on p: whether p is
// fulfilled and, if not, why it can no longer be fulfilled.
func (p pending) verdict(state string) (ok bool, why contracts.Reason) {
	kept := state == "fulfilled"
	switch {
	case p.on == order.Fulfilled && !kept:
		return false, contracts.Reason(fmt.Sprintf("%d was not fulfilled", Short(p.contract)))
	case p.on == order.Failed && kept:
		return false, contracts.Reason(fmt.Sprintf("%d was fulfilled", Short(p.contract)))
	}
	return true, contracts.None
}

// A queued is the state of an order that is held, or may be held.
type queued struct {
	waits   []pending        // contracts that the order waits for and that have not ended
	never   contracts.Reason // why a dependency can no longer be fulfilled
	asks    load             // load of the contract
	counted bool             // whether the order is included in the loads of its account and its array
	expires float64          // time until which the order is valid
}

// accounts returns the accounts whose quotas apply to c: its own account and the account of
// its project.
func (c *Contract) accounts() []string {
	if c.Project == "" {
		return []string{c.Account}
	}
	return []string{c.Account, c.payer()}
}

// array returns the key of the array to which c belongs, or "".
func (c *Contract) array() string {
	if c.terms.Array.ID == "" {
		return ""
	}
	return c.Account + "/" + c.terms.Array.ID
}

// queue initializes the dependencies of c, a new contract. The argument ended contains the
// final states of contracts for which it waits.
func (k *core) queue(c *Contract, signed *bankorder.Signed, ended map[int64]string) {
	q := &c.queued
	nodes := float64(c.Nodes)
	q.asks = load{running: 1, submitted: 1, cpus: nodes * c.CPUs}
	if j, err := order.ParseJob([]byte(c.job)); err == nil { // a log can contain jobs that only an earlier version accepts
		c.Name, q.asks.memory, q.asks.gpu = j.Name, nodes*float64(max(j.Limits.Memory, c.terms.Memory)), c.Nodes*max(j.GPUs, int(c.terms.Counts[gpu]))
	}
	q.expires = signed.Expires()
	for on, ids := range c.terms.After {
		for _, n := range ids {
			p := pending{whole(k.number, n), order.Condition(on)}
			if other := k.open[p.contract]; other != nil && other != c && other.Account == c.Account {
				q.waits = append(q.waits, p)
				continue
			}
			state := ended[p.contract]
			if i := slices.IndexFunc(k.ended, func(e *Contract) bool { return e.ID == p.contract && e.Account == c.Account }); i >= 0 {
				state = k.ended[i].State
			}
			if state == "" {
				q.never = contracts.Reason(fmt.Sprintf("%d is not a contract of %s", n, c.Account))
				continue
			}
			if ok, why := p.verdict(state); !ok {
				q.never = why
			}
		}
	}
}

// holds returns the reason why c must be held, or refused if it can never be released. If both
// are empty, c can be decided. The argument blocked contains the accounts that have an order
// held by their quota.
func (k *core) holds(c *Contract, blocked map[string]bool) (held string, refused contracts.Reason) {
	q := &c.queued
	var over, full, waits bool // whether the order exceeds its quota by itself, by the number of submitted contracts, or together with other contracts
	for _, account := range c.accounts() {
		if limit := k.conf.quotaOf(account); limit != nil {
			used := k.loads[account]
			over = over || !q.asks.within(limit)
			full = full || limit.Submitted > 0 && used.submitted >= limit.Submitted
			waits = waits || blocked[account] || !used.plus(q.asks, 1).within(limit)
		}
	}
	switch {
	case q.never != contracts.None:
		return "", q.never
	case c.CPUs != math.Trunc(c.CPUs) && k.wholeOnly():
		return "", byCores
	case k.lacks(&c.terms) != contracts.None:
		return "", k.lacks(&c.terms)
	case c.State == heldWord && q.expires+slack <= k.now:
		return "", lapsed
	case over, full && c.State != heldWord:
		return "", beyond
	case len(q.waits) > 0:
		return "after " + fmt.Sprint(Short(q.waits[0].contract)), ""
	case c.terms.Array.Most > 0 && k.arrays[c.array()] >= c.terms.Array.Most:
		return byArray, ""
	case waits:
		for _, account := range c.accounts() {
			blocked[account] = true
		}
		return byQuota, ""
	}
	return "", ""
}

// blocked returns the accounts that have an order held by their quota.
func (k *core) blocked() map[string]bool {
	all := make(map[string]bool)
	if len(k.conf.Quotas) > 0 {
		for _, id := range k.held {
			if c := k.open[id]; c.Held == byQuota {
				for _, account := range c.accounts() {
					all[account] = true
				}
			}
		}
	}
	return all
}

// count adds c to the loads of its account and its array, or removes c from them if sign is
// negative.
func (k *core) count(c *Contract, part load, sign float64) {
	for _, account := range c.accounts() {
		l := k.loads[account].plus(part, sign)
		if k.loads[account] = l; l.submitted == 0 {
			delete(k.loads, account) // removes accumulated rounding errors
		}
	}
	if a := c.array(); a != "" && part.running > 0 {
		if k.arrays[a] += int(sign); k.arrays[a] == 0 {
			delete(k.arrays, a)
		}
	}
}

// submitted returns the load of a held order, which is only its number of submitted contracts.
var submitted = load{submitted: 1}

// hold adds c to the held orders and records the reason.
func (k *core) hold(c *Contract, why string) {
	c.State, c.Held = heldWord, why
	k.held = append(k.held, c.ID)
	k.lapse = min(k.lapse, c.queued.expires+slack)
}

// release decides the held orders that no longer have to wait, in ascending order of their
// numbers.
func (k *core) release() error {
	k.freed, k.lapse = false, math.Inf(1)
	blocked := make(map[string]bool)
	for _, id := range slices.Clone(k.held) {
		c := k.open[id]
		held, refused := k.holds(c, blocked)
		if held != "" {
			c.Held = held
			k.lapse = min(k.lapse, c.queued.expires+slack)
			continue
		}
		if err := k.unhold(c, refused, nil); err != nil {
			return err
		}
	}
	return nil
}

// unhold decides c, which was held, or refuses it if refused states a reason.
func (k *core) unhold(c *Contract, refused contracts.Reason, out *result) error {
	at, _ := slices.BinarySearch(k.held, c.ID)
	k.held = slices.Delete(k.held, at, at+1)
	c.State, c.Held, c.Submitted = "waiting", "", k.now
	k.count(c, submitted, -1)
	if refused != contracts.None {
		return k.turnDown(c, refused, out)
	}
	return k.request(c, out)
}

// turnDown refuses c before a policy decides it.
func (k *core) turnDown(c *Contract, why contracts.Reason, out *result) error {
	k.calls.last, k.calls.why = "", ""
	d := contracts.Decision{Verdict: contracts.Reject, Reason: why}
	c.Decision, c.State, c.Ended, c.Early = d.AppendJSON(nil), "refused", k.now, true
	if why == contracts.TakenBack {
		c.State = contracts.Cancelled.State()
	}
	if err := k.calls.Reject(k.now, c.ID, c.Decision); err != nil {
		return err
	}
	c.Receipt = k.calls.last
	if out != nil {
		out.answer = &Answer{Contract: c.ID, At: k.now, Verdict: d.Verdict.String(), Reason: string(why), Receipt: c.Receipt, kept: true}
	}
	k.end(c)
	return nil
}

// resolve informs held orders of the end of c.
func (k *core) resolve(c *Contract) {
	if c.queued.counted {
		c.queued.counted = false
		k.count(c, c.queued.asks, -1)
	}
	for _, id := range k.held {
		q := &k.open[id].queued
		for i := 0; i < len(q.waits); i++ {
			if q.waits[i].contract != c.ID {
				continue
			}
			if ok, why := q.waits[i].verdict(c.State); !ok {
				q.never = why
			}
			q.waits = slices.Delete(q.waits, i, i+1)
			i--
		}
	}
	k.freed = k.freed || len(k.held) > 0
}

// states adds to s the final states of the contracts that the order waits for and that have
// ended.
func (m *Market) states(s *submission) error {
	if !strings.Contains(s.Order, "\nafter") {
		return nil
	}
	signed, terms, err := s.open()
	if err != nil {
		return err
	}
	for _, ids := range terms.After {
		for _, n := range ids {
			id := whole(m.world.Number, n)
			var c Contract
			if there, err := m.log.get(key(contractTable, id), &c); err != nil {
				return err
			} else if there && c.Account == signed.Value("account") {
				if s.Ended == nil {
					s.Ended = make(map[int64]string)
				}
				s.Ended[id] = c.State
			}
		}
	}
	return nil
}
