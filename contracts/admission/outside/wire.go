package outside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// A Line is a question as JSON. Money is in dollars, rates are in $/s, work is in
// processor-seconds and times are in seconds.
type Line struct {
	Ask       int             `json:"ask,omitempty"`
	Now       float64         `json:"now"`
	Ended     string          `json:"ended,omitempty"` // outcome of the contract
	Request   Request         `json:"request"`
	Fleet     int             `json:"fleet,omitempty"`
	Priced    []string        `json:"priced,omitempty"` // resources other than processors that have a price
	Floors    bool            `json:"floors,omitempty"` // whether resources have floor prices
	Place     any             `json:"place,omitempty"`  // a []Bid, or a string with the reason why there is none
	Hosts     []Host          `json:"hosts,omitempty"`
	Contracts []Contract      `json:"contracts,omitempty"`
	Waiting   []Request       `json:"waiting,omitempty"`
	Random    []float64       `json:"random,omitempty"`
	State     json.RawMessage `json:"state,omitempty"`

	// These fields are set only in a recorded question.
	Percentiles []float64      `json:"percentiles,omitempty"`
	Calls       []call         `json:"calls,omitempty"`
	Options     map[string]any `json:"options,omitempty"` // options of the policy
}

// A Bid is a placement.
type Bid struct {
	Host int     `json:"host"`
	Bid  float64 `json:"bid"`
}

// A proposed is a placement that the bidding strategy proposes. If resources other than
// processors have prices, it contains the claims of a node. Poor means that the bid is below
// the floor price of the resources that the node would hold.
type proposed struct {
	Bid
	Claims []Claim `json:"claims,omitempty"`
	Poor   bool    `json:"below_floor,omitempty"`
}

// A Claim is the claim of a node to one resource of a host. It contains the claimed fraction,
// in [0,1], and the part of the bid for the resource and the price of the resource on that
// host, both in $/s.
type Claim struct {
	Resource   string    `json:"resource"`
	Part       float64   `json:"part"`
	Bid        float64   `json:"bid"`
	Price      float64   `json:"price"`
	Percentile []float64 `json:"percentile,omitempty"` // percentiles that a program has requested
}

// A Request is the part of a request that a policy receives. Due and PenaltyMax are nil if
// there is no bound.
type Request struct {
	ID          int64    `json:"id"`
	Nodes       int      `json:"nodes"`
	Work        float64  `json:"work"`
	Total       float64  `json:"total"`
	Submit      float64  `json:"submit"`
	Due         *float64 `json:"due"`
	Deadline    float64  `json:"deadline"`
	Lead        float64  `json:"lead,omitempty"`
	Budget      float64  `json:"budget"`
	Rate        float64  `json:"rate"`
	Class       string   `json:"class,omitempty"`
	PerHost     bool     `json:"per_host,omitempty"`
	OnDemand    bool     `json:"on_demand,omitempty"`
	Repeat      bool     `json:"repeat,omitempty"`
	MinCPU      float64  `json:"min_cpu,omitempty"`
	MaxCPU      float64  `json:"max_cpu,omitempty"`
	Memory      float64  `json:"memory,omitempty"`
	Disk        float64  `json:"disk,omitempty"`
	Bandwidth   float64  `json:"bandwidth,omitempty"`
	PenaltyRate float64  `json:"penalty_rate,omitempty"`
	PenaltyMax  *float64 `json:"penalty_max,omitempty"`
}

// A Host is the part of a host that a policy receives. A question to a program omits the
// properties that never change.
type Host struct {
	ID    int     `json:"id"`
	Name  string  `json:"name,omitempty"`
	CPUs  float64 `json:"cpus,omitempty"`
	Speed float64 `json:"speed,omitempty"`
	Cap   float64 `json:"cap,omitempty"`

	Memory    float64 `json:"memory,omitempty"`
	Disk      float64 `json:"disk,omitempty"`
	Bandwidth float64 `json:"bandwidth,omitempty"`

	Price      float64   `json:"price"`
	Free       int       `json:"free"`
	Away       bool      `json:"away,omitempty"`
	Room       *Room     `json:"room,omitempty"` // nil if the host has no such resources
	Percentile []float64 `json:"percentile,omitempty"`
	On         []Task    `json:"on,omitempty"`
}

