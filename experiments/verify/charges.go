package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"bourse/bank/audit"
)

// provider is the account that pays penalties.
const provider = "provider"

// unsure is the reason for which charges are no longer recomputed.
const unsure = "the time at which a contract exhausted the budget depends on a price at the end of other contracts"

// place places the tasks of d on the hosts named in its note. It checks the bids and the price
// at admission.
func (t *trail) place(e *audit.Entry, d *contract) (found, want string) {
	on := d.terms.on
	if len(on) == 0 || on[0].bid < 0 {
		return fmt.Sprintf("a contract on %v", d.terms.On), "bids, each followed by its hosts"
	}
	if d.row == nil {
		t.stop(e, "the needs of the contract are unknown")
		return "", ""
	}
	if len(on) != d.row.Nodes {
		t.number(e.Seq, d.row, "nodes", float64(d.row.Nodes), float64(len(on)))
	}
	if t.market.pass(e.Time, !t.market.rules.Late); t.market.unsure {
		t.stop(e, unsure)
		return "", ""
	}
	nodes := float64(len(on))
	need, pace := math.Inf(1), math.Inf(1)
	if d.terms.PerHost {
		need = d.row.Work / nodes
	}
	spend, least, most := 0.0, 0.0, 0.0
	d.tasks = slices.Grow(d.tasks, len(on))
	if p := d.terms.Promised; len(p) > 0 && (t.run.Rules.Payment != "percentile" || len(p) != len(on) || slices.Min(p) < 0) {
		return fmt.Sprintf("promised prices of %v", p), "no promised prices or, under payment percentile, one for each node"
	}
	for i, pl := range on {
		h := pl.host
		if !h.began {
			t.market.begin(h, e.Time)
		}
		if h.placed != e.Seq {
			h.placed, h.nodes, h.own = e.Seq, 0, 0
		}
		switch h.nodes++; {
		case h.nodes > 1 && !t.run.Rules.Packed:
			return fmt.Sprintf("a contract with two nodes on %q", h.name), "the same number of hosts as nodes"
		case h.nodes > max(1, int(h.cpus)):
			return fmt.Sprintf("%d nodes of a contract on %q", h.nodes, h.name), "at most one node per processor"
		}
		t.market.advance(h, e.Time)
		spend += float64(pl.bid) / 1e9
		low, high := h.met(e.Time)
		low, high = low+h.own, high+h.own // nodes that share a host see each other's bids in the price
		one := task{host: h, bid: pl.bid, met: low, over: high - low, most: d.terms.MaxCPU, need: need, pace: h.speed}
		if len(d.terms.Promised) > 0 {
			one.promised = d.terms.Promised[i]
		}
		if found, want = t.claim(&one, d, len(d.tasks), e.Time); found != "" {
			return found, want
		}
		h.own += one.own()
		least += float64(low) / 1e9 / nodes
		most += float64(high) / 1e9 / nodes
		pace = min(pace, h.speed)
		d.tasks = append(d.tasks, one)
	}
	if d.terms.PerHost { // if each node is promised separately, all nodes run at the pace of the slowest
		for i := range d.tasks {
			d.tasks[i].pace = pace
		}
	}
	t.market.start(e.Time, d)
	switch rounding := 1e-9 * nodes; { // an error of one nano-dollar per second per bid
	case (spend-rounding)*d.terms.Deadline > float64(d.value)/1e6*(1+1e-12):
		return fmt.Sprintf("bids of $%v/s, which add up to $%v by the deadline", spend, spend*d.terms.Deadline), fmt.Sprintf("at most %v", d.value)
	case d.terms.Price > 0 && (d.terms.Price < least*(1-1e-9) || d.terms.Price > most*(1+1e-9)):
		return fmt.Sprintf("a price of $%v/s", d.terms.Price), fmt.Sprintf("$%v/s, the mean of its hosts' prices", most)
	}
	return "", ""
}

