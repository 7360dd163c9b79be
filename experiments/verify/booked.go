package verify

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"bourse/bank/audit"
)

// Some policies sell the processors of one host for intervals of time: windows sells delivery
// windows at list prices, and bundle sells by auction. The ledger contains every sale (admit),
// refusal, clearing and end (settle), in the order of the policy's decisions. The type
// bookings uses these entries, the table of jobs and the policy's options. It recomputes each
// interval, its price, and the reason for each refusal.

// Booked contains the options of a policy that sells intervals. Prices are in dollars per node
// and second.
type Booked struct {
	Sold // policy (windows or bundle), shape of the prices, and times and losers of the clearings

	Prices           []float64 // options of windows
	Width, CancelFee float64
	Ahead            int

	Rule  string // options of bundle
	Exact int
	Norm  float64

	Leads   bool // jobs may have an earliest start or several parts, which rows do not contain
	Follows bool // a job may arrive when another job ends
	Hard    bool // jobs are stopped at their deadlines
}

// bookings tracks the intervals sold in a run.
type bookings struct {
	rules *Rules
	o     *Booked
	units int     // processors of the host
	speed float64 // work per second of a processor

	open    map[int64]*span
	windows map[int]*window // windows by number, except those that have ended
	last    int             // highest number in windows
	steps   []level         // scratch

	// The next fields are used for clearings.
	coming     []int           // rows of jobs that have not arrived yet, in order of arrival
	waiting    []int           // rows of jobs that waited at the last clearing, and of jobs for which there has been an entry since then
	tick       int             // number of the next clearing
	bid        map[int64]bool  // jobs that have taken part in a clearing
	awards     map[int64]int64 // payments of the winners in micro-dollars, by job
	clearing   bool            // whether the next entries carry out a clearing
	time       float64         // time of the clearing
	left       int             // number of units won for which there is no entry yet
	losers     []int64         // bids that must be refused
	unknown    bool            // whether the winners of the clearing are unknown
	beyond     [2]int          // number of clearings that were not recomputed, because bids are unknown or because there are too many bids
	unrefused  int             // number of refusals that were not recomputed
	candidates []candidate     // scratch
}

// A span is an interval sold to a contract.
type span struct {
	nodes    int
	from, to float64
}

// A window contains the parts of sold intervals that lie in it.
type window struct {
	pieces map[int64]piece // pieces by contract
	noise  float64         // number of node-seconds by which rounding may change the sum
}

// A piece is the part of an interval in one window.
type piece struct {
	seq     int64   // number of the entry of the admission
	seconds float64 // node-seconds
}

// A level is the number of units in use from a given time on.
type level struct {
	at   float64
	used int
}

// A candidate is a possible start of an interval, with bounds on its price in nano-dollars.
type candidate struct{ from, low, high float64 }

func newBookings(r *Rules) *bookings {
	return &bookings{
		rules: r, o: r.Booked, units: int(r.CPUs), speed: r.Speeds[0],
		open: map[int64]*span{}, windows: map[int]*window{}, tick: 1, bid: map[int64]bool{}, awards: map[int64]int64{},
	}
}

// notRecomputed lists the values that b could not recompute.
func (b *bookings) notRecomputed() (what []string) {
	if b.unrefused > 0 {
		what = append(what, fmt.Sprintf("the reasons of %d refusals, because the rows do not state when these jobs could start", b.unrefused))
	}
	if b.beyond[0] > 0 {
		what = append(what, fmt.Sprintf("the winners and payments of %d clearings, because the rows do not state all bids", b.beyond[0]))
	}
	if b.beyond[1] > 0 {
		what = append(what, fmt.Sprintf("the winners and payments of %d clearings by VCG with more than %d bids", b.beyond[1], mostBids))
	}
	return what
}

// auctions reports whether intervals are sold by auction.
func (b *bookings) auctions() bool { return b.o.Policy == "bundle" }