// A Room contains the free resources of a host.
type Room struct {
	Memory    float64 `json:"memory"`
	Disk      float64 `json:"disk"`
	Bandwidth float64 `json:"bandwidth"`
}

// A Task is one node of a contract on a host.
type Task struct {
	Number int32   `json:"number"`
	Bid    float64 `json:"bid"`
	Rate   float64 `json:"rate"`
	Paying float64 `json:"paying"`
	Left   float64 `json:"left"`
	Weight float64 `json:"weight,omitempty"` // weight of the share; set only in a recorded question
	Limit  float64 `json:"limit,omitempty"`
}

// A Contract is the part of an accepted request that a policy receives.
type Contract struct {
	Number    int32    `json:"number"`
	ID        int64    `json:"id"`
	Due       *float64 `json:"due"`
	Work      float64  `json:"work"`
	Total     float64  `json:"total"`
	Remaining float64  `json:"remaining"`
	Rate      float64  `json:"rate"`
	Budget    float64  `json:"budget"`
	Admitted  float64  `json:"admitted"`
	PerHost   bool     `json:"per_host,omitempty"`
	OnDemand  bool     `json:"on_demand,omitempty"`
	Hosts     []int    `json:"hosts"`
}

// A call records a call of a method of the view, with its result; true is recorded as 1.
type call struct {
	Name   string  `json:"call"`
	Host   int     `json:"host"`
	Of     float64 `json:"of"`
	Result float64 `json:"result"`
	Claims []Claim `json:"claims,omitempty"`
}

// finite returns x, or nil if x is infinite.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func requestOf(r *contracts.Request) Request {
	least := &r.Needs.Min
	out := Request{
		ID: int64(r.ID), Nodes: r.Nodes, Work: r.Work, Total: r.Total(), Submit: r.Submit, Due: finite(r.Due()), Deadline: r.SLA.Deadline,
		Lead: r.Lead, Budget: r.SLA.Budget.Float64(), Rate: r.Rate().Float64(), Class: r.Class, PerHost: r.PerHost, OnDemand: r.OnDemand,
		Repeat: r.Repeat, MinCPU: least.CPU, MaxCPU: r.Needs.Max.CPU, Memory: least.Memory, Disk: least.Disk, Bandwidth: least.Bandwidth,
		PenaltyRate: r.SLA.Penalty.Rate,
	}
	if out.PenaltyRate > 0 {
		out.PenaltyMax = finite(r.SLA.Penalty.Max)
	}
	return out
}

// Fixed returns the properties of a host that never change.
func Fixed(h hosts.ID, s *hosts.Spec) Host {
	return Host{ID: int(h), Name: s.Name, CPUs: s.CPUs, Speed: s.Speed, Cap: s.Cap, Memory: s.Room.Memory, Disk: s.Room.Disk, Bandwidth: s.Room.Bandwidth}
}

// Free returns the number of whole processors of h minus its tasks, or 0 if h is away.
func Free(h hosts.ID, v contracts.View) int {
	if v.Unavailable(h) {
		return 0
	}
	return max(1, int(v.Spec(h).CPUs)) - len(v.On(h))
}

// Percentile returns F⁻¹(g) of a resource of h: cpu, or one of Priced.
func (q *Question) Percentile(h hosts.ID, resource string, g float64) (float64, error) {
	if resource == hosts.CPU.Name(nil) {
		return q.call("percentile", h, g, func() float64 { return q.View.Percentile(h, g) }), nil
	}
	i := slices.Index(q.Priced(), resource)
	if i < 0 {
		return 0, fmt.Errorf("found %q, want a resource that has a price: cpu %s", clip(resource), strings.Join(q.Priced(), " "))
	}
	return q.call(resource+" percentile", h, g, func() float64 { return q.View.PercentileOf(h, q.View.Priced()[i], g) }), nil
}

// Stays returns the predicted probability that h stays for span seconds.
func (q *Question) Stays(h hosts.ID, span float64) float64 {
	return q.call("stays", h, span, func() float64 { return q.View.Stays(h, span) })
}

// Fits reports whether h is present and has room for a node of r, now or when it is idle.
func (q *Question) Fits(h hosts.ID, r *contracts.Request, idle bool) bool {
	name := fmt.Sprintf("fits %d", r.ID)
	if idle {
		name = "idle " + name
	}
	return q.call(name, h, 0, func() float64 {
		if spec := q.View.Spec(h); idle && r.Needs.Fits(spec, spec.Offers()) || !idle && contracts.Eligible(h, r, q.View) {
			return 1
		}
		return 0
	}) > 0
}