func near(x, y, within float64) bool { return math.Abs(x-y) <= within }

// judge recomputes the charge and the debts of d, the part of its work that was done, and
// whether its promise was kept.
func (t *trail) judge(e *audit.Entry, d *contract, v *verdict, holds func(string) audit.Money) (found, want string) {
	if v.Losses > 0 && !t.run.Rules.Leave {
		return fmt.Sprintf("%d losses", v.Losses), "no losses, because hosts stay"
	}
	if v.Fault != "" {
		return fmt.Sprintf("a fault, %.40q", v.Fault), "no fault of a command, because runs start no commands"
	}
	if t.market != nil {
		if t.market.pass(e.Time, false); t.market.unsure {
			t.stop(e, unsure)
			return "", ""
		}
		t.market.stop(e.Time, d)
		if v.State == "cancelled" {
			return t.cancelled(e, d, v)
		}
		if found, want = t.work(e, d, v); found != "" {
			return found, want
		}
	}
	if t.sale != nil {
		if found, want = t.sale.settle(e, d, v); found == "" && v.State != "cancelled" {
			found, want = t.sale.work(e, d, v)
		}
		if found != "" {
			return found, want
		}
		if v.State == "cancelled" && v.Owed != "" {
			return fmt.Sprintf("a penalty of %.40q", v.Owed), "no penalty, because no promise was broken"
		}
	}
	claimed, err := v.owed()
	if err != nil {
		return fmt.Sprintf("a penalty of %.40q", v.Owed), "an amount"
	}
	owed, fuzz := 0.0, 0.0
	likely, other := d.delays(e.Time, v, t.run.Rules.Version)
	for _, delay := range [...]float64{likely, other} {
		owed, fuzz = d.penalty(delay, e.Time, v, t.run.Rules.Version)
		if t.market != nil {
			found, want = d.metered(e, t.run.Rules)
		} else if t.sale == nil {
			owed, found, want = d.whole(e, v, owed, fuzz, t.run.Rules)
		}
		if found == "" && owes(claimed, owed, fuzz) {
			break
		}
	}
	if found != "" {
		return found, want
	}
	t.computed++
	if !owes(claimed, owed, fuzz) {
		return fmt.Sprintf("a penalty owed of %v", claimed), fmt.Sprintf("%v, rate × delay", audit.Money(max(0, owed)))
	}
	t.owed = d.due(e, claimed, holds(provider), t.run.Rules.Version)
	return "", ""
}

// due returns the penalty that must be paid if claimed is owed, or nil if no penalty is due.
// Since version 2, the hosts that e pays contribute first. The contributions are proportional
// to these payments and do not exceed them. The provider pays the rest, as far as its funds
// allow.
func (d *contract) due(e *audit.Entry, claimed, has audit.Money, version int) *due {
	o := &due{contract: d.id, to: d.owner}
	rest := claimed
	if version >= 2 {
		var from []debit
		earned := audit.Money(0)
		for _, m := range e.Moves {
			if string(m.To) != d.owner {
				from = append(from, debit{string(m.To), audit.Money(m.Micros)})
				earned += audit.Money(m.Micros)
			}
		}
		for _, p := range inProportion(from, earned, min(claimed, earned)) {
			if p.amount > 0 {
				o.from, o.amount, rest = append(o.from, p), o.amount+p.amount, rest-p.amount
			}
		}
	}
	if rest = min(rest, has); rest > 0 {
		o.from, o.amount = append(o.from, debit{provider, rest}), o.amount+rest
	}
	if o.amount == 0 {
		return nil
	}
	return o
}

