package experiments

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/floor"
	"bourse/experiments/des"
	"bourse/experiments/metrics"
	"bourse/experiments/optimum"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/eventheap"
	"bourse/hosts/sim"
	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/byid"
)

// A workspace is the memory that one goroutine reuses to run replications.
type workspace struct {
	spare    spare // memory of runs for reuse
	makers   *makers
	observe  func(configuration, admission string, rep int, parts *broker.Config)
	unpriced bool              // do not record prices, because they are not needed
	heard    [sha256.Size]byte // hash of the questions to external programs and their answers in all runs; zero if there were none
	machines []sim.Machine
	fleet    []hosts.Machine
	owners   []bank.Account
	users    map[int64]bank.Account
	ledger   *bank.Ledger
	broker   broker.Broker
	solver   optimum.Solver
	solved   solved
	request  contracts.Request // request of the job being submitted

	churn     *floor.Availability // availability histories in the current replication; nil if hosts never leave
	present   floor.Availability
	histories []*availability.History

	trial   *workspace       // branch on which offers are tried; nil until the first offer
	seed    uint64           // seed of the current replication
	rep     int              // number of the current replication
	plan    workloadgen.Plan // plan of the current replication
	drawn   workloadgen.Plan // memory for generated, read or annotated plans
	places  byid.Index       // positions of jobs in the plan, by job number
	payer   map[int64]int32  // position of each user in payers
	payers  []payer          // users of the plan, in the order of their first jobs
	bills   []bill           // bills of the plan's jobs
	cancels eventheap.Heap   // jobs of the plan, ordered by the time at which their owners cancel them

	sized     annotate.SizeNote // effect of mapping sizes in the plan
	followers *followers        // nil if no job of the plan follows another job
	due       due               // used if followers is not nil
}

func newWorkspace() *workspace {
	return &workspace{
		makers: newMakers(),
		users:  make(map[int64]bank.Account), payer: make(map[int64]int32),
		ledger: bank.New(nil),
	}
}

// A bill is the budget of a job and the position of its user in payers.
type bill struct {
	payer  int32
	budget bank.Amount
}

// A payer is a user, with the maximum total cost of the user's jobs.
type payer struct {
	user    int64
	owes    bank.Amount
	account bank.Account
}

// run runs the workspace's plan under policy o and calls the hooks in order. If journal is
// not nil, run writes the ledger's entries to it.
func (a *workspace) run(ctx context.Context, s *setting, o *offer, seed uint64, rep int, journal bank.Journal, hooks ...hook) (*Run, error) {
	rules, err := a.makers.rules(s, o, seed, rep)
	if err != nil {
		return nil, err
	}
	guard(ctx, rules.policy)
	a.indexPlan()
	a.follow()
	a.ledger.Reset(journal)
	provider, err := a.build(s, o)
	if err != nil {
		return nil, err
	}
	if err := a.issue(s, provider); err != nil {
		return nil, err
	}
	parts := broker.Config{
		Fleet: a.fleet, Owners: a.owners, Provider: provider,
		Policy: rules.policy, Sharing: rules.sharing, Payment: s.payment,
		Window: s.conf.Market.Window, Forecast: rules.forecast,
		Teller: a.ledger, Notes: journal != nil, Ties: rules.ties, Availability: a.churn,
		OneByOne: s.conf.Market.Instant == oneByOne, NoPrices: a.unpriced, HostPrices: !a.unpriced && s.hostPrices && !s.payment.Whole,
	}
	parts.Least, parts.Reserve, parts.Resources, parts.Counts = s.least, s.conf.Market.Reserve, s.priced, s.counts
	parts.Licences = s.licences
	if o.about.Spot { // the admission of a spot market depends on the bids of other users
		parts.Renew = s.conf.Market.Renew
	}
	bare := parts
	if a.observe != nil {
		a.observe(s.conf.Name, o.Label, rep, &parts)
	}
	a.broker.Reset(parts)
	in := &arrivals{workspace: a, setting: s, offer: o, run: a.spare.take(len(a.plan)), bare: bare, hooks: hooks}
	a.cancels.Reset()
	err = in.failed(ctx, a, in.play(ctx, new(des.Virtual)))
	a.hear(rules.policy)
	return in.run, err
}

