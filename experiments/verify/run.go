package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
	"bourse/experiments/results"
	"bourse/workloadgen/byid"
)

// A Run is the data that a run published in addition to its ledger. The package compares it
// with the ledger.
type Run struct {
	Table  string          // file name of the jobs table, such as jobs.csv; if empty, no rows are compared
	Jobs   Rows            // rows of the run in that table
	Unread []audit.Finding // findings about tables that could not be read; their rows are not compared
	Prices []float64       // rows of the run in the price table: means over hosts and 300 s, in $/s; nil if there is no table
	Rules  *Rules          // nil if the rules are unknown; charges are then not recomputed
}

// Rules are the settings of a scenario that determine charges.
type Rules struct {
	// Version is the version of the rules of charges and penalties, as listed at
	// [results.Rules]. Code that checks a rule changed in version 2 tests for Version >= 2.
	Version int

	Payment  string // payment rule: spot, scarce, admission, percentile, usage, resource, bid, free or budget
	Sharing  string // sharing rule
	Hosts    int
	CPUs     float64            // number of processors per host
	Sizes    []float64          // numbers of processors of the hosts h00, h01, …; the list repeats; if empty, each host has CPUs processors
	Cap      float64            // number of processors that one task can use; 0 means no limit
	Speeds   []float64          // work per second of a processor on the hosts h00, h01, …; the list repeats
	Floor    float64            // minimum price of a processor in dollars per second
	Reserve  float64            // price of a processor in dollars per second, under payment rule scarce, on a host with enough processors for its tasks
	Kinds    []int              // kind of each host by its resources other than processors; the list repeats; nil if all hosts have the same kind
	Licences map[string]Licence // licences of the market, by name
	Held     *Held              // resources other than processors; nil if none of them has a price or a floor price
	Packed   bool               // whether several nodes of a contract may share a host, one per processor
	Leave    bool               // whether hosts come and go, which ledgers do not record
	Horizon  float64            // time in seconds at which the market closes and cancels open contracts; 0 means never
	Offers   bool               // whether users may accept an offer instead of a rejection

	Sold   *Sold   // options of a policy that sets the rates; nil for any other policy
	Booked *Booked // options of a policy that sells intervals at its own prices; nil for any other policy

	// Renew is the interval, in seconds, at which a contract sets its bids to its remaining
	// value divided by its remaining time. 0 means never. Requests submitted at the same time
	// as a renewal are processed after it. If Late is set, they are processed before it.
	Renew float64
	Late  bool
}

// maxOff is the maximum number of findings about rows to report.
const maxOff = 10

// A trail follows each contract through the ledger and compares the contract with its row in
// the jobs table.
type trail struct {
	run      *Run
	rows     byid.Index // positions of jobs in the jobs table
	fares    []fare     // one fare per row
	open     map[int64]*contract
	free     []*contract        // contracts to reuse
	owners   map[string]string  // interned names
	issued   map[string]bool    // accounts to which money was issued
	market   *market            // nil if charges are not recomputed
	sale     *sale              // nil unless the policy sets the rates
	booked   *bookings          // nil unless the policy sells intervals
	licensed map[string]float64 // units of licences that contracts hold
	owed     *due               // penalty that the next entry must pay

	found    []audit.Finding // findings about rows
	more     int             // number of findings beyond maxOff
	computed int64           // number of recomputed charges
	beyond   string          // reason why later charges were not recomputed; empty if all were
}

// A contract is an admitted contract in the ledger.
type contract struct {
	id    int64
	owner string
	value audit.Money
	row   *Job // row of the contract; nil if there is none
	terms terms
	on    []bidOn // bids and hosts in the terms
	tasks []task  // used only if charges are recomputed
	byDue float64 // work done by the deadline, for a contract that continued after it
	late  bool    // whether byDue is known
	renew float64 // time of the next renewal; 0 means never

	// These fields are used for policies that set rates.
	visits []visit
	done   []float64 // work done, by node
	spot   bool      // whether the rate is the clearing price
	moves  bool      // whether the contract is moving to other units
	unsure bool      // whether the rate is unknown

	look    float64 // time of the next check of the contract's money; NaN or 0 means never
	watched bool    // whether the money is checked at every change
}