// admitted checks the sale of an interval to d.
func (b *bookings) admitted(e *audit.Entry, d *contract) (found, want string) {
	p, j := &d.terms, d.row
	if j == nil || !known(p.Start) {
		return fmt.Sprintf("the note %.60q", e.Note), "terms that state a start, for a job in the table"
	}
	from := p.Start
	x := &span{j.Nodes, from, from + j.Estimate/b.speed}
	opens := max(e.Time, p.Opens)
	switch {
	case p.Nodes != j.Nodes || j.Nodes > b.units:
		return fmt.Sprintf("%d nodes", p.Nodes), fmt.Sprintf("%d nodes, on %d processors", j.Nodes, b.units)
	case !(from >= opens) || !p.OnDemand && x.to > p.due() && (b.o.Hard || !b.auctions()):
		return fmt.Sprintf("an interval from %v to %v s", from, x.to), fmt.Sprintf("one within [%v, %v]", opens, p.due())
	}
	if b.levels(); b.peak(x) > b.units-x.nodes {
		return fmt.Sprintf("%d processors sold between %v and %v s", b.peak(x)+x.nodes, from, x.to), fmt.Sprintf("at most %d", b.units)
	}
	if b.auctions() {
		found, want = b.awarded(e, d, x)
	} else {
		found, want = b.sold(e, d, x, opens)
	}
	b.open[d.id] = x
	if !b.auctions() {
		b.sell(e, d.id, x)
	}
	return found, want
}

// sold checks that x, which was sold at a list price, is the cheapest interval and has the
// stated price.
func (b *bookings) sold(e *audit.Entry, d *contract, x *span, opens float64) (found, want string) {
	length, due := d.row.Estimate/b.speed, d.terms.due()
	own, other := b.cheapest(e.Time, x.nodes, length, opens, due, x.from)
	ask := float64(d.terms.price(d.value))
	low, high := own.micros()
	switch {
	case own == nil:
		return fmt.Sprintf("a start at %v s", x.from), "a start within the windows on sale: the earliest one, or one at which a window or another interval begins or ends"
	case ask < low || ask > high:
		return fmt.Sprintf("a price of %v", d.terms.price(d.value)), fmt.Sprintf("%v, the list price", audit.Money(low))
	case other != nil:
		return fmt.Sprintf("an interval from %v s at a price of %v", x.from, d.terms.price(d.value)), fmt.Sprintf("an interval from %v s, which costs %v nano-dollars instead of %v", other.from, other.low, own.low)
	}
	return "", ""
}

// micros returns the bounds of the price in micro-dollars, rounded toward zero.
func (c *candidate) micros() (low, high float64) {
	if c == nil {
		return 0, 0
	}
	return math.Floor(c.low/1e3*(1+5e-14) + 5e-10), math.Floor(c.high/1e3*(1+2e-13) + 2e-9)
}

// cheapest considers the intervals that the given number of nodes can use between opens and
// due. It returns the interval that starts at from or, if from is NaN, the cheapest interval.
// It also returns an interval that is certainly cheaper or, at the same price, earlier. The
// second result is nil if there is no such interval.
func (b *bookings) cheapest(now float64, nodes int, length, opens, due, from float64) (own, better *candidate) {
	until := due
	if b.o.Ahead > 0 {
		until = min(due, float64(b.at(now)+b.o.Ahead)*b.o.Width)
	} else {
		until = min(due, float64(b.at(now)+1<<20)*b.o.Width)
	}
	b.forget(now)
	b.levels()
	all := b.candidates[:0]
	try := func(at float64) {
		x := span{nodes, at, at + length}
		if at >= opens && x.to <= until && b.peak(&x) <= b.units-nodes {
			all = append(all, candidate{from: at})
		}
	}
	try(opens)
	// All later windows are empty and therefore have the same price.
	quiet := max(opens, float64(max(b.at(now), b.last+1, len(b.o.Prices)))*b.o.Width) + 2*b.o.Width
	for w := b.at(opens); float64(w)*b.o.Width <= min(until, quiet+length+b.o.Width); w++ {
		boundary := float64(w) * b.o.Width
		try(boundary)
		try(latest(boundary, length))
	}
	for _, x := range b.open {
		try(x.to)
		try(latest(x.from, length))
	}
	if !math.IsInf(due, 1) {
		try(latest(due, length))
	}
	b.candidates = all
	slices.SortFunc(all, func(x, y candidate) int { return cmp.Compare(x.from, y.from) })
	all = slices.CompactFunc(all, func(x, y candidate) bool { return x.from == y.from })
	if !math.IsNaN(from) {
		i := slices.IndexFunc(all, func(c candidate) bool { return math.Abs(c.from-from) <= 4*moment(from) })
		if i < 0 {
			return nil, nil
		}
		own = &candidate{from: from}
		b.price(own, nodes, length, math.Inf(1))
	}
	for i := range all {
		c := &all[i]
		limit := math.Inf(1)
		if own != nil {
			limit = own.high
		}
		if !b.price(c, nodes, length, limit*(1+1e-12)) || own != nil && math.Abs(c.from-own.from) <= 4*moment(from) {
			continue
		}
		switch {
		case math.IsNaN(from):
			if own == nil || c.low < own.low*(1-1e-13) {
				own = c
			}
		case c.high < own.low*(1-3e-13-4*moment(max(c.from, own.from)+length)/length), c.from < own.from && b.same(c, own, length, nodes):
			return own, c
		}
	}
	return own, nil
}

