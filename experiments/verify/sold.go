package verify

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"bourse/bank/audit"
)

// Some policies set the rates of contracts and may suspend contracts. The policy posted sells
// at list prices, and the policies spot and call sell in clearings. The policies karma and
// slices divide units without money. The ledger contains every start, suspension and restart
// of a contract (admit, move, settle) and the result of every clearing (clear). A sale uses
// these entries, the table of jobs and the policy's options. From these data it recomputes on
// which hosts each contract ran, at which rates, and for how long. It checks the rates and
// every charge. If all bids are known, it also checks the price and the winners of each
// clearing.

// Sold contains the options of a policy that sets rates. Prices are in dollars per node and
// second.
type Sold struct {
	Policy  string // posted, spot, call, karma or slices
	Divides bool   // units are divided among users, and all rates are 0

	Shape, At        string // options of posted
	Low, High, Power float64

	Every, Notice, Reserve, K, OnDemand, Restore float64 // options of spot and call
	Fill, Buyers                                 bool    // Fill: free units go to waiting bids between clearings; Buyers: buyers bid according to their progress
	Interrupted, Losers                          string
	Asks                                         []float64 // options of call
	Drawn                                        bool      // whether the asks were drawn at random
}

// A sale tracks the contracts of a run under such a policy.
type sale struct {
	rules *Rules
	sold  *Sold
	units int // processors of all hosts
	used  map[string]int
	open  map[int64]*contract

	class   map[string]int // index of the price class of each host; hosts with the same processors and speed share a class
	prices  []int64        // price of each class, in nano-dollars
	offered []int
	next    int     // number of the next decision
	last    float64 // time of the last clearing; at this time losers leave before the clearing, and winners that move leave after it
	ready   bool    // whether bids contains the bids of that decision
	bids    []saleBid
	unknown bool // whether some bids are unknown
}

// A visit is the period that a contract spends on its hosts, until it is suspended or ends.
type visit struct {
	on       []bidOn
	owed     []float64 // amount owed by each node, in nano-dollars
	rate     []float64 // work per second, by node
	ends     []float64 // time at which each node completes its own work before the others do; +Inf if it does not
	from, to float64
	left     float64 // time up to which nodes that end by themselves have been removed
	at       float64 // time up to which owed is computed
	spot     bool    // whether the rates follow the clearings
}

// A saleBid is a bid that takes part in a decision.
type saleBid struct {
	id      int64
	price   int64
	nodes   int
	submit  float64
	running bool
	just    bool // whether the job arrived at the time of the decision
}

func newSale(r *Rules) *sale {
	s := &sale{rules: r, sold: r.Sold, used: map[string]int{}, open: map[int64]*contract{}, class: map[string]int{}, next: 1}
	specs := map[[3]float64]int{}
	for h := range r.Hosts {
		name := fmt.Sprintf("h%0*d", max(2, len(fmt.Sprint(r.Hosts-1))), h)
		spec := [3]float64{r.cpusOf(name), r.Speeds[h%len(r.Speeds)]}
		if n := len(r.Kinds); n > 0 {
			spec[2] = float64(r.Kinds[h%n])
		}
		s.units += max(1, int(spec[0]))
		if s.sold.Divides { // units of all hosts have one price
			spec = [3]float64{}
		}
		if _, ok := specs[spec]; !ok {
			specs[spec] = len(specs)
			s.prices = append(s.prices, s.reserve())
			s.offered = append(s.offered, 0)
		}
		s.class[name] = specs[spec]
	}
	s.unknown = s.sold.OnDemand > 0 || s.sold.Buyers || len(specs) > 1 || s.sold.Drawn || s.sold.Divides
	return s
}

// beyond lists the values that s cannot recompute.
func (s *sale) beyond() (what []string) {
	switch {
	case s.sold.Divides:
		what = append(what, "number of units that each user obtains in a clearing")
	case s.unknown:
		what = append(what, "the winners and the exact price of each clearing, because the results do not contain all bids and asks")
	}
	if s.sold.Buyers {
		what = append(what, "charges of contracts for which the spot and on-demand prices were equal, because the ledger does not state which price the contracts paid")
	}
	return what
}

