package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/teller"
	"bourse/contracts"
	"bourse/contracts/admission/outside"
	"bourse/contracts/broker"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// A core is the state machine of the market. Each step receives a time and messages. Its
// results depend only on these inputs and on the bank's answers.
type core struct {
	conf   *Config
	ledger string // its id
	number int64  // number of the market; the numbers of its contracts start at number·2³²
	calls  *calls
	broker broker.Broker
	config broker.Config // parameters with which the market was created, except its hosts
	failed error         // last error of the policy's script in this step
	state

	ended []*Contract // contracts that ended in this step
	begun []begun     // tasks that began in this step
}

// A state is the part of a core's state that is outside its broker and its machines.
type state struct {
	now       float64
	next      int64 // number of the next contract
	hosts     []*host
	open      map[int64]*Contract
	unsettled []unsettled          // calls that the bank refused, in order
	held      []int64              // contracts whose orders are held back, in order
	loads     map[string]load      // loads of accounts
	arrays    map[string]int       // unfinished contracts of arrays
	freed     bool                 // whether a contract has ended since the held orders were last examined
	lapse     float64              // earliest time at which a held order may expire
	meters    map[int64][]*metered // attempts at each node, by open contract
	dealt     []dealt              // hosts as last allocated
}

// A host is one of the market's hosts, in fleet order.
type host struct {
	join
	machine *remote.Machine
	removed bool
	gone    bool           // whether the host does not respond or has been removed
	closed  bool           // whether the agent has closed the host, which accepts no more tasks
	drained bool           // whether the operator has drained the host, which leaves when its tasks have ended
	reach   reach          // how tasks on other hosts reach the tasks of this host
	orders  remote.Orders  // orders to the host after the last step
	tasks   map[int64]task // wanted tasks by name, until the host reports their ends
	ending  []ending       // former tasks that may still be running, by name
}

// A task is one node of a contract.
type task struct {
	contract int64
	node     int32
}

// An ending is a task that its host must end. Until the host confirms the end, the market does
// not start another attempt at the same node.
type ending struct {
	task
	name  int64
	until float64 // time after which the task certainly no longer runs, even without a report
}

// leave is the time, in seconds, for which a host may continue to run a task after it was
// ordered to end the task.
const leave = 15

// perMarket is the number of bits of a contract's number that are unique within its market.
const perMarket = 32

// Short returns the number of a contract within its market, which omits the market's number.
// People see and enter this short number. Programs and the ledger use the whole number,
// because one ledger may serve several markets.
func Short(contract int64) int64 { return contract & (1<<perMarket - 1) }

// whole returns the whole number of a contract of the given market. The argument may be a
// whole number or a number within the market.
func whole(number, contract int64) int64 {
	if contract>>perMarket == 0 {
		return number<<perMarket | contract
	}
	return contract
}

// newCore returns a market's initial core.
func newCore(c *Config, ledger string, number int64, t *teller.Teller) (*core, error) {
	parts, err := c.rules(ledger)
	if err != nil {
		return nil, err
	}
	k := &core{conf: c, ledger: ledger, number: number, calls: &calls{bank: t}, config: parts}
	k.next, k.open, k.meters = 1, make(map[int64]*Contract), make(map[int64][]*metered)
	k.loads, k.arrays, k.lapse = make(map[string]load), make(map[string]int), math.Inf(1)
	if p, ok := parts.Policy.(*outside.Policy); ok {
		p.Forgive(func(err error) { k.failed = err })
	}
	k.calls.charge = k.charge
	k.config.Teller, t.Budget = k.calls, k.budgetOf
	k.config.Provider = t.Account("market:" + c.Name)
	k.broker.Reset(k.config)
	k.broker.Phase(0) // build the index of accounts now, because readers must not modify it
	return k, nil
}

// orderOf returns the signed order that requested a contract.
func (k *core) orderOf(contract int64) []byte {
	if c := k.open[contract]; c != nil {
		return []byte(c.order)
	}
	return nil
}