// A fare holds the ledger's data about one job of the table.
type fare struct {
	seen bool        // whether an entry has decided the job
	paid audit.Money // amount paid for a broken promise
	last int64
}

// A due is a penalty that an entry must pay.
type due struct {
	contract int64
	to       string
	amount   audit.Money
	from     []debit
}

// A debit is the part of a penalty that one account pays.
type debit struct {
	from   string
	amount audit.Money
}

// met reports whether entry e pays the penalty that is due.
func (o *due) met(e *audit.Entry) bool {
	if e.Kind != audit.Penalty || e.Contract != o.contract || len(e.Moves) != len(o.from) {
		return false
	}
	for i, m := range e.Moves {
		if d := o.from[i]; string(m.From) != d.from || string(m.To) != o.to || audit.Money(m.Micros) != d.amount {
			return false
		}
	}
	return true
}

func newTrail(run *Run) *trail {
	t := &trail{
		run: run, fares: make([]fare, run.Jobs.Len()),
		open: make(map[int64]*contract), owners: make(map[string]string), issued: make(map[string]bool),
	}
	if n := run.Jobs.Len(); n > 0 {
		t.rows.Reset(run.Jobs.at(0).ID, n)
	}
	for i, j := range run.Jobs.all() {
		if t.rows.Find(j.ID) >= 0 {
			t.off(0, j, "job", fmt.Sprint(j.ID), "one row per job")
		}
		t.rows.Put(j.ID, i)
	}
	switch r := run.Rules; {
	case r == nil:
		t.beyond = "charges, which were not recomputed because the rules of the run are unknown"
	case r.Booked != nil && !r.Offers && !r.Leave:
		t.booked = newBookings(r)
	case r.Payment == "budget" || r.Sharing == planned:
	case math.IsNaN(charge(r.Payment, 1, 1, 1)):
		t.beyond = fmt.Sprintf("charges, which were not recomputed because the audit does not support payment rule %s", r.Payment)
	case r.Held != nil && (r.Packed || r.Sold != nil):
		t.beyond = "charges, which were not recomputed because held resources have prices, and either several nodes may share a host or the policy sets the rates"
	case r.Leave:
		t.beyond = "charges, which were not recomputed because the ledger does not record when hosts join or leave"
	case r.Sold != nil:
		t.sale = newSale(r)
	case r.Sharing != "auction" && r.Sharing != exclusive && r.Sharing != maxmin && r.Sharing != turns:
		t.beyond = fmt.Sprintf("charges, which were not recomputed because sharing %s uses estimates, which the ledger does not record", r.Sharing)
	default:
		t.market = newMarket(r)
	}
	return t
}

// job returns the row of a job, or nil if the job has no row.
func (t *trail) job(id int64) *Job {
	if i := t.rows.Find(id); i >= 0 {
		return t.run.Jobs.at(i)
	}
	return nil
}

// pay records that entry seq pays for a broken promise.
func (t *trail) pay(id int64, amount audit.Money, seq int64) {
	if i := t.rows.Find(id); i >= 0 {
		t.fares[i].paid += amount
		t.fares[i].last = seq
	}
}

// off records that a cell of j differs from entry seq.
func (t *trail) off(seq int64, j *Job, column, found, want string) {
	if len(t.found) == maxOff {
		t.more++
		return
	}
	t.found = append(t.found, audit.Finding{Seq: seq, File: fmt.Sprintf("%s, row %d, column %s", t.run.Table, j.Row, column), Found: found, Want: want})
}

