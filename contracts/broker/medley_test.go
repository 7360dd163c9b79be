package broker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/sim"
	"bourse/market/forecast"
	"bourse/workloadgen/config"
)

// A medley is a random market with its requests.
type medley struct {
	seed            uint64
	specs           []hosts.Spec
	policy, options string // the options of the policy are YAML
	sharing         string
	bidding         string
	forecast        string
	payment         string
	churn           *floor.Availability
	cancels         map[contracts.ID]float64 // reservations that are cancelled, by time
	bids            map[contracts.ID]float64 // budgets that change, by time
	end             float64                  // time at which the market closes, or +Inf if it does not
	funds           float64                  // funds of the provider, $
	window          float64
	renew           float64
	asks            []ask
	metered         bool // whether hosts are remote, so that their reports can be late or lost
	prompt          bool // whether remote hosts report at every event
	priced          []hosts.Kind
	licences        int32 // units of the only licence, or 0
}

func (m *medley) String() string {
	leaving := "stay"
	if m.churn != nil {
		leaving = fmt.Sprintf("leave %d charged %v", m.churn.Leaving, m.churn.Charged)
	}
	return fmt.Sprintf("seed %d: %s {%s} %s, %s, %s, %d hosts like %+v", m.seed, m.policy, m.options, m.sharing, m.payment, leaving, len(m.specs), m.specs[0])
}