// budgetOf returns the amount in the escrow of a contract.
func (k *core) budgetOf(contract int64) bank.Amount {
	if c := k.open[contract]; c != nil {
		return c.Budget
	}
	return bank.Amount{}
}

// An Answer is the reply to a submission, a cancellation or a changed budget.
type Answer struct {
	Contract int64           `json:"contract"`
	At       float64         `json:"at" doc:"time of the decision, s since 2000-01-01 UTC"`
	Verdict  string          `json:"verdict" doc:"accept, reject, defer, held (the decision follows later) or cancelled"`
	Reason   string          `json:"reason,omitempty"`
	Decision json.RawMessage `json:"decision,omitempty" doc:"decision and the numbers on which it is based, as in the ledger"`
	Places   []Place         `json:"places,omitempty"`
	Receipt  string          `json:"receipt,omitempty" doc:"receipt of the bank"`
	Why      string          `json:"why,omitempty" doc:"reason why the bank has refused the contract"`
	Least    string          `json:"least,omitempty" doc:"lowest budget that the policy accepts now, in dollars; omitted if there is none"`

	Left map[string]float64 `json:"left,omitempty" doc:"largest free amount of each required resource on one host, if the request was rejected for lack of room"`

	kept bool // whether to store the answer, so that a repeated order receives the same answer
}

// turn executes one step and returns one result per message. An error means that the market
// cannot continue.
func (k *core) turn(r *record) ([]result, error) {
	k.now, k.calls.made, k.ended, k.begun = r.Now, nil, nil, nil
	if err := k.broker.Advance(k.now); err != nil {
		return nil, err
	}
	if err := k.retry(); err != nil {
		return nil, err
	}
	out, heard := make([]result, len(r.Messages)), false
	for i := range r.Messages {
		m := &r.Messages[i]
		if heard && m.Report == nil { // reports that arrive at the same time are processed together
			if err := k.broker.Advance(k.now); err != nil {
				return nil, err
			}
		}
		heard = m.Report != nil
		err := k.apply(m, &out[i])
		if err == nil {
			err = k.collect()
		}
		if err != nil {
			return nil, err
		}
	}
	if err := k.advance(); err != nil {
		return nil, err
	}
	for len(k.held) > 0 {
		if err := k.collect(); err != nil {
			return nil, err
		}
		if !k.freed && k.now < k.lapse {
			break
		}
		if err := errors.Join(k.release(), k.advance()); err != nil {
			return nil, err
		}
	}
	k.broker.Next() // allocates processors to the hosts' tasks
	k.connect()
	peers := make(map[int64][]string)
	for i := range k.hosts {
		k.wants(i, peers)
	}
	for i := range k.hosts {
		k.begin(i)
	}
	if err := k.collect(); err != nil {
		return nil, err
	}
	for i := range k.hosts {
		k.entitle(i)
	}
	if len(k.calls.known) > 0 {
		return nil, fmt.Errorf("%w: this version does not send %+v to the bank", errOtherwise, k.calls.known[0].question)
	}
	return out, nil
}

// advance advances the broker to the current time.
func (k *core) advance() error {
	if err := k.broker.Advance(k.now); err != nil {
		return err
	}
	for late := k.broker.Late(nil); late.Next() <= k.now; {
		if err := late.Advance(k.now); err != nil {
			return err
		}
	}
	return nil
}

// due returns the time of the next event that needs no message.
func (k *core) due() float64 {
	due := min(k.broker.Next(), k.broker.Late(nil).Next(), k.lapse)
	if k.freed && len(k.held) > 0 {
		return k.now
	}
	for i := range k.unsettled {
		due = min(due, k.unsettled[i].next)
	}
	for _, h := range k.hosts {
		for i := range h.ending {
			due = min(due, h.ending[i].until)
		}
	}
	return due
}

// A result is the market's reply to one message.
type result struct {
	answer     *Answer
	known      []int64 // names of ended tasks that the market has processed
	superseded bool    // whether the reports of this host must be ignored
	err        error   // reason why the message had no effect
}

