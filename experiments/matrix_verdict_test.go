package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/note"
	"bourse/experiments/metrics"
)

// replay replays the run and compares the published results with the replay.
//
// A policy that sets rates moves contracts between hosts, which the tape cannot record. The
// audit, which shares no code with the market, recomputes those runs.
func (run *toldRun) replay(*told) error {
	if run.offer.about.Rated {
		return nil
	}
	w, err := newReplay(run)
	if err != nil {
		return err
	}
	for _, e := range run.tape.events {
		if err := w.follow(e); err != nil {
			return err
		}
	}
	w.submits = false // no job arrives any more
	w.pass(run.End)
	w.takeBack(math.Nextafter(run.End, math.Inf(1)))
	books := run.journal.settled()
	for i := range run.Jobs {
		j := &run.Jobs[i]
		if !j.Admitted() {
			if c := w.all[contracts.ID(j.ID)]; c != nil {
				return fmt.Errorf("job %d has run, and was not admitted", j.ID)
			}
			continue
		}
		if err := w.verdict(j, books[j.ID]); err != nil {
			return fmt.Errorf("job %d: %w", j.ID, err)
		}
	}
	return w.prices()
}

// A settlement is the end of a contract according to the ledger.
type settlement struct {
	admitted, ended float64
	ask             *float64
	provider        int64            // escrow at the time of the settlement, in micro-dollars
	pays            map[string]int64 // micro-dollars by account
	fines           map[string]int64 // payments of the penalty, keyed by payer
}

// settled reads the outcome of each contract from the entries.
func (r *recorder) settled() map[int64]*settlement {
	all := make(map[int64]*settlement)
	provider := int64(0)
	for _, e := range r.entries {
		for _, m := range e.moves {
			if m.To == "provider" {
				provider += m.Amount.Micros()
			}
			if m.From == "provider" && e.kind != bank.Penalty {
				provider -= m.Amount.Micros()
			}
		}
		switch e.kind {
		case bank.Admit:
			s := &settlement{admitted: e.time}
			if said, err := note.ParseAgreement([]byte(e.note)); err == nil {
				s.ask = said.Ask
			}
			all[e.contract] = s
		case bank.Settle:
			s := all[e.contract]
			s.ended, s.provider, s.pays = e.time, provider, make(map[string]int64)
			for _, m := range e.moves {
				s.pays[m.To] += m.Amount.Micros()
			}
		case bank.Penalty:
			s := all[e.contract]
			s.fines = make(map[string]int64)
			for _, m := range e.moves {
				if s.fines[m.From] += m.Amount.Micros(); m.From == "provider" {
					provider -= m.Amount.Micros()
				}
			}
		}
	}
	return all
}

// verdict checks the reported outcome of an admitted job.
func (w *retold) verdict(job *metrics.Job, s *settlement) error {
	j, open := &job.Contract, job.Open()
	c := w.all[contracts.ID(job.ID)]
	if s == nil {
		return fmt.Errorf("no entry admits it")
	}
	if c == nil { // a reservation that has not started
		if !w.run.Outcome.Booked {
			return fmt.Errorf("it was admitted and never placed")
		}
		c = w.contract(tapeEvent{id: contracts.ID(job.ID)})
	}
	if math.IsNaN(c.end) && w.run.Closed {
		c.end, c.open = w.run.set.horizon(), true
	}
	switch {
	case j.Admitted != s.admitted || j.Ended != s.ended:
		return fmt.Errorf("it ran from %v to %v, and by the ledger from %v to %v", j.Admitted, j.Ended, s.admitted, s.ended)
	case !c.gang && c.start != j.Admitted:
		return fmt.Errorf("it starts at %v, and was placed at %v", j.Admitted, c.start)
	case c.end != j.Ended && !(c.open && open):
		return fmt.Errorf("it ends at %v, by the replay at %v", j.Ended, c.end)
	case c.open != open:
		return fmt.Errorf("open: %v, by the replay %v", open, c.open)
	case c.losses != j.Losses || math.Abs(c.wasted-j.Wasted) > w.sumFuzz(c)*float64(1+c.losses)+1e-9*c.wasted:
		return fmt.Errorf("%d losses of %v, by the replay %d of %v", j.Losses, j.Wasted, c.losses, c.wasted)
	case math.Abs(c.done()-j.Done) > w.sumFuzz(c):
		return fmt.Errorf("%v done, by the replay %v", j.Done, c.done())
	}
	o := w.outcome(c)
	switch {
	case o.sure && o.fulfilled != job.Fulfilled():
		return fmt.Errorf("fulfilled: %v; %v of %v is done by the replay, from %v to %v, due %v", job.Fulfilled(), c.done(), c.total(), c.start, c.end, c.due())
	case o.sure && math.Abs(o.byDue-j.ByDue) > w.sumFuzz(c):
		return fmt.Errorf("%v done by its deadline, by the replay %v", j.ByDue, o.byDue)
	case !o.sure:
		return nil // the amount owed depends on the open parts
	}
	if err := s.fined(j); err != nil {
		return err
	}
	paid, owed, penalty, off := w.bill(c, o, s)
	if math.Abs(owed-float64(j.Owed.Micros())) > off {
		return fmt.Errorf("a penalty of %v is owed; by the replay %v micro-dollars", j.Owed, owed)
	}
	if math.Abs(paid-float64(j.Paid.Micros())) > off || math.Abs(penalty-float64(j.Penalty.Micros())) > off {
		return fmt.Errorf("paid %v, penalty %v; by the replay %v and %v micro-dollars", j.Paid, j.Penalty, paid, penalty)
	}
	return w.proportional(c, j.Paid.Micros(), s)
}