// same reports whether two prices are certainly equal, although times are rounded.
func (b *bookings) same(x, y *candidate, length float64, nodes int) bool {
	noise := 4 * moment(y.from+length) / length
	return x.low == x.high && y.low == y.high && noise < 3e-14 && math.Abs(x.low-y.low) <= 1e-14*y.low
}

// latest returns the latest start of an interval of the given length that ends at the given
// time or earlier.
func latest(end, length float64) float64 {
	at := end - length
	for at+length > end {
		at -= moment(at)
	}
	return at
}

// price sets the bounds of the price of c. In each window, each node pays the price that
// applies after the earlier nodes are sold. If the price certainly exceeds limit, it returns
// false and does not set the price.
func (b *bookings) price(c *candidate, nodes int, length, limit float64) bool {
	to := c.from + length
	least := 0.0
	for full := range 2 { // first compute a lower bound, as if each node were the first
		c.low, c.high = 0, 0
		for w := b.at(c.from); float64(w)*b.o.Width < to; w++ {
			seconds := min(to, float64(w+1)*b.o.Width) - max(c.from, float64(w)*b.o.Width)
			sum, noise := b.total(w)
			if full == 0 {
				least += float64(nodes) * float64(b.list(w, sum-noise)) * seconds
				continue
			}
			low, high := int64(0), int64(0)
			for i := range nodes {
				at := sum + float64(i)*seconds
				more := 0.0
				if at > 0 {
					more = noise + 1e-15*at
				}
				low, high = low+b.list(w, at-more), high+b.list(w, at+more)
			}
			c.low, c.high = c.low+float64(low)*seconds, c.high+float64(high)*seconds
		}
		if least > limit {
			return false
		}
	}
	return true
}

// list returns the list price in window w after the given node-seconds are sold.
func (b *bookings) list(w int, sold float64) int64 {
	o := b.o.Sold
	if w < len(b.o.Prices) {
		o.Low = b.o.Prices[w]
	}
	return o.posted(max(0, min(1, sold/(float64(b.units)*b.o.Width))))
}

// at returns the number of the window that contains time t.
func (b *bookings) at(t float64) int {
	w := int(math.Floor(t / b.o.Width))
	for float64(w)*b.o.Width > t {
		w--
	}
	for float64(w+1)*b.o.Width <= t {
		w++
	}
	return w
}

// total returns the node-seconds sold in window w and the maximum error of that sum by
// rounding.
func (b *bookings) total(w int) (sum, noise float64) {
	x := b.windows[w]
	if x == nil {
		return 0, 0
	}
	all := make([]piece, 0, len(x.pieces))
	for _, p := range x.pieces {
		all = append(all, p)
	}
	slices.SortFunc(all, func(p, q piece) int { return cmp.Compare(p.seq, q.seq) })
	for _, p := range all {
		sum += p.seconds
	}
	return sum, x.noise
}

// forget removes the windows that end by now.
func (b *bookings) forget(now float64) {
	for w := range b.windows {
		if w < b.at(now) {
			delete(b.windows, w)
		}
	}
}