func (k *core) apply(m *message, out *result) error {
	switch {
	case m.Submit != nil:
		return k.submit(m.Submit, out)
	case m.Cancel != "":
		return k.cancel(m.Cancel, out)
	case m.Bid != "":
		return k.rebid(m.Bid, out)
	case m.Report != nil:
		return k.hear(m.Report, out)
	case m.Join != nil:
		return k.join(m.Join, out)
	case m.Saved != nil:
		out.err = k.saves(m.Saved)
		return nil
	case m.Reach != nil:
		if h, _ := k.host(m.Reach.Host); h != nil {
			h.reach = *m.Reach
		}
		return nil
	case m.Orphan != nil:
		k.next = max(k.next, m.Orphan.Contract-k.number<<perMarket+1)
		return k.giveBack(m.Orphan)
	case m.Shut != nil:
		h, id := k.host(m.Shut.Host)
		if h == nil {
			out.err = fmt.Errorf("%w: %s", ErrNoHost, m.Shut.Host)
			return nil
		}
		if m.Shut.Operator && h.removed {
			out.err = fmt.Errorf("%w: %s was removed", ErrNoHost, m.Shut.Host)
			return nil
		}
		shut := h.shut(m.Shut)
		h.removed = h.removed || m.Shut.Operator && h.drained && h.gone
		return k.broker.Shut(k.now, id, shut)
	case m.Came != "":
		h, id := k.host(m.Came)
		if h == nil || h.removed {
			out.err = fmt.Errorf("%w: %s", ErrNoHost, m.Came)
			return nil
		}
		h.gone = false
		return k.broker.Came(k.now, id)
	default:
		name := m.Gone + m.Remove
		h, id := k.host(name)
		if h == nil {
			out.err = fmt.Errorf("%w: %s", ErrNoHost, name)
			return nil
		}
		h.gone, h.removed = true, h.removed || h.drained || m.Remove != ""
		k.lost(int(id))
		return k.broker.Gone(k.now, id)
	}
}

// ErrNoHost means that no host has the given name.
var ErrNoHost = errors.New("no such host")

func (k *core) host(name string) (*host, hosts.ID) { return find(k.hosts, name) }

// find returns the host with the given name and its ID, or nil if there is none.
func find(all []*host, name string) (*host, hosts.ID) {
	i := slices.IndexFunc(all, func(h *host) bool { return h.Spec.Name == name })
	if i < 0 {
		return nil, 0
	}
	return all[i], hosts.ID(i)
}

// shut records whether h is closed or draining, and reports whether h now rejects tasks.
func (h *host) shut(s *shutting) bool {
	if s.Operator {
		h.drained = s.Shut
	} else {
		h.closed = s.Shut
	}
	return h.closed || h.drained
}

// submit decides an order, unless it must be held.
func (k *core) submit(s *submission, out *result) error {
	signed, terms, err := s.open()
	if err != nil {
		return fmt.Errorf("an accepted order: %w", err)
	}
	c := newContract(k.number<<perMarket+k.next, signed, terms, s, k.now)
	k.next++
	k.open[c.ID] = c
	k.queue(c, signed, s.Ended)
	switch held, refused := k.holds(c, k.blocked()); {
	case refused != contracts.None:
		return k.turnDown(c, refused, out)
	case held != "":
		k.hold(c, held)
		k.count(c, submitted, 1)
		out.answer = &Answer{Contract: c.ID, At: k.now, Verdict: heldWord, Reason: held, kept: true}
		return nil
	}
	return k.request(c, out)
}