// inProportion divides total in proportion to the amounts in all, by the largest-remainder
// method. The sum of these amounts is sum.
func inProportion(all []debit, sum, total audit.Money) []debit {
	if sum == 0 {
		return nil
	}
	out, rests := make([]debit, len(all)), make([]*big.Int, len(all))
	order, left := make([]int, len(all)), total
	for i, d := range all {
		quota, rest := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(int64(total)), big.NewInt(int64(d.amount))), big.NewInt(int64(sum)), new(big.Int))
		out[i], rests[i], order[i] = debit{d.from, audit.Money(quota.Int64())}, rest, i
		left -= out[i].amount
	}
	slices.SortStableFunc(order, func(a, b int) int { return rests[b].Cmp(rests[a]) })
	for _, i := range order[:left] {
		out[i].amount++
	}
	return out
}

// cancelled checks the settlement of a cancelled contract. If the market closed, d must have
// been open, and the charge must be zero. If the owner cancelled d, the charge must be the
// accrued amount. The ledger does not contain the time at which an owner cancelled.
func (t *trail) cancelled(e *audit.Entry, d *contract, v *verdict) (found, want string) {
	due, total := d.terms.due(), d.row.Work
	byDue, left := d.progress()
	if d.late && d.terms.late(e.Time) {
		byDue = d.byDue
	}
	rounding := t.rounding(d, e.Time)
	switch h := t.run.Rules.Horizon; {
	case v.Owed != "":
		return fmt.Sprintf("a penalty of %.40q", v.Owed), "no penalty, because no promise was broken"
	case h > 0 && e.Time == h:
		if _, sum := d.charges(e); sum != 0 {
			return fmt.Sprintf("charges of %v", sum), "no charges, because the market closed"
		}
	case e.Time >= due && !d.terms.RunsOn:
		return fmt.Sprintf("a contract cancelled at %v s", e.Time), fmt.Sprintf("an open contract, because the contract was due at %v s", due)
	case left <= rounding/10:
		return fmt.Sprintf("a contract cancelled at %v s", e.Time), fmt.Sprintf("an open contract, because the work of %v CPU s was complete", total)
	case !near(v.Done, min(byDue, total), 10*rounding):
		return fmt.Sprintf("%v CPU s done", v.Done), fmt.Sprintf("%v", min(byDue, total))
	default:
		if found, want = d.metered(e, t.run.Rules); found != "" {
			return found, want
		}
	}
	t.computed++
	return "", ""
}

// progress returns the work done over all tasks of d and the work left, in processor-seconds.
// If each task is promised separately, the work left is the work of the slowest task times the
// number of tasks.
func (d *contract) progress() (done, left float64) {
	for i := range d.tasks {
		n, each := &d.tasks[i], d.row.Work/float64(len(d.tasks))
		done += n.done
		if d.terms.PerHost {
			left = max(left, (each-n.done)*float64(len(d.tasks)))
		} else {
			left += each - n.done
		}
	}
	return done, left
}

// work checks how much work of d was done, when d ended, and whether the promise was therefore
// kept.
func (t *trail) work(e *audit.Entry, d *contract, v *verdict) (found, want string) {
	due, total := d.terms.due(), d.row.Work
	last := e.Time // time for which contracts/settlement evaluates the work
	if !d.terms.OnDemand {
		last = max(last, due)
	}
	done, left := d.progress()
	rounding := t.rounding(d, last)
	fuzz := 10 * rounding // if the work is this close to a limit, rounding decides whether it reaches the limit
	byDue, off := done, fuzz
	if past := d.terms.late(e.Time); past && !d.terms.RunsOn {
		return fmt.Sprintf("a settlement at %v s", e.Time), fmt.Sprintf("a settlement at its deadline, %v s", due)
	} else if past && d.late {
		byDue, off, left = d.byDue, 10*t.rounding(d, due), max(left, 2*fuzz)
	}
	switch {
	case done > total+fuzz:
		return fmt.Sprintf("a settlement at %v s with %v CPU s done", e.Time, done), fmt.Sprintf("a settlement when %v CPU s were done", total)
	case left > fuzz && e.Time < due-2*moment(last):
		return fmt.Sprintf("a settlement at %v s with %v CPU s remaining", e.Time, left), fmt.Sprintf("a settlement when the work was done, or at %v s", due)
	case left > fuzz && v.State != "violated" || left <= rounding/10 && v.State != "fulfilled":
		return fmt.Sprintf("the verdict %q", v.State), fmt.Sprintf("the verdict for %v of %v CPU s done by the deadline", byDue, total)
	}
	if v.State == "fulfilled" {
		byDue = total
	}
	if done := v.Done; !near(done, byDue, off) {
		return fmt.Sprintf("%v CPU s done", done), fmt.Sprintf("%v", byDue)
	}
	return "", ""
}

