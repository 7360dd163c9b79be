package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"bourse/bank"
	"bourse/bank/store"
	"bourse/contracts"
	"bourse/hosts"
)

// Following is what another version has decided, for a core that is told its log. Who was
// refused is; who was let in is, on the hosts and for the bids with which he began; what the
// bank has booked is not asked again, though this version would ask for something else; and
// what has ended there ends here. What that version left open must run here as it does there:
// else a task might run twice. What of it this version ends at once, the bank settles.
type following struct {
	log     *log
	core    *core
	outcome outcome           // of the record that is told
	begun   map[int64][]begun // tasks of this record, by contract
	tasks   map[int64][]Task  // that were begun for contracts that the bank holds something for
	held    map[int64]reply   // how the bank answered that it does
	last    bool              // no record follows
	known   bool              // it was done
}

// follow makes the core what the log says, whatever this version makes of its records.
func (m *Market) follow() (err error) {
	if m.core, err = m.fresh(); err != nil {
		return err
	}
	from, err := m.log.recall(m.core, m.fresh, 0)
	if err != nil {
		return err
	}
	k := m.core
	f := &following{log: m.log, core: k, tasks: make(map[int64][]Task), held: make(map[int64]reply)}
	for id, c := range k.open {
		if phase, _ := k.broker.Phase(contracts.ID(id)); phase != contracts.Asked {
			f.held[id], f.tasks[id] = reply{Receipt: c.Receipt}, slices.Clone(c.Tasks)
		}
	}
	if err := f.read(from); err != nil {
		return err
	}
	k.calls.follow = f
	for seq, r := range m.log.records(from+1, &err) {
		if err := f.turn(seq); err != nil {
			return fmt.Errorf("record %d: %w", seq, err)
		}
		results, err := k.turn(r)
		switch {
		case err == nil && !f.known:
			err = m.conclude(seq, r, results)
		case err == nil:
			err = f.keep(k)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", seq, err)
		}
	}
	k.calls.follow = nil
	if err == nil {
		err = f.agree(k)
	}
	if err == nil {
		err = m.save()
	}
	if err != nil {
		return err
	}
	m.followed = true
	b := base{m.log.seq, k.now, k.number<<perMarket + k.next}
	if !m.saved.base(b.Seq) {
		m.saved.bases = append(m.saved.bases, b)
	}
	return m.log.set(map[string]any{string(key(baseTable, b.Seq)): b, string(key(followedTable, b.Seq)): true})
}

// Followed tells whether another version was followed when the market was opened.
func (m *Market) Followed() bool { return m.followed }

// followed returns the number of the record up to which another version was followed, 0 if
// none was.
func (l *log) followed() (seq int64, err error) {
	for n := range l.back(followedTable, &err) {
		return n, err
	}
	return 0, err
}

// read reads for whom the bank holds something, and what was begun for them.
func (f *following) read(from int64) (err error) {
	for _, text := range f.log.each(outcomeTable, from+1, &err) {
		var o outcome
		if err := json.Unmarshal(text, &o); err != nil {
			return err
		}
		for i := range o.Calls {
			if c := &o.Calls[i]; c.Kind == "hold" && c.booked() {
				f.held[c.Contract] = c.reply
			}
		}
	}
	for _, text := range f.log.each(begunTable, from+1, &err) {
		var all []begun
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
		for _, b := range all {
			f.tasks[b.Contract] = append(f.tasks[b.Contract], b.Task)
		}
	}
	return err
}

// turn reads what came of a record.
func (f *following) turn(seq int64) (err error) {
	f.outcome, f.begun, f.last = outcome{}, make(map[int64][]begun), seq == f.log.seq
	if f.known, err = f.log.get(key(outcomeTable, seq), &f.outcome); err != nil {
		return err
	}
	f.known = f.known || !f.last
	var all []begun
	_, err = f.log.get(key(begunTable, seq), &all)
	for _, b := range all {
		f.begun[b.Contract] = append(f.begun[b.Contract], b)
	}
	return err
}

// answer returns what was answered in this record to who asked for a contract, nil if that
// is not known.
func (f *following) answer(contract int64) *Answer {
	i := slices.IndexFunc(f.outcome.Answers, func(a Answer) bool { return a.Contract == contract && a.Verdict != "cancelled" })
	if i < 0 {
		return nil
	}
	return &f.outcome.Answers[i]
}

// submit decides of c as a says.
func (f *following) submit(k *core, c *Contract, r *contracts.Request, a *Answer) error {
	if a.Verdict == contracts.Reject.String() {
		delete(k.open, c.ID)
		return nil
	}
	own := k.broker.Policy
	if places := f.places(k, c); places != nil {
		k.broker.Policy = &decided{contracts.Decision{Verdict: contracts.Accept, Placements: places}}
	}
	d, err := k.broker.Submit(k.now, r, hosts.Task{Work: math.Inf(1)})
	k.broker.Policy = own
	if err != nil {
		return err
	}
	if c.decided(k, d); d.Verdict == contracts.Reject {
		k.end(c)
	}
	c.Decision, c.Receipt = a.Decision, a.Receipt
	return nil
}

