package verify

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"bourse/bank/audit"
)

// mostBids is the maximum number of bids for which VCG is recomputed. The branch-and-bound
// search over all sets of bids can take time that is exponential in this number.
const mostBids = 20

// A bundle is a bid in a clearing: a number of nodes in the interval [from, to).
type bundle struct {
	id       int64
	nodes    int
	from, to float64
	value    int64 // micro-dollars
	least    int64 // reserve price
	size     int64 // nodes x seconds, rounded up
}

// before checks that all entries of a clearing are present, and that no clearing is missing
// before e.
func (b *bookings) before(t *trail, e *audit.Entry) (found, want string) {
	if b.clearing && (e.Time != b.time || e.Kind != audit.Admit && e.Kind != audit.Reject) {
		if found, want = b.carried(); found != "" {
			return found, want
		}
	}
	for ; float64(b.tick)*b.o.Every < e.Time; b.tick++ {
		if b.o.Follows || b.o.Leads { // rows do not contain the time at which such jobs began to wait
			b.tick = max(b.tick, int(e.Time/b.o.Every)-1)
			continue
		}
		at := float64(b.tick) * b.o.Every
		if waiting := b.wait(t, at); len(waiting) > 0 {
			return fmt.Sprintf("no clearing at %v s", at), fmt.Sprintf("a clearing, because job %d waits", t.run.Jobs.at(waiting[0]).ID)
		}
	}
	return "", ""
}

// carried ends the clearing and checks that no entry of it is missing.
func (b *bookings) carried() (found, want string) {
	b.clearing = false
	switch {
	case b.left != 0:
		return fmt.Sprintf("a clearing in which winners of %d units have no entry", b.left), "an entry for each winner after the clearing"
	case len(b.losers) > 0 && b.o.Losers == "leave":
		return fmt.Sprintf("a clearing with %d losing bids that have no entry", len(b.losers)), "an entry for each losing bid"
	}
	return "", ""
}

// cleared recomputes a clearing.
func (b *bookings) cleared(t *trail, e *audit.Entry, n *note) (found, want string) {
	r := &n.clearing
	k := math.Round(e.Time / b.o.Every)
	if e.Time != k*b.o.Every || int(k) < b.tick || !b.auctions() {
		return fmt.Sprintf("a clearing at %v s", e.Time), fmt.Sprintf("at most one clearing every %v s", b.o.Every)
	}
	b.tick = int(k) + 1
	b.clearing, b.time, b.left, b.losers = true, e.Time, r.Units, b.losers[:0]
	clear(b.awards)
	if r.Offered != b.units {
		return fmt.Sprintf("%d units offered", r.Offered), fmt.Sprintf("%d units, one per processor of the host", b.units)
	}
	var bids []bundle // in order of arrival
	for _, i := range b.wait(t, e.Time) {
		bids = append(bids, b.bundle(t.run.Jobs.at(i), e.Time))
	}
	if len(bids) != r.Bids && b.o.Follows { // some jobs arrive just after the clearing, or never
		bids = slices.DeleteFunc(bids, func(x bundle) bool { return t.job(x.id).Arrival == e.Time })
	}
	if len(bids) != r.Bids && !b.o.Follows {
		return fmt.Sprintf("%d bids", r.Bids), fmt.Sprintf("%d bids, one per waiting job", len(bids))
	}
	for _, x := range bids {
		b.bid[x.id] = true
	}
	all := len(bids)
	bids = slices.DeleteFunc(bids, func(x bundle) bool { return x.value <= 0 || x.value < x.least || x.nodes > b.units })
	greedy, sum := b.o.Rule == "greedy" || r.Approximate != 0, 1.0
	for _, x := range bids {
		sum += float64(x.value)
	}
	// VCG adds values as float64s. The sum of the values must be exact, and so must the sum in
	// which intervals already sold have their larger values.
	exact := b.o.Rule != "greedy" && len(bids) <= min(b.o.Exact, mostBids) && sum*float64(2*len(b.open)+2) < 1<<53
	b.unknown = true
	switch {
	case b.o.Leads || all != r.Bids:
		b.beyond[0]++
		return "", ""
	case r.Approximate != 0 && (exact || b.o.Rule == "greedy") || r.Approximate == 0 && !greedy && len(bids) > b.o.Exact:
		return fmt.Sprintf("approximate: %d", r.Approximate), fmt.Sprintf("1 only if greedy replaces VCG, as with more than %d bids", b.o.Exact)
	case !greedy && len(bids) > mostBids:
		b.beyond[1]++
		return "", ""
	case greedy:
		b.greedy(bids)
	default:
		b.vcg(bids)
	}
	b.unknown = false
	units := 0
	for _, x := range bids {
		if _, won := b.awards[x.id]; won {
			units += x.nodes
		}
	}
	if units != r.Units {
		return fmt.Sprintf("%d units sold", r.Units), fmt.Sprintf("%d, to %v", units, b.awards)
	}
	for _, i := range b.waiting {
		id := t.run.Jobs.at(i).ID
		if _, won := b.awards[id]; b.bid[id] && !won {
			b.losers = append(b.losers, id)
		}
	}
	return "", ""
}