// nano converts dollars per second to whole nano-dollars per second.
func nano(dollars float64) int64 { return int64(math.RoundToEven(dollars * 1e9)) }

func (s *sale) reserve() int64 { return nano(s.sold.Reserve) }

// start places d on the hosts of on, with the time and the rates of e.
func (s *sale) start(e *audit.Entry, d *contract, on []bidOn) (found, want string) {
	if d.row != nil && len(on) != d.row.Nodes {
		return fmt.Sprintf("contract %d on %d hosts", d.id, len(on)), fmt.Sprintf("%d hosts, one per node", d.row.Nodes)
	}
	seen := map[*machine]bool{}
	load := s.load()
	for _, pl := range on {
		cpus := max(1, int(s.rules.cpusOf(pl.host.name)))
		if s.used[pl.host.name]++; seen[pl.host] || s.used[pl.host.name] > cpus {
			return fmt.Sprintf("%d nodes on %q, including one of contract %d", s.used[pl.host.name], pl.host.name, d.id), fmt.Sprintf("at most %d nodes, each of a different contract", cpus)
		}
		seen[pl.host] = true
	}
	v := visit{on: slices.Clone(on), owed: make([]float64, len(on)), from: e.Time, at: e.Time, to: math.Inf(1)}
	if found, want = s.rates(e, d, &v, load); found != "" {
		return found, want
	}
	if len(d.visits) > 0 {
		for k := range on {
			of := on[k : k+1]
			if d.terms.PerHost {
				of = on
			}
			d.done[k] -= s.sold.Restore * s.pace(of)
		}
	} else {
		d.done = make([]float64, len(on))
	}
	v.rate = s.speeds(d, on)
	for k, rate := range v.rate {
		v.ends = append(v.ends, math.Inf(1))
		if d.terms.PerHost && d.row != nil && rate > slices.Min(v.rate) {
			v.ends[k] = e.Time + (d.row.Work/float64(len(on))-d.done[k])/rate
		}
	}
	d.visits = append(d.visits, v)
	s.open[d.id] = d
	return "", ""
}

// load returns the number of units in use.
func (s *sale) load() (n int) {
	for _, k := range s.used {
		n += k
	}
	return n
}

// rates checks the rates at which d starts.
func (s *sale) rates(e *audit.Entry, d *contract, v *visit, load int) (found, want string) {
	if s.sold.Policy == "posted" {
		sum := 0.0
		for k, pl := range v.on {
			if s.sold.At == "before" {
				k = 0
			}
			price := s.sold.posted(float64(load+k) / float64(s.units))
			if sum += float64(pl.bid); pl.bid != price {
				return fmt.Sprintf("a rate of %d nano-dollars per second on %q", pl.bid, pl.host.name), fmt.Sprintf("%d, the list price with %d of %d processors in use", price, load+k, s.units)
			}
		}
		if d.row != nil {
			if cost := sum * (d.row.Estimate / s.pace(v.on)) / 1e3; cost > float64(d.value)*(1+1e-9) {
				return fmt.Sprintf("a cost of %v micro-dollars", cost), fmt.Sprintf("at most the budget, %v", d.value)
			}
		}
		return "", ""
	}
	price := s.prices[s.class[v.on[0].host.name]]
	for _, pl := range v.on {
		if demand := s.sold.OnDemand > 0 && pl.bid == nano(s.sold.OnDemand); pl.bid != price && !demand {
			return fmt.Sprintf("a rate of %d nano-dollars per second on %q", pl.bid, pl.host.name), fmt.Sprintf("%d, the price of the host's market", price)
		} else if v.spot = !demand || pl.bid == price && d.spot; demand && pl.bid == price && s.sold.Buyers {
			d.unsure = true // the contract is on spot or on demand, but the entry does not state which
		}
	}
	if bid := s.bid(d.row, s.pace(v.on[:1])); v.spot && d.row != nil && !s.sold.Buyers && bid < price {
		return fmt.Sprintf("a winning bid of %d nano-dollars per second", bid), fmt.Sprintf("bids of at least the price, %d", price)
	}
	return "", ""
}