// sell adds x, an interval sold to contract id, to its windows.
func (b *bookings) sell(e *audit.Entry, id int64, x *span) {
	for w := b.at(x.from); float64(w)*b.o.Width < x.to; w++ {
		if b.windows[w] == nil {
			b.windows[w] = &window{pieces: map[int64]piece{}}
		}
		seconds := min(x.to, float64(w+1)*b.o.Width) - max(x.from, float64(w)*b.o.Width)
		b.windows[w].pieces[id] = piece{e.Seq, float64(x.nodes) * seconds}
		b.last = max(b.last, w)
	}
}

// release removes the part of x after the given time from its windows.
func (b *bookings) release(id int64, x *span, at float64) {
	for w := b.at(max(at, x.from)); float64(w)*b.o.Width < x.to; w++ {
		in := b.windows[w]
		if in == nil {
			continue
		}
		p := in.pieces[id]
		in.noise += 8*float64(x.nodes)*moment(x.to) + 4e-16*p.seconds
		if p.seconds = float64(x.nodes) * (at - max(x.from, float64(w)*b.o.Width)); p.seconds > 0 {
			in.pieces[id] = p
		} else {
			delete(in.pieces, id)
		}
	}
}

// levels computes the number of units in use at each time.
func (b *bookings) levels() {
	b.steps = b.steps[:0]
	for _, x := range b.open {
		b.steps = append(b.steps, level{x.from, x.nodes}, level{x.to, -x.nodes})
	}
	slices.SortFunc(b.steps, func(x, y level) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.used, y.used)) })
	for i := range max(1, len(b.steps)) - 1 {
		b.steps[i+1].used += b.steps[i].used
	}
}

// peak returns the maximum number of units in use during x, as computed by levels.
func (b *bookings) peak(x *span) (most int) {
	i, _ := slices.BinarySearchFunc(b.steps, x.from, func(s level, at float64) int {
		if s.at <= at {
			return -1
		}
		return 1
	})
	if i > 0 {
		most = b.steps[i-1].used
	}
	for ; i < len(b.steps) && b.steps[i].at < x.to; i++ {
		if i+1 == len(b.steps) || b.steps[i+1].at > b.steps[i].at {
			most = max(most, b.steps[i].used)
		}
	}
	return most
}

// refused checks the reason for the refusal of job j.
func (b *bookings) refused(t *trail, e *audit.Entry, j *Job, n *note) (found, want string) {
	length, due := j.Estimate/b.speed, j.Deadline
	if math.IsNaN(due) {
		due = math.Inf(1)
	}
	reason := n.rejection.Reason
	wrong := func(why string) (string, string) {
		return fmt.Sprintf("job %d refused: %.60q", j.ID, reason), why
	}
	switch reason {
	case "unfunded", "refused by the bank", "budget is no spending rate":
		return b.unpaid(j)
	case "no licence":
		if len(t.run.Rules.Licences) == 0 {
			return wrong("another reason, because the market has no licences")
		}
		return "", ""
	case "taken back by its owner":
		return "", ""
	case "too few nodes":
		if j.Nodes <= b.units {
			return wrong(fmt.Sprintf("another reason, because %d nodes fit on %d processors", j.Nodes, b.units))
		}
		return "", ""
	}
	if b.auctions() {
		if want := b.lost(e, j, reason); want != "" {
			return wrong(want)
		}
	}
	switch reason {
	case "too few hosts": // the job has several parts
		if !b.o.Leads {
			return wrong("another reason, because all nodes are on one host")
		}
	case "cannot end by its deadline":
		if b.o.Leads && !math.IsInf(due, 1) {
			b.unrefused++
		} else if e.Time+length <= due {
			return wrong(fmt.Sprintf("another reason, because the job could end at %v s", e.Time+length))
		}
	case "no room in any window", "price above budget":
		if b.auctions() {
			return wrong("a reason that auctions give for a refusal")
		}
		return b.unsold(e, j, n, length, due)
	case "outbid", "bid below the reserve price":
		if !b.auctions() {
			return wrong("a reason that sales at list prices give for a refusal")
		}
	default:
		return wrong("one of the policy's reasons for a refusal")
	}
	return "", ""
}