// rounding returns the maximum error of d's work at the given time, as defined by
// contracts/settlement. It is one part in 10^9, plus the work that the hosts do in one or two
// float64 steps of time.
func (t *trail) rounding(d *contract, at float64) float64 {
	sum, moments := 1e-9*d.row.Work, 2*moment(at)
	for i := range d.tasks {
		sum += moments * t.market.capacity(d.tasks[i].host)
	}
	return sum
}

// moment returns the distance between adjacent float64 numbers near at.
func moment(at float64) float64 { return math.Nextafter(at, math.Inf(1)) - at }

// delays returns two possible delays, in seconds, of a contract that ended at the given time.
// They are 0 if the promise was kept. The two delays differ only if a host may have left
// permanently with work of the contract, because the note does not distinguish this from other
// losses. Since version 2 of the rules, delays are rounded by [contract.known].
func (d *contract) delays(end float64, v *verdict, version int) (likely, other float64) {
	p, over := &d.terms, max(0, end-d.terms.due())
	if v.State != "violated" {
		return 0, 0
	}
	work := v.Work
	undone := max(0, work-v.Done) / work * p.Deadline
	if version >= 2 {
		undone = d.known(max(0, work-v.Done)*p.Deadline/work, end)
		over = d.known(over, end)
	}
	switch {
	case v.Killed:
		return p.Deadline, p.Deadline
	case !p.RunsOn:
		return undone, undone
	case v.Losses > 0:
		return over, max(undone, over)
	}
	return over, over
}

// known rounds a duration in seconds to the number of decimal places that are known. The
// duration must be a difference of times up to end. One unit of the last place is at least 16
// float64 steps at end or, if that is later, at the deadline.
func (d *contract) known(seconds, end float64) float64 {
	if x, err := strconv.ParseFloat(strconv.FormatFloat(seconds, 'f', d.places(end), 64), 64); err == nil {
		return x
	}
	return seconds
}

func (d *contract) places(end float64) (n int) {
	least := 16 * moment(max(end, d.terms.Submit+d.terms.Deadline))
	for unit := 0.1; unit >= least; unit /= 10 {
		n++
	}
	return n
}

// penalty returns the provider's penalty for the given delay, in micro-dollars before
// rounding, and the maximum error of the penalty. Since version 2 of the rules, the penalty is
// the exact product of the decimal numbers, rounded toward zero, and the error is 0. If the
// delay is computed from times up to end, the check allows an error of half a unit of its last
// place in the user's favor.
func (d *contract) penalty(delay, end float64, v *verdict, version int) (owed, fuzz float64) {
	p := &d.terms
	if delay == 0 || p.PenaltyRate == 0 {
		return 0, 0
	}
	owed = p.PenaltyRate * delay
	if known(p.PenaltyMax) {
		owed = min(owed, p.PenaltyMax)
	}
	owed = min(owed, 4e12) * 1e6
	if version < 2 {
		return owed, 1e-6 + 1e-12*owed
	}
	if !v.Killed {
		delay += min(math.Pow10(-d.places(end))/2, 1e-9/p.PenaltyRate)
	}
	owed = min(micros(p.PenaltyRate, delay), 4e18)
	if known(p.PenaltyMax) {
		owed = min(owed, micros(p.PenaltyMax))
	}
	return owed, 0
}