// newMedley draws a market with n requests of every kind.
func newMedley(seed uint64, n int) *medley {
	rng := rand.New(rand.NewPCG(seed, 7))
	m := &medley{
		seed: seed, policy: pick(rng, policies.Table(nil, nil).Names()...), end: math.Inf(1), cancels: map[contracts.ID]float64{}, bids: map[contracts.ID]float64{},
		payment: pick(rng, Payments().Names()...), funds: pick(rng, 0, 0.5, 1000), window: pick(rng, 10.0, 300),
		renew: pick(rand.New(rand.NewPCG(seed, 12)), 0, 0, 40.0, 700),
	}
	like := hosts.Spec{
		CPUs: pick(rng, 0.5, 1, 2, 4, 7.3), Speed: pick(rng, 1, 1, 0.3, 2.5), Cap: pick(rng, 0, 1, 1, 0.4),
		Room: hosts.Resources{Memory: 8, Disk: 100, Bandwidth: 10},
	}
	m.choose(rng)
	several := rand.New(rand.NewPCG(seed, 14)) // random numbers for the resources
	if several.IntN(3) == 0 {
		m.priced = []hosts.Kind{hosts.Memory, hosts.Countable}[several.IntN(2):]
		if like.Room.Counts[0] = 3; several.IntN(2) == 0 {
			like.Floor[hosts.Memory], like.Floor[hosts.CPU] = 1e-9, pick(several, 0, 1e-9)
		}
	}
	licensed := rand.New(rand.NewPCG(seed, 15)) // random numbers for the licence
	m.licences = pick(licensed, 0, 0, 2, int32(5))
	about := policies.Of(m.policy)
	if about.Rated { // options that a scenario may combine with such a policy
		m.sharing, m.payment, like.CPUs = about.Sharing, "bid", 1
		if about.Free {
			m.payment = "free"
		}
	}
	if about.Books {
		like.CPUs = float64(1 + rng.IntN(12))
	}
	unequal := rng.IntN(4) == 0
	count := 1 + rng.IntN(6)
	if about.Single {
		count = 1
	}
	for h := range count {
		spec := like
		spec.Name = fmt.Sprintf("h%d", h)
		if unequal {
			spec.Speed *= pick(rng, 0.5, 1, 2)
		}
		m.specs = append(m.specs, spec)
	}
	whole := rng.IntN(3) == 0 // whether times and work are whole numbers, so that many events are simultaneous
	kind := rng.IntN(4)       // kind of deadlines
	perHost := pick(rng, 0, 1, 4)
	loose := m.queues() && rng.IntN(4) > 0 // whether deadlines pass while requests wait in the queue
	if loose {
		m.renew = 0 // with renewals, the run would not end
	}
	now := pick(rng, 0.0, 0, 3e7)
	for range n {
		if rng.IntN(5) > 0 {
			now += rng.ExpFloat64() * pick(rng, 1.0, 20, 100)
		}
		work := math.Exp(6 * rng.Float64())
		if whole {
			now, work = math.Floor(now), math.Ceil(work/10)*10
		}
		r := contracts.Request{
			ID: contracts.ID(len(m.asks)), Submit: now, Nodes: 1 + rng.IntN(len(m.specs)),
			PerHost: perHost > 0 && rng.IntN(perHost) == 0, Work: work,
		}
		fastest := like.Cap
		if fastest == 0 || fastest > like.CPUs {
			fastest = like.CPUs
		}
		r.SLA.Deadline = r.Work / (fastest * like.Speed) * pick(rng, 1, 1, 1.3, 4, 0.8, 40)
		r.SLA.Budget = bank.Micros(1 + rng.Int64N(pick(rng, int64(1e2), 1e5, 1e7)))
		if loose {
			r.SLA.Deadline += 50_000
			r.SLA.Budget = bank.Micros(1000 + r.SLA.Budget.Micros())
		}
		r.SLA.Soft = kind == 1 || kind > 1 && rng.IntN(3) == 0
		r.SLA.RunsOn = kind == 2
		r.SLA.Penalty = contracts.Penalty{Rate: pick(rng, 0, 0, 1e-3, 1), Max: pick(rng, 0.1, math.Inf(1))}
		if rng.IntN(4) == 0 {
			r.Needs.Max.CPU = 0.1 + rng.Float64()
		}
		if rng.IntN(4) == 0 {
			r.Needs.Min.Memory, r.Needs.Max.Memory = 3*rng.Float64(), 3+3*rng.Float64()
		}
		if rng.IntN(8) == 0 {
			r.Needs.Min.CPU = 0.1 * rng.Float64()
		}
		if m.priced != nil && several.IntN(2) == 0 {
			r.Needs.Min.Counts[0] = int32(1 + several.IntN(2))
		}
		if m.licences > 0 && licensed.IntN(2) == 0 {
			r.Licences = []int32{int32(1 + licensed.IntN(2))}
		}
		switch m.policy {
		case "queue":
			r.Nodes = 1
			r.Needs = contracts.Requirement{}
		case "reserve", "bundle", "windows":
			r.Nodes = 1 + rng.IntN(int(like.CPUs))
			r.Lead = pick(rng, 0, 0, 10, 100*rng.Float64())
			r.SLA.Deadline += r.Lead
			r.OnDemand = rng.IntN(4) == 0
		case "class":
			r.Class = pick(rng, "", "be", "SAC", "cac", "rac", "other")
		}
		if rng.IntN(5) == 0 {
			m.cancels[r.ID] = r.Submit + r.SLA.Deadline*rng.Float64()
		}
		if several.IntN(4) == 0 {
			m.bids[r.ID] = r.Submit + r.SLA.Deadline*several.Float64()
		}
		truth := r.Work
		if rng.IntN(4) == 0 {
			truth *= 0.3 + 1.4*rng.Float64()
		}
		if r.NodeRate() > 0 {
			m.asks = append(m.asks, ask{r, truth})
		} else {
			delete(m.cancels, r.ID)
			delete(m.bids, r.ID)
		}
	}
	if !about.Books && rng.IntN(3) == 0 {
		m.leave(rng, now)
	}
	if m.policy == "queue" && rng.IntN(2) == 0 || rng.IntN(6) == 0 {
		m.end = now * rng.Float64() * 1.5
	}
	m.metered = !about.Books && m.policy != "queue" && rng.IntN(3) == 0
	if m.policy == "windows" && m.options == "" {
		m.options = "low: 0.00000001"
	}
	if about.Clears {
		m.metered, m.options = false, fmt.Sprintf("every: %v\nrestore: %v", max(50, now/300), pick(rng, 0, 0, 5.5))
		if m.policy == "spot" {
			m.options += fmt.Sprintf("\nreserve: 0.000000001\ninterrupted: %s\nnotice: %v", pick(rng, "resume", "restart", "end"), pick(rng, 0, 20))
		}
		if m.churn != nil && m.churn.Leaving == floor.Suspend {
			m.churn.Leaving = floor.Resubmit
		}
	}
	return m
}