// Affords reports whether the bid at pl reaches the floor price of all resources that the node
// may use, if held resources have floor prices. If only processors have a floor price, the
// market itself checks it.
func (q *Question) Affords(pl contracts.Placement) bool {
	return q.call("affords", pl.Host, pl.Bid.Float64(), func() float64 {
		if f := q.View.Floors(pl.Host); f != nil && f.OnHeld() {
			if _, ok := contracts.Affords(q.Request, &pl, q.View); !ok {
				return 0
			}
		}
		return 1
	}) > 0
}

// Floors reports whether resources have floor prices, so that a call of Affords is useful.
func (q *Question) Floors() bool {
	if v, ok := q.View.(*Recorded); ok {
		return v.line.Floors
	}
	return q.View.Fleet() > 0 && q.View.Floors(0) != nil
}

// Priced returns the names of the resources other than processors that have a price.
func (q *Question) Priced() (names []string) {
	if v, ok := q.View.(*Recorded); ok {
		return v.line.Priced
	}
	for _, k := range q.View.Priced() {
		names = append(names, q.View.KindName(k))
	}
	return names
}

// Claims returns the claims of a node at pl: first of processors, then of other resources in
// order.
func (q *Question) Claims(pl contracts.Placement) (all []Claim) {
	v, cpu := q.View, hosts.CPU.Name(nil)
	old, _ := v.(*Recorded)
	if c := old.call("claims", pl.Host, pl.Bid.Float64()); c != nil {
		all = c.Claims
	} else {
		r := q.Request.Claims(pl.Host, v)
		all = append(all, Claim{cpu, r.Of[hosts.CPU], r.Bid(pl.Bid, hosts.CPU).Float64(), v.Price(pl.Host).Float64(), nil})
		for _, k := range v.Priced() {
			if r.Of[k] > 0 {
				all = append(all, Claim{v.KindName(k), r.Of[k], r.Bid(pl.Bid, k).Float64(), v.PriceOf(pl.Host, k).Float64(), nil})
			}
		}
	}
	q.calls = append(q.calls, call{Name: "claims", Host: int(pl.Host), Of: pl.Bid.Float64(), Claims: all})
	return all
}

// call returns the result of a method of the view and records it. In a recorded question, it
// returns the recorded result, if there is one.
func (q *Question) call(name string, h hosts.ID, of float64, result func() float64) (x float64) {
	v, _ := q.View.(*Recorded)
	if c := v.call(name, h, of); c != nil {
		x = c.Result
	} else {
		x = result()
	}
	q.calls = append(q.calls, call{Name: name, Host: int(h), Of: of, Result: x})
	return x
}

// Parts are the parts of a question that a program requests.
type Parts struct {
	Hosts, Contracts, Waiting bool
	Percentiles               []float64
	Random                    int
	full                      bool // whether to include the properties that never change
}

// mostHosts is the maximum size of a fleet of which a program receives every host.
const mostHosts = 2000

// Line returns q as JSON, with the given parts.
func (q *Question) Line(p Parts) Line {
	l := Line{Ask: q.Number, Now: q.Now, Ended: q.Outcome, Request: requestOf(q.Request), State: q.State}
	if q.View == nil {
		return l
	}
	v := q.View
	l.Fleet, l.Priced, l.Floors = v.Fleet(), q.Priced(), q.Floors()
	if !p.full || q.proposed { // recording must not use the strategy's random stream
		if on, why := q.Place(); why != contracts.None {
			l.Place = string(why)
		} else {
			l.Place = q.proposal(on, p)
		}
	}
	for range p.Random {
		l.Random = append(l.Random, q.Random())
	}
	if p.full {
		l.Random = q.drawn
	}
	if p.Waiting {
		for _, r := range q.Waiting() {
			l.Waiting = append(l.Waiting, requestOf(r))
		}
	}
	if p.Contracts {
		for _, i := range q.Contracts() {
			l.Contracts = append(l.Contracts, contractOf(q.Now, i, v.Contract(i)))
		}
	}
	if !p.Hosts {
		return l
	}
	for h := range hosts.ID(v.Fleet()) {
		if v.Fleet() <= mostHosts || slices.ContainsFunc(q.place, func(p contracts.Placement) bool { return p.Host == h }) {
			l.Hosts = append(l.Hosts, q.host(h, p))
		}
	}
	return l
}

