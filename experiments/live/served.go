package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/note"
	"bourse/contracts/settlement"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// A Served contains the processor-seconds to which the programs of a contract were entitled,
// and those that they requested and received. The amounts are sums over all nodes and
// attempts. After the contract has ended with a broken promise, it also contains the cause.
type Served struct {
	Entitled float64 `json:"entitled" doc:"processor time to which the contract was entitled, over all nodes, in processor-seconds"`
	Asked    float64 `json:"asked" doc:"processor time that the contract's programs used, or waited for although entitled to it, in processor-seconds"`
	Received float64 `json:"received" doc:"processor time that the contract's programs used, as measured by the kernel, in processor-seconds"`
	Away     float64 `json:"away,omitempty" doc:"lost work plus the entitlement while a host was lost, in processor-seconds"`
	Cause    string  `json:"cause,omitempty" doc:"cause of the violation: program, asked (the program did not use its entitlement), price (the bid was too low), market or host"`
	Owner    string  `json:"owner,omitempty" doc:"owner of the host with the largest shortfall, if the cause is host"`
}

// The causes of a broken promise.
const (
	byHost   = "host"
	byMarket = "market"
)

// String returns the three amounts, rounded to a tenth of a second.
func (s *Served) String() string {
	return fmt.Sprintf("entitled %.1f  asked %.1f  received %.1f", s.Entitled, s.Asked, s.Received)
}

// A metered is the usage of one attempt at a node, as reported by its host.
type metered struct {
	host  int // index in the fleet
	name  int64
	node  int32
	rate  float64 // processors to which the task is entitled
	since float64 // time up to which the entitlement has been added up
	away  float64 // processor-seconds of work lost with the host
	settlement.Served
}

// count adds the entitlement of m up to the given time.
func (m *metered) count(until float64) {
	if until > m.since {
		m.Entitled += m.rate * (until - m.since)
	}
	m.since = max(m.since, until)
}

// due returns now or the deadline of c, whichever is earlier, because hosts end tasks at the
// deadline.
func (c *Contract) due(now float64) float64 { return min(now, c.Submitted+c.Deadline) }

// metered returns the record of the given attempt at a node of a contract. It creates the
// record if the attempt is new.
func (k *core) metered(contract int64, host int, name int64, node int32) *metered {
	all := k.meters[contract]
	if i := slices.IndexFunc(all, func(m *metered) bool { return m.host == host && m.name == name }); i >= 0 {
		return all[i]
	}
	m := &metered{host: host, name: name, node: node, since: k.now}
	k.meters[contract] = append(all, m)
	return m
}

// entitle records the new entitlements of the tasks on host i if they have changed.
func (k *core) entitle(i int) {
	h := k.hosts[i]
	for len(k.dealt) < len(k.hosts) {
		k.dealt = append(k.dealt, dealt{})
	}
	d := &k.dealt[i]
	if d.deal == h.orders.Deal && slices.EqualFunc(d.names, h.orders.Wanted, func(g given, w remote.Wanted) bool { return g.name == w.Name }) {
		return
	}
	v := k.broker.View()
	on := v.On(hosts.ID(i))
	was := d.names
	d.deal, d.names = h.orders.Deal, nil
	for n := range h.orders.Wanted {
		w := &h.orders.Wanted[n]
		at := slices.IndexFunc(on, func(a contracts.Allocation) bool { return int64(a.Contract) == w.Key && a.Node == w.Node })
		c := k.open[w.Contract]
		if at < 0 || c == nil {
			continue
		}
		m := k.metered(w.Contract, i, w.Name, w.Node)
		m.count(c.due(k.now))
		m.rate = on[at].Rate / h.Spec.Speed
		d.names = append(d.names, given{w.Name, w.Contract})
		k.returned(c, m)
	}
	for _, g := range was {
		c := k.open[g.contract]
		if c == nil || slices.ContainsFunc(d.names, func(n given) bool { return n.name == g.name }) {
			continue
		}
		m := k.metered(g.contract, i, g.name, 0)
		m.count(c.due(k.now))
		m.rate = 0
	}
}