// micros returns the exact product of the factors, converted from dollars to micro-dollars
// and rounded toward zero.
func micros(factors ...float64) float64 {
	product := big.NewRat(1e6, 1)
	for _, x := range factors {
		factor, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
		if !ok {
			return math.NaN()
		}
		product.Mul(product, factor)
	}
	whole, _ := new(big.Float).SetInt(new(big.Int).Quo(product.Num(), product.Denom())).Float64()
	return whole
}

// owes reports whether m equals owed, rounded toward zero, with a tolerance of fuzz.
func owes(m audit.Money, owed, fuzz float64) bool {
	return float64(m) >= math.Floor(max(0, owed)-fuzz) && float64(m) <= math.Floor(max(0, owed)+fuzz)
}

// charges returns the payment of e to each host and the sum of these payments.
func (d *contract) charges(e *audit.Entry) (map[string]audit.Money, audit.Money) {
	pays, sum := make(map[string]audit.Money), audit.Money(0)
	for _, m := range e.Moves {
		if string(m.To) != d.owner {
			pays[string(m.To)] += audit.Money(m.Micros)
			sum += audit.Money(m.Micros)
		}
	}
	return pays, sum
}

// metered checks that e charges the amounts that d's tasks have accrued, rounded and limited
// to the value of d. In version 1 of the rules, each task's amount is rounded separately, and
// tasks are paid in order until the value is used up. Since version 2, the sum is rounded
// once, and each task is paid in proportion to its amount.
func (d *contract) metered(e *audit.Entry, rules *Rules) (found, want string) {
	moves := e.Moves
	var pays map[string]audit.Money // payments by host; nil if the moves are in the order of the tasks
	if !d.inOrder(moves) {
		pays, _ = d.charges(e)
	}
	left, sum := d.value, audit.Money(0)
	for i := range d.tasks {
		n := &d.tasks[i]
		owed := n.owed / 1e3
		n.paid = 0
		switch {
		case pays != nil:
			n.paid = pays[n.host.to]
			delete(pays, n.host.to)
		case len(moves) > 0 && string(moves[0].To) == n.host.to:
			n.paid, moves = audit.Money(moves[0].Micros), moves[1:]
		}
		sum += n.paid
		if rules.Version >= 2 {
			continue
		}
		least, most := math.RoundToEven(owed*(1-1e-9)-1e-6), math.RoundToEven((owed+n.extra/1e3)*(1+1e-9)+1e-6)
		if float64(n.paid) < min(least, float64(left)) || float64(n.paid) > min(max(0, most), float64(left)) {
			return fmt.Sprintf("a charge of %v by %s", n.paid, n.host.to),
				fmt.Sprintf("%v, computed from share, price and time", min(left, audit.Money(math.RoundToEven(owed))))
		}
		left -= n.paid
	}
	for to, paid := range pays {
		return fmt.Sprintf("a charge of %v by %s", paid, to), "charges only by hosts on which the contract ran"
	}
	if rules.Version >= 2 {
		return d.proportional(sum, rules.Packed)
	}
	return "", ""
}