// request submits the request of c to the broker.
func (k *core) request(c *Contract, out *result) error {
	c.queued.counted = true
	k.count(c, c.queued.asks, 1)
	r := c.terms.Request()
	r.ID, r.Submit, r.Owner = contracts.ID(c.ID), k.now, k.calls.bank.Account(c.payer())
	r.User = int64(r.Owner)
	recorded := c.memory > 0
	a := k.conf.amountsIn(&submission{Job: c.job, Memory: c.memory, Disk: c.disk}, &c.terms)
	c.memory, c.disk = a.Memory, a.Disk
	k.needs(&r, &c.terms, a)
	c.Memory, c.Disk, c.Bandwidth = int64(r.Needs.Min.Memory), int64(r.Needs.Min.Disk), int64(r.Needs.Min.Bandwidth)
	k.calls.last, k.calls.why = "", ""
	d, err := k.broker.Submit(k.now, &r, hosts.Task{Work: math.Inf(1)})
	if err != nil {
		return err
	}
	c.decided(k, d)
	c.Receipt = k.calls.last
	if out != nil {
		out.answer = &Answer{
			Contract: c.ID, At: k.now, Verdict: d.Verdict.String(), Reason: string(d.Reason), Decision: c.Decision,
			Places: c.Places, Receipt: c.Receipt, Why: k.calls.why, kept: k.calls.why == "",
		}
	}
	if d.Verdict == contracts.Reject {
		if d.Reason == contracts.NoRoom && out != nil && recorded {
			out.answer.Left = k.left(&r)
		}
		if d.Reason == contracts.NoLicence && out != nil {
			out.answer.Left = k.licencesLeft(&r)
		}
		c.State = "refused"
		k.end(c)
	}
	return nil
}

// cancel cancels a contract on behalf of its owner.
func (k *core) cancel(text string, out *result) error {
	signed, err := bankorder.Open([]byte(text))
	if err != nil {
		return fmt.Errorf("an accepted order: %w", err)
	}
	id, err := order.Contract(signed.Order)
	if err != nil {
		return fmt.Errorf("an accepted order: %w", err)
	}
	id = whole(k.number, id)
	c := k.open[id]
	if c == nil || c.Account != signed.Value("account") {
		out.err = fmt.Errorf("%w: %d of %s", ErrNoContract, id, signed.Value("account"))
		return nil
	}
	if c.State == heldWord {
		if err := k.unhold(c, contracts.TakenBack, nil); err != nil {
			return err
		}
		out.answer = &Answer{Contract: id, At: k.now, Verdict: "cancelled", kept: true}
		return nil
	}
	err = k.broker.Cancel(k.now, contracts.ID(id))
	if errors.Is(err, broker.ErrNoContract) {
		out.err = fmt.Errorf("%w: %d", ErrNoContract, id)
		return nil
	}
	out.answer = &Answer{Contract: id, At: k.now, Verdict: "cancelled", kept: true}
	return err
}

// ErrNoContract means that the account has no open contract with that number.
var ErrNoContract = errors.New("this account has no such open contract")

// hear processes a report that a host has sent.
func (k *core) hear(t *hostReport, out *result) error {
	h, id := k.host(t.Host)
	if h == nil || h.removed {
		out.err = fmt.Errorf("%w: %s", ErrNoHost, t.Host)
		return nil
	}
	if listens(&h.orders, t.Session, t.Boot, t.After) {
		k.tells(int(id), t)
	}
	if err := k.unstarted(h, id, t); err != nil {
		return err
	}
	known, ok := h.machine.Hear(k.now, &t.Told)
	out.known, out.superseded = known, !ok
	if !ok {
		return nil
	}
	for i := range t.Ends {
		h.ending = slices.DeleteFunc(h.ending, func(e ending) bool { return e.name == t.Ends[i].Name })
		if task, wanted := h.tasks[t.Ends[i].Name]; wanted {
			delete(h.tasks, t.Ends[i].Name)
			if c := k.open[task.contract]; c != nil {
				if k.again(c, task.node, &t.Ends[i]) {
					h.machine.Again(t.Ends[i].Name)
				}
				c.Ends = append(c.Ends, endOf(task.node, t.Host, &t.Ends[i]))
			}
		}
	}
	k.broker.Read(k.now, id)
	return nil
}