// wait returns the rows of the jobs that wait at the given time, in order of arrival. Times must not
// decrease.
func (b *bookings) wait(t *trail, now float64) []int {
	if b.coming == nil {
		for i := range t.fares {
			b.coming = append(b.coming, i)
		}
		slices.SortStableFunc(b.coming, func(i, j int) int { return cmp.Compare(t.run.Jobs.at(i).Arrival, t.run.Jobs.at(j).Arrival) })
	}
	n := 0
	for n < len(b.coming) && t.run.Jobs.at(b.coming[n]).Arrival <= now {
		n++
	}
	b.waiting, b.coming = append(b.waiting, b.coming[:n]...), b.coming[n:]
	b.waiting = slices.DeleteFunc(b.waiting, func(i int) bool { return t.fares[i].seen })
	return b.waiting
}

// bundle returns the bid of j for an interval that starts at the given time.
func (b *bookings) bundle(j *Job, from float64) bundle {
	length := j.Estimate / b.speed
	x := bundle{id: j.ID, nodes: j.Nodes, from: from, to: from + length, value: int64(j.Value)}
	x.least = int64(math.Min(float64(nano(b.o.Reserve))*float64(x.nodes)*length/1e3, 1<<62))
	x.size = int64(x.nodes) * int64(math.Ceil(length))
	return x
}

// awarded checks that d has won x at the price that it pays.
func (b *bookings) awarded(e *audit.Entry, d *contract, x *span) (found, want string) {
	price := d.terms.price(d.value)
	bid := b.bundle(d.row, x.from)
	pays, won := b.awards[d.id]
	b.left -= x.nodes
	switch {
	case !b.clearing:
		return fmt.Sprintf("contract %d admitted", d.id), "an admission after a clearing"
	case x.from != max(e.Time, d.terms.Opens):
		return fmt.Sprintf("a start at %v s", x.from), fmt.Sprintf("%v", max(e.Time, d.terms.Opens))
	case int64(price) < bid.least || price > d.value:
		return fmt.Sprintf("a price of %v", price), fmt.Sprintf("one within [%v, %v]", audit.Money(bid.least), d.value)
	case b.left < 0:
		return fmt.Sprintf("contract %d admitted", d.id), "admissions for at most the units sold in the clearing"
	case !b.unknown && !won:
		return fmt.Sprintf("contract %d admitted", d.id), fmt.Sprintf("an admission of one of the winners, %v", b.awards)
	case !b.unknown && int64(price) != pays:
		return fmt.Sprintf("a price of %v", price), fmt.Sprintf("%v, computed from the other bids", audit.Money(pays))
	}
	delete(b.awards, d.id)
	return "", ""
}

// unpaid handles the refusal of j because its owner's balance is too low. If j has won in a
// clearing, the units of j are then not sold.
func (b *bookings) unpaid(j *Job) (found, want string) {
	if _, won := b.awards[j.ID]; b.clearing && (won || b.unknown && b.bid[j.ID]) {
		delete(b.awards, j.ID)
		b.left -= j.Nodes
	}
	return "", ""
}

// lost checks the refusal of job j in an auction. It returns the expected entry if the refusal is wrong.
func (b *bookings) lost(e *audit.Entry, j *Job, reason string) (want string) {
	if i := slices.Index(b.losers, j.ID); i >= 0 {
		b.losers = slices.Delete(b.losers, i, i+1)
	}
	bid := b.bundle(j, e.Time)
	_, won := b.awards[j.ID]
	switch {
	case b.clearing && won:
		return "an admission, because the bid of the job won"
	case reason == "bid below the reserve price" && bid.value > 0 && bid.value >= bid.least:
		return fmt.Sprintf("another reason, because the value of the job is %v and the reserve price is %v", j.Value, audit.Money(bid.least))
	case reason == "outbid" && !b.bid[j.ID]:
		return "another reason, because the job has not taken part in a clearing"
	case reason == "outbid" && !(b.clearing && b.o.Losers == "leave") && !(bid.to > j.Deadline) && !(b.o.Leads && j.Deadline < math.Inf(1)):
		return "a bid that waits"
	case reason == "cannot end by its deadline" && b.bid[j.ID] && !b.o.Follows:
		return "outbid, because the job has taken part in a clearing"
	}
	return ""
}