// entry processes e, which is valid. It returns a finding and the expected value. Both are
// empty if the entry is correct.
func (t *trail) entry(e *audit.Entry, n *note, holds func(string) audit.Money) (found, want string) {
	if o := t.owed; o != nil {
		t.owed = nil
		if !o.met(e) {
			m := e.First()
			return fmt.Sprintf("kind %d, contract %d, %d moves, the first %v from %q to %q", e.Kind, e.Contract, len(e.Moves), audit.Money(m.Micros), m.From, m.To),
				fmt.Sprintf("the penalty owed to contract %d, %v to %s, from %v", o.contract, o.amount, o.to, o.from)
		}
		t.pay(e.Contract, o.amount, e.Seq)
		return "", ""
	}
	if t.sale != nil {
		t.sale.before(t, e)
	}
	if t.booked != nil && t.booked.auctions() {
		if found, want = t.booked.before(t, e); found != "" {
			return found, want
		}
	}
	switch e.Kind {
	case audit.Moved, audit.Cleared:
		return t.change(e, n)
	case audit.Adjust:
		if d := t.open[e.Contract]; d != nil {
			for _, m := range e.Moves {
				if d.value += audit.Money(m.Micros); string(m.From) != d.owner {
					d.value -= 2 * audit.Money(m.Micros)
				}
			}
			if n.err == nil && t.market != nil {
				return t.adjust(e, d, &n.adjusted)
			}
			t.stop(e, "a contract changes its budget")
		}
	case audit.Issue:
		for _, m := range e.Moves {
			if t.issued[string(m.To)] {
				return fmt.Sprintf("another issue to %s", m.To), "only one issue entry for each account in the run"
			}
			t.issued[string(m.To)] = true
		}
	case audit.Transfer:
		m := e.First()
		return fmt.Sprintf("a transfer of %v from %s to %s", audit.Money(m.Micros), m.From, m.To), "only payments of contracts, because accounts of a run make no transfers"
	case audit.Admit:
		return t.admit(e, n)
	case audit.Reject:
		return t.reject(e, n)
	case audit.Settle:
		return t.settle(e, n, holds)
	case audit.Penalty:
		if t.computes() {
			return fmt.Sprintf("a penalty for contract %d", e.Contract), "no penalty, because the promise was kept or has no penalty"
		}
		for _, m := range e.Moves {
			t.pay(e.Contract, audit.Money(m.Micros), e.Seq)
		}
	}
	return "", ""
}

// change processes a change to a contract's hosts, or the result of a clearing.
func (t *trail) change(e *audit.Entry, n *note) (found, want string) {
	d := t.open[e.Contract]
	if d != nil {
		d.on = d.on[:0] // the contract may now run on hosts that its terms do not name
	}
	switch {
	case n.err != nil:
		return fmt.Sprintf("the note %.60q", e.Note), "a JSON object"
	case e.Kind == audit.Cleared && t.booked != nil:
		return t.booked.cleared(t, e, n)
	case t.sale == nil || !t.computes():
		return "", ""
	case e.Kind == audit.Cleared:
		return t.sale.cleared(t, e, n)
	case d == nil:
		return fmt.Sprintf("a change of hosts of contract %d", e.Contract), "a change of hosts of an open contract"
	}
	return t.sale.moved(e, d, n)
}

// computes reports whether the amounts owed by contracts are recomputed.
func (t *trail) computes() bool { return t.beyond == "" }

// stop ends the recomputation of charges and records the reason.
func (t *trail) stop(e *audit.Entry, why string) {
	if t.beyond == "" {
		t.beyond = fmt.Sprintf("charges, which were not recomputed from entry %d on, because %s", e.Seq, why)
	}
	t.market = nil
}

// row returns the row of the contract of e and records that an entry refers to it.
func (t *trail) row(e *audit.Entry) *Job {
	i := t.rows.Find(e.Contract)
	if i < 0 {
		t.found = append(t.found, audit.Finding{Seq: e.Seq, File: t.run.Table, Found: "no row", Want: fmt.Sprintf("a row for job %d", e.Contract)})
		return nil
	}
	if t.fares[i].seen {
		t.found = append(t.found, audit.Finding{Seq: e.Seq, Found: fmt.Sprintf("another decision about job %d", e.Contract), Want: "one decision"})
	}
	t.fares[i].seen = true
	return t.run.Jobs.at(i)
}

