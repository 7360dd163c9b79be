package verify

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
)

// A terms is the agreement stated in the note of an admission.
type terms struct {
	Decision     string
	Submit       float64
	Deadline     float64            // deadline in seconds after Submit
	RunsOn       bool               `json:"runs_on"`
	OnDemand     bool               `json:"on_demand"` // whether the contract has no deadline
	PerHost      bool               `json:"per_host"`
	MaxCPU       float64            `json:"max_cpu"`
	Floor        float64            // price of one processor in $/s
	Floors       map[string]float64 // prices of held resources, each in $/s per unit
	Holds        map[string]any     // amounts of held resources, per node
	Met          map[string]any     // other bids for these resources, in nano-dollars per second
	Licences     map[string]float64 // units of the market's licences
	LicenceFloor float64            `json:"licence_floor"` // price of these units in $/s
	Promised     []int64            // price promised to each node, in nano-dollars per second; empty without a promise
	PenaltyRate  float64            `json:"penalty_rate"` // $/s
	PenaltyMax   float64            `json:"penalty_max"`  // $; NaN if there is no maximum
	Part         float64            `json:"penalty_part"` // fraction of the budget that is owed if no work is delivered
	Most         float64            `json:"penalty_most"` // maximum penalty as a fraction of the budget
	On           []any              // bids, each followed by its hosts; set if the bids could not be parsed
	on           []bidOn            // parsed bids; set if they could be parsed
	Price        float64

	// These are the terms of a planned contract: the earliest start, the host of all nodes or
	// the number of nodes per host, and the agreed price if it differs from the value.
	Opens float64 // NaN if there is none
	Host  string
	Parts []any
	Ask   float64 // $; NaN if there is none
	Start float64 // agreed start; NaN if there is none
	Nodes int
}

// A bidOn is a bid on one host.
type bidOn struct {
	bid  int64 // nano-dollars per second
	host *machine
}

// booked reports whether t belongs to a planned contract.
func (t *terms) booked() bool { return known(t.Opens) || t.Host != "" || len(t.Parts) > 0 }

// gangs returns the hosts of a planned contract and the number of nodes on each. Either all
// nodes are on one host, or the hosts are all different.
func (t *terms) gangs() (names []string, nodes []int, ok bool) {
	if t.Host != "" {
		return []string{t.Host}, []int{1}, len(t.Parts) == 0
	}
	for i := 0; i+1 < len(t.Parts); i += 2 {
		n, isNumber := t.Parts[i].(float64)
		name, isName := t.Parts[i+1].(string)
		if !isNumber || !isName || !(n >= 1 && n <= 1<<24) || n != math.Trunc(n) || slices.Contains(names, name) {
			return nil, nil, false
		}
		names, nodes = append(names, name), append(nodes, int(n))
	}
	return names, nodes, len(names) > 1 && len(t.Parts)%2 == 0
}

// planned is the sharing rule for reservations. Planned contracts pay a whole price under any
// payment rule.
const planned = "planned"

// Under these sharing rules, as under the auction, shares depend only on the present tasks.
const (
	exclusive = "exclusive" // one processor per task
	maxmin    = "maxmin"    // equal shares
	turns     = "turns"     // one processor for the task that arrived first
)

// due returns the time of the deadline, or +Inf if there is no deadline.
func (t *terms) due() float64 {
	if t.OnDemand {
		return math.Inf(1)
	}
	return t.Submit + t.Deadline
}

// late reports whether a contract that ends at the given time misses its deadline. It
// subtracts first, as the broker does. Near the limit, the difference is exact, while adding a
// microsecond to the deadline would round.
func (t *terms) late(end float64) bool { return end-t.due() > 1e-6+1e-9*t.Deadline }

// price returns the whole price of a contract with the given value. It is the asking price,
// truncated to six decimals, or the maximum amount if the asking price is invalid.
func (t *terms) price(value audit.Money) audit.Money {
	if !known(t.Ask) {
		return value
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(t.Ask, 'f', -1, 64), ".")
	m, err := parseMoney(whole + "." + (part + "000000")[:6])
	if err != nil {
		return math.MaxInt64
	}
	return m
}

// A verdict is the outcome stated in the note of a settlement.
type verdict struct {
	State  string
	Work   float64 // work over all nodes, as estimated by the user; NaN if the note does not state it
	Needed float64 // actual work if it differs from Work, else NaN
	Done   float64 `json:"work_done"`    // NaN if the note does not state it
	Owed   string  `json:"penalty_owed"` // $, empty for none

	Cause    string // cause of a violation, if the terms include a penalty for it
	Payer    string // account that pays the penalty
	Withheld string // part of the penalty in dollars that is withheld from the host's owner

	Spent  bool    `json:"exhausted"` // whether the charges reached the budget
	Killed bool    // whether the contract was stopped before its work was done, because its estimate was used up
	Unused float64 // part of Done that programs did not need, because they ended early
	Fault  string  // one word that describes why the owner's request could not be carried out
	Losses int     // number of times that a host left while it ran a task of the contract
}

// needed returns the work that was needed.
func (v *verdict) needed() float64 {
	if known(v.Needed) {
		return v.Needed
	}
	return v.Work
}

// known reports whether the note states a number.
func known(x float64) bool { return !math.IsNaN(x) }

// places appends the hosts in On with their bids. A bid of -1 means that On states no bid for
// the host. It returns nil if On is invalid.
func (t *terms) places(on []bidOn, hosts hosts) []bidOn {
	bid := int64(-1)
	for _, x := range t.On {
		switch x := x.(type) {
		case float64:
			if bid = int64(x); x < 0 || x > 1<<53 {
				return nil
			}
		case string:
			on = append(on, bidOn{bid, hosts.named(x)})
		}
	}
	return on
}

// hosts maps the names of hosts in notes to the state of each host.
type hosts map[string]*machine

// named returns the host with the given name. It creates the host when the name is first
// used.
func (hs hosts) named(name string) *machine {
	h := hs[name]
	if h == nil {
		h = &machine{name: name, to: "host:" + name}
		hs[name] = h
	}
	return h
}

// owed returns the penalty stated in v.
func (v *verdict) owed() (audit.Money, error) {
	if v.Owed == "" {
		return 0, nil
	}
	return parseMoney(v.Owed)
}
