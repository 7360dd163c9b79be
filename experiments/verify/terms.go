package verify

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
)

// Terms are what the note of an admission says was agreed.
type terms struct {
	Decision    string
	Submit      float64
	Deadline    float64 // s after it
	RunsOn      bool    `json:"runs_on"`
	OnDemand    bool    `json:"on_demand"` // no instant is promised
	PerHost     bool    `json:"per_host"`
	MaxCPU      float64 `json:"max_cpu"`
	Floor       float64 // price of a processor, $/s
	PenaltyRate float64 `json:"penalty_rate"` // $/s
	PenaltyMax  float64 `json:"penalty_max"`  // $, NaN for unbounded
	Part        float64 `json:"penalty_part"` // of the budget, owed if none of the work is delivered
	Most        float64 `json:"penalty_most"` // of the budget, at most
	On          []any   // bids, each followed by its hosts, where they could not be read, and
	on          []bidOn // where they could
	Price       float64

	// Of a planner's contract: when it may start, the host of all its nodes, or how many
	// are on which, and what was agreed to be paid, if that is not the value.
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

// booked reports whether they are of a planner's contract.
func (t *terms) booked() bool { return known(t.Opens) || t.Host != "" || len(t.Parts) > 0 }

// gangs reads on which hosts a planner's contract has its nodes, and how many on each:
// one host as a whole, whatever they are, or several, each once.
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

// planned is the sharing rule of reservations: whatever the rule of payment, they
// pay a price as a whole.
const planned = "planned"

// The sharing rules beside the auction that go by who is there.
const (
	exclusive = "exclusive" // a processor each
	turns     = "turns"     // a processor for who came first
)

// due returns the instant of the deadline, +Inf if none was promised.
func (t *terms) due() float64 {
	if t.OnDemand {
		return math.Inf(1)
	}
	return t.Submit + t.Deadline
}

// late reports whether an end at that instant misses the deadline. The difference is
// taken first, as the broker does: near the border it is exact, and a sum of the
// deadline and a microsecond is not.
func (t *terms) late(end float64) bool { return end-t.due() > 1e-6+1e-9*t.Deadline }

// price returns what the whole of a contract worth value costs: what was asked, cut
// off after six decimals, or more than anybody has if that is no amount.
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

// A verdict is what the note of a settlement says.
type verdict struct {
	State  string
	Work   float64 // as its user estimated it, all nodes together; NaN where it is not said
	Needed float64 // truly, if that is something else, else NaN
	Done   float64 `json:"work_done"`    // or NaN
	Owed   string  `json:"penalty_owed"` // $, empty for none

	Cause    string // why it is violated, where terms have a penalty for that
	Payer    string // of that penalty
	Withheld string // $ of it that are not paid to the host's owner

	Killed bool   // its nodes were taken away before it was done
	Fault  string // what its owner asked for that cannot be done, in a word
	Losses int    // how often a host left with a task of it
}

// needed returns the work that was truly needed.
func (v *verdict) needed() float64 {
	if known(v.Needed) {
		return v.Needed
	}
	return v.Work
}

// known reports whether a number is said.
func known(x float64) bool { return !math.IsNaN(x) }

// places appends what On says of hosts, with a bid of -1 where it says none; it returns nil where
// On makes no sense.
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

// hosts are those that notes name, by name.
type hosts map[string]*machine

// named returns the host of that name, a new one if it was not named before.
func (hs hosts) named(name string) *machine {
	h := hs[name]
	if h == nil {
		h = &machine{name: name, to: "host:" + name}
		hs[name] = h
	}
	return h
}

// owed returns the penalty that v says is owed.
func (v *verdict) owed() (audit.Money, error) {
	if v.Owed == "" {
		return 0, nil
	}
	return parseMoney(v.Owed)
}