// unsold checks that no interval could be sold to job j, or that the price of every interval
// exceeds the job's budget.
func (b *bookings) unsold(e *audit.Entry, j *Job, n *note, length, due float64) (found, want string) {
	ask := n.rejection.Ask
	dear := n.rejection.Reason == "price above budget"
	if dear && !(ask*1e6 > float64(j.Value)+0.5) {
		return fmt.Sprintf("job %d refused at a price of $%v", j.ID, ask), fmt.Sprintf("a price above the budget of the job, %v", j.Value)
	}
	if b.o.Leads {
		b.unrefused++
		return "", ""
	}
	own, _ := b.cheapest(e.Time, j.Nodes, length, e.Time, due, math.NaN())
	low, high := own.micros()
	switch {
	case !dear && own != nil:
		return fmt.Sprintf("job %d refused for lack of room", j.ID), fmt.Sprintf("an offer of an interval from %v s", own.from)
	case dear && own == nil:
		return fmt.Sprintf("job %d refused at a price of $%v", j.ID, ask), "no price, because no interval has room"
	case dear && (math.Round(ask*1e6) < low || math.Round(ask*1e6) > high):
		return fmt.Sprintf("a price of $%v", ask), fmt.Sprintf("%v, the list price", audit.Money(low))
	}
	return "", ""
}

// settled checks the time at which d ended, and the charge if its owner cancelled d.
func (b *bookings) settled(t *trail, e *audit.Entry, d *contract, v *verdict) (found, want string) {
	x := b.open[d.id]
	if x == nil {
		return "", ""
	}
	delete(b.open, d.id)
	if !b.auctions() {
		b.release(d.id, x, e.Time)
	}
	if d.row != nil && e.Time > x.from {
		t.number(e.Seq, d.row, "start", d.row.Start, x.from)
	}
	_, sum := d.charges(e)
	fuzz := 4*moment(x.to) + 1e-9*(x.to-x.from)
	switch {
	case b.rules.Horizon > 0 && e.Time == b.rules.Horizon && v.State == "cancelled" && sum == 0:
		return "", ""
	case v.State == "cancelled":
		price := d.terms.price(d.value)
		low, high := b.fee(price, x, e.Time, -1e-12), b.fee(price, x, e.Time, 1e-12)
		if sum < low || sum > high {
			return fmt.Sprintf("a charge of %v for cancelling", sum), fmt.Sprintf("a charge of %v, for a price of %v", low, price)
		}
	case e.Time < x.from || e.Time > x.to+fuzz:
		return fmt.Sprintf("an end at %v s", e.Time), fmt.Sprintf("an end within the interval sold, [%v, %v]", x.from, x.to)
	case d.row == nil:
	case v.State != "fulfilled" && e.Time < x.to-fuzz && !d.terms.late(e.Time):
		return fmt.Sprintf("an end at %v s", e.Time), fmt.Sprintf("an end at %v s, because the work was not done", x.to)
	case (v.State == "fulfilled" || e.Time < x.to-fuzz) && e.Time-x.from < d.row.Work/float64(x.nodes)/b.speed*(1-1e-8)-fuzz:
		return fmt.Sprintf("an end at %v s", e.Time), fmt.Sprintf("an end at %v s or later, because the work was not done", x.from+d.row.Work/float64(x.nodes)/b.speed)
	}
	return "", ""
}

// fee returns the charge for x if its owner cancels it: the cancellation fee or, if this is
// more, the price of the part of the interval that has passed.
func (b *bookings) fee(price audit.Money, x *span, at, error float64) audit.Money {
	part := 1.0
	if !b.auctions() {
		part = b.o.CancelFee
	}
	if span := x.to - x.from; at > x.from && at-x.from > part*span {
		part = (at - x.from) / span * (1 + error)
	} else if part < 1 {
		product := new(big.Rat).Mul(decimalOf(part), new(big.Rat).SetInt64(int64(price)))
		return audit.Money(new(big.Int).Quo(product.Num(), product.Denom()).Int64())
	}
	return min(price, audit.Money(math.Floor(part*float64(price))))
}