// fined checks who pays the penalty of a contract. The payments may not exceed the penalty.
// Each host pays at most what it earned from the contract, and the provider pays only what
// remains after that.
func (s *settlement) fined(j *contracts.Result) error {
	sum, earned, hosts := int64(0), int64(0), int64(0)
	for account, fine := range s.fines {
		if sum += fine; account == "provider" {
			continue
		}
		if hosts += fine; fine > s.pays[account] {
			return fmt.Errorf("%s pays %d micro-dollars of its penalty, and earned %d", account, fine, s.pays[account])
		}
	}
	for account, pay := range s.pays {
		if strings.HasPrefix(account, "host:") {
			earned += pay
		}
	}
	switch {
	case sum != j.Penalty.Micros() || sum > j.Owed.Micros():
		return fmt.Errorf("a penalty of %d micro-dollars is paid, of %v, and %v is owed", sum, j.Penalty, j.Owed)
	case hosts != min(earned, j.Owed.Micros()):
		return fmt.Errorf("hosts pay %d micro-dollars of a penalty of %v, and earned %d", hosts, j.Owed, earned)
	}
	return nil
}

// proportional checks that each host of c was paid in proportion to the amount owed to it,
// within one micro-dollar per task. The charge of c must be metered.
func (w *retold) proportional(c *replayContract, paid int64, s *settlement) error {
	if w.payment == "budget" || c.gang || c.open {
		return nil
	}
	sum, owed, off := 0.0, make(map[string]float64), make(map[string]float64)
	for _, k := range slices.Concat(c.arrears, c.nodes) {
		host := "host:" + spec(&w.run.set.conf.Fleet, k.at, nil).Name
		sum += k.owed
		owed[host] += k.owed
		off[host]++
	}
	for host := range owed {
		if quota := float64(paid) * owed[host] / sum; math.Abs(float64(s.pays[host])-quota) > off[host]+1e-7*float64(paid) {
			return fmt.Errorf("%s is paid %d of %d micro-dollars, and is owed $%v of $%v", host, s.pays[host], paid, owed[host], sum)
		}
	}
	return nil
}

// An outcome is the outcome of a promise. It is certain unless a value is so close to its limit
// that rounding errors decide.
type outcome struct {
	sure, fulfilled, late bool
	byDue                 float64
	complete              bool // whether the work is done
}

func (w *retold) outcome(c *replayContract) (o outcome) {
	at := c.due()
	if c.request.OnDemand || at < c.end {
		at = c.end
	}
	left, lost := 0.0, 0.0
	for _, k := range c.nodes {
		undone := c.work - k.done
		if c.perHost() {
			left = max(left, undone)
			lost = max(lost, c.rounding(k.host, at))
		} else {
			left += undone
			lost += c.rounding(k.host, at)
		}
	}
	if c.gang {
		left = c.total() - c.done()
		lost = float64(c.request.Nodes) * lost
	} else if len(c.nodes) == 0 || c.waits {
		left = c.total()
	}
	o.complete = left <= lost*1.5 && len(c.nodes) > 0
	past, allowed := c.end-c.due(), 1e-6+1e-9*c.request.SLA.Deadline
	o.late = past > allowed
	o.sure = !c.border && (left <= lost/1.5 || left > lost*3) && math.Abs(past-allowed) > 1e-7
	o.fulfilled = o.complete && !o.late && !c.takenIn && !c.open && !c.killed && !c.broken
	switch {
	case o.fulfilled:
		o.byDue = c.total()
	case o.late && c.late:
		o.byDue = min(c.byDue, c.total())
	default:
		o.byDue = min(c.done(), c.total())
	}
	return o
}

