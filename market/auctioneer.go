package market

// An Auctioneer runs the continuous auction of one host. It keeps the sum of the bids
// that stand; who bids what is known to those who bid. The zero value has no bids, a
// price of 0, and a history over defaultWindow.
type Auctioneer struct {
	price     Rate
	forgetful bool // it keeps no history
	history   History
}

// A Config holds the options of an auctioneer.
type Config struct {
	// Window is how many seconds of prices the history keeps. 0 means
	// defaultWindow.
	Window float64

	// NoHistory is that of an auctioneer whose past prices nobody will ask for: its
	// history stays empty.
	NoHistory bool
}

// New returns an auctioneer without bids. It fails if the window is negative,
// infinite or NaN.
func New(c Config) (a Auctioneer, err error) {
	err = a.Reset(c)
	return a, err
}

// Bid puts a bid of r in the place of one of was from now on: 0 is none.
//
// Bid panics if one of the two is negative, if bids of was do not stand, if the price
// would exceed an int64, or, where a history is kept, if now is before an instant
// already told.
func (a *Auctioneer) Bid(now float64, was, r Rate) {
	others := a.price - was
	price := others + r
	if was|r|others|price < 0 { // one of them is
		panic("market: bid out of range")
	}
	if a.price = price; !a.forgetful {
		a.history.Observe(now, price)
	}
}

// Price returns c, the sum of all current rates.
func (a *Auctioneer) Price() Rate { return a.price }

// Prefetch reads what the next [Auctioneer.Bid] will, and returns something of it: of many
// auctioneers in a row the memory of several is fetched at once.
func (a *Auctioneer) Prefetch() float64 { return a.history.prefetch() }

// History returns the record of past prices.
func (a *Auctioneer) History() *History { return &a.history }

// Reset makes a as [New] does, for another run from instant 0. The storage is kept.
func (a *Auctioneer) Reset(c Config) (err error) {
	a.price, a.forgetful = 0, c.NoHistory
	if a.history.Window() == c.Window {
		a.history.Reset()
		return nil
	}
	a.history, err = newHistory(c.Window)
	return err
}
