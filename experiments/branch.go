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
	"bourse/experiments/metrics"
	"bourse/hosts/eventheap"
	"bourse/hosts/sim"
)

// A Snapshot is the state of a run just before a job is submitted. The run can continue from a
// snapshot any number of times, each time with different terms. Several goroutines may do so
// at the same time.
type Snapshot struct {
	Position int                  // position of the job in the plan of the run, by arrival
	Now      float64              // time of the submission in seconds
	About    admission.Properties // properties of the policy

	setting   *setting
	offer     *offer
	parts     broker.Config
	memo      *broker.Memo // nil until the snapshot is taken
	world     *world
	ledger    *bank.Ledger
	limited   bool       // users may spend only the money in their accounts
	job       int64      // number of the job
	guest     bool       // whether the job is not in the plan; its owner then always has enough money
	workspace *workspace // workspace of the run; its branches share the jobs and hosts
	hooks     []hook     // hooks of the run for the other jobs

	// The following fields contain the state with which a branch continues the run to its end.
	jobs []metrics.Job // jobs that were submitted earlier
	end  float64
}

// A world holds the mutable state of a run outside its broker.
type world struct {
	machines []sim.Machine
	cancels  eventheap.Heap
	due      due
}

// take copies the state of in at time now into f.
func (f *Snapshot) take(in *arrivals, now float64) {
	a := in.workspace
	in.gather()
	f.job = a.plan[f.Position].ID
	f.workspace, f.setting, f.offer, f.About, f.Now = a, in.setting, in.offer, in.offer.about, now
	watched := a.broker.Config
	a.broker.Config = in.bare
	f.parts, f.memo = in.bare, memo.Copy(a.broker.Memo(), broker.Fixed())
	a.broker.Config = watched
	f.world = memo.Copy(&world{a.machines, a.cancels, a.due})
	f.ledger = a.ledger
}

// A taker is a hook that takes a snapshot of a run. The snapshot copies the state that the rest
// of the run would change.
type taker struct{ f *Snapshot }

func (h taker) before(in *arrivals, n int, now float64) (*submission, error) {
	if f := h.f; in.workspace.plan[n].ID == f.job && f.memo == nil {
		f.Position = n
		f.take(in, now)
		f.ledger = memo.Copy(f.ledger)
		f.jobs, f.end = slices.Clone(in.run.Jobs), in.run.End
		f.hooks = slices.DeleteFunc(slices.Clone(in.hooks), func(h hook) bool {
			switch h.(type) {
			case taker, *subject:
				return true
			}
			return false
		})
	}
	return nil, nil
}

func (taker) decided(int, float64, *contracts.Decision) error { return nil }

// Terms returns the terms of f's job in the plan.
func (f *Snapshot) Terms() Terms {
	var r contracts.Request
	f.setting.request(&f.workspace.plan[f.Position], &r)
	return Terms{Budget: f.workspace.bills[f.Position].budget, Deadline: r.SLA.Deadline, Nodes: r.Nodes, Class: r.Class}
}

// Request returns the request for f's job with terms t. It has no owner.
func (f *Snapshot) Request(t *Terms) (r contracts.Request) {
	task := f.setting.request(&f.workspace.plan[f.Position], &r)
	t.on(&r, &task)
	r.Submit += t.Later
	return r
}

// Dimensions returns the dimensions in which the terms of the job may change. The job may be
// submitted at any time up to until.
func (f *Snapshot) Dimensions(asked Terms, until float64) []Dimension {
	return dimensions(asked, bounds{budget: f.Richest(), nodes: f.setting.widest(f.offer), later: until - f.Now, classes: f.About.Classes})
}

// Richest returns the largest budget to try. If users have limited funds, it is the owner's
// balance. Otherwise it is a multiple of the job's budget.
func (f *Snapshot) Richest() bank.Amount {
	bill := f.workspace.bills[f.Position]
	most := max(bill.budget.Micros(), 100*Cent.Micros()) * mostTimes
	if f.limited || f.setting.conf.Workload.Funds != nil {
		most = min(most, f.ledger.Balance(f.workspace.payers[bill.payer].account).Micros())
	}
	return bank.Micros(most)
}