// unstarted ends contracts whose command could not be started. These contracts count as
// violated, but the market is not at fault. The failed node costs nothing, and no penalty is
// owed. Other nodes that ran are charged for their usage.
func (k *core) unstarted(h *host, on hosts.ID, t *hostReport) error {
	if !listens(&h.orders, t.Session, t.Boot, t.After) {
		return nil
	}
	for i := range t.Ends {
		e := &t.Ends[i]
		task, wanted := h.tasks[e.Name]
		c := k.open[task.contract]
		if !wanted || c == nil || e.Why != hosts.Failed || !strings.HasPrefix(e.Fault, "command: ") {
			continue
		}
		if err := k.broker.Advance(k.now); err != nil {
			return err
		}
		if err := k.broker.Fault(k.now, contracts.ID(c.ID), on); err != nil && !errors.Is(err, broker.ErrNoContract) {
			return err
		}
	}
	return nil
}

// join adds a host.
func (k *core) join(j *join, out *result) error {
	old, id := k.host(j.Spec.Name)
	switch h := old; {
	case h == nil:
	case h.Owner != j.Owner:
		out.err = fmt.Errorf("host %s: found another owner, want %s, or another name for the host", j.Spec.Name, h.Owner)
		return nil
	case h.Spec.CPUs == j.Spec.CPUs && h.Spec != j.Spec && len(h.orders.Wanted)+len(h.tasks) > 0:
		out.err = fmt.Errorf("host %s runs %d tasks; the resources that it offers (--ram, --storage, --bandwidth, --count) can change once these tasks have ended",
			j.Spec.Name, max(len(h.orders.Wanted), len(h.tasks)))
		return nil
	case h.Spec != j.Spec && len(h.orders.Wanted)+len(h.tasks) > 0:
		out.err = fmt.Errorf("host %s has %v processors and runs %d tasks; the host can change to %v processors once these tasks have ended",
			j.Spec.Name, h.Spec.CPUs, max(len(h.orders.Wanted), len(h.tasks)), j.Spec.CPUs)
		return nil
	case h.Spec != j.Spec:
		// A host that returns with another size counts as a new host. The market removes the
		// old host and changes its name.
		if !h.gone {
			if err := k.broker.Gone(k.now, id); err != nil {
				return err
			}
		}
		h.removed, h.gone = true, true
		for n := 1; h.Spec.Name == j.Spec.Name; n++ {
			name := fmt.Sprintf("%s.%d", j.Spec.Name, n)
			if other, _ := k.host(name); other == nil {
				h.Spec.Name = name
			}
		}
	default:
		h.removed, h.gone, h.closed, h.drained, h.Pin = false, false, false, false, j.Pin
		if err := k.broker.Shut(k.now, id, false); err != nil {
			return err
		}
		return k.broker.Came(k.now, id)
	}
	h := &host{join: *j, machine: remote.New(j.Spec), tasks: make(map[int64]task)}
	if old != nil {
		h.machine.Continue(old.machine)
	}
	k.hosts = append(k.hosts, h)
	return k.broker.Join(k.now, h.machine, k.calls.bank.Account(j.Owner))
}

// collect records the outcomes of ended contracts. The broker then discards these contracts.
func (k *core) collect() error {
	for i := range k.broker.Ended() {
		e := &k.broker.Ended()[i]
		if c := k.open[int64(e.ID)]; c != nil {
			at, r := k.calls.settled(c.ID)
			c.settled(e, k.config.Counts, at, r)
			if err := k.judge(c, e); err != nil {
				return err
			}
			if !k.refused(c) {
				k.end(c)
			}
		}
	}
	for i := range k.broker.Refused() {
		r := &k.broker.Refused()[i]
		if c := k.open[int64(r.ID)]; c != nil {
			c.decided(k, &r.Decision)
			c.State, c.Ended = "refused", r.At
			if r.Decision.Reason == contracts.TakenBack {
				c.State = contracts.Cancelled.State()
			}
			k.end(c)
		}
	}
	k.broker.Forget()
	return nil
}

func (k *core) end(c *Contract) {
	delete(k.open, c.ID)
	divide(c.Charges, c.Charged())
	k.ended = append(k.ended, c)
	k.resolve(c)
}

