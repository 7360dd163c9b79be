package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/teller"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/order"
	"bourse/experiments/misuse"
	"bourse/experiments/replay"
	"bourse/hosts"
	"bourse/hosts/sim"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Replay decides all that was asked of the market whose log is in dir under its own rules,
// and again with fields of its file set otherwise ("admission=cac"), on hosts that are
// computed and come and go as they did, and compares what becomes of it. A program that
// ended by itself needs what it had then, at most what was asked for; one that went on with
// more than was asked for, until it was stopped, never ends; of others, as of those that were
// refused, it is not known: they need what was asked for. Who could not pay cannot; all
// others can. A contract that is fulfilled is worth its budget. The first of the sides is
// what really was.
func Replay(dir string, fs vfs.FS, sets ...string) (*replay.Report, error) {
	l, as, conf, err := readLog(dir, fs)
	if err != nil {
		return nil, err
	}
	defer l.db.Close()
	other, err := Parse("the market's file", []byte(as.Config), sets...)
	if err != nil {
		return nil, err
	}
	if d := conf.differs(other); d == nil {
		return nil, misuse.Errorf("the market has decided by %s, as it is to now: want another --admission, or --set", conf.Admission.Label)
	}
	past, err := l.story(as, conf)
	if err != nil {
		return nil, err
	}
	was, err := past.decide(as, &conf)
	if err != nil {
		return nil, fmt.Errorf("as it was: %w", err)
	}
	is, err := past.decide(as, &other)
	if err != nil {
		return nil, err
	}
	var really []replay.Fate
	jobs := make([]replay.Job, 0, len(past.asked))
	for i := range past.asked {
		a := &past.asked[i]
		really = append(really, a.fate)
		jobs = append(jobs, replay.Job{ID: a.id, Owner: a.account, Asked: a.at, Was: was.fates[a.id], Is: is.fates[a.id]})
	}
	mine, theirs := conf.Admission.Label, other.Admission.Label
	if mine == theirs {
		mine, theirs = "as it was", "instead"
	}
	r := replay.Compare(mine, theirs, jobs)
	r.Sides = append([]replay.Side{replay.Of("really", really)}, r.Sides...)
	return r, nil
}

// made returns what the market was made as.
func (l *log) made() (*made, Config, error) {
	var as made
	if there, err := l.get([]byte{madeTable}, &as); err != nil || !there {
		return nil, Config{}, cmp.Or(err, errNoMarket)
	}
	conf, err := Parse("the market's file", []byte(as.Config))
	return &as, conf, err
}

// readLog opens the log in dir to be read, and returns as what its market was made.
func readLog(dir string, fs vfs.FS) (l *log, as *made, c Config, err error) {
	if l, err = openLog(dir, fs, true, nil); err != nil {
		return nil, nil, c, err
	}
	if as, c, err = l.made(); err != nil {
		l.db.Close()
	}
	return l, as, c, err
}

// core returns the core of the market, in which nothing has happened, and which is not to
// ask its bank.
func (was *made) core(c *Config) (*core, error) {
	return newCore(c, was.Ledger, was.Number, teller.New(context.Background(), teller.Config{}))
}

// begun returns the core as it was when the log begins, or where another version was followed
// last, and the number of the record before.
func (l *log) begun(as *made, c *Config) (k *core, from int64, err error) {
	fresh := func() (*core, error) { return as.core(c) }
	if k, err = fresh(); err != nil {
		return nil, 0, err
	}
	since, err := l.followed()
	if l.first > 1 {
		since = max(since, l.first-1)
	}
	if err == nil && since > 0 {
		from, err = l.recall(k, fresh, since)
	}
	return k, from, err
}

// errNoMarket means that a log is of no market.
var errNoMarket = errors.New("no market is there")

// A story is what was said to a market that does not depend on how it decides.
type story struct {
	hosts []*host // there when the log begins
	asked []asked
	what  []happened
}

// An asked is one contract that was asked for.
type asked struct {
	id      int64
	account string
	at      float64 // instant
	terms   *order.Terms
	work    float64 // that a node of it truly needs, processor-seconds
	fate    replay.Fate
	has     *bank.Amount // what its owner had, if that was too little
}

// Happened is a message, and when.
type happened struct {
	at float64
	*message
	asked int // of a submission: its place in asked
}