func (t *trail) reject(e *audit.Entry, n *note) (found, want string) {
	j := t.row(e)
	if j == nil {
		return "", ""
	}
	r := &n.rejection
	if n.err == nil && r.Violates != nil {
		r.Reason += " " + strconv.FormatInt(*r.Violates, 10)
	}
	if e.Time < j.Arrival {
		return fmt.Sprintf("a rejection at %v s", e.Time), fmt.Sprintf("no rejection before the request at %v s", j.Arrival)
	}
	t.text(e.Seq, j, "decision", j.Decision, "reject")
	if len(e.Note) > 0 {
		t.text(e.Seq, j, "reason", j.Reason, r.Reason)
	}
	t.blank(e.Seq, j)
	if t.booked != nil && len(e.Note) > 0 && n.err == nil {
		return t.booked.refused(t, e, j, n)
	}
	return "", ""
}

func (t *trail) admit(e *audit.Entry, n *note) (found, want string) {
	m := e.First()
	d := t.contract()
	tasks, on, row := d.tasks[:0], append(d.on[:0], n.terms.on...), t.row(e)
	*d = contract{id: e.Contract, value: audit.Money(m.Micros), row: row, tasks: tasks, on: on}
	d.terms = n.terms
	d.terms.on = on
	if d.owner = t.owners[string(m.From)]; d.owner == "" {
		d.owner = string(m.From)
		t.owners[d.owner] = d.owner
	}
	t.open[d.id] = d
	if n.err != nil {
		return fmt.Sprintf("the note %.60q", e.Note), "a JSON object"
	}
	if j := d.row; j != nil {
		t.text(e.Seq, j, "decision", j.Decision, "accept")
		if r := t.run.Rules; r == nil || !r.Offers || j.Reason != results.OfferTaken { // the ledger contains the terms of offers but does not mark them as offers
			t.text(e.Seq, j, "reason", j.Reason, "")
		}
		if name, ok := strings.CutPrefix(d.owner, "user:"); !ok || name != j.User {
			t.text(e.Seq, j, "user", "user:"+j.User, d.owner)
		}
		t.money(e.Seq, j, "value", j.Value, d.value)
		if !d.terms.booked() { // a planned contract starts later
			t.number(e.Seq, j, "start", j.Start, e.Time)
		}
		if known(d.terms.Submit) {
			t.number(e.Seq, j, "arrival", j.Arrival, d.terms.Submit)
			t.promised(e.Seq, j, d)
		}
	}
	if !t.computes() {
		return "", ""
	}
	if !known(d.terms.Submit) {
		t.stop(e, "the note of the entry does not state the terms of the contract")
		return "", ""
	}
	if found, want = t.licences(d); found != "" {
		return found, want
	}
	if t.sale != nil {
		if len(d.terms.on) == 0 {
			t.stop(e, "the note of the entry does not name the hosts of the contract")
			return "", ""
		}
		if found, want = t.least(d); found == "" {
			found, want = t.sale.start(e, d, d.terms.on)
		}
		return found, want
	}
	if t.booked != nil {
		return t.booked.admitted(e, d)
	}
	if t.market == nil {
		if t.run.Rules.Payment != "budget" && !d.terms.booked() {
			t.stop(e, "the job is not in the plan")
		}
		if d.terms.booked() && (d.terms.Host == "" || len(d.terms.Parts) > 0) {
			return t.together(e, d)
		}
		return "", ""
	}
	if len(d.terms.On)+len(d.terms.on) == 0 {
		t.stop(e, "the note of the entry does not name the hosts of the contract")
		return "", ""
	}
	if found, want = t.least(d); found != "" {
		return found, want
	}
	return t.place(e, d)
}