func (q *Question) host(h hosts.ID, p Parts) Host {
	v := q.View
	out := Host{ID: int(h)}
	if p.full {
		out = Fixed(h, v.Spec(h))
	}
	out.Price, out.Free, out.Away = v.Price(h).Float64(), Free(h, v), v.Unavailable(h)
	if room := v.Room(h); !room.Zero() {
		out.Room = &Room{room.Memory, room.Disk, room.Bandwidth}
	}
	for _, g := range p.Percentiles {
		out.Percentile = append(out.Percentile, v.Percentile(h, g))
	}
	for _, a := range v.On(h) {
		t := Task{Number: a.Contract, Bid: a.Bid.Float64(), Rate: a.Rate, Paying: a.Paying, Left: a.Left(q.Now, v.Contract(a.Contract))}
		if p.full {
			t.Weight, t.Limit = a.Share.Weight, a.Share.Limit
		}
		out.On = append(out.On, t)
	}
	return out
}

func contractOf(now float64, number int32, c *contracts.Contract) Contract {
	return Contract{
		Number: number, ID: int64(c.ID), Due: finite(c.Due()), Work: c.Work, Total: c.Total(), Remaining: c.Remaining(now), Rate: c.Rate,
		Budget: c.SLA.Budget.Float64(), Admitted: c.Admitted, PerHost: c.PerHost, OnDemand: c.OnDemand, Hosts: HostsOf(c),
	}
}

// HostsOf returns the hosts on which c has tasks.
func HostsOf(c *contracts.Contract) []int {
	on := make([]int, 0, len(c.Placements))
	for i := range c.Placements {
		if !c.Placements[i].Left {
			on = append(on, int(c.Placements[i].Host))
		}
	}
	return on
}

// Bids returns placements as JSON.
func Bids(on []contracts.Placement) []Bid {
	out := make([]Bid, len(on))
	for i := range on {
		out[i] = Bid{int(on[i].Host), on[i].Bid.Float64()}
	}
	return out
}

// proposal returns placements in the form that programs receive.
func (q *Question) proposal(on []contracts.Placement, p Parts) []proposed {
	out := make([]proposed, len(on))
	for i, b := range Bids(on) {
		out[i].Bid = b
		if p.full {
			continue
		}
		if out[i].Poor = q.Floors() && !q.Affords(on[i]); q.Priced() == nil {
			continue
		}
		out[i].Claims = q.Claims(on[i])
		for k := range out[i].Claims {
			c := &out[i].Claims[k]
			for _, g := range p.Percentiles {
				x, _ := q.Percentile(on[i].Host, c.Resource, g) // cannot fail, because the resource has a price
				c.Percentile = append(c.Percentile, x)
			}
		}
	}
	return out
}

// Placement returns the placement that b describes. The bid is rounded down to whole
// nano-dollars per second.
func (b Bid) Placement() (contracts.Placement, error) {
	rate, err := market.Dollars(b.Bid)
	if err != nil || b.Host < 0 || b.Host > math.MaxInt32 {
		return contracts.Placement{}, fmt.Errorf("found a bid of %v $/s on host %d, want a rate and the id of a host", b.Bid, b.Host)
	}
	return contracts.Placement{Host: hosts.ID(b.Host), Bid: rate}, nil
}

// Record returns q with all data that are required to answer it again.
func (q *Question) Record() *Line {
	l := q.Line(Parts{Hosts: true, Contracts: true, Waiting: true, full: true})
	l.Calls = q.calls
	return &l
}

// A Recorded is the state of a market at one time, parsed from a question. It implements View.
type Recorded struct {
	line      *Line
	specs     []hosts.Spec
	on        [][]contracts.Allocation
	contracts map[int32]*contracts.Contract
}

// Read parses the question in text, a JSON object. The bidding strategy of the question
// proposes the recorded placements or, if there are none, the placements of bid. The answer is
// guarded, unless guard is nil.
func Read(text []byte, bid bidding.Strategy, guard Guard) (*Question, *Line, error) {
	l := new(Line)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(l); err != nil {
		return nil, nil, fmt.Errorf("it is no question: %w", err)
	}
	q, err := l.question(bid)
	if err == nil {
		q.decider.guard = guard
	}
	return q, l, err
}