// bid returns the bid of j per unit on hosts of the given speed: its budget divided by its
// number of nodes and its estimated runtime.
func (s *sale) bid(j *Job, speed float64) int64 {
	if j == nil {
		return 0
	}
	x := big.NewRat(int64(j.Value)*1000, int64(j.Nodes))
	x.Mul(x, decimalOf(speed))
	x.Quo(x, decimalOf(j.Estimate))
	bid := new(big.Int).Quo(x.Num(), x.Denom())
	if !bid.IsInt64() {
		return 1 << 53
	}
	return min(bid.Int64(), 1<<53)
}

// decimalOf returns x as the shortest decimal that a parser converts back to x.
func decimalOf(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	return r
}

// posted returns the list price at the given load.
func (o *Sold) posted(load float64) int64 {
	price := o.Low * 1e9
	switch o.Shape {
	case "power":
		price += (o.High*1e9 - o.Low*1e9) * math.Pow(load, o.Power)
	case "threshold":
		price = max(price, math.Pow(o.High*1e9*math.E/(o.Low*1e9), load)*(o.Low*1e9)/math.E)
	}
	return int64(math.RoundToEven(min(price, 1<<53)))
}

// accrue adds the charges of d up to now.
func (v *visit) accrue(now float64) {
	for k := range v.owed {
		v.owed[k] += float64(v.on[k].bid) * max(0, min(now, v.ends[k])-v.at)
	}
	v.at = now
}

// runs returns the current visit of d, or nil if d is suspended or has ended.
func (d *contract) runs() *visit {
	if n := len(d.visits); n > 0 && math.IsInf(d.visits[n-1].to, 1) {
		return &d.visits[n-1]
	}
	return nil
}

// leave ends the current visit of d.
func (s *sale) leave(d *contract, now float64) {
	v := d.runs()
	v.accrue(now)
	v.to = now
	for k, pl := range v.on {
		d.done[k] += (min(now, v.ends[k]) - v.from) * v.rate[k]
		if v.ends[k]*(1-instant) > v.left {
			s.used[pl.host.name]--
		}
	}
}

// moved processes a change to the hosts of d.
func (s *sale) moved(e *audit.Entry, d *contract, n *note) (found, want string) {
	switch v := d.runs(); {
	case n.move.Off && v == nil:
		return fmt.Sprintf("a suspension of contract %d, which does not run", d.id), "a suspension of a running contract"
	case n.move.Off:
		s.leave(d, e.Time)
		if n.move.Lost != (s.sold.Interrupted == "restart" && e.Time != s.last) && !s.sold.Buyers {
			return fmt.Sprintf("lost: %v", n.move.Lost), "lost work only if interrupted jobs restart, and no lost work for winners that move"
		}
		if n.move.Lost {
			clear(d.done)
		}
		return "", ""
	case v != nil:
		return fmt.Sprintf("a start of contract %d, which is running", d.id), "a contract that is not running"
	}
	on := (&terms{On: n.move.On}).places(nil, n.hosts)
	if len(on) == 0 {
		return fmt.Sprintf("a move to %v", n.move.On), "rates, each followed by its hosts"
	}
	return s.start(e, d, on)
}