// least checks that d pays at least the floor price. On each host, d must bid at least this
// price for all the processors that a node may use there.
func (t *trail) least(d *contract) (found, want string) {
	r := t.run.Rules
	if found, want = t.floors(d); found != "" {
		return found, want
	}
	if d.terms.Floor != r.Floor {
		return fmt.Sprintf("a floor price of %v $/s per processor", d.terms.Floor), fmt.Sprintf("%v, the hosts' floor price", r.Floor)
	}
	for i, on := range d.on {
		claim := r.usable(r.cpusOf(on.host.name), d.terms.MaxCPU)
		low, all := 1e9*(r.Floor*claim+d.terms.LicenceFloor/float64(len(d.on))), ""
		if r.Held != nil {
			for name, floor := range r.Held.Floors {
				x, _ := at(d.terms.Holds, name, i)
				low, all = low+1e9*floor*x, " and of its other resources"
			}
		}
		if float64(on.bid) < low-1e-6-1e-12*low {
			return fmt.Sprintf("a bid of %d nano-dollars per second", on.bid), fmt.Sprintf("at least %v, the floor price of %v processors%s", low, claim, all)
		}
	}
	return "", ""
}

// promised compares the terms in row j with the terms of d.
func (t *trail) promised(seq int64, j *Job, d *contract) {
	if j.Old {
		return
	}
	due := d.terms.due()
	if math.IsInf(due, 1) {
		due = math.NaN()
	}
	t.number(seq, j, "deadline", j.Deadline, due)
	t.nearly(seq, j, "bid", j.Bid, float64(d.value)/1e6/d.terms.Deadline, 1e-9)
}

// share checks the share in row j. The job must have done all the needed work. It allows
// for the rounding of times, which is coarse late in a run.
func (t *trail) share(seq int64, j *Job, needed float64) {
	took, r := j.End-j.Start, t.run.Rules
	if !(took > 0) || !known(needed) || r == nil || len(r.Speeds) == 0 {
		return
	}
	moment := math.Nextafter(j.End, math.Inf(1)) - j.End
	least := needed / float64(j.Nodes) // work per node
	t.nearly(seq, j, "share", j.Share, least/took, 1e-6+4*moment*(1/took+slices.Max(append([]float64{r.CPUs}, r.Sizes...))*slices.Max(r.Speeds)/least))
}

// contract returns an empty contract. It reuses memory if possible.
func (t *trail) contract() *contract {
	if n := len(t.free); n > 0 {
		d := t.free[n-1]
		t.free = t.free[:n-1]
		return d
	}
	return new(contract)
}

func (t *trail) settle(e *audit.Entry, n *note, holds func(string) audit.Money) (found, want string) {
	d := t.open[e.Contract]
	if d == nil {
		return "", "" // the ledger starts after the contract was admitted
	}
	delete(t.open, e.Contract)
	t.license(d, -1)
	defer func() { t.free = append(t.free, d) }()
	v := n.verdict
	if n.err != nil {
		return fmt.Sprintf("the note %.60q", e.Note), "a JSON object"
	}
	charged := audit.Money(0)
	for _, m := range e.Moves {
		if string(m.To) != d.owner {
			charged += audit.Money(m.Micros)
		}
	}
	if found, want = d.elsewhere(e, &v); found != "" {
		return found, want
	}
	if t.computes() && d.row != nil {
		if found, want = t.judge(e, d, &v, holds); found != "" {
			return found, want
		}
	}
	if t.booked != nil {
		if found, want = t.booked.settled(t, e, d, &v); found != "" {
			return found, want
		}
	}
	if j := d.row; j != nil {
		t.number(e.Seq, j, "finish", j.End, e.Time)
		t.money(e.Seq, j, "paid", j.Paid, charged)
		if v.State == "fulfilled" && !j.Old {
			t.share(e.Seq, j, v.needed())
		}
		if len(e.Note) > 0 {
			t.text(e.Seq, j, "fulfilled", j.Fulfilled, strconv.FormatBool(v.State == "fulfilled"))
			t.number(e.Seq, j, "work_done", j.WorkDone, v.Done)
			if owed, err := v.owed(); err == nil && j.OwedKnown {
				t.money(e.Seq, j, "penalty_owed", j.Owed, owed)
			}
			if known(v.Needed) {
				t.number(e.Seq, j, "work", j.Work, v.needed())
			}
		}
	}
	return "", ""
}

