package contracts

import (
	"strconv"

	"bourse/bank"
)

// A Verdict is what a policy says of a request.
type Verdict uint8

const (
	Reject Verdict = iota
	Accept
	Defer // ask again when something changes
)

func (v Verdict) String() string { return [...]string{"reject", "accept", "defer"}[v] }

// A Reason says why a request was not accepted.
type Reason uint8

const (
	None          Reason = iota
	TooFewHosts          // fewer eligible hosts than nodes
	NoRate               // the budget is less than a nano-dollar per second and node
	PriceTooHigh         // the spot price leaves less than the minimum requirement
	BelowSpot            // share at the spot price below the threshold (SAC)
	BelowForecast        // share at the percentile of the price below it (SAC, eq. 5)
	WouldViolate         // a contract would be violated (CAC, eq. 6)
	ByLot                // drawn by lot (RAC)
	Unfunded             // the owner's balance does not cover the budget
	TooLate              // it could not end by its deadline
	NoShare              // too few hosts have the share that it needs (Libra)
	Risky                // too few hosts have no risk of unequal delays with it (LibraRisk)
	NoReturn             // too few hosts return more with it, or in time (LibraSLA)
	NoClass              // the class it names is not sold
	NoPlan               // no plan with it keeps what is promised already (reservations)
	TooDear              // the price asked is more than the budget (reservations)
	OneNode              // it has several nodes, or reserves what may not be there (queue)
	TakenBack            // its owner took it back before it was decided
)

func (r Reason) String() string {
	return [...]string{"", "too few hosts", "budget is no spending rate", "price too high", "share below threshold at spot price",
		"share below threshold at price percentile", "would violate", "drawn by lot", "unfunded", "cannot end by its deadline",
		"too few hosts have the share it needs", "too few hosts are without risk", "too few hosts return more with it",
		"no such class", "no plan keeps all promises with it", "price above budget",
		"only jobs of one node are queued", "taken back by its owner"}[r]
}

// A Decision is a verdict with its terms and the numbers that decided it.
// Numbers not looked at are 0.
type Decision struct {
	Verdict    Verdict
	Reason     Reason
	Placements []Placement // if accepted, one per node; valid until the next Decide

	Price      float64 // mean spot price of the chosen hosts, $/s
	Percentile float64 // mean F⁻¹(g) there, $/s
	SpotShare  float64 // sum of b/(b+c) over them
	Share      float64 // sum of b/(b+F⁻¹(g)) over them (eq. 5)
	Threshold  float64 // what both sums must reach
	Stays      float64 // where sums are discounted: mean probability that a host stays
	Hosts      int     // with NoShare, Risky, NoReturn: hosts that would do, fewer than nodes
	Violates   ID      // with WouldViolate: the first contract violated
	Gets, Want float64 // with WouldViolate: what it would get, and what it needs; work per second, or shares (eq. 6)

	// Of a planner that accepts, on one placement:
	Start, Completion float64 // as planned at present, instants
	Impact            float64 // laxity that contracts still to start lose in all, s; may be negative
	Priced            bool    // Ask is agreed; otherwise the price is the budget
	Ask               float64 // dollars

	Balance, Budget bank.Amount // with Unfunded: what the owner has, and what was asked to be held
}

// AppendJSON appends the verdict, its reason and its numbers as one JSON object.
func (d *Decision) AppendJSON(b []byte) []byte {
	b = append(b, `{"decision":"`...)
	b = append(b, d.Verdict.String()...)
	b = append(b, '"')
	if d.Reason != None {
		b = append(b, `,"reason":"`...)
		b = append(b, d.Reason.String()...)
		b = append(b, '"')
	}
	for _, f := range [...]struct {
		name string
		x    float64
	}{
		{"price", d.Price}, {"percentile", d.Percentile}, {"spot_share", d.SpotShare},
		{"share", d.Share}, {"threshold", d.Threshold}, {"stays", d.Stays},
		{"start", d.Start}, {"completion", d.Completion}, {"impact", d.Impact},
	} {
		if f.x != 0 {
			b = appendNumber(b, f.name, f.x)
		}
	}
	if d.Priced { // at 0, too: without it the price is the budget
		b = appendNumber(b, "ask", d.Ask)
	}
	if d.Reason == NoShare || d.Reason == Risky || d.Reason == NoReturn {
		b = append(b, `,"hosts":`...)
		b = strconv.AppendInt(b, int64(d.Hosts), 10)
	}
	if d.Reason == WouldViolate {
		b = append(b, `,"violates":`...)
		b = strconv.AppendInt(b, int64(d.Violates), 10)
		b = appendNumber(b, "gets", d.Gets)
		b = appendNumber(b, "want", d.Want)
	}
	if d.Reason == Unfunded {
		b = append(b, `,"balance":"`...)
		b = append(b, d.Balance.String()...)
		b = append(b, `","budget":"`...)
		b = append(b, d.Budget.String()...)
		b = append(b, '"')
	}
	return append(b, '}')
}

func appendNumber(b []byte, name string, x float64) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