// cleared checks the result of a clearing.
func (s *sale) cleared(t *trail, e *audit.Entry, n *note) (found, want string) {
	r := &n.clearing
	if r.Market < 0 || r.Market >= len(s.prices) {
		return fmt.Sprintf("market %d", r.Market), fmt.Sprintf("one of %d markets, one per specification of hosts", len(s.prices))
	}
	if s.sold.Policy == "posted" || !s.due(e.Time) {
		return fmt.Sprintf("a clearing at %v s", e.Time), fmt.Sprintf("one every %v s", s.sold.Every)
	}
	s.collect(t, e)
	price := r.Price
	was := s.prices[r.Market]
	s.last = e.Time
	s.prices[r.Market], s.offered[r.Market] = price, r.Offered
	switch {
	case r.Offered > s.units || r.Units > r.Offered || r.Units < 0:
		return fmt.Sprintf("%d units sold of %d", r.Units, r.Offered), fmt.Sprintf("at most the units offered, and at most %d units offered", s.units)
	case r.Units > 0 && (price < r.Low || price > r.High):
		return fmt.Sprintf("a price of %d", price), fmt.Sprintf("one within [%d, %d]", r.Low, r.High)
	case r.Offered == 0 && price != was:
		return fmt.Sprintf("a price of %d", price), fmt.Sprintf("%d, because the price does not change if no units are offered", was)
	}
	if !s.unknown && r.Offered > 0 {
		want, units, winners := s.double(r.Offered)
		if price != want || units != r.Units { // a job that follows another job may have arrived just after the clearing
			s.bids = slices.DeleteFunc(s.bids, func(b saleBid) bool { return b.just })
			want, units, winners = s.double(r.Offered)
		}
		if price != want || units != r.Units {
			return fmt.Sprintf("%d units at a price of %d", r.Units, price), fmt.Sprintf("%d units at a price of %d, computed from the bids", units, want)
		}
		for _, d := range s.open {
			if v := d.runs(); v != nil && !winners[d.id] {
				return fmt.Sprintf("contract %d on its hosts after it lost the clearing", d.id), "only winners of the clearing on hosts"
			}
			if v := d.visits[len(d.visits)-1]; v.to == e.Time && winners[d.id] && !d.moves {
				d.moves = s.sold.Policy == "call" // the contract may move to another unit
				if !d.moves {
					return fmt.Sprintf("an interruption of contract %d, which won the clearing", d.id), "interruptions only of contracts that lost the clearing"
				}
			}
		}
	}
	for _, d := range s.open {
		if v := d.runs(); v != nil && v.spot && s.class[v.on[0].host.name] == r.Market {
			v.accrue(e.Time)
			for k := range v.on {
				v.on[k].bid = price
			}
		}
	}
	if r.Market == len(s.prices)-1 {
		s.next, s.ready = int(math.Round(e.Time/s.sold.Every))+1, false
	}
	return "", ""
}

// due reports whether a clearing at time at may follow the last one. Clearings may be missing
// only if no contract ran at these times, except at one of them.
func (s *sale) due(at float64) bool {
	k := math.Round(at / s.sold.Every)
	if k*s.sold.Every != at || k < float64(s.next) {
		return false
	}
	for _, d := range s.open {
		if v := d.runs(); v != nil && v.from < (k-1)*s.sold.Every && k > float64(s.next+1) {
			return false
		}
	}
	return true
}

// collect gathers the bids for the next decision, unless it has already done so. They come
// from running contracts, suspended contracts and waiting jobs.
func (s *sale) collect(t *trail, e *audit.Entry) {
	if s.ready || s.unknown {
		return
	}
	s.ready, s.bids = true, s.bids[:0]
	at := math.Round(e.Time/s.sold.Every)*s.sold.Every - s.sold.Notice
	for i, j := range t.run.Jobs.all() {
		d := s.open[j.ID]
		if j.Arrival > at || j.Nodes > s.rules.Hosts || d == nil && t.fares[i].seen {
			continue
		}
		b := saleBid{j.ID, s.bid(j, s.rules.Speeds[0]), j.Nodes, j.Arrival, false, d == nil && j.Arrival == at}
		if d != nil && len(d.visits) > 0 {
			last := d.visits[len(d.visits)-1]
			b.running = math.IsInf(last.to, 1) || s.sold.Notice == 0 && last.to == e.Time
		}
		s.bids = append(s.bids, b)
	}
}

// before frees the hosts of nodes that ended by themselves before e. It also collects the
// bids for a decision made before e.
func (s *sale) before(t *trail, e *audit.Entry) {
	for _, d := range s.open {
		v := d.runs()
		for k := 0; v != nil && k < len(v.on); k++ {
			if at := v.ends[k] * (1 - instant); at > v.left && at <= e.Time {
				s.used[v.on[k].host.name]--
			}
		}
		if v != nil {
			v.left = e.Time
		}
	}
	if s.sold.Notice > 0 && !s.ready && e.Time > float64(s.next)*s.sold.Every-s.sold.Notice {
		at := *e
		at.Time = float64(s.next) * s.sold.Every
		s.collect(t, &at)
	}
}