// A Branch continues a run from a snapshot. Only one goroutine may use it at a time, but it
// can be used repeatedly.
type Branch struct {
	*Snapshot
	own *workspace
}

// Branch returns a new branch of f.
func (f *Snapshot) Branch() *Branch { return &Branch{f, newWorkspace()} }

// A subject is a hook that submits one job with changed terms.
type subject struct {
	job    int64 // number of the job, or -1 if the job is not submitted
	at     int   // position of the job in the plan of the run, or -1 until it is submitted
	terms  *Terms
	guest  bool // whether the owner always has enough money
	booked bool // whether the ledger of the workspace books the run
}

func (h *subject) before(in *arrivals, n int, now float64) (*submission, error) {
	if in.workspace.plan[n].ID != h.job {
		return nil, nil
	}
	h.at = n
	return &submission{terms: h.terms}, h.fund(in, now)
}

func (*subject) decided(int, float64, *contracts.Decision) error { return nil }

// fund issues money to the owner of the job if the owner's funds are below the job's budget. It
// applies only to guests or, if the workload does not limit funds, to all users.
func (h *subject) fund(in *arrivals, now float64) error {
	a := in.workspace
	account := a.payers[a.bills[h.at].payer].account
	has := dollars(a.plan[h.at].Value)
	switch {
	case !h.booked || !h.guest && in.setting.conf.Workload.Funds != nil:
		return nil
	case h.guest:
		has = a.ledger.Balance(account)
	}
	more, err := h.terms.Budget.Sub(has)
	if err != nil || more.Sign() <= 0 {
		return err
	}
	return a.ledger.Mint(now, account, more)
}