// story reads what was said to the market.
func (l *log) story(as *made, conf Config) (*story, error) {
	k, from, err := l.begun(as, &conf)
	if err != nil {
		return nil, err
	}
	p, next := &story{hosts: k.hosts}, as.Number<<perMarket+k.next
	for seq, r := range l.records(from+1, &err) {
		for i := range r.Messages {
			h := happened{at: r.Now, message: &r.Messages[i]}
			if h.Orphan != nil {
				next = max(next, h.Orphan.Contract+1)
			}
			if h.Submit != nil {
				h.asked = len(p.asked)
				a, err := l.asked(next, h.at, h.Submit)
				if err != nil {
					return nil, fmt.Errorf("record %d: %w", seq, err)
				}
				p.asked = append(p.asked, a)
				next++
			}
			if h.Told == nil {
				p.what = append(p.what, h)
			}
		}
	}
	return p, err
}

// asked returns what was asked for by s, as contract id, and what became of it.
func (l *log) asked(id int64, at float64, s *submission) (asked, error) {
	signed, err := bankorder.Open([]byte(s.Order))
	if err != nil {
		return asked{}, err
	}
	terms, err := order.Parse(signed.Order)
	if err != nil {
		return asked{}, err
	}
	a := asked{id: id, account: signed.Value("account"), at: at, terms: terms, work: terms.Work}
	var c Contract
	if over, err := l.get(key(contractTable, id), &c); err != nil || !over {
		a.fate.State = "open"
		return a, err
	}
	a.fate = replay.Fate{State: c.State, Ended: c.Ended, Paid: c.Paid, Penalty: c.Penalty}
	if c.State == contracts.Fulfilled.State() {
		a.fate.Worth = c.Budget
	}
	var said struct {
		Reason  contracts.Reason
		Balance *bank.Amount
	}
	if len(c.Decision) > 0 {
		if err := json.Unmarshal(c.Decision, &said); err != nil {
			return a, err
		}
	}
	if said.Reason == contracts.Unfunded {
		a.has = said.Balance
	}
	a.fate.Reason = string(said.Reason)
	ended := make(map[hosts.End]int)
	for _, e := range c.Ends {
		ended[e.Why]++
	}
	switch did := c.Done / float64(c.Nodes); {
	case ended[hosts.Exited] == c.Nodes && did > 0:
		a.work = min(a.work, did)
	case ended[hosts.Expired] > 0 && did >= a.work:
		a.work = math.Inf(1)
	}
	return a, nil
}

// decide lets a broker with the rules of c, on hosts that are computed, decide what was asked.
func (p *story) decide(as *made, c *Config) (*replayed, error) {
	b, err := p.begin(as, c)
	if err != nil {
		return nil, err
	}
	for i := range p.what {
		if err := b.apply(p, &p.what[i]); err != nil {
			return nil, err
		}
	}
	if err := b.pass(math.Inf(1)); err != nil {
		return nil, err
	}
	if err := b.broker.Close(b.now); err != nil {
		return nil, err
	}
	b.collect()
	return b, nil
}

