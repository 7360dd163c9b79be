package contracts

// String returns "reject", "accept" or "defer".
func (v Verdict) String() string { return [...]string{"reject", "accept", "defer"}[v] }

// Reasons of several policies, or of the broker.
const (
	None        Reason = ""
	TooFewHosts Reason = "too few hosts"              // fewer eligible hosts than nodes
	NoRate      Reason = "budget is no spending rate" // less than a nano-dollar per second and node
	Unfunded    Reason = "unfunded"                   // the owner's balance does not cover the budget
	NotAllowed  Reason = "refused by the bank"        // whoever owns the account has not asked for it
	BelowFloor  Reason = "below the floor"            // a bid is less than the floor price of what the node may use
	TooLate     Reason = "cannot end by its deadline" // not even if it were let in
	TakenBack   Reason = "taken back by its owner"    // before it was decided
)

// Price agrees on a price of so many dollars, which is one of the numbers, at 0 too:
// without it the price is the budget.
func (d *Decision) Price(ask float64) {
	d.Priced, d.Ask = true, ask
	d.Numbers = append(d.Numbers, Measured("ask", ask))
}

// AppendJSON appends the verdict, its reason and its numbers as one JSON object.
func (d *Decision) AppendJSON(b []byte) []byte {
	b = append(b, `{"decision":"`...)
	b = append(b, d.Verdict.String()...)
	b = append(b, '"')
	if d.Reason != None {
		b = append(b, `,"reason":"`...)
		b = append(b, d.Reason...)
		b = append(b, '"')
	}
	for _, n := range d.Numbers {
		b = n.append(b)
	}
	return append(b, '}')
}