func (l *Line) question(bid bidding.Strategy) (*Question, error) {
	r, err := l.Request.request()
	if err != nil {
		return nil, err
	}
	v := &Recorded{line: l, contracts: make(map[int32]*contracts.Contract)}
	for i := range l.Contracts {
		c := &l.Contracts[i]
		of, err := (&Request{ID: c.ID, Nodes: max(1, len(c.Hosts)), Work: c.Work, Due: c.Due, Budget: c.Budget, PerHost: c.PerHost, OnDemand: c.OnDemand}).request()
		if err != nil {
			return nil, err
		}
		of.Nodes = max(1, int(math.Round(c.Total/c.Work)))
		v.contracts[c.Number] = &contracts.Contract{Request: *of, Admitted: c.Admitted, Rate: c.Rate, At: l.Now, Done: of.Total() - c.Remaining}
		for _, h := range c.Hosts {
			v.contracts[c.Number].Placements = append(v.contracts[c.Number].Placements, contracts.Placement{Host: hosts.ID(h)})
		}
	}
	for i := range l.Hosts {
		h := &l.Hosts[i]
		if h.ID != i {
			return nil, fmt.Errorf("hosts[%d] has the id %d, want %d: the hosts in order", i, h.ID, i)
		}
		v.specs = append(v.specs, hosts.Spec{Name: h.Name, CPUs: h.CPUs, Speed: h.Speed, Cap: h.Cap, Room: hosts.Resources{Memory: h.Memory, Disk: h.Disk, Bandwidth: h.Bandwidth}})
		var on []contracts.Allocation
		for _, t := range h.On {
			c := v.contracts[t.Number]
			if c == nil {
				return nil, fmt.Errorf("hosts[%d] has a task of contract %d, which is not among the contracts", i, t.Number)
			}
			b, err := Bid{i, t.Bid}.Placement()
			if err != nil {
				return nil, err
			}
			share := hosts.Share{Weight: t.Weight, Limit: t.Limit}
			if share.Weight == 0 {
				share.Weight = float64(b.Bid)
			}
			on = append(on, contracts.Allocation{
				Contract: t.Number, Bid: b.Bid, Rate: t.Rate, Paying: t.Paying, Done: c.Work - t.Left, At: l.Now, Of: int32(c.Nodes), Share: share,
			})
		}
		v.on = append(v.on, on)
	}
	d := &decider{bid: bid, rng: rand.New(rand.NewPCG(0, 0))}
	q := &Question{Number: l.Ask, Now: l.Now, Request: r, View: v, Outcome: l.Ended, State: l.State, decider: d}
	for i := range l.Waiting {
		w, err := l.Waiting[i].request()
		if err != nil {
			return nil, fmt.Errorf("waiting[%d]: %w", i, err)
		}
		q.waiting = append(q.waiting, w)
	}
	if l.Ended != "" {
		q.View = nil
		return q, nil
	}
	return q, q.replay(l)
}

// replay makes q propose the recorded placement.
func (q *Question) replay(l *Line) error {
	q.given = l.Random
	switch place := l.Place.(type) {
	case string:
		q.proposed, q.why = true, contracts.Reason(place)
	case []any:
		text, _ := json.Marshal(place) // place was parsed from JSON
		var bids []Bid
		if err := json.Unmarshal(text, &bids); err != nil {
			return fmt.Errorf("place: %w", err)
		}
		q.proposed = true
		for _, b := range bids {
			p, err := b.Placement()
			if err != nil || int(p.Host) >= q.View.Fleet() {
				return fmt.Errorf("place has host %d, want one of the hosts", b.Host)
			}
			q.place = append(q.place, p)
		}
	}
	return nil
}