// places returns where c began, one a node, nil if that is not known.
func (f *following) places(k *core, c *Contract) []contracts.Placement {
	all := f.begun[c.ID]
	if len(all) != c.Nodes {
		return nil
	}
	out := make([]contracts.Placement, c.Nodes)
	for _, b := range all {
		_, id := k.host(b.Host)
		out[b.Node] = contracts.Placement{Host: id, Bid: b.Bid}
	}
	return out
}

// A decided policy has decided of who asks.
type decided struct{ contracts.Decision }

// Handle implements [contracts.Policy].
func (p *decided) Handle(_ float64, e contracts.Event, _ contracts.Market) []contracts.Action {
	if e.Kind != contracts.Submitted {
		return nil
	}
	return []contracts.Action{{Verb: contracts.Admit, Contract: e.Contract, Decision: &p.Decision}}
}

// Next implements [contracts.Policy].
func (*decided) Next() (at float64, last bool) { return math.Inf(1), false }

// reply returns what the bank answered, and whether it was asked, or is not to be asked.
func (f *following) reply(q *question) (r reply, known bool, err error) {
	for i := range f.outcome.Calls {
		if c := &f.outcome.Calls[i]; c.Kind == q.Kind && c.Contract == q.Contract {
			return c.reply, true, nil
		}
	}
	held, isHeld := f.held[q.Contract]
	if isHeld && q.Kind == "hold" {
		return held, true, nil
	}
	var c Contract
	over, err := f.log.get(key(contractTable, q.Contract), &c)
	switch {
	case err != nil || !over:
		return r, isHeld && q.Kind == "reject", err
	case q.Kind == "hold":
		r.Refused = "it was refused"
	case q.Kind == "settle":
		r.Moved, r.Receipt = c.Back, c.Settlement
	case q.Kind == "penalty":
		r.Moved = c.Penalty
	}
	return r, true, nil
}

// booked returns what the bank has booked where q asks for something else: the other version
// was killed before it could log it.
func (f *following) booked(q *question) (r reply, err error) {
	e, ok, err := f.core.calls.bank.Booked(q.Kind, q.Contract)
	switch {
	case err != nil:
	case !ok || q.Kind == "return":
		err = fmt.Errorf("%s of contract %d: %w", q.Kind, q.Contract, store.ErrOtherBody)
	case q.Kind == "hold" && (e.Kind != bank.Admit || e.Contract != q.Contract):
		r.Refused = "the order is used up"
	case q.Kind == "settle":
		if last := e.Moves[len(e.Moves)-1]; last.To == f.core.open[q.Contract].Account {
			r.Moved = last.Amount
		}
	}
	return r, err
}

// end ends what has ended by this record.
func (f *following) end(k *core) error {
	if err := k.collect(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(k.open)) {
		if _, open := k.broker.Phase(contracts.ID(id)); k.open[id] == nil || !open {
			continue // with another, or before: the bank has refused to settle it
		}
		if over, err := f.over(k, id); err != nil {
			return err
		} else if !over {
			continue
		}
		if err := k.broker.Cancel(k.now, contracts.ID(id)); err != nil {
			return err
		}
		if err := k.collect(); err != nil {
			return err
		}
	}
	return nil
}

// over tells whether a contract has ended by this record.
func (f *following) over(k *core, id int64) (over bool, err error) {
	over = slices.ContainsFunc(f.outcome.Calls, func(c call) bool {
		return c.Contract == id && (c.Kind == "settle" || c.Kind == "reject")
	})
	if !over && f.last {
		over, err = f.log.get(key(contractTable, id), new(Contract))
	}
	if !over && err == nil && f.last && !f.known { // the bank may have done it, and that is not logged
		_, over, err = k.calls.bank.Booked("settle", id)
	}
	return over, err
}

// keep keeps what has become of contracts that this version alone has ended.
func (f *following) keep(k *core) error {
	values := make(map[string]any)
	for _, c := range k.ended {
		there, err := f.log.get(key(contractTable, c.ID), new(Contract))
		if err != nil {
			return err
		}
		if _, held := f.held[c.ID]; !there && (!held || c.Settlement != "") {
			values[string(key(contractTable, c.ID))] = c
		}
	}
	if len(values) == 0 {
		return nil
	}
	return f.log.set(values)
}

// agree returns an error unless all that is open runs as the other version has it.
func (f *following) agree(k *core) error {
	for _, id := range slices.Sorted(maps.Keys(f.held)) {
		over, err := f.log.get(key(contractTable, id), new(Contract))
		if err != nil {
			return err
		}
		var has []Task
		if c := k.open[id]; c != nil {
			has = c.Tasks
		}
		if was := f.tasks[id]; !over && (k.open[id] == nil || !slices.Equal(was, has)) {
			return fmt.Errorf("contract %d is open and runs as %+v, and this bourse, though it follows, has %+v: start the one that wrote the log, and stop it while that is not open", id, was, has)
		}
	}
	return nil
}

// sameTasks tells what differs between the tasks that were begun in a turn and those that
// are, if that was logged.
func (l *log) sameTasks(seq int64, is []begun) error {
	var was []begun
	there, err := l.get(key(begunTable, seq), &was)
	if err != nil || !there || slices.Equal(was, is) {
		return err
	}
	return fmt.Errorf("%w: it begins %+v, and that one %+v", errOtherwise, is, was)
}