// elsewhere checks that e pays only hosts named in the terms of d. If hosts have left with
// tasks of d, or d has moved, other hosts may have done its work.
func (d *contract) elsewhere(e *audit.Entry, v *verdict) (found, want string) {
	if len(d.on) == 0 || v.Losses > 0 {
		return "", ""
	}
	for _, m := range e.Moves {
		if to := string(m.To); to != d.owner && !slices.ContainsFunc(d.on, func(b bidOn) bool { return b.host.to == to }) {
			return fmt.Sprintf("a charge of %v by %s", audit.Money(m.Micros), m.To), "charges only by hosts on which the contract ran"
		}
	}
	return "", ""
}

// finish reports which data are missing. The number of the last entry is seq.
func (t *trail) finish(seq int64) (bad *audit.Finding) {
	if o := t.owed; o != nil {
		bad = &audit.Finding{Seq: seq + 1, Found: "the end of the ledger", Want: fmt.Sprintf("the penalty owed to contract %d, %v", o.contract, o.amount)}
	}
	if t.booked != nil && t.booked.clearing {
		if found, want := t.booked.carried(); found != "" {
			bad = &audit.Finding{Seq: seq + 1, Found: found, Want: want}
		}
	}
	for i, j := range t.run.Jobs.all() {
		switch {
		case !t.fares[i].seen && j.Decision != "defer":
			t.off(0, j, "decision", fmt.Sprintf("%q of job %d", j.Decision, j.ID), "defer, or a decision with an entry")
		case t.open[j.ID] != nil && !math.IsNaN(j.End):
			t.off(0, j, "finish", fmt.Sprint(j.End), "no outcome, because no entry settles the contract")
		case j.Decision == "accept" && t.open[j.ID] == nil:
			t.money(t.fares[i].last, j, "penalty", j.Penalty, t.fares[i].paid)
		}
	}
	t.prices()
	if t.more > 0 {
		t.found = append(t.found, audit.Finding{File: t.run.Table, Found: fmt.Sprintf("%d more wrong cells", t.more), Want: "rows that agree with the ledger"})
	}
	return bad
}

// blank checks that row j, for a job that was not admitted, contains no run and no payment.
func (t *trail) blank(seq int64, j *Job) {
	for _, c := range []struct {
		column string
		x      float64
	}{{"start", j.Start}, {"finish", j.End}, {"work_done", j.WorkDone}, {"bid", j.Bid}, {"share", j.Share}} {
		if !math.IsNaN(c.x) {
			t.off(seq, j, c.column, fmt.Sprint(c.x), "nothing")
		}
	}
	if j.Paid != none {
		t.off(seq, j, "paid", j.Paid.String(), "nothing")
	}
	if j.Penalty != none {
		t.off(seq, j, "penalty", j.Penalty.String(), "nothing")
	}
	if j.OwedKnown && j.Owed != none {
		t.off(seq, j, "penalty_owed", j.Owed.String(), "nothing")
	}
	t.text(seq, j, "fulfilled", j.Fulfilled, "")
}

func (t *trail) text(seq int64, j *Job, column, found, want string) {
	if found != want {
		t.off(seq, j, column, fmt.Sprintf("%q", found), fmt.Sprintf("%q", want))
	}
}

func (t *trail) money(seq int64, j *Job, column string, found, want audit.Money) {
	if found != want {
		t.off(seq, j, column, found.String(), want.String())
	}
}

func (t *trail) number(seq int64, j *Job, column string, found, want float64) {
	if found != want && (known(found) || known(want)) {
		t.off(seq, j, column, fmt.Sprint(found), fmt.Sprint(want))
	}
}

// nearly is like number, but allows a relative error of within.
func (t *trail) nearly(seq int64, j *Job, column string, found, want, within float64) {
	if !(math.Abs(found-want) <= within*math.Abs(want)) {
		t.off(seq, j, column, fmt.Sprint(found), fmt.Sprint(want))
	}
}
