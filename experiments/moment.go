package experiments

import (
	"context"
	"errors"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/memo"
	"bourse/contracts/policies"
	"bourse/experiments/des"
	"bourse/experiments/explain"
	"bourse/experiments/metrics"
	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/hosts/sim"
)

// A moment is a snapshot of a run just before a job is submitted. The run can continue from it
// any number of times, each time with different terms, in several goroutines at once.
type moment struct {
	n       int    // position of the job in the plan
	asks    *terms // terms of the job in the run itself; nil: those of the plan
	setting *setting
	offer   *offer
	now     float64
	parts   broker.Config
	memo    *broker.Memo // nil until the snapshot is taken
	world   *world
	ledger  *bank.Ledger
	poor    bool   // no user has more than its account holds
	guest   bool   // the job is an addition to the plan: its owner has the funds it asks for
	arena   *arena // arena of the run; its jobs and hosts are shared with the futures

	// State to continue until the end:
	jobs []metrics.Job // those submitted earlier
	end  float64
}

// A world holds the mutable state of a run outside its broker.
type world struct {
	machines []sim.Machine
	lists    *sim.Lists
	cancels  eventheap.Heap
}

// take stores the state of in at now in f.
func (f *moment) take(in *arrivals, now float64) {
	a := in.arena
	in.gather()
	f.arena, f.setting, f.offer, f.now = a, in.setting, in.offer, now
	watched := a.broker.Config
	a.broker.Config = in.bare
	f.parts, f.memo = in.bare, memo.Copy(a.broker.Memo(), broker.Fixed())
	a.broker.Config = watched
	f.world = memo.Copy(&world{a.machines, &a.lists, a.cancels})
	f.ledger = a.ledger
}

// keep copies the parts of f that in would change as it continues.
func (f *moment) keep(in *arrivals) {
	f.ledger = memo.Copy(f.ledger)
	f.jobs, f.end = slices.Clone(in.run.Jobs), in.run.End
}

// A terms is what a job asks for.
type terms struct{ explain.Ask }

// terms returns the terms of f's job.
func (f *moment) terms() terms {
	var r contracts.Request
	f.setting.request(&f.arena.plan[f.n], &r)
	return terms{explain.Ask{Budget: f.arena.bills[f.n].budget, Deadline: r.SLA.Deadline, Nodes: r.Nodes, Class: r.Class}}
}

// dimensions returns the dimensions in which the terms may change. The latest later submission
// that it allows is at until.
func (f *moment) dimensions(asked terms, until float64) []explain.Dimension {
	most := f.setting.conf.Fleet.Hosts
	if policies.Of(f.offer.Name).Books {
		most *= int(f.setting.conf.Fleet.CPUs) // a host is a cluster
	}
	return explain.Dimensions(asked.Ask, explain.Bounds{Budget: f.richest(), Nodes: most, Later: until - f.now, Classes: policies.Of(f.offer.Name).Classes})
}

// richest returns the largest budget to try: the owner's balance if users have limited funds,
// and otherwise a multiple of the job's budget.
func (f *moment) richest() bank.Amount {
	bill := f.arena.bills[f.n]
	most := max(bill.budget.Micros(), 100*explain.Cent.Micros()) * explain.MostTimes
	if f.poor || f.setting.conf.Workload.Funds != nil {
		most = min(most, f.ledger.Balance(f.arena.payers[bill.payer].account).Micros())
	}
	return bank.Micros(most)
}

// on applies t to r and task. The total work stays the same; only the number of nodes that
// share it changes.
func (t *terms) on(r *contracts.Request, task *hosts.Task) {
	if t.Nodes != r.Nodes {
		each := float64(r.Nodes) / float64(t.Nodes)
		r.Work, task.Work = r.Work*each, task.Work*each
		r.Nodes, r.Parts = t.Nodes, min(r.Parts, t.Nodes)
	}
	r.SLA.Budget, r.SLA.Deadline, r.Class = t.Budget, t.Deadline, t.Class
}

// A future is one continuation of a run from a moment.
type future struct {
	*moment
	arena *arena
}

func (f *moment) future() *future { return &future{f, newArena()} }

// resume prepares b to continue with terms t for the job. If t is nil, the job is not
// submitted.
func (b *future) resume(t *terms) *arrivals {
	a, from := b.arena, b.moment.arena
	w := memo.Copy(b.world)
	a.machines, a.cancels = w.machines, w.cancels
	a.fleet = a.fleet[:0]
	for h := range a.machines {
		a.fleet = append(a.fleet, &a.machines[h])
	}
	a.churn, a.histories, a.owners, a.payers = from.churn, from.histories, from.owners, from.payers
	at := b.n
	if t == nil || t.Later > 0 {
		a.plan, a.bills = slices.Clone(from.plan), slices.Clone(from.bills)
	} else {
		if len(a.bills) != len(from.bills) {
			a.bills = slices.Clone(from.bills)
		}
		copy(a.bills[at:], from.bills[at:])
		a.plan = from.plan
	}
	switch {
	case t == nil:
		a.plan, a.bills = slices.Delete(a.plan, at, at+1), slices.Delete(a.bills, at, at+1)
		at = -1
	case t.Later > 0:
		moved, bill := a.plan[at], a.bills[at]
		moved.Arrival += t.Later
		for ; at+1 < len(a.plan) && a.plan[at+1].Arrival <= moved.Arrival; at++ {
			a.plan[at], a.bills[at] = a.plan[at+1], a.bills[at+1]
		}
		a.plan[at], a.bills[at] = moved, bill
	}
	a.indexPlan()
	parts := b.parts
	parts.Fleet, parts.Teller = a.fleet, broker.Credit{} // replaced by [future.bank]
	a.broker.Recall(parts, memo.Copy(b.memo, broker.Fixed()))
	bare := a.broker.Config // with the policy that was recalled
	in := &arrivals{arena: a, setting: b.setting, offer: b.offer, bare: bare, run: a.spare.take(len(a.plan))}
	in.run.Jobs = in.run.Jobs[:b.n]
	in.subject, in.terms, in.guest = at, t, b.guest
	return in
}

