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
	Decision    string
	Submit      float64
	Deadline    float64            // in seconds after Submit
	RunsOn      bool               `json:"runs_on"`
	OnDemand    bool               `json:"on_demand"` // it has no deadline
	PerHost     bool               `json:"per_host"`
	MaxCPU      float64            `json:"max_cpu"`
	Floor       float64            // price of a processor, $/s
	Floors      map[string]float64 // prices of held resources, $/s and unit
	Holds       map[string]any     // amounts held by a node
	Met         map[string]any     // other bids for them, nano-dollars per second
	PenaltyRate float64            `json:"penalty_rate"` // $/s
	PenaltyMax  float64            `json:"penalty_max"`  // $, NaN for unbounded
	Part        float64            `json:"penalty_part"` // fraction of the budget, owed if none of the work is delivered
	Most        float64            `json:"penalty_most"` // maximum fraction of the budget
	On          []any              // bids, each followed by its hosts, if they could not be parsed, and
	on          []bidOn            // if they could
	Price       float64

	// Terms of a planner's contract: when it may start, the host of all its nodes or the
	// number of nodes on each host, and the agreed price if it differs from the value.
	Opens float64 // NaN for none
	Host  string
	Parts []any
	Ask   float64 // $, NaN for none
}

// A bidOn is a bid on a host.
type bidOn struct {
	bid  int64 // nano-dollars per second
	host *machine
}

// booked reports whether t belongs to a planner's contract.
func (t *terms) booked() bool { return known(t.Opens) || t.Host != "" || len(t.Parts) > 0 }

// gangs returns the hosts of a planner's contract and the number of nodes on each: either a
// single host that has all nodes, or several different hosts.
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

// planned is the sharing rule of reservations. Under any payment rule, they pay a price as a
// whole.
const planned = "planned"

// Sharing rules other than the auction that depend only on which tasks are present.
const (
	exclusive = "exclusive" // one processor per task
	maxmin    = "maxmin"    // equal shares
	turns     = "turns"     // one processor for the task that came first
)

// due returns the time of the deadline, or +Inf if there is none.
func (t *terms) due() float64 {
	if t.OnDemand {
		return math.Inf(1)
	}
	return t.Submit + t.Deadline
}

// late reports whether an end at that time misses the deadline. It computes the difference
// first, as the broker does, because near the limit the difference is exact and the sum of
// deadline and microsecond is not.
func (t *terms) late(end float64) bool { return end-t.due() > 1e-6+1e-9*t.Deadline }

// price returns the whole price of a contract with the given value: the asked amount,
// truncated to six decimals, or the maximum amount if it is invalid.
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
	Work   float64 // as estimated by its user, over all nodes; NaN if not stated
	Needed float64 // actual work if it differs from Work, else NaN
	Done   float64 `json:"work_done"`    // NaN if not stated
	Owed   string  `json:"penalty_owed"` // $, empty for none

	Cause    string // cause of a violation, if the terms have a penalty for it
	Payer    string // account that pays that penalty
	Withheld string // part of the penalty, in dollars, that is withheld from the host's owner

	Spent  bool   `json:"exhausted"` // its charges reached its budget
	Killed bool   // its nodes were taken away before it was done
	Fault  string // invalid wish of its owner, as one word
	Losses int    // number of times that a host left with one of its tasks
}

// needed returns the work that was actually needed.
func (v *verdict) needed() float64 {
	if known(v.Needed) {
		return v.Needed
	}
	return v.Work
}

// known reports whether a number is stated.
func known(x float64) bool { return !math.IsNaN(x) }

// places appends the hosts in On with their bids; a bid of -1 means that On states none. It
// returns nil if On is invalid.
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

// hosts maps the names of hosts in notes to their state.
type hosts map[string]*machine

// named returns the host of that name. It creates the host on first use.
func (hs hosts) named(name string) *machine {
	h := hs[name]
	if h == nil {
		h = &machine{name: name, to: "host:" + name}
		hs[name] = h
	}
	return h
}

// owed returns the penalty that v states.
func (v *verdict) owed() (audit.Money, error) {
	if v.Owed == "" {
		return 0, nil
	}
	return parseMoney(v.Owed)
}