// double returns the result of a k-double auction with the collected bids for the given
// number of units: the price, the units sold and the winners.
func (s *sale) double(units int) (price int64, sold int, won map[int64]bool) {
	bids := slices.Clone(s.bids)
	slices.SortFunc(bids, func(a, b saleBid) int {
		running := 0
		if a.running != b.running {
			if running = 1; a.running {
				running = -1
			}
		}
		return cmp.Or(cmp.Compare(b.price, a.price), running, cmp.Compare(a.submit, b.submit), cmp.Compare(a.id, b.id))
	})
	won, least, asks := s.rank(bids, units)
	if sold = len(asks[0]); sold == 0 {
		return slices.Min(asks[1]), 0, won
	}
	low, high := slices.Max(asks[0]), least
	for _, b := range bids {
		if !won[b.id] && b.price <= least {
			low = max(low, b.price)
		}
	}
	for _, a := range asks[1] {
		if a >= low {
			high = min(high, a)
		}
	}
	return low + int64(math.Floor(s.sold.K*float64(high-low))), sold, won
}

// rank processes the bids in order. Each bid takes the cheapest units, one per host, if it is
// at least as high as the highest ask among them. Among equal asks, it takes units of the
// hosts with the most units left, and then of the first hosts. It returns the winners, their
// lowest bid, and the sold and unsold asks.
func (s *sale) rank(bids []saleBid, units int) (won map[int64]bool, least int64, asks [2][]int64) {
	type offer struct {
		ask         int64
		host, units int
	}
	var offers []offer
	cpus := max(1, units/max(1, s.rules.Hosts))
	for h := range units / cpus {
		ask := s.reserve()
		if s.sold.Policy == "call" {
			ask = nano(s.sold.Asks[h%len(s.sold.Asks)])
		}
		offers = append(offers, offer{ask, h, cpus})
	}
	won, least = map[int64]bool{}, math.MaxInt64
	top := int64(0)
	sort := func() {
		slices.SortFunc(offers, func(a, b offer) int {
			return cmp.Or(cmp.Compare(a.ask, b.ask), b.units-a.units, a.host-b.host)
		})
	}
	sort()
	for _, b := range bids {
		if b.nodes > len(offers) || b.price < max(top, offers[b.nodes-1].ask) {
			continue
		}
		won[b.id], least, top = true, b.price, max(top, offers[b.nodes-1].ask)
		for i := range offers[:b.nodes] {
			asks[0] = append(asks[0], offers[i].ask)
			offers[i].units--
		}
		offers = slices.DeleteFunc(offers, func(o offer) bool { return o.units == 0 })
		if cpus > 1 {
			sort()
		}
	}
	for _, o := range offers {
		asks[1] = append(asks[1], slices.Repeat([]int64{o.ask}, o.units)...)
	}
	return won, least, asks
}

// pace returns the lowest speed among the hosts.
func (s *sale) pace(on []bidOn) float64 {
	pace := math.Inf(1)
	for _, pl := range on {
		if i, ok := number(pl.host.name); ok {
			pace = min(pace, s.rules.Speeds[i%len(s.rules.Speeds)])
		}
	}
	return pace
}

// speeds returns the work per second of each node of d on the hosts in on. If each node has
// its own work, all nodes run at the pace of the slowest node.
func (s *sale) speeds(d *contract, on []bidOn) (all []float64) {
	for i := range on {
		of := on[i : i+1]
		if d.terms.PerHost {
			of = on
		}
		own, most := s.pace(on[i:i+1]), s.rules.cpusOf(on[i].host.name)
		if s.rules.Cap > 0 {
			most = min(most, s.rules.Cap)
		}
		all = append(all, min(s.pace(of), own*most))
	}
	return all
}