// proportional checks the total paid to the hosts of d. It must equal the amounts owed to them
// or the value, whichever is less. Each host must be paid in proportion to its amount, within
// a micro-dollar. If packed is set, several nodes may share a host.
func (d *contract) proportional(sum audit.Money, packed bool) (found, want string) {
	low, high := 0.0, 0.0 // bounds of the amount owed, in micro-dollars
	for i := range d.tasks {
		n := &d.tasks[i]
		low += n.owed / 1e3
		high += (n.owed + n.extra) / 1e3
	}
	least, most := math.RoundToEven(low*(1-1e-9)-1e-6), math.RoundToEven(high*(1+1e-9)+1e-6)
	if value := float64(d.value); float64(sum) < min(least, value) || float64(sum) > min(max(0, most), value) {
		return fmt.Sprintf("charges of %v", sum), fmt.Sprintf("%v, computed from share, price and time", min(d.value, audit.Money(math.RoundToEven(low))))
	}
	tasks, micros := d.tasks, 0.0
	if packed { // entries contain the payment per host, not per node
		tasks, micros = d.byHost()
	}
	for i := range tasks {
		n := &tasks[i]
		lowest, highest := n.owed/1e3, (n.owed+n.extra)/1e3
		most, least := 0.0, 0.0 // bounds of the parts of the sum
		if highest > 0 {
			most = float64(sum) * (highest / (highest + (low - lowest))) * (1 + 1e-9)
		}
		if lowest > 0 {
			least = float64(sum) * (lowest / (lowest + (high - highest))) * (1 - 1e-9)
		}
		if float64(n.paid) < math.Floor(least-1e-6)-micros || float64(n.paid) > math.Ceil(most+1e-6)+micros {
			return fmt.Sprintf("a charge of %v by %s", n.paid, n.host.to),
				fmt.Sprintf("%v of %v, in proportion to the amount owed to it", audit.Money(math.Round(least)), sum)
		}
	}
	return "", ""
}

// byHost returns, for each host, the total owed to the nodes of d and the total paid for them.
// Each additional node can add a rounding error of one micro-dollar to the amount of a host.
// The result micros is the maximum of this error over all hosts.
func (d *contract) byHost() (all []task, micros float64) {
	at := make(map[*machine]int)
	nodes := make([]float64, 0, len(d.tasks))
	for i := range d.tasks {
		n := &d.tasks[i]
		k, found := at[n.host]
		if !found {
			k = len(all)
			at[n.host] = k
			all, nodes = append(all, task{host: n.host}), append(nodes, 0)
		}
		all[k].owed, all[k].extra, all[k].paid = all[k].owed+n.owed, all[k].extra+n.extra, all[k].paid+n.paid
		nodes[k]++
		micros = max(micros, nodes[k]-1)
	}
	return all, micros
}

// inOrder reports whether the moves go only to hosts of d and then to its owner. Each host
// must occur once, in the order of the tasks.
func (d *contract) inOrder(moves []audit.Move) bool {
	for i := 0; len(moves) > 0 && i < len(d.tasks); i++ {
		switch to := d.tasks[i].host.to; {
		case to == d.owner:
			return false
		case string(moves[0].To) == to:
			moves = moves[1:]
		}
	}
	return len(moves) == 0 || len(moves) == 1 && string(moves[0].To) == d.owner
}

// whole checks a settlement under rules that charge a whole price. The payment must be the
// price minus the penalty in equal parts, nothing if the work was not done, or at most the
// price if the contract was cancelled. It returns the part of the penalty that the price does
// not cover.
func (d *contract) whole(e *audit.Entry, v *verdict, penalty, fuzz float64, rules *Rules) (owed float64, found, want string) {
	pays, sum := d.charges(e)
	price := d.terms.price(d.value)
	switch {
	case price > d.value:
		return 0, fmt.Sprintf("a price of %v", price), fmt.Sprintf("at most the value, %v", d.value)
	case v.State == "cancelled" && sum <= price:
		found, want = d.evenly(pays, sum, rules)
		return 0, found, want
	}
	if sum == 0 && v.State != "fulfilled" { // the work was not done, or was done too late to be paid
		if beyond := penalty - float64(price); beyond >= 0 && !v.Killed {
			if claimed, err := v.owed(); err == nil && owes(claimed, beyond, fuzz) {
				return beyond, "", ""
			}
		}
		return penalty, "", ""
	}
	if !owes(price-sum, penalty, fuzz) {
		return 0, fmt.Sprintf("charges of %v", sum), fmt.Sprintf("%v, the price minus the penalty", price-audit.Money(max(0, penalty)))
	}
	found, want = d.evenly(pays, sum, rules)
	return 0, found, want
}