// play advances time until all work is done or the horizon is reached. It records the
// outcomes.
func (in *arrivals) play(ctx context.Context, p des.Pacer) error {
	a, s := in.workspace, in.setting
	market := []des.Source{marketplace{&a.broker, in}}
	of := &in.run.Outcome
	of.Booked = in.offer.about.Books
	if of.Cancels = a.anyJob(func(j *workloadgen.Job) bool { return j.Cancel > 0 }); of.Cancels {
		market = append(market, cancels{a}) // contracts that have already ended need no cancellation
	}
	sources := append(market, in)
	if s.conf.Market.Instant != endsFirst {
		sources = append([]des.Source{in}, market...)
	}
	if _, last := a.broker.Policy.Next(); last {
		sources = append(sources, a.broker.Late(func() bool { return !math.IsInf(in.Next(), 1) }))
	}
	horizon := s.horizon() // events at exactly the horizon do not happen
	if err := des.Run(ctx, p, math.Nextafter(horizon, 0), sources...); err != nil {
		return err
	}
	if in.run.Closed = !a.broker.Idle(); in.run.Closed && !math.IsInf(horizon, 1) {
		if err := a.broker.Close(horizon); err != nil {
			return err
		}
	}
	in.collect()
	return nil
}

// build prepares the fleet and its bank accounts for a run under o.
func (a *workspace) build(s *setting, o *offer) (provider bank.Account, err error) {
	f := &s.conf.Fleet
	if len(a.machines) != f.Hosts {
		a.machines = make([]sim.Machine, f.Hosts)
		a.fleet, a.owners = a.fleet[:0], a.owners[:0]
		for h := range a.machines {
			a.machines[h].Reset(spec(f, h, s.counts))
			a.fleet = append(a.fleet, &a.machines[h])
			owner, err := a.ledger.Account("host:" + a.machines[h].Spec().Name)
			if err != nil {
				return 0, err
			}
			a.owners = append(a.owners, owner)
		}
	}
	like := spec(f, 0, s.counts)
	if (o.about.Single || o.about.Books) && like.Cap >= 1 { // the cap applies to one node, but a task can have several nodes
		like.Cap = 0
	}
	for h := range a.machines {
		like.Name, like.CPUs, like.Speed, like.Whole = a.machines[h].Spec().Name, f.CPUsOf(h), f.SpeedOf(h), f.WholeOf(h)
		if len(f.Held) > 0 {
			like.Room = spec(f, h, s.counts).Room
		}
		a.machines[h].Reset(like)
	}
	return a.ledger.Account("provider")
}

// issue gives every user and the provider their initial funds.
func (a *workspace) issue(s *setting, provider bank.Account) (err error) {
	var total bank.Amount
	give := func(to bank.Account, amount bank.Amount) (err error) {
		if amount.Sign() == 0 {
			return nil
		}
		if total, err = total.Add(amount); err != nil {
			return err
		}
		return a.ledger.Mint(0, to, amount)
	}
	clear(a.payer)
	a.payers, a.bills = a.payers[:0], a.bills[:0]
	for i := range a.plan {
		j := &a.plan[i]
		at, seen := a.payer[j.User]
		if !seen {
			at = int32(len(a.payers))
			a.payer[j.User] = at
			a.payers = append(a.payers, payer{user: j.User})
		}
		budget := dollars(j.Value)
		a.bills = append(a.bills, bill{at, budget})
		p := &a.payers[at]
		if p.owes, err = p.owes.Add(budget); err != nil {
			return fmt.Errorf("funds of user %d: %w", j.User, err)
		}
	}
	for i := range a.payers {
		p := &a.payers[i]
		account, ok := a.users[p.user]
		if !ok {
			if account, err = a.ledger.Account(fmt.Sprintf("user:%d", p.user)); err != nil {
				return err
			}
			a.users[p.user] = account
		}
		p.account = account
		funds := p.owes
		if f := s.conf.Workload.Funds; f != nil {
			funds = dollars(*f)
		}
		if err := give(account, funds); err != nil {
			return err
		}
	}
	switch f := s.conf.Provider.Funds; {
	case f != nil:
		return give(provider, dollars(*f))
	case a.penalties(s):
		return give(provider, total)
	}
	return nil
}

