package market

// An Auctioneer runs the continuous auction of one host. The price is the sum of the current
// bids, and each bidder receives the share bid/price.
//
// It stores only the sum. Callers store their own bids, so a change takes constant time,
// independent of the number of bidders. The zero value has no bids, a price of 0 and a history
// of length defaultWindow.
type Auctioneer struct {
	price     Rate
	forgetful bool // no history is recorded
	history   History
}

// A Config holds the options of an auctioneer.
type Config struct {
	// Window is the length of the price history in seconds. 0 means defaultWindow.
	Window float64

	// NoHistory disables the history, which then stays empty. Set it if past prices are not
	// needed.
	NoHistory bool
}

// New returns an auctioneer without bids. It fails if the window is negative, infinite or NaN.
func New(c Config) (a Auctioneer, err error) {
	err = a.Reset(c)
	return a, err
}

// Bid replaces a bid of the rate was by a bid of the rate r, from time now on. A rate of 0
// means no bid: Bid(now, 0, r) adds a bid and Bid(now, was, 0) withdraws one.
//
// Bid panics if one of the rates is negative, if the old rate exceeds the sum of the current
// bids, or if the price would overflow an int64. If a history is recorded, Bid also panics if
// now is earlier than a time already passed to it.
func (a *Auctioneer) Bid(now float64, was, r Rate) {
	others := a.price - was
	price := others + r
	if was|r|others|price < 0 { // The result of the bitwise or is negative if any of the four values is negative.
		panic("market: bid out of range")
	}
	if a.price = price; !a.forgetful {
		a.history.Observe(now, price)
	}
}

// Price returns the sum of all current bids, which the paper calls c.
func (a *Auctioneer) Price() Rate { return a.price }

// History returns the record of past prices.
func (a *Auctioneer) History() *History { return &a.history }

// Reset returns a to the state that [New] creates, for another run from time 0. It reuses the
// allocated memory.
func (a *Auctioneer) Reset(c Config) (err error) {
	a.price, a.forgetful = 0, c.NoHistory
	if a.history.Window() == c.Window {
		a.history.Reset()
		return nil
	}
	a.history, err = NewHistory(c.Window)
	return err
}