// evenly checks that sum is paid to the hosts of d in equal parts per node. Unless hosts may
// leave, these must be the hosts named at the admission.
func (d *contract) evenly(pays map[string]audit.Money, sum audit.Money, rules *Rules) (found, want string) {
	names, part := d.parts(sum, rules.Version)
	for n := range names {
		names[n] = "host:" + names[n]
	}
	if rules.Packed && rules.Leave {
		return "", "" // the numbers of nodes on the other hosts are unknown
	}
	if rules.Packed { // a host receives the parts of all its nodes
		byHost := make(map[string]audit.Money, len(names))
		for n := range names {
			byHost[names[n]] += part[n]
		}
		names = slices.Sorted(maps.Keys(byHost))
		part = part[:0]
		for _, name := range names {
			part = append(part, byHost[name])
		}
	}
	if rules.Leave { // there must be the same number of hosts, but they may be different hosts
		names = slices.SortedFunc(maps.Keys(pays), func(a, b string) int { return cmp.Or(cmp.Compare(pays[b], pays[a]), cmp.Compare(a, b)) })
		names = append(names, make([]string, len(part))...) // a host that receives nothing does not appear in the entry
		slices.SortFunc(part, func(a, b audit.Money) int { return cmp.Compare(b, a) })
	}
	for n, part := range part {
		if paid := pays[names[n]]; paid != part {
			return fmt.Sprintf("a charge of %v by %s", paid, names[n]), fmt.Sprintf("%v, an equal part for each node", part)
		}
	}
	return "", ""
}

// parts returns the hosts of d and the part of sum for each: an equal part for each node,
// rounded toward zero. In version 1 of the rules, each of the first nodes receives one
// micro-dollar of the remainder. Since version 2, the hosts with the largest remainders
// receive it.
func (d *contract) parts(sum audit.Money, version int) (names []string, part []audit.Money) {
	var nodes []int
	if d.terms.booked() {
		names, nodes, _ = d.terms.gangs()
	} else {
		for _, pl := range d.terms.on {
			names, nodes = append(names, pl.host.name), append(nodes, 1)
		}
	}
	all, before := 0, 0
	for _, n := range nodes {
		all += n
	}
	each, odd := sum/audit.Money(all), int(sum%audit.Money(all))
	if version < 2 {
		for _, n := range nodes {
			get := each * audit.Money(n)
			if odd > before {
				get += audit.Money(min(n, odd-before))
			}
			part, before = append(part, get), before+n
		}
		return names, part
	}
	order := make([]int, len(nodes)) // hosts ordered by remainder of odd × n / all
	for i, n := range nodes {
		part, order[i] = append(part, each*audit.Money(n)+audit.Money(odd*n/all)), i
		before += odd * n / all
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(odd*nodes[b]%all, odd*nodes[a]%all) })
	for _, i := range order[:odd-before] {
		part[i]++
	}
	return names, part
}

// together checks the note of a contract in several parts. The hosts must be valid, and their
// nodes must be all nodes of the contract.
func (t *trail) together(e *audit.Entry, d *contract) (found, want string) {
	if len(d.terms.Parts) == 0 {
		t.stop(e, "the note of the entry does not name the hosts of the contract")
		return "", ""
	}
	names, nodes, ok := d.terms.gangs()
	if !ok {
		return fmt.Sprintf("a contract in parts %v", d.terms.Parts), "numbers of nodes, each followed by a different host"
	}
	sum := 0
	for _, n := range nodes {
		sum += n
	}
	if d.row != nil && sum != d.row.Nodes {
		t.number(e.Seq, d.row, "nodes", float64(d.row.Nodes), float64(sum))
	}
	if most := t.run.Rules.Hosts; len(names) > most {
		return fmt.Sprintf("a contract on %d hosts", len(names)), fmt.Sprintf("at most %d", most)
	}
	return "", ""
}