// penalties reports whether a broken promise can cost the provider money.
func (a *workspace) penalties(s *setting) bool {
	if p := s.conf.SLA.Penalty; p != nil {
		return p.Rate > 0
	}
	return a.anyJob(func(j *workloadgen.Job) bool { return j.PenaltyRate > 0 })
}

// anyJob reports whether is returns true for at least one job of the plan.
func (a *workspace) anyJob(is func(j *workloadgen.Job) bool) bool {
	for i := range a.plan {
		if is(&a.plan[i]) {
			return true
		}
	}
	return false
}

// dollars converts x dollars to an amount of money. It panics if x is out of range. The checks
// of scenarios and plans exclude such values.
func dollars(x float64) bank.Amount {
	a, err := bank.Dollars(x)
	if err != nil {
		panic("experiments: " + err.Error())
	}
	return a
}

// A hook can change the submission of the jobs of a run. It also receives the decisions on
// these jobs.
type hook interface {
	// before is called before job n is submitted, and returns the submission to use for the
	// job. If it returns nil, the next hook determines the submission, and after the last hook
	// the plan does.
	before(in *arrivals, n int, now float64) (*submission, error)

	// decided is called with each decision on job n. It is not called when a waiting job is
	// deferred again. If decided returns an error at the submission of a job, the run stops.
	decided(n int, at float64, d *contracts.Decision) error
}

// A submission specifies how a hook submits a job.
type submission struct {
	terms  *Terms // nil means the terms of the plan
	offers int    // number of offers that the owner has received
	taken  bool   // whether terms is an offer that the owner accepted
}

// arrivals is an event source that submits the jobs of a workspace's plan to the broker.
type arrivals struct {
	workspace *workspace
	setting   *setting
	offer     *offer
	run       *Run
	bare      broker.Config // components of the broker before observers wrap them
	hooks     []hook
}

// A marketplace is a broker that ignores arriving and leaving hosts when all work is done and
// no more jobs will arrive.
type marketplace struct {
	*broker.Broker
	in *arrivals
}

// Next implements [des.Source].
func (m marketplace) Next() float64 {
	if m.in.workspace.churn != nil && m.Idle() && math.IsInf(m.in.Next(), 1) {
		return math.Inf(1)
	}
	return m.Broker.Next()
}

// Next implements [des.Source].
func (in *arrivals) Next() float64 {
	if in.workspace.followers != nil {
		return in.workspace.arriving()
	}
	if n := len(in.run.Jobs); n < len(in.workspace.plan) {
		return in.workspace.plan[n].Arrival
	}
	return math.Inf(1)
}