// A dealt is a record of the last allocation of a host.
type dealt struct {
	deal  int64
	names []given
	heard float64 // time of the host's last report
}

type given struct{ name, contract int64 }

// tells records the usage and waiting times that host i reports for its tasks.
func (k *core) tells(i int, t *hostReport) {
	if i >= len(k.dealt) {
		return
	}
	k.dealt[i].heard = k.now
	for s := range t.Spans {
		for _, u := range t.Spans[s].Used {
			if task, ok := k.hosts[i].tasks[u.Name]; ok && k.open[task.contract] != nil {
				m := k.metered(task.contract, i, u.Name, task.node)
				m.Used, m.Waited = max(m.Used, u.Seconds), max(m.Waited, u.Waited)
			}
		}
	}
	for e := range t.Ends {
		task, ok := k.hosts[i].tasks[t.Ends[e].Name]
		if !ok || k.open[task.contract] == nil {
			continue
		}
		m := k.metered(task.contract, i, t.Ends[e].Name, task.node)
		switch one := &t.Ends[e]; {
		case k.again(k.open[task.contract], task.node, one):
		case one.Why == hosts.Expired: // ended before the deadline, because it obeyed the notice
			m.count(k.open[task.contract].due(math.Inf(1)))
		case one.Why == hosts.Failed, one.OutOfMemory:
			m.Failed = true
		case one.Why == hosts.Lost:
			k.loses(k.open[task.contract], m, k.now)
		}
	}
}

// lost handles the loss of host i. The state of its tasks after its last report is unknown.
func (k *core) lost(i int) {
	if i >= len(k.dealt) {
		return
	}
	for _, g := range k.dealt[i].names {
		if c := k.open[g.contract]; c != nil {
			k.loses(c, k.metered(g.contract, i, g.name, 0), k.dealt[i].heard)
		}
	}
}

// loses records that the task m was lost with its host. The state of the task after the given
// time is unknown.
func (k *core) loses(c *Contract, m *metered, from float64) {
	m.count(c.due(k.now))
	if silent := m.rate * max(0, m.since-max(from, 0)); silent > 0 {
		silent = min(silent, m.Entitled)
		m.Entitled, m.away = m.Entitled-silent, m.away+silent
	}
	if m.rate > 0 {
		c.lost = append(c.lost, loss{m.node, m.host, m.rate, k.now})
	}
	m.rate = 0
}

// A loss is a node that has no host because its host was lost.
type loss struct {
	node int32
	host int     // index of the lost host
	rate float64 // processors to which the node was entitled on the lost host
	at   float64 // time in seconds
}

// returned records that a node of c has a host again.
func (k *core) returned(c *Contract, m *metered) {
	c.lost = slices.DeleteFunc(c.lost, func(l loss) bool {
		if l.node == m.node {
			k.missed(c, &l)
		}
		return l.node == m.node
	})
}

// missed adds the time during which a node of c had no host.
func (k *core) missed(c *Contract, l *loss) {
	for _, m := range k.meters[c.ID] {
		if m.host == l.host && m.node == l.node {
			m.away += l.rate * max(0, c.due(k.now)-l.at)
			return
		}
	}
}

// serves updates the processor-seconds to which c was entitled, and those that it requested
// and received.
func (k *core) serves(c *Contract) {
	s := &Served{}
	for _, m := range k.meters[c.ID] {
		entitled := m.Entitled + m.rate*max(0, c.due(k.now)-m.since)
		one := settlement.Served{Entitled: entitled, Used: m.Used, Waited: m.Waited}
		s.Entitled += entitled
		s.Received += m.Used
		s.Asked += m.Used + one.Missing()
		s.Away += m.away
	}
	c.Served = s
}

