package contracts

// String returns "reject", "accept" or "defer".
func (v Verdict) String() string { return [...]string{"reject", "accept", "defer"}[v] }

// These reasons are used by several policies or by the broker.
const (
	None         Reason = ""
	TooFewHosts  Reason = "too few hosts"              // fewer eligible hosts than requested nodes
	NoRoom       Reason = "no room"                    // enough hosts would be eligible if all hosts were idle
	NoLicence    Reason = "no licence"                 // other contracts hold the licences
	NoRate       Reason = "budget is no spending rate" // the bid is less than one nano-dollar per second per node
	Unfunded     Reason = "unfunded"                   // the owner's balance does not cover the budget
	NotAllowed   Reason = "refused by the bank"        // the account's owner has not authorized the request
	BelowFloor   Reason = "below the floor"            // a bid is lower than the floor price of the processors that the node may use
	TooLate      Reason = "cannot end by its deadline" // the contract would miss its deadline even if it were admitted now
	TooDear      Reason = "price above budget"         // the price asked exceeds the budget
	Outbid       Reason = "outbid"                     // other bids won
	SpentAlready Reason = "spent already"              // the new budget does not exceed the amount already owed
	NoBid        Reason = "no rate"                    // with the new budget, a node would have no bid
	FixedPrice   Reason = "its price is agreed"        // the price is the whole budget, so the budget cannot change
	NotRunning   Reason = "it does not run"            // the contract is on no host, so it has no bids to change
	BelowReserve Reason = "bid below the reserve price"
	TakenBack    Reason = "taken back by its owner" // the owner withdrew the request before the policy decided
)

// Price sets the price of the contract to ask dollars, 0 included, and adds it to the numbers.
// If Price is not called, the contract costs its budget.
func (d *Decision) Price(ask float64) {
	d.Priced, d.Ask = true, ask
	d.Numbers = append(d.Numbers, Measured("ask", ask))
}

// AppendJSON appends the verdict, its reason and its numbers to b as one JSON object. This is
// the form in which the ledger stores a decision.
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