// Advance submits every job that is due at now, one at a time in the order of the plan.
// Contracts that end at now have already ended, because package des advances the broker first.
func (in *arrivals) Advance(now float64) error {
	a := in.workspace
	if len(a.broker.Ended()) >= atOnce {
		in.gather()
		in.run.Prices = a.broker.Prices().Drain(bin, in.run.Prices)
	}
	for in.Next() <= now {
		n := len(in.run.Jobs)
		if a.followers != nil {
			a.bring(n)
		}
		var as *submission
		for i := 0; i < len(in.hooks) && as == nil; i++ {
			var err error
			if as, err = in.hooks[i].before(in, n, now); err != nil {
				return err
			}
		}
		if as == nil {
			as = &asPlanned
		}
		j := &a.plan[n]
		r := &a.request
		task := in.setting.request(j, r)
		r.Owner, r.SLA.Budget = a.payers[a.bills[n].payer].account, a.bills[n].budget
		if as.terms != nil {
			as.terms.on(r, &task)
		}
		d, err := a.broker.Submit(now, r, task)
		if err != nil {
			return err
		}
		if j.Cancel > 0 {
			a.cancels.Set(int32(n), now+j.Cancel)
		}
		in.run.Jobs = append(in.run.Jobs, metrics.Job{})
		job := &in.run.Jobs[n] // set fields one by one, because a composite literal would be copied
		if job.Job = j; d.Verdict == contracts.Reject {
			refuse(job, d)
			if a.followers != nil {
				a.released(j.ID, now)
			}
		} else if as.taken {
			job.Job, job.Bargained = as.terms.of(*j), true
		}
		job.Offers = as.offers
		for _, h := range in.hooks {
			if err := h.decided(n, now, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// asPlanned submits a job as planned.
var asPlanned submission

// indexPlan prepares the index used by position.
func (a *workspace) indexPlan() {
	if len(a.plan) > 0 {
		a.places.Reset(a.plan[0].ID, len(a.plan))
	}
	for i := range a.plan {
		a.places.Put(a.plan[i].ID, i)
	}
}

// position returns the position of a contract's job in the plan. The plan must contain the
// job.
func (a *workspace) position(id contracts.ID) int32 { return int32(a.places.Find(int64(id))) }

// refuse records why j was rejected.
func refuse(j *metrics.Job, d *contracts.Decision) {
	j.Contract.Outcome, j.Reason = contracts.Refused, d.Reason
	j.About, j.Names = d.Numbers.Contract()
}

// bin is the width of the bins of price averages, in seconds (§4.2).
const bin = 300

// atOnce is the number of ended contracts at which gather is called.
const atOnce = 1 << 12

// gather records the outcomes of ended contracts. The broker then discards these contracts.
func (in *arrivals) gather() {
	a, run := in.workspace, in.run
	if a.followers != nil {
		a.arriving()
		a.due.ended, a.due.refused = 0, 0
	}
	for i := range a.broker.Ended() {
		c := &a.broker.Ended()[i]
		run.Jobs[a.position(c.ID)].Contract = c.Result()
		run.End = max(run.End, c.Ended)
	}
	for _, r := range a.broker.Refused() {
		n := a.position(r.ID)
		refuse(&run.Jobs[n], &r.Decision)
		d := r.Decision
		d.Verdict = contracts.Reject
		for _, h := range in.hooks {
			_ = h.decided(int(n), r.At, &d) // ignore the error, because a run stops only at submissions
		}
	}
	a.broker.Forget()
}

// collect records the outcomes of the last contracts, and the prices.
func (in *arrivals) collect() {
	in.gather()
	a, run, s := in.workspace, in.run, in.setting
	if s.payment.Whole {
		run.Prices = nil
		return // payments do not depend on prices, so no prices are recorded
	}
	end := run.End
	if n := len(run.Jobs); n > 0 {
		end = max(end, run.Jobs[n-1].Arrival)
	}
	run.Prices = a.broker.Prices().Averages(bin, end, slices.Grow(run.Prices, int(end/bin)+1))
	for i := range run.Prices {
		run.Prices[i] /= float64(s.conf.Fleet.Hosts)
	}
	if a.broker.HostPrices {
		run.Outcome.HostPrices = make([][]float64, s.conf.Fleet.Hosts)
		for h := range run.Outcome.HostPrices {
			run.Outcome.HostPrices[h] = a.broker.HostPrice(hosts.ID(h)).Averages(bin, end, nil)
		}
	}
}