// A fault is the reason why a contract was not fulfilled, with the resulting penalty.
type fault struct {
	cause    string
	owner    string      // owner of the host that failed to deliver the most work, if the cause is host
	owed     bank.Amount // penalty owed to the owner of the contract
	withheld bank.Amount // part of the penalty withheld from the charges of the host's owner

	// Whether the market pays nothing, because the contract's owner could have caused the
	// fault at no cost: by failing as the owner of the host or, if the market is the cause, by
	// bids on an own host, which the owner pays to itself.
	own bool
}

// judge determines why the ended contract c was not fulfilled, and has the market pay the
// part of the penalty that is not withheld.
func (k *core) judge(c *Contract, e *contracts.Settled) error {
	if c.fault == nil {
		f, err := k.faultOf(c, e.Outcome.State(), e.Outcome == contracts.Unstarted, e.ByDue, e.Wasted)
		if err != nil {
			return err
		}
		c.fault = f
	}
	f := c.fault
	delete(k.meters, c.ID) // hosts may have sent reports since the end of the contract
	c.Served.Cause, c.Served.Owner = f.cause, f.owner
	c.Penalty, c.Withheld = f.withheld, f.withheld
	owed, err := f.owed.Sub(f.withheld)
	if err != nil || owed.Sign() == 0 || f.own {
		return err
	}
	paid, err := k.calls.promised(k.now, c, owed)
	if err == nil {
		c.Penalty, err = f.withheld.Add(paid)
	}
	return err
}

// faultOf returns the reason why a contract is not fulfilled if it ends in the given state,
// with the penalty.
func (k *core) faultOf(c *Contract, state string, unstarted bool, byDue, wasted float64) (*fault, error) {
	for i := range c.lost {
		k.missed(c, &c.lost[i])
	}
	c.lost = nil
	all := k.meters[c.ID]
	var nodes []settlement.Served
	for _, m := range all {
		m.count(c.due(k.now))
		m.rate = 0
		nodes = append(nodes, m.Served)
	}
	k.serves(c)
	f := &fault{}
	if state != contracts.Fulfilled.State() && state != contracts.Late.State() {
		return f, nil // the owner has cancelled the contract
	}
	s, work := c.Served, c.Work*float64(c.Nodes)
	s.Away += wasted
	for i, left := 0, wasted; i < len(nodes) && left > 0; i++ { // lost work does not count as received
		part := min(left, nodes[i].Used)
		nodes[i].Used, nodes[i].Entitled, left = nodes[i].Used-part, nodes[i].Entitled-min(part, nodes[i].Entitled), left-part
	}
	left := make(map[int32]float64) // work of each node that earlier tries did not do
	for i, m := range all {         // additional work of one node does not compensate for another node
		if _, known := left[m.node]; !known {
			left[m.node] = c.Work
		}
		part := max(0, nodes[i].Used-left[m.node])
		nodes[i].Used, nodes[i].Entitled = nodes[i].Used-part, nodes[i].Entitled-min(part, nodes[i].Entitled)
		left[m.node] -= nodes[i].Used
	}
	failed := slices.ContainsFunc(nodes, func(n settlement.Served) bool { return n.Failed })
	switch {
	case unstarted, failed:
		f.cause = "program"
		return f, nil
	case state == contracts.Fulfilled.State():
		return f, nil
	}
	f.cause = cmp.Or(settlement.CauseOf(nodes, work, s.Away, k.conf.promises(c.Class)), "asked") // the usage of nodes is less exact than their work
	if f.cause != byHost && f.cause != byMarket {
		return f, nil
	}
	if f.cause == byHost {
		f.owner = k.missedMost(all)
		f.own = c.of(f.owner)
	} else {
		f.own = slices.ContainsFunc(all, func(m *metered) bool { return c.of(k.hosts[m.host].Owner) })
	}
	var err error
	f.owed, err = k.conf.Promises.of(k.conf.classOf(c.Class)).Owed(c.lowest(), byDue, work)
	return f, err
}