// greedy sets the awards under rule greedy: it accepts each bid that fits, in descending order
// of value per size^norm. A winner pays the lowest value with which it would still be
// accepted.
func (b *bookings) greedy(bids []bundle) {
	rank := slices.Clone(bids)
	slices.SortStableFunc(rank, func(x, y bundle) int { return b.weight(&y, x.size).Cmp(b.weight(&x, y.size)) })
	accept := func(without int64, until func(accepted []bundle, x *bundle) bool) (accepted []bundle) {
		for i := range rank {
			x := &rank[i]
			if x.id == without || !b.fits(accepted, x) {
				continue
			}
			if accepted = append(accepted, *x); until != nil && until(accepted, x) {
				return accepted
			}
		}
		return accepted
	}
	for _, won := range accept(-1, nil) {
		pays := int64(0)
		accept(won.id, func(accepted []bundle, x *bundle) bool {
			if b.fits(accepted, &won) {
				return false
			}
			pays = b.critical(x, won.size)
			return true
		})
		b.awards[won.id] = max(pays, won.least)
	}
}

// weight returns value^2 size, or value size if the norm is 1. To rank two bids, each value is
// weighted with the size of the other bid.
func (b *bookings) weight(x *bundle, size int64) *big.Int {
	w := big.NewInt(x.value)
	if b.o.Norm != 1 {
		w.Mul(w, w)
	}
	return w.Mul(w, big.NewInt(size))
}

// critical returns the highest value at which a bid of the given size does not rank before x.
func (b *bookings) critical(x *bundle, size int64) int64 {
	w := b.weight(x, size)
	if w.Quo(w, big.NewInt(x.size)); b.o.Norm != 1 {
		w.Sqrt(w)
	}
	return w.Int64()
}

// fits reports whether x fits in addition to the accepted bids and the open intervals.
func (b *bookings) fits(accepted []bundle, x *bundle) bool {
	times := []float64{x.from}
	for i := range accepted {
		times = append(times, accepted[i].from)
	}
	for _, o := range b.open {
		times = append(times, o.from)
	}
	for _, at := range times { // the number of units in use rises only at starts of intervals
		if at < x.from || at >= x.to {
			continue
		}
		used := x.nodes
		for i := range accepted {
			if o := &accepted[i]; o.from <= at && at < o.to {
				used += o.nodes
			}
		}
		for _, o := range b.open {
			if o.from <= at && at < o.to {
				used += o.nodes
			}
		}
		if used > b.units {
			return false
		}
	}
	return true
}

// vcg sets the awards under rule vcg: the winners are the set of bids with the highest sum of
// gains. The gain of a bid is its value minus its reserve price. If several sets have the
// highest sum, it chooses the set that contains the earliest bid in which they differ. A
// winner pays its reserve price plus the loss that it causes to the other bids.
func (b *bookings) vcg(bids []bundle) {
	best, won := b.best(bids, -1, -1)
	for _, x := range won {
		gain := x.value - x.least
		others, _ := b.best(bids, x.id, best-gain-1)
		b.awards[x.id] = x.least + others - (best - gain)
	}
}

// best returns the highest sum of gains of any feasible set of bids without the given one, and
// the first such set in lexicographic order. The sum must exceed least.
func (b *bookings) best(bids []bundle, without, least int64) (sum int64, set []bundle) {
	order := make([]int, len(bids)) // indexes of bids, by descending gain per node
	for i := range order {
		order[i] = i
	}
	density := func(i int) float64 { return float64(bids[i].value-bids[i].least) / float64(bids[i].nodes) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(density(j), density(i)) })
	// bound returns an upper bound on the gains of the bids from index i on. It considers only
	// the free units at the clearing, when the intervals of all bids start. It assumes that
	// the last bid may be divided.
	bound := func(i, room int) (most float64) {
		for _, k := range order {
			if k < i {
				continue
			}
			n := min(room, bids[k].nodes)
			most += density(k) * float64(n)
			if room -= n; room == 0 {
				break
			}
		}
		return most*(1+1e-12) + 1e-3
	}
	room := b.units
	for _, o := range b.open {
		if len(bids) > 0 && o.from <= bids[0].from && bids[0].from < o.to {
			room -= o.nodes
		}
	}
	sum = least
	var chosen []bundle
	var branch func(i int, gains int64)
	branch = func(i int, gains int64) {
		if float64(gains)+bound(i, room) < float64(sum+1) {
			return
		}
		if i == len(bids) {
			if gains > sum {
				sum, set = gains, slices.Clone(chosen)
			}
			return
		}
		if x := &bids[i]; x.id != without && b.fits(chosen, x) {
			chosen, room = append(chosen, *x), room-x.nodes
			branch(i+1, gains+x.value-x.least)
			chosen, room = chosen[:len(chosen)-1], room+x.nodes
		}
		branch(i+1, gains)
	}
	branch(0, 0)
	return sum, set
}