// resume prepares b to continue with terms t for the job. If t is nil, the branch does not
// submit the job. If ledger is true, the branch books entries into a copy of the run's ledger.
func (b *Branch) resume(t *Terms, ledger bool) (*arrivals, *subject) {
	a, from := b.own, b.Snapshot.workspace
	w := memo.Copy(b.world)
	a.machines, a.cancels = w.machines, w.cancels
	a.fleet = a.fleet[:0]
	for h := range a.machines {
		a.fleet = append(a.fleet, &a.machines[h])
	}
	a.churn, a.histories, a.owners, a.payers = from.churn, from.histories, from.owners, from.payers
	at, job := b.Position, b.job
	a.followers, a.due = from.followers, w.due
	if t == nil || t.Later > 0 || a.followers != nil {
		a.plan, a.bills = slices.Clone(from.plan), slices.Clone(from.bills)
	} else {
		if len(a.bills) != len(from.bills) {
			a.bills = slices.Clone(from.bills)
		}
		copy(a.bills[at:], from.bills[at:])
		a.plan = from.plan
	}
	switch {
	case a.followers != nil && t == nil:
		a.released(job, b.Now)
		job = -1
	case a.followers != nil:
		a.due.ready.Set(a.due.last, b.Now+t.Later)
	case t == nil:
		a.plan, a.bills = slices.Delete(a.plan, at, at+1), slices.Delete(a.bills, at, at+1)
		job = -1
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
	parts.Fleet, parts.Teller = a.fleet, broker.Credit{}
	a.broker.Recall(parts, memo.Copy(b.memo, broker.Fixed()))
	bare := a.broker.Config // includes the restored policy
	if ledger {
		a.ledger = memo.Copy(b.ledger)
		a.broker.Teller = a.ledger
	}
	in := &arrivals{workspace: a, setting: b.setting, offer: b.offer, bare: bare, run: a.spare.take(len(a.plan))}
	in.run.Jobs = in.run.Jobs[:b.Position]
	return in, &subject{job, -1, t, b.guest, ledger}
}

// play continues the run of b.
func (b *Branch) play(ctx context.Context, in *arrivals, p des.Pacer) error {
	guard(ctx, in.workspace.broker.Policy)
	if in.Next() <= b.Now {
		if err := in.Advance(b.Now); err != nil {
			return in.failed(ctx, b.Snapshot.workspace, err)
		}
	}
	return in.failed(ctx, b.Snapshot.workspace, in.play(ctx, p))
}

// An Answer is the decision on a job, with the time of the decision in seconds.
type Answer struct {
	contracts.Decision
	At float64
}

// A question is a subject that asks only for the decision.
type question struct {
	*subject
	Answer    Answer
	submitted bool
	soon      bool // whether only an immediate decision counts
}

// errDecided is the error that stops a branch after the decision on its job.
var errDecided = errors.New("the job has already been decided")

func (q *question) decided(n int, at float64, d *contracts.Decision) error {
	if n != q.at {
		return nil
	}
	q.submitted = true
	if d.Verdict == contracts.Defer && !q.soon {
		return nil
	}
	q.Answer = Answer{contracts.Decision{Verdict: d.Verdict, Reason: d.Reason, Numbers: slices.Clone(d.Numbers)}, at}
	return errDecided
}

// Decide returns the decision on the job with terms t. It returns Defer if the run ends
// without a decision.
func (b *Branch) Decide(ctx context.Context, t *Terms) (Answer, error) {
	in, s := b.resume(t, b.setting.conf.Workload.Funds != nil || Negotiates(&b.offer.Choice)) // funds affect decisions
	q := &question{subject: s, Answer: Answer{Decision: contracts.Decision{Verdict: contracts.Defer}}}
	in.hooks = append([]hook{q}, b.hooks...)
	err := b.play(ctx, in, &untilDecided{in: in, of: q})
	b.own.spare.give(in.run)
	switch {
	case errors.Is(err, errDecided):
		return q.Answer, nil
	case err != nil:
		return Answer{}, err
	}
	if q.submitted { // possible because the job arrived before the horizon
		q.admitted(in)
	}
	return q.Answer, nil
}

// Finish returns the outcomes of all jobs if the job of b has the terms t. If t is nil, the
// job is not submitted. The contracts in barred cannot pay when they are accepted.
func (b *Branch) Finish(ctx context.Context, t *Terms, barred ...contracts.ID) ([]metrics.Job, error) {
	in, s := b.resume(t, true)
	in.hooks = append([]hook{s}, b.hooks...)
	copy(in.run.Jobs, b.jobs)
	in.run.End = b.end
	if len(barred) > 0 {
		b.own.broker.Teller = &denyingTeller{b.own.broker.Teller, barred}
	}
	err := b.play(ctx, in, new(des.Virtual))
	return in.run.Jobs, err
}

// admitted records the acceptance of a job whose decision was deferred.
func (q *question) admitted(in *arrivals) {
	if j := &in.run.Jobs[q.at]; q.Answer.Verdict == contracts.Defer && j.Admitted() {
		q.Answer = Answer{contracts.Decision{Verdict: contracts.Accept}, j.Contract.Admitted}
	}
}

// untilDecided advances virtual time until the deferred job of a branch is decided.
type untilDecided struct {
	des.Virtual
	in  *arrivals
	of  *question
	now float64
}

// Wait implements [des.Pacer].
func (p *untilDecided) Wait(ctx context.Context, until float64) (float64, error) {
	in, q := p.in, p.of
	if q.submitted {
		phase, ok := in.workspace.broker.Phase(contracts.ID(in.workspace.plan[q.at].ID))
		if !ok { // rejected, or ended immediately after admission
			in.gather()
			q.admitted(in)
			return 0, errDecided
		}
		if phase != contracts.Asked {
			q.Answer = Answer{contracts.Decision{Verdict: contracts.Accept}, p.now}
			return 0, errDecided
		}
	}
	p.now = until
	return p.Virtual.Wait(ctx, until)
}

// A denyingTeller refuses to hold funds for the given contracts. The policy then removes these
// contracts from its records, as it does for any owner who cannot pay.
type denyingTeller struct {
	broker.Teller
	denied []contracts.ID
}

// Hold implements [broker.Teller].
func (t *denyingTeller) Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error {
	if slices.Contains(t.denied, contracts.ID(contract)) {
		return &bank.Shortfall{Needs: a}
	}
	return t.Teller.Hold(now, contract, owner, a, note)
}