// request returns the request that r describes.
func (r *Request) request() (*contracts.Request, error) {
	budget, err := bank.Parse(strconv.FormatFloat(r.Budget, 'f', -1, 64))
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	out := &contracts.Request{
		ID: contracts.ID(r.ID), Repeat: r.Repeat, PerHost: r.PerHost, OnDemand: r.OnDemand, Class: r.Class, Submit: r.Submit, Work: r.Work,
		Nodes: r.Nodes, Lead: r.Lead,
	}
	out.Needs.Min = contracts.Bound{CPU: r.MinCPU, Resources: hosts.Resources{Memory: r.Memory, Disk: r.Disk, Bandwidth: r.Bandwidth}}
	out.Needs.Max.CPU = r.MaxCPU
	out.SLA = contracts.SLA{Budget: budget, Deadline: r.Deadline, Penalty: contracts.Penalty{Rate: r.PenaltyRate, Max: math.Inf(1)}}
	if r.Deadline == 0 && r.Due != nil { // the request of this contract is unknown
		out.SLA.Deadline = *r.Due - r.Submit
	}
	if r.PenaltyMax != nil {
		out.SLA.Penalty.Max = *r.PenaltyMax
	}
	if out.Nodes < 1 || !(out.Work > 0) {
		return nil, fmt.Errorf("found %d nodes with work of %v processor-seconds, want more than 0 of each", r.Nodes, r.Work)
	}
	return out, nil
}

// Fleet implements [contracts.View].
func (v *Recorded) Fleet() int { return len(v.specs) }

// Spec implements [contracts.View].
func (v *Recorded) Spec(h hosts.ID) *hosts.Spec { return &v.specs[h] }

// Room implements [contracts.View].
func (v *Recorded) Room(h hosts.ID) hosts.Resources {
	if room := v.line.Hosts[h].Room; room != nil {
		return hosts.Resources{Memory: room.Memory, Disk: room.Disk, Bandwidth: room.Bandwidth}
	}
	return hosts.Resources{}
}

// Price implements [contracts.View].
func (v *Recorded) Price(h hosts.ID) market.Rate {
	rate, _ := market.Dollars(v.line.Hosts[h].Price)
	return rate
}

// Percentile implements [contracts.View]. Percentile returns the host's own percentile or, if
// it has none, its price.
func (v *Recorded) Percentile(h hosts.ID, g float64) float64 {
	if all := v.line.Hosts[h].Percentile; len(all) > 0 {
		return all[max(0, min(len(all)-1, slices.Index(v.line.Percentiles, g)))]
	}
	return v.line.Hosts[h].Price
}

// Stays implements [contracts.View].
func (v *Recorded) Stays(hosts.ID, float64) float64 { return 1 }

// call returns the recorded call, or nil if there is none or v is nil.
func (v *Recorded) call(name string, h hosts.ID, of float64) *call {
	if v == nil {
		return nil
	}
	for i := range v.line.Calls {
		if c := &v.line.Calls[i]; c.Name == name && c.Host == int(h) && c.Of == of {
			return c
		}
	}
	return nil
}

// Unavailable implements [contracts.View].
func (v *Recorded) Unavailable(h hosts.ID) bool { return v.line.Hosts[h].Away }

// History implements [contracts.View].
func (v *Recorded) History(hosts.ID) *availability.History { return nil }

// Cheapest implements [contracts.View]. Hosts with equal prices are in order of their numbers.
func (v *Recorded) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	var all []hosts.ID
	for h := range hosts.ID(v.Fleet()) {
		if least := r.Needs.Min.Resources; !v.Unavailable(h) && (least.Zero() || least.Fit(v.Room(h))) {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b hosts.ID) int { return int(v.Price(a) - v.Price(b)) })
	return append(out, all[:min(r.Nodes, len(all))]...)
}

// On implements [contracts.View].
func (v *Recorded) On(h hosts.ID) []contracts.Allocation { return v.on[h] }

// Changed implements [contracts.View].
func (v *Recorded) Changed() []hosts.ID { return nil }

// Contract implements [contracts.View].
func (v *Recorded) Contract(i int32) *contracts.Contract { return v.contracts[i] }

// Priced implements [contracts.View]. A recorded question has only the prices of processors.
func (v *Recorded) Priced() []hosts.Kind { return nil }

// KindName implements [contracts.View].
func (v *Recorded) KindName(k hosts.Kind) string { return k.Name(nil) }

// PriceOf implements [contracts.View].
func (v *Recorded) PriceOf(h hosts.ID, _ hosts.Kind) market.Rate { return v.Price(h) }

// PercentileOf implements [contracts.View].
func (v *Recorded) PercentileOf(h hosts.ID, _ hosts.Kind, g float64) float64 {
	return v.Percentile(h, g)
}

// Floors implements [contracts.View]. A recorded question has no floor prices.
func (v *Recorded) Floors(hosts.ID) *hosts.Floor { return nil }