// delay returns the delay of a broken promise (SLA, eq. 2). If work stops at the deadline,
// the delay is the time that the remaining work would have taken at the promised pace.
func (c *replayContract) delay(o outcome) float64 {
	if o.fulfilled || c.takenIn || c.open {
		return 0
	}
	asked := c.request.Work * float64(c.request.Nodes)
	undone := max(0, asked-o.byDue) / asked * c.request.SLA.Deadline
	past := max(0, c.end-c.due())
	switch {
	case c.killed:
		return c.request.SLA.Deadline
	case c.broken && c.goesOn():
		return max(undone, past)
	case c.goesOn() || c.gang:
		return past
	}
	return undone
}

// bill returns the payment and the refund in micro-dollars, and the tolerance for both.
func (w *retold) bill(c *replayContract, o outcome, s *settlement) (paid, owed, penalty, off float64) {
	budget := float64(c.request.SLA.Budget.Micros())
	p := c.request.SLA.Penalty
	owed = math.Floor(min(p.Rate*c.delay(o), p.Max, 4e12) * 1e6)
	if p.Rate == 0 {
		owed = 0
	}
	off = 1 + 1e-9*(budget+owed)
	if c.end > 0 {
		off += p.Rate * 1e6 * 1e-12 * c.end // a penalty is computed from decimals, but the end of a contract from sums
	}
	if !c.goesOn() && !c.gang || c.broken {
		off += p.Rate * 1e6 * c.request.SLA.Deadline * (1e-9 + w.sumFuzz(c)/(c.request.Work*float64(c.request.Nodes)))
	}
	switch {
	case c.open:
		owed = 0
	case w.payment == "budget" || c.gang:
		price := budget
		if s.ask != nil {
			price = math.Floor(*s.ask*1e6 + 1e-9)
		}
		switch {
		case c.takenIn:
			paid, owed = math.Floor(price*min(1, c.fee)), 0
		case !o.complete:
		case owed >= price:
			owed -= price
		default:
			paid, owed = price-owed, 0
		}
	default:
		for _, k := range slices.Concat(c.arrears, c.nodes) {
			paid += k.owed * 1e6
		}
		paid = min(paid, budget)
	}
	return paid, owed, min(owed, paid+float64(s.provider)), off
}

// prices checks that the mean prices are the mean sums of bids, and 0 without bids.
func (w *retold) prices() error {
	type bid struct {
		from, to float64
		nano     int64
	}
	var all []bid
	open := make(map[string]int)
	raised, began := w.raised, w.began
	for _, e := range w.run.tape.events {
		// A task that starts may have its bid changed at the same time.
		for ; len(raised) > 0 && raised[0].at < e.at; raised = raised[1:] {
			r := raised[0]
			key := fmt.Sprint(r.id, "/", r.node)
			if at, is := open[key]; is {
				all[at].to = r.at
				open[key] = len(all)
				all = append(all, bid{r.at, math.Inf(1), int64(r.bid)})
			}
		}
		key := fmt.Sprint(e.id, "/", e.node)
		switch e.what {
		case taskStarts:
			open[key] = len(all)
			all, began = append(all, bid{e.at, math.Inf(1), began[0]}), began[1:]
		case taskLeaves:
			all[open[key]].to = e.at
			delete(open, key) // a bid that changes when its task ends does not count in prices
		}
	}
	end := w.run.End
	if n := len(w.run.Jobs); n > 0 {
		end = max(end, w.run.Jobs[n-1].Arrival)
	}
	rounding := 0.0 // rounding error of sums that have included high prices
	for i, got := range w.run.Prices {
		rounding = max(rounding, 1e-15*got)
		from, to := float64(i)*300, min(float64(i+1)*300, end)
		sum, any := 0.0, false
		for _, b := range all {
			if span := min(b.to, to) - max(b.from, from); span > 0 {
				sum += span * float64(b.nano) / 1e9
				any = any || b.nano > 0
			}
		}
		want := sum / (to - from) / float64(len(w.hosts))
		// A task may end one float64 step after the time in the ledger, and therefore in the
		// next window.
		if math.Abs(got-want) > 1e-9*want+rounding || !any && got > 1e-15 {
			return fmt.Errorf("the mean price from %v to %v s is %v, by what was bid %v", from, to, got, want)
		}
	}
	return nil
}
