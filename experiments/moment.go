package experiments

import (
	"context"
	"errors"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
	"bourse/contracts/memo"
	"bourse/experiments/des"
	"bourse/experiments/explain"
	"bourse/experiments/metrics"
	"bourse/hosts"
	"bourse/hosts/eventheap"
	"bourse/hosts/sim"
)

// A moment is a run at the instant before a job is submitted, from which it goes on as
// often as one likes, otherwise each time, in several goroutines at once.
type moment struct {
	n       int    // position of the job in the plan
	asks    *terms // what the job asks for in the run itself, nil: what the plan says
	setting *setting
	offer   *offer
	now     float64
	parts   broker.Config
	memo    *broker.Memo // nil until it is taken
	world   *world
	ledger  *bank.Ledger
	poor    bool   // nobody has more than its account
	guest   bool   // the job is one more than the run has: its owner has what it asks for
	arena   *arena // in which it was taken: jobs and hosts are those of its futures

	// What is kept to let it go on to the end:
	jobs []metrics.Job // those submitted before
	end  float64
}

// A world is what changes in a run beside its broker.
type world struct {
	machines []sim.Machine
	lists    *sim.Lists
	cancels  eventheap.Heap
}

// take makes f what in is at now.
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

// keep makes f, which has been taken of in, good for when that has gone on.
func (f *moment) keep(in *arrivals) {
	f.ledger = memo.Copy(f.ledger)
	f.jobs, f.end = slices.Clone(in.run.Jobs), in.run.End
}

// Terms are what a job asks for.
type terms struct{ explain.Ask }

// terms returns what the job of f asked for.
func (f *moment) terms() terms {
	var r contracts.Request
	f.setting.request(&f.arena.plan[f.n], &r)
	return terms{explain.Ask{Budget: f.arena.bills[f.n].budget, Deadline: r.SLA.Deadline, Nodes: r.Nodes, Class: r.Class}}
}

// dimensions returns those of what was asked for, those of a later submission until an
// instant.
func (f *moment) dimensions(asked terms, until float64) []explain.Dimension {
	most := f.setting.conf.Fleet.Hosts
	if admission.Books(f.offer.Name) {
		most *= int(f.setting.conf.Fleet.CPUs) // a host is a cluster
	}
	return explain.Dimensions(asked.Ask, explain.Bounds{Budget: f.richest(), Nodes: most, Later: until - f.now, Classes: admission.Classes(f.offer.Name)})
}

// richest returns the largest budget that is looked at: what the owner has, where users
// have so much and no more.
func (f *moment) richest() bank.Amount {
	bill := f.arena.bills[f.n]
	most := max(bill.budget.Micros(), 100*explain.Cent.Micros()) * explain.MostTimes
	if f.poor || f.setting.conf.Workload.Funds != nil {
		most = min(most, f.ledger.Balance(f.arena.payers[bill.payer].account).Micros())
	}
	return bank.Micros(most)
}

// on makes r, and task, ask for t: the same work in all, on so many nodes.
func (t *terms) on(r *contracts.Request, task *hosts.Task) {
	if t.Nodes != r.Nodes {
		each := float64(r.Nodes) / float64(t.Nodes)
		r.Work, task.Work = r.Work*each, task.Work*each
		r.Nodes, r.Parts = t.Nodes, min(r.Parts, t.Nodes)
	}
	r.SLA.Budget, r.SLA.Deadline, r.Class = t.Budget, t.Deadline, t.Class
}

// A future is one way in which a run goes on from a moment.
type future struct {
	*moment
	arena *arena
}

func (f *moment) future() *future { return &future{f, newArena()} }

// resume readies b, whose job asks for t; without terms it is not submitted.
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
	parts.Fleet, parts.Teller = a.fleet, broker.Credit{} // unless there is a bank
	a.broker.Recall(parts, memo.Copy(b.memo, broker.Fixed()))
	bare := a.broker.Config // with the policy that was recalled
	in := &arrivals{arena: a, setting: b.setting, offer: b.offer, bare: bare, run: a.spare.take(len(a.plan))}
	in.run.Jobs = in.run.Jobs[:b.n]
	in.subject, in.terms, in.guest = at, t, b.guest
	return in
}

// bank lets in be paid for as in the run of b.
func (b *future) bank(in *arrivals) {
	a := in.arena
	a.ledger = memo.Copy(b.ledger)
	a.broker.Teller, in.banked = a.ledger, true
}

// fund lets who asks for more have it, where users have what their jobs may cost; and guests
// everywhere.
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

// play lets b go on.
func (b *future) play(ctx context.Context, in *arrivals, p des.Pacer) error {
	if in.Next() <= b.now {
		if err := in.Advance(b.now); err != nil {
			return err
		}
	}
	return in.play(ctx, p)
}

// An answer is what is decided of a job.
type answer struct {
	verdict contracts.Verdict
	reason  contracts.Reason
	numbers contracts.Numbers
	at      float64 // instant, s
}

// errDecided stops a future in which the job has been decided.
var errDecided = errors.New("it has been decided")

// decide returns what is decided of the job if it asks for t: Defer, if nothing is before
// the run ends.
func (b *future) decide(ctx context.Context, t *terms) (answer, error) {
	in := b.resume(t)
	if b.setting.conf.Workload.Funds != nil || negotiates(&b.offer.Choice) { // it matters what they have
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
	if in.submitted { // not after the horizon
		in.admitted()
	}
	return *in.answer, nil
}

// finish returns what becomes of all jobs if the job of b asks for t; without terms, if it
// is not submitted. Those barred cannot pay when they are accepted.
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

// answered notes what has been decided of the job that was submitted last.
func (in *arrivals) answered(now float64, d *contracts.Decision) error {
	in.submitted = true
	if d.Verdict == contracts.Defer && !in.soon {
		return nil
	}
	*in.answer = answer{d.Verdict, d.Reason, slices.Clone(d.Numbers), now}
	return errDecided
}

// admitted notes that the job of a future, which waited, is admitted, if it is.
func (in *arrivals) admitted() {
	if j := &in.run.Jobs[in.subject]; in.answer.verdict == contracts.Defer && j.Admitted() {
		*in.answer = answer{verdict: contracts.Accept, at: j.Contract.Admitted}
	}
}

// untilDecided lets virtual time pass until the job of a future, which waits, is decided.
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
		if !ok { // refused, or over as soon as it was admitted
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

// A barring teller holds nothing for some: whatever their policy has noted of them it takes
// back, as of all who cannot pay.
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
