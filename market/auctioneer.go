package market

// An Auctioneer runs the continuous auction of one host. The zero value has no
// bids, a price of 0, and a history over defaultWindow.
type Auctioneer struct {
	bids    []bid // in order of arrival
	price   Rate  // the sum of all rates in bids
	history History
}

// A bid is what one bidder offers for as long as it stands.
type bid struct {
	Bidder BidderID
	Rate   Rate // more than 0
}

// A Config holds the options of an auctioneer.
type Config struct {
	// Window is how many seconds of prices the history keeps. 0 means
	// defaultWindow.
	Window float64
}

// New returns an auctioneer without bids. It fails if the window is negative,
// infinite or NaN.
func New(c Config) (Auctioneer, error) {
	h, err := newHistory(c.Window)
	return Auctioneer{history: h}, err
}

// Bid sets the rate of bidder from now on; 0 withdraws it. A bidder keeps its
// place in the order of arrival until it withdraws.
//
// Bid panics if r is negative, if the price would exceed an int64, or if now is
// before an instant already told.
func (a *Auctioneer) Bid(now float64, bidder BidderID, r Rate) {
	i := a.find(bidder)
	price := a.price + r
	if i >= 0 {
		price -= a.bids[i].Rate
	}
	if r < 0 || price < 0 {
		panic("market: bid out of range")
	}
	switch {
	case i < 0 && r > 0:
		a.bids = append(a.bids, bid{bidder, r})
	case i >= 0 && r > 0:
		a.bids[i].Rate = r
	case i >= 0:
		last := len(a.bids) - 1
		for ; i < last; i++ { // few: sooner done than a copy
			a.bids[i] = a.bids[i+1]
		}
		a.bids = a.bids[:last]
	}
	a.price = price
	a.history.Observe(now, price)
}

// Price returns c, the sum of all current rates.
func (a *Auctioneer) Price() Rate { return a.price }

// Share returns the share that bidder holds, b/c, or 0 without a bid.
func (a *Auctioneer) Share(bidder BidderID) Share {
	return a.ShareIf(bidder, 0)
}

// Quote returns the share that a new bid of r, which is above 0, would obtain: see
// [Quote].
func (a *Auctioneer) Quote(r Rate) Share { return Quote(float64(r), float64(a.price)) }

// ShareIf returns the share that bidder would keep if a new bid of extra arrived: see
// [Kept]. It is 0 without a bid.
func (a *Auctioneer) ShareIf(bidder BidderID, extra Rate) Share {
	i := a.find(bidder)
	if i < 0 {
		return 0
	}
	return Kept(float64(a.bids[i].Rate), float64(a.price), float64(extra))
}

// History returns the record of past prices.
func (a *Auctioneer) History() *History { return &a.history }

// Reset forgets all bids and prices, for another run from instant 0. The window
// and the storage are kept.
func (a *Auctioneer) Reset() {
	a.bids, a.price = a.bids[:0], 0
	a.history.Reset()
}

// find returns the place of bidder among the bids, or -1. Few bid for one host:
// looking at each is faster than an index.
func (a *Auctioneer) find(bidder BidderID) int {
	for i := range a.bids {
		if a.bids[i].Bidder == bidder {
			return i
		}
	}
	return -1
}