// bank makes in use a copy of the ledger of b's run.
func (b *future) bank(in *arrivals) {
	a := in.arena
	a.ledger = memo.Copy(b.ledger)
	a.broker.Teller, in.banked = a.ledger, true
}

// fund mints the amount by which the job's budget exceeds the funds of its owner. It does so
// for guests, and for all users if the workload does not limit funds.
func (in *arrivals) fund(now float64) error {
	a := in.arena
	account := a.payers[a.bills[in.subject].payer].account
	has := dollars(a.plan[in.subject].Value)
	switch {
	case !in.banked || !in.guest && in.setting.conf.Workload.Funds != nil:
		return nil
	case in.guest:
		has = a.ledger.Balance(account)
	}
	more, err := in.terms.Budget.Sub(has)
	if err != nil || more.Sign() <= 0 {
		return err
	}
	return a.ledger.Mint(now, account, more)
}

// play continues the run of b.
func (b *future) play(ctx context.Context, in *arrivals, p des.Pacer) error {
	if in.Next() <= b.now {
		if err := in.Advance(b.now); err != nil {
			return err
		}
	}
	return in.play(ctx, p)
}

// An answer is the decision on a job.
type answer struct {
	verdict contracts.Verdict
	reason  contracts.Reason
	numbers contracts.Numbers
	at      float64 // time in seconds
}

// errDecided stops a future in which the job has been decided.
var errDecided = errors.New("it has been decided")

// decide returns the decision on the job if it asks for t, or Defer if there is none before
// the run ends.
func (b *future) decide(ctx context.Context, t *terms) (answer, error) {
	in := b.resume(t)
	if b.setting.conf.Workload.Funds != nil || negotiates(&b.offer.Choice) { // funds affect decisions
		b.bank(in)
	}
	in.answer = &answer{verdict: contracts.Defer}
	err := b.play(ctx, in, &untilDecided{in: in})
	b.arena.spare.give(in.run)
	switch {
	case errors.Is(err, errDecided):
		return *in.answer, nil
	case err != nil:
		return answer{}, err
	}
	if in.submitted { // the job arrived before the horizon
		in.admitted()
	}
	return *in.answer, nil
}

// finish returns the outcomes of all jobs if the job of b asks for t, or is not submitted if t
// is nil. The barred contracts cannot pay when they are accepted.
func (b *future) finish(ctx context.Context, t *terms, barred ...contracts.ID) ([]metrics.Job, error) {
	in := b.resume(t)
	copy(in.run.Jobs, b.jobs)
	in.run.End = b.end
	b.bank(in)
	if len(barred) > 0 {
		b.arena.broker.Teller = &barring{b.arena.broker.Teller, barred}
	}
	err := b.play(ctx, in, new(des.Virtual))
	return in.run.Jobs, err
}

// answered records the decision on the job that was submitted last.
func (in *arrivals) answered(now float64, d *contracts.Decision) error {
	in.submitted = true
	if d.Verdict == contracts.Defer && !in.soon {
		return nil
	}
	*in.answer = answer{d.Verdict, d.Reason, slices.Clone(d.Numbers), now}
	return errDecided
}

// admitted records that the waiting job of a future has been admitted, if it has.
func (in *arrivals) admitted() {
	if j := &in.run.Jobs[in.subject]; in.answer.verdict == contracts.Defer && j.Admitted() {
		*in.answer = answer{verdict: contracts.Accept, at: j.Contract.Admitted}
	}
}

// untilDecided advances virtual time until the waiting job of a future is decided.
type untilDecided struct {
	des.Virtual
	in  *arrivals
	now float64
}

// Wait implements [des.Pacer].
func (p *untilDecided) Wait(ctx context.Context, until float64) (float64, error) {
	in := p.in
	if in.submitted {
		phase, ok := in.arena.broker.Phase(contracts.ID(in.arena.plan[in.subject].ID))
		if !ok { // refused, or ended as soon as it was admitted
			in.gather()
			in.admitted()
			return 0, errDecided
		}
		if phase != contracts.Asked {
			*in.answer = answer{verdict: contracts.Accept, at: p.now}
			return 0, errDecided
		}
	}
	p.now = until
	return p.Virtual.Wait(ctx, until)
}

// A barring is a teller that refuses to hold funds for some contracts. Their policy then
// undoes what it recorded for them, as for any owner who cannot pay.
type barring struct {
	broker.Teller
	barred []contracts.ID
}

// Hold implements [broker.Teller].
func (t *barring) Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error {
	if slices.Contains(t.barred, contracts.ID(contract)) {
		return &bank.Shortfall{Needs: a}
	}
	return t.Teller.Hold(now, contract, owner, a, note)
}
