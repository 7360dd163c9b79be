package live

import (
	"bytes"
	"fmt"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
	"bourse/contracts/order"
	"bourse/experiments/explain"
	"bourse/experiments/misuse"
	"bourse/experiments/replay"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Explain says why the market whose log is in dir decided a contract as it did, and with which
// least change of its terms it would have decided otherwise: the log is told again up to the
// instant at which it was asked for, and it is decided again on copies of the market as it
// was then, as quotes are. That it is asked for later, and what would have become of all, is
// decided on hosts that are computed, as by [Replay]: a contract that is fulfilled is worth
// the budget that its owner has signed.
func Explain(dir string, fs vfs.FS, contract int64) (*explain.Report, error) {
	l, as, conf, err := readLog(dir, fs)
	if err != nil {
		return nil, err
	}
	defer l.db.Close()
	x := &explainer{made: as, conf: &conf, id: contract}
	if x.story, err = l.story(as, conf); err != nil {
		return nil, err
	}
	all := x.story.asked
	if x.at = slices.IndexFunc(all, func(a asked) bool { return a.id == contract }); x.at < 0 {
		if len(all) == 0 {
			return nil, misuse.Errorf("contract: found %d, and the market's log has none", contract)
		}
		return nil, misuse.Errorf("contract: found %d, want one that the market's log has, %d to %d", contract, all[0].id, all[len(all)-1].id)
	}
	if x.fork, err = l.fork(as, &conf, contract); err != nil {
		return nil, err
	}
	return x.explain()
}

// A fork is a market at the instant before a contract is asked for.
type fork struct {
	contract int64
	trial    *trial // nil until it is taken
	now      float64
	terms    order.Terms
	request  contracts.Request
	hosts    int    // that are known, and not removed
	account  string // its owner
	decided  *Contract
}

// take makes f what k is.
func (f *fork) take(k *core, c *Contract, terms *order.Terms) {
	f.trial, f.now, f.terms, f.account, f.decided = k.copy(), k.now, *terms, c.Account, c
	f.request = terms.Request()
	f.request.ID, f.request.Submit, f.request.Owner = contracts.ID(c.ID), k.now, k.calls.bank.Account(c.Account)
	for _, h := range k.hosts {
		if !h.removed {
			f.hosts++
		}
	}
}

// fork tells the log again until a contract has been asked for.
func (l *log) fork(as *made, conf *Config, contract int64) (*fork, error) {
	k, from, err := l.begun(as, conf)
	if err != nil {
		return nil, err
	}
	k.fork = &fork{contract: contract}
	for t := range l.retold(k, from+1, &err) {
		if t.err != nil {
			return nil, t.err
		}
		if k.fork.trial != nil {
			break
		}
	}
	if err == nil && k.fork.trial == nil {
		err = misuse.Errorf("contract: %d was asked for last, and the market stopped before it was decided", contract)
	}
	return k.fork, err
}

// An explainer explains a contract of a market.
type explainer struct {
	*fork
	made  *made
	conf  *Config
	id    int64
	story *story
	at    int // place in what was asked
}

// ask returns the terms of the contract, and the work that a node truly needs, if a is asked
// for instead: the same work in all.
func (x *explainer) ask(a explain.Ask) (order.Terms, float64) {
	t, work := x.terms, x.story.asked[x.at].work
	if a.Nodes != t.Nodes {
		each := float64(t.Nodes) / float64(a.Nodes)
		t.Work, work, t.Nodes = t.Work*each, work*each, a.Nodes
	}
	t.Budget, t.Deadline, t.Class = a.Budget, a.Deadline, a.Class
	return t, work
}

// decide returns what is decided of the contract if a is asked for instead.
func (x *explainer) decide(a explain.Ask) (*contracts.Decision, error) {
	terms, _ := x.ask(a)
	r := terms.Request()
	r.ID, r.Submit, r.Owner = x.request.ID, x.now, x.request.Owner
	if r.Validate() != nil {
		return &contracts.Decision{Reason: contracts.NoRate}, nil
	}
	was := &x.story.asked[x.at]
	return submit(x.trial.market(&means{has: was.has, barred: was.fate.Reason == string(contracts.NotAllowed)}), &r)
}

// Means are a teller at which an owner has so much, if it is known, and may be not allowed
// to pay; all others can.
type means struct {
	broker.Credit
	has    *bank.Amount
	barred bool
}

// Hold implements [broker.Teller].
func (m *means) Hold(_ float64, _ int64, _ bank.Account, a bank.Amount, _ []byte) error {
	switch {
	case m.barred:
		return bank.ErrRefused
	case m.has != nil && a.Cmp(*m.has) > 0:
		return &bank.Shortfall{Has: *m.has, Needs: a}
	}
	return nil
}

// explain says why the contract was decided as it was.
func (x *explainer) explain() (*explain.Report, error) {
	was := &x.story.asked[x.at]
	asked := explain.Ask{Budget: x.terms.Budget, Deadline: x.terms.Deadline, Nodes: x.terms.Nodes, Class: x.terms.Class}
	d, err := x.decide(asked)
	if err != nil {
		return nil, err
	}
	if is := d.AppendJSON(nil); len(x.decided.Decision) > 0 && !bytes.Equal(is, x.decided.Decision) {
		return nil, fmt.Errorf("contract %d: decided again it comes to %s, and was %s", x.id, is, x.decided.Decision)
	}
	r := &explain.Report{
		Live: true, Run: "market " + x.conf.Name, Policy: x.conf.Admission.Label, Job: x.id, Owner: x.account, Asked: x.written(asked), Fate: was.fate,
		Decision: explain.Decide(x.id, x.now, d, x.written(asked), admission.Tests(x.conf.Admission.Name)),
		Changes:  []explain.Change{}, Vain: []explain.Vain{}, Frontier: []explain.Point{},
	}
	base, err := x.story.decide(x.made, x.conf)
	if err != nil {
		return nil, err
	}
	computed := base.fates[x.id].State != contracts.Refused.String()
	alike := computed == (d.Verdict == contracts.Accept)
	want := explain.Wanted(d.Verdict)
	limit := bank.Micros(max(x.terms.Budget.Micros(), 100*explain.Cent.Micros()) * explain.MostTimes)
	if was.has != nil {
		limit = *was.has
	}
	last := x.now
	if n := len(x.story.what); n > 0 {
		last = x.story.what[n-1].at
	}
	for _, dim := range explain.Dimensions(asked, explain.Bounds{Budget: limit, Nodes: x.hosts, Later: last - x.now, Classes: admission.Classes(x.conf.Admission.Name)}) {
		steps, change, vain, err := dim.Search(want, func(a explain.Ask) (contracts.Verdict, contracts.Reason, error) {
			if a.Later > 0 {
				verdict, err := x.later(a)
				return verdict, contracts.None, err
			}
			d, err := x.decide(a)
			return d.Verdict, d.Reason, err
		})
		switch {
		case err != nil:
			return nil, err
		case vain != nil:
			r.Vain = append(r.Vain, *vain)
			continue
		}
		a := dim.At(steps)
		change.Terms = x.written(a)
		if want == contracts.Accept && alike {
			if change.Then, err = x.outcome(base, x.otherwise(&a), true); err != nil {
				return nil, err
			}
		}
		r.Changes = append(r.Changes, *change)
	}
	switch {
	case !alike:
		r.Notes = append(r.Notes, "On hosts that are computed it is decided otherwise, so that what would have become of all is not told.")
	case d.Verdict == contracts.Accept:
		r.Without, err = x.outcome(base, x.otherwise(nil), false)
	}
	return r, err
}

// written returns what is asked for as it is told.
func (x *explainer) written(a explain.Ask) explain.Terms {
	t, _ := x.ask(a)
	return explain.Terms{Work: t.Work, Nodes: t.Nodes, Deadline: t.Deadline, Budget: t.Budget, Class: t.Class, Submit: x.now + a.Later}
}

// otherwise returns the story in which a is asked for instead; without it, the contract is not
// asked for.
func (x *explainer) otherwise(a *explain.Ask) *story {
	p := &story{hosts: x.story.hosts, asked: slices.Clone(x.story.asked)}
	var moved *happened
	for i := range x.story.what {
		h := x.story.what[i]
		if h.Submit != nil && h.asked == x.at {
			if a == nil {
				continue
			}
			if a.Later > 0 {
				h.at += a.Later
				moved = &h
				continue
			}
		}
		if moved != nil && h.at > moved.at {
			p.what = append(p.what, *moved)
			moved = nil
		}
		p.what = append(p.what, h)
	}
	if moved != nil {
		p.what = append(p.what, *moved)
	}
	if a != nil {
		terms, work := x.ask(*a)
		p.asked[x.at].terms, p.asked[x.at].work = &terms, work
	}
	return p
}

// later returns what is decided, on hosts that are computed, if a is asked for later.
func (x *explainer) later(a explain.Ask) (contracts.Verdict, error) {
	p := x.otherwise(&a)
	b, err := p.begin(x.made, x.conf)
	if err != nil {
		return contracts.Reject, err
	}
	for i := range p.what {
		if err := b.apply(p, &p.what[i]); err != nil {
			return contracts.Reject, err
		}
		if p.what[i].Submit != nil && p.what[i].asked == x.at {
			break
		}
	}
	return b.verdict, nil
}

// outcome compares what becomes of all in another story with what becomes of them in that
// which was; the contract is or is not in there.
func (x *explainer) outcome(base *replayed, p *story, in bool) (*explain.Outcome, error) {
	b, err := p.decide(x.made, x.conf)
	if err != nil {
		return nil, err
	}
	jobs := make([]replay.Job, 0, len(p.asked))
	for i := range x.story.asked {
		a := &x.story.asked[i]
		j := replay.Job{ID: a.id, Owner: a.account, Asked: a.at, Was: base.fates[a.id], Is: b.fates[a.id]}
		if i == x.at && j.Is.Worth.Sign() > 0 {
			j.Is.Worth = x.terms.Budget // what it is worth is not what is bid
		}
		jobs = append(jobs, j)
	}
	return explain.Outcomes(x.id, jobs, in), nil
}