// choose draws options of the policy, and a sharing rule.
func (m *medley) choose(rng *rand.Rand) {
	m.sharing, m.bidding, m.forecast = policies.Of(m.policy).Sharing, pick(rng, "cheapest", "cheapest", "random", "best-response"), pick(rng, forecast.Table().Names()...)
	if !policies.Of(m.policy).Books && rng.IntN(3) == 0 {
		m.sharing = pick(rng, "auction", "exclusive", "deadline", "librasla", "turns")
	}
	options := map[string][]string{
		"sac": {"threshold: share", "discount: predicted", "promise: fulfilment", "promise: fulfilment"}, "cac": {"threshold: share", "capacity: static", "discount: predicted", "promise: fulfilment"},
		"edf": {"admission: none", "check: select"}, "librarisk": {"order: bestfit", "projection: static", "projection: incumbent"},
		"librasla": {"late: pressure", "protect: printed", "current: stored"},
		"bundle":   {"every: 50", "rule: greedy", "losers: leave\nevery: 20", "reserve: 0.000001"},
		"windows":  {"shape: power\nlow: 0.000001", "low: 0.000001\nwidth: 20", "low: 0.000001\nahead: 1"},
		"reserve":  {"preempt: true", "match: ran", "match: ff", "match: nf", "match: price\nbase: 0.0001", "admission: edf+insert", "overrun: kill", "kappa: 0.000001\nbase: 0.00001"},
		"queue":    {"interval: 7", "resubmit: drop", "resubmit: head", "matchmaker: pps", "matchmaker: random", "hold: 10\nhold_mode: block", "matchmaker: first-available"},
	}[m.policy]
	if len(options) > 0 && rng.IntN(3) > 0 {
		m.options = pick(rng, options...)
	}
}

// leave gives the hosts of m random availability until some time after end.
func (m *medley) leave(rng *rand.Rand, end float64) {
	m.churn = &floor.Availability{Leaving: pick(rng, floor.Resubmit, floor.Lose, floor.Suspend), Charged: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		m.churn.Predictor = predictors.Completing{Predictor: must(predictors.Table().New("naive", nil))}
	}
	first := 0.0
	if len(m.asks) > 0 {
		first = max(0, m.asks[0].Submit-100)
	}
	for range m.specs {
		var records []availability.Record
		at, state := first, availability.Available
		if rng.IntN(3) == 0 {
			state = availability.Unavailable
		}
		if first > 0 {
			records = append(records, availability.Record{Start: 0, End: first, State: availability.Unavailable})
		}
		for at < end+5000 {
			next := at + 1 + math.Floor(rng.ExpFloat64()*pick(rng, 20.0, 200, 1000))
			records = append(records, availability.Record{Start: at, End: next, State: state})
			at, state = next, availability.Available+availability.Unavailable-state
		}
		m.churn.Histories = append(m.churn.Histories, must(availability.NewHistory("", 1, records, 0)))
	}
	m.end = min(m.end, end+5000)
}

// A world is the environment of a broker: machines, money and random numbers.
type world struct {
	journal journal
	ledger  *bank.Ledger
	users   []bank.Account
	ties    *rand.PCG
	lots    *rand.PCG // random numbers of the policy
	config  Config
	link    *link // link to remote hosts; nil if there are none
}