// work checks when d ended. It also checks that the promise of d was kept if and only if
// its work was done.
func (s *sale) work(e *audit.Entry, d *contract, v *verdict) (found, want string) {
	total, due := d.row.Work, d.terms.due()
	last := e.Time
	if !d.terms.OnDemand {
		last = max(last, due)
	}
	fuzz := 10 * (1e-9*total + 2*moment(last)*float64(s.units)*slices.Max(s.rules.Speeds)*s.rules.most())
	done, left := 0.0, 0.0
	for _, x := range d.done {
		if done += x; d.terms.PerHost {
			left = max(left, total-x*float64(len(d.done)))
		}
	}
	if !d.terms.PerHost {
		left = total - done
	}
	switch past := d.terms.late(e.Time); {
	case past && !d.terms.RunsOn:
		return fmt.Sprintf("a settlement at %v s", e.Time), fmt.Sprintf("a settlement at its deadline, %v s", due)
	case left < -fuzz:
		return fmt.Sprintf("a settlement at %v s with %v CPU s done", e.Time, done), fmt.Sprintf("a settlement when %v CPU s were done", total)
	case left > fuzz && e.Time < due-2*moment(last):
		return fmt.Sprintf("a settlement at %v s with %v CPU s remaining", e.Time, left), fmt.Sprintf("a settlement when the work was done, or at %v s", due)
	case left > fuzz && v.State != "violated" || left <= fuzz/100 && !past && v.State != "fulfilled":
		return fmt.Sprintf("the verdict %q", v.State), fmt.Sprintf("the verdict for %v of %v CPU s done", done, total)
	case v.State == "fulfilled" && !near(v.Done, total, fuzz):
		return fmt.Sprintf("%v CPU s done", v.Done), fmt.Sprintf("%v", total)
	}
	return "", ""
}

// most returns the number of processors of the largest host.
func (r *Rules) most() float64 { return slices.Max(append([]float64{r.CPUs}, r.Sizes...)) }

// settle checks the charges of d at its end. For each visit, each node is charged its rates
// for the time of the visit, rounded. The total is at most the budget.
func (s *sale) settle(e *audit.Entry, d *contract, v *verdict) (found, want string) {
	if d.runs() != nil {
		s.leave(d, e.Time)
	}
	if delete(s.open, d.id); d.unsure {
		return "", ""
	}
	owed, sum, moves := 0.0, audit.Money(0), e.Moves
	type part struct {
		to   string
		owed float64
	}
	var parts []part
	for i := range d.visits {
		for k, x := range d.visits[i].owed {
			parts = append(parts, part{d.visits[i].on[k].host.to, x / 1e3})
			owed += x / 1e3
		}
	}
	for _, m := range moves {
		if string(m.To) != d.owner {
			sum += audit.Money(m.Micros)
		}
	}
	value, fuzz := float64(d.value), 1e-9*owed+1e-6
	whole := 0.0
	for _, p := range parts {
		whole += math.RoundToEven(p.owed)
	}
	switch h := s.rules.Horizon; {
	case h > 0 && e.Time == h && v.State == "cancelled" && !v.Spent:
		if sum != 0 {
			return fmt.Sprintf("charges of %v", sum), "no charges, because the market closed"
		}
		return "", ""
	case v.Spent && (v.State != "cancelled" || sum != d.value || owed < value-fuzz-1):
		return fmt.Sprintf("an exhausted contract that is %s, owes %v micro-dollars and pays %v", v.State, owed, sum), fmt.Sprintf("a cancelled contract that pays its budget, %v", d.value)
	case !v.Spent && owed > value+fuzz+float64(len(parts)):
		return fmt.Sprintf("%v micro-dollars owed at the end", owed), fmt.Sprintf("an end when the budget is spent, %v", d.value)
	case v.Spent || whole > value: // the visits share the budget in proportion to their charges
		return "", ""
	}
	for _, p := range parts {
		low, high := math.RoundToEven(p.owed*(1-1e-12)-1e-7), math.RoundToEven(p.owed*(1+1e-12)+1e-7)
		paid := 0.0
		if len(moves) > 0 && string(moves[0].To) == p.to && float64(moves[0].Micros) >= low-0.5 && moves[0].Micros > 0 && high > 0 {
			paid, moves = float64(moves[0].Micros), moves[1:]
		}
		if paid < low || paid > high {
			return fmt.Sprintf("a charge of %v by %s", audit.Money(paid), p.to), fmt.Sprintf("%v, computed from rate and time", audit.Money(math.RoundToEven(p.owed)))
		}
	}
	for _, m := range moves {
		if string(m.To) != d.owner {
			return fmt.Sprintf("a charge of %v by %s", audit.Money(m.Micros), m.To), "charges only by hosts on which the contract ran"
		}
	}
	return "", ""
}

// A move is the note about a change of hosts.
type move struct {
	On        []any
	Off, Lost bool
}

// A clearingResult is the note about the result of a clearing.
type clearingResult struct {
	Market, Units, Offered int
	Price, Low, High       int64
	Bids, Approximate      int // only in auctions of intervals
}