// wants determines which tasks host i should run, and records the tasks that are no longer
// wanted. The addresses of the nodes of each contract are computed once and stored in peers.
func (k *core) wants(i int, peers map[int64][]string) {
	h, v := k.hosts[i], k.broker.View()
	h.orders = h.machine.Orders(k.now, nil)
	on, known := v.On(hosts.ID(i)), 0
	for n := range h.orders.Wanted {
		w := &h.orders.Wanted[n]
		run := int32(w.Key)
		node := int32(0)
		if at := slices.IndexFunc(on, func(a contracts.Allocation) bool { return a.Contract == run }); at >= 0 {
			node = on[at].Node
		}
		c := v.Contract(run)
		w.Contract, w.Node, w.Nodes = int64(c.ID), node, int32(c.Nodes)
		if open := k.open[w.Contract]; open != nil {
			w.Job, w.Account = open.Job[len("sha256:"):], open.Account
			w.Warn, w.Asked = open.terms.Notice()
			w.Try = open.try(w.Node, h.Spec.Name, w.Name)
			if peers[open.ID] == nil {
				peers[open.ID] = k.peers(open)
			}
			w.Peers, w.Port = peers[open.ID], open.port
			w.Memory, w.Disk, w.Bandwidth, w.Counts = open.Memory, open.Disk, open.Bandwidth, open.terms.Counts
			w.Checkpoint, w.Most, w.Saved = open.terms.Checkpoint, int64(k.conf.Limits.Checkpoint), open.saved[w.Node]
		}
		if _, ok := h.tasks[w.Name]; ok {
			known++
		}
	}
	silent := h.gone && !h.removed // the tasks of the host pause before the market declares the host lost
	h.ending = slices.DeleteFunc(h.ending, func(e ending) bool { return silent || e.until <= k.now })
	for name, t := range h.tasks {
		if known == len(h.tasks) {
			break
		}
		if slices.ContainsFunc(h.orders.Wanted, func(w remote.Wanted) bool { return w.Name == name }) {
			continue
		}
		delete(h.tasks, name) // no caller waits for the result of this task
		if !silent {
			h.ending = append(h.ending, ending{t, name, k.now + k.conf.Link.leaseOf(h.Spec.Whole) + leave})
		}
	}
	slices.SortFunc(h.ending, func(a, b ending) int { return cmp.Compare(a.name, b.name) })
	for _, e := range h.ending {
		if c := k.open[e.contract]; c != nil && !c.Over() {
			h.orders.Moved = append(h.orders.Moved, e.name)
		}
	}
}

// begin orders host i to start its new tasks, and records these tasks in begun. A task must
// wait while an earlier attempt of its node may still run.
func (k *core) begin(i int) {
	h, on := k.hosts[i], k.broker.View().On(hosts.ID(i))
	var started []*Contract
	h.orders.Wanted = slices.DeleteFunc(h.orders.Wanted, func(w remote.Wanted) bool {
		if _, known := h.tasks[w.Name]; known {
			return false
		}
		t := task{w.Contract, w.Node}
		if k.ending(t) {
			return true
		}
		h.tasks[w.Name] = t
		at := slices.IndexFunc(on, func(a contracts.Allocation) bool { return int64(a.Contract) == w.Key && a.Node == w.Node })
		is := begun{Task{w.Node, h.Spec.Name, w.Name}, w.Contract, on[at].Bid}
		k.begun = append(k.begun, is)
		if open := k.open[w.Contract]; open != nil {
			open.Tasks = append(open.Tasks, is.Task)
			started = append(started, open)
		}
		return false
	})
	for _, c := range started {
		c.look(k)
	}
}

// ending reports whether an earlier attempt of t may still be running.
func (k *core) ending(t task) bool {
	return slices.ContainsFunc(k.hosts, func(h *host) bool {
		return slices.ContainsFunc(h.ending, func(e ending) bool { return e.task == t })
	})
}