// begin returns the market in which nothing has happened yet.
func (p *story) begin(as *made, c *Config) (*replayed, error) {
	b := &replayed{number: make(map[string]bank.Account), fates: make(map[int64]replay.Fate), asked: make(map[int64]*asked), decisions: make(map[int64]json.RawMessage)}
	parts, err := c.rules(as.Ledger)
	if err != nil {
		return nil, err
	}
	parts.Teller, parts.Notes = b, false
	parts.Provider = b.account("market:" + c.Name)
	parts.Patience = math.SmallestNonzeroFloat64 // computed hosts say their last word at once
	b.broker.Reset(parts)
	b.broker.Phase(0)
	for _, h := range p.hosts {
		copied := *h
		if err := b.join(0, &copied); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Replayed is a market that decides again.
type replayed struct {
	broker broker.Broker
	now    float64
	hosts  []*host
	number map[string]bank.Account
	fates  map[int64]replay.Fate
	asked  map[int64]*asked // by number

	decisions map[int64]json.RawMessage
	verdict   contracts.Verdict // of the last
	prices    []HostPrice
}

func (b *replayed) account(name string) bank.Account {
	if _, ok := b.number[name]; !ok {
		b.number[name] = bank.Account(len(b.number))
	}
	return b.number[name]
}

func (b *replayed) apply(p *story, h *happened) error {
	if err := b.pass(h.at); err != nil {
		return err
	}
	if err := b.broker.Advance(h.at); err != nil {
		return err
	}
	b.now = h.at
	defer b.collect()
	switch {
	case h.Submit != nil:
		a := &p.asked[h.asked]
		r := a.terms.Request()
		r.ID, r.Submit, r.Owner = contracts.ID(a.id), h.at, b.account(a.account)
		b.asked[a.id] = a
		d, err := b.broker.Submit(h.at, &r, hosts.Task{Work: a.work})
		b.decisions[a.id], b.verdict = d.AppendJSON(nil), d.Verdict
		if err == nil && d.Verdict == contracts.Reject {
			b.fates[a.id] = replay.Fate{State: contracts.Refused.String(), Reason: string(d.Reason), Ended: h.at}
		}
		return err
	case h.Cancel != "":
		signed, err := bankorder.Open([]byte(h.Cancel))
		if err != nil {
			return err
		}
		id, err := order.Contract(signed.Order)
		if _, open := b.broker.Phase(contracts.ID(id)); err != nil || !open {
			return err
		}
		return b.broker.Cancel(h.at, contracts.ID(id))
	case h.Join != nil:
		if known, id := find(b.hosts, h.Join.Spec.Name); known != nil {
			if known.Spec != h.Join.Spec {
				return nil // it was not taken
			}
			*known = host{join: known.join}
			if err := b.broker.Shut(h.at, id, false); err != nil {
				return err
			}
			return b.broker.Came(h.at, id)
		}
		return b.join(h.at, &host{join: *h.Join})
	}
	known, id := find(b.hosts, h.Came+h.Gone+h.Remove)
	if h.Shut != nil {
		known, id = find(b.hosts, h.Shut.Host)
	}
	switch {
	case known == nil:
		return nil
	case h.Shut != nil:
		return b.broker.Shut(h.at, id, known.shut(h.Shut))
	case h.Came != "":
		return b.broker.Came(h.at, id)
	}
	return b.broker.Gone(h.at, id)
}

// pass lets happen what happens by itself until then.
func (b *replayed) pass(until float64) error {
	for at := b.broker.Next(); at < until && !b.broker.Idle(); at = b.broker.Next() {
		if err := b.broker.Advance(at); err != nil {
			return err
		}
		b.now = at
		b.collect()
	}
	return nil
}

// join adds a host, as it is.
func (b *replayed) join(now float64, h *host) error {
	id := hosts.ID(len(b.hosts))
	b.hosts = append(b.hosts, h)
	err := b.broker.Join(now, sim.New(h.Spec), b.account(h.Owner))
	if err == nil && (h.closed || h.drained) {
		err = b.broker.Shut(now, id, true)
	}
	if err == nil && h.gone {
		err = b.broker.Gone(now, id)
	}
	return err
}

// collect notes what has become of contracts.
func (b *replayed) collect() {
	for i := range b.broker.Ended() {
		e := &b.broker.Ended()[i]
		f := replay.Fate{State: e.Outcome.State(), Ended: e.Ended, Paid: e.Paid, Penalty: e.Penalty}
		if e.Outcome == contracts.Fulfilled {
			f.Worth = b.asked[int64(e.ID)].terms.Budget
		}
		b.fates[int64(e.ID)] = f
	}
	for i := range b.broker.Refused() {
		r := &b.broker.Refused()[i]
		b.fates[int64(r.ID)] = replay.Fate{State: contracts.Refused.String(), Reason: string(r.Decision.Reason), Ended: r.At}
	}
	b.broker.Forget()
	b.prices = prices(b.prices, b.broker.View(), b.now)
}

// Hold implements [broker.Teller]: who could pay can, and who could not cannot.
func (b *replayed) Hold(_ float64, contract int64, _ bank.Account, a bank.Amount, _ []byte) error {
	if of := b.asked[contract]; of.has != nil {
		return &bank.Shortfall{Account: of.account, Has: *of.has, Needs: a}
	}
	return nil
}

// Settle implements [broker.Teller].
func (b *replayed) Settle(_ float64, contract int64, pay []bank.Payment, _ []byte) (bank.Amount, error) {
	left := b.asked[contract].terms.Budget
	for _, p := range pay {
		var err error
		if left, err = left.Sub(p.Amount); err != nil {
			return left, err
		}
	}
	return left, nil
}

// Penalty implements [broker.Teller]: the market can pay, too.
func (b *replayed) Penalty(_ float64, _ int64, from []bank.Debit, _ bank.Account, _ []byte) (bank.Amount, error) {
	var paid bank.Amount
	for _, d := range from {
		paid, _ = paid.Add(d.Most)
	}
	return paid, nil
}

// Reject implements [broker.Teller].
func (b *replayed) Reject(float64, int64, []byte) error { return nil }