// charge returns the payments from the escrow of a contract whose class has a promise, and the
// text of the ledger note. The penalty is deducted from the charges that the owner of the host
// at fault receives, because the market cannot collect it later.
func (k *core) charge(contract int64, pay []bank.Payment, text []byte) ([]bank.Payment, []byte, error) {
	c := k.open[contract]
	if c == nil || k.conf.Promises.of(k.conf.classOf(c.Class)).Penalty == 0 {
		return pay, text, nil
	}
	v, err := note.ParseVerdict(text)
	if err != nil {
		return nil, nil, err
	}
	f, err := k.faultOf(c, v.State, v.Fault != "", v.ByDue, v.Wasted)
	if err != nil {
		return nil, nil, err
	}
	c.fault = f
	if f.cause == "" {
		return pay, text, nil
	}
	said := struct {
		Cause    string      `json:"cause"`
		Payer    string      `json:"payer,omitempty"`
		Owed     bank.Amount `json:"penalty_owed,omitzero"`
		Withheld bank.Amount `json:"withheld,omitzero"`
	}{Cause: f.cause}
	if f.owed.Sign() > 0 {
		said.Owed, said.Payer = f.owed, cmp.Or(f.owner, k.calls.bank.Own())
		if f.own {
			said.Payer = c.payer()
		}
		pay = slices.Clone(pay)
		for i := range pay {
			if k.calls.bank.Name(pay[i].To) != f.owner {
				continue
			}
			part, _ := f.owed.Sub(f.withheld)
			if part.Cmp(pay[i].Amount) > 0 {
				part = pay[i].Amount
			}
			pay[i].Amount, _ = pay[i].Amount.Sub(part)
			f.withheld, _ = f.withheld.Add(part)
		}
		said.Withheld = f.withheld
	}
	more, err := json.Marshal(said)
	if err != nil {
		return nil, nil, err
	}
	return pay, append(append(slices.Clone(text[:len(text)-1]), ','), more[1:]...), nil
}

// missedMost returns the owner of the host that failed to deliver the most work.
func (k *core) missedMost(all []*metered) string {
	by := make([]float64, len(k.hosts))
	for _, m := range all {
		by[m.host] += m.Missing() + m.away
	}
	most := 0
	for i := range by {
		if by[i] > by[most] {
			most = i
		}
	}
	return k.hosts[most].Owner
}

// promised asks the bank to pay a penalty. The note names the party at fault, because the
// payer is always the market's own account.
func (c *calls) promised(now float64, k *Contract, owed bank.Amount) (bank.Amount, error) {
	note, err := json.Marshal(struct {
		Cause string      `json:"cause"`
		Owner string      `json:"owner,omitempty"`
		Owed  bank.Amount `json:"owed"`
	}{k.Served.Cause, k.Served.Owner, owed})
	if err != nil {
		return bank.Amount{}, err
	}
	return c.Penalty(now, k.ID, []bank.Debit{{From: c.bank.Account(c.bank.Own()), Most: owed}}, c.bank.Account(k.payer()), note)
}

// penalties returns the penalties for broken promises, keyed by class.
type penalties struct {
	BE  settlement.Promise `yaml:"be" doc:"promise of class be"`
	SAC settlement.Promise `yaml:"sac" doc:"promise of class sac"`
	CAC settlement.Promise `yaml:"cac" doc:"promise of class cac"`
	RAC settlement.Promise `yaml:"rac" doc:"promise of class rac"`
}

// of returns the penalty promised for a class, or nil if the class is not offered.
func (p *penalties) of(class string) settlement.Promise {
	switch class {
	case "be":
		return p.BE
	case "sac":
		return p.SAC
	case "cac":
		return p.CAC
	case "rac":
		return p.RAC
	}
	return settlement.Promise{}
}

// classOf returns the class that an order names, in lower case, or an empty string.
func (c *Config) classOf(named string) string {
	if c.Admission.Name != "class" {
		return c.Admission.Name
	}
	if named == "" {
		named, _ = c.Admission.Options()["default"].(string)
	}
	return strings.ToLower(cmp.Or(named, "be"))
}

// promises reports whether the class that an order names promises work. Other classes promise
// only a price.
func (c *Config) promises(named string) bool {
	class := c.classOf(named)
	return class != "be" && class != "rac"
}