// A journal contains the entries of a ledger, one per line.
type journal struct{ strings.Builder }

func (j *journal) Append(e *bank.Entry) error {
	fmt.Fprintf(j, "%v %v %d %v %s\n", math.Float64bits(e.Time), e.Kind, e.Contract, e.Moves, e.Note)
	return nil
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// open creates the world of m and its broker.
func (m *medley) open(noted bool) *world {
	w := &world{ties: rand.NewPCG(m.seed, 2), lots: rand.NewPCG(m.seed, 3)}
	w.ledger = bank.New(nil)
	if noted {
		w.ledger = bank.New(&w.journal)
	}
	l := w.ledger
	c := Config{
		Provider: must(l.Account("provider")), Window: m.window, Teller: l, Ties: rand.New(w.ties), Notes: noted,
		Payment: must(Payments().New(m.payment, nil)), Policy: m.make(w),
	}
	if m.licences > 0 {
		c.Licences = contracts.Licences{Names: []string{"matlab"}, Units: []int32{m.licences}, Floors: []float64{0}}
	}
	if policies.Of(m.policy).Forecasts {
		c.Forecast = must(forecast.Table().New(m.forecast, nil))
	}
	if m.metered {
		w.link = &link{rng: rand.New(rand.NewPCG(m.seed, 13)), prompt: m.prompt, next: math.Inf(1)}
		c.Patience = 5
	}
	for _, spec := range m.specs {
		if m.metered {
			c.Fleet = append(c.Fleet, w.link.host(spec))
		} else {
			c.Fleet = append(c.Fleet, sim.New(spec))
		}
		c.Owners = append(c.Owners, must(l.Account("host:"+spec.Name)))
	}
	for u := range 3 {
		w.users = append(w.users, must(l.Account(fmt.Sprintf("user:%d", u))))
		must(0, l.Mint(0, w.users[u], bank.Micros(pick(rand.New(rand.NewPCG(m.seed, 4)), int64(1e9), 1e9, 2e6))))
	}
	if m.funds > 0 {
		must(0, l.Mint(0, c.Provider, must(bank.Dollars(m.funds))))
	}
	c.Availability = m.churn
	c.Sharing = must(sharing.Table().New(m.sharing, noOptions))
	c.Renew, c.Resources, c.Counts = m.renew, m.priced, []string{"gpu"}
	w.config = c
	return w
}

func (m *medley) queues() bool { return m.policy == "fcfs" || m.policy == "easy" || m.policy == "edf" }

func (m *medley) make(w *world) contracts.Policy {
	bid := must(bidding.Table(rand.New(rand.NewPCG(m.seed, 5))).New(m.bidding, noOptions))
	decode := func(v any) error { return config.Read("", []byte(m.options), v) }
	if m.options == "" {
		decode = noOptions
	}
	return must(policies.Table(bid, rand.New(w.lots)).New(m.policy, decode))
}

// A record is the result of a trial, for exact comparison.
type record struct {
	decisions []string
	refused   []string
	ended     []string
	prices    string
	accounts  string
	journal   string
}

// drive runs m. If the function every is not nil, drive calls it between any two steps; it may
// replace the broker.
func (m *medley) drive(w *world, b *Broker, every func(*Broker) *Broker) (decisions []string) {
	next := 0
	for {
		at := b.Next()
		if b.Idle() && next == len(m.asks) {
			at = math.Inf(1) // availability no longer matters
		}
		kind := 0
		if next < len(m.asks) && m.asks[next].Submit < at {
			at, kind = m.asks[next].Submit, 1
		}
		for _, t := range m.cancels {
			if t < at {
				at, kind = t, 2
			}
		}
		for _, t := range m.bids {
			if t < at {
				at, kind = t, 5
			}
		}
		if t := b.Late(func() bool { return next < len(m.asks) }).Next(); t < at {
			at, kind = t, 3
		}
		if w.link != nil && !(b.Idle() && next == len(m.asks)) {
			if t := w.link.at(); t <= at {
				at, kind = t, 4
			}
		}
		if at >= m.end || math.IsInf(at, 1) {
			break
		}
		if w.link != nil && m.prompt {
			w.link.talk(at, b)
		}
		switch kind {
		case 0:
			must(0, b.Advance(at))
		case 4:
			w.link.talk(at, b)
		case 1:
			r := m.asks[next].Request
			r.Owner = w.users[next%len(w.users)]
			d := must(b.Submit(at, &r, hosts.Task{Work: m.asks[next].truth}))
			decisions = append(decisions, exactly(*d))
			next++
		case 2:
			for i := range m.asks {
				id := m.asks[i].ID
				if t, ok := m.cancels[id]; ok && t == at {
					delete(m.cancels, id)
					decisions = append(decisions, fmt.Sprint("cancel ", id, b.Cancel(at, id) == nil, len(b.Ended())))
				}
			}
		case 5:
			for i := range m.asks {
				r := &m.asks[i].Request
				if t, ok := m.bids[r.ID]; ok && t == at {
					delete(m.bids, r.ID)
					d, err := b.Rebid(at, r.ID, bank.Micros(max(1, r.SLA.Budget.Micros()*int64(i%4)/2)))
					if err == nil {
						decisions = append(decisions, "bid "+exactly(*d))
					}
				}
			}
		case 3:
			must(0, b.Late(nil).Advance(at))
		}
		if w.link != nil && kind != 4 {
			w.link.soon(at, b)
		}
		if every != nil {
			b = every(b)
		}
	}
	if !b.Idle() && !math.IsInf(m.end, 1) {
		must(0, b.Close(m.end))
	}
	return decisions
}

// exactly prints x so that different floats have different texts.
func exactly(x any) string { return fmt.Sprintf("%+v", x) }

func (w *world) accounts() string {
	var s strings.Builder
	for name, a := range w.ledger.Balances() {
		fmt.Fprintln(&s, name, a)
	}
	return s.String()
}

// run runs m. If the function every is not nil, run calls it between any two steps; it may
// replace the broker.
func (m *medley) run(every func(*world, *Broker) *Broker) (r record, b *Broker) {
	w := m.open(true)
	b = New(w.config)
	r.decisions = m.drive(w, b, func(now *Broker) *Broker {
		if b = now; every != nil {
			b = every(w, b)
		}
		return b
	})
	for i := range b.Ended() {
		r.ended = append(r.ended, fmt.Sprintf("%+v", b.Ended()[i]))
	}
	for _, f := range b.Refused() {
		r.refused = append(r.refused, exactly(f))
	}
	r.decisions = append(r.decisions, fmt.Sprint("idle ", b.Idle(), ", active ", b.Active()))
	r.prices, r.accounts, r.journal = exactly(b.Prices().Steps()), w.accounts(), w.journal.String()
	return r, b
}

// difference describes the first difference between two records, or returns "" if they are
// equal.
func difference(got, want record) string {
	for _, part := range []struct {
		name      string
		got, want []string
	}{
		{"decision", got.decisions, want.decisions},
		{"refusal", got.refused, want.refused},
		{"end", got.ended, want.ended},
		{"prices", []string{got.prices}, []string{want.prices}},
		{"accounts", []string{got.accounts}, []string{want.accounts}},
		{"journal", strings.Split(got.journal, "\n"), strings.Split(want.journal, "\n")},
	} {
		for i := range max(len(part.got), len(part.want)) {
			var g, w string
			if i < len(part.got) {
				g = part.got[i]
			}
			if i < len(part.want) {
				w = part.want[i]
			}
			if g != w {
				return fmt.Sprintf("%s %d:\n\tgot  %s\n\twant %s", part.name, i, g, w)
			}
		}
	}
	return ""
}
