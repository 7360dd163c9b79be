package predictors

// A Forecast is what may become of a host, probabilities in [0,1] that sum to 1:
// that it completes what it is asked, or leaves for one of three states first.
type Forecast struct {
	Completes   float64
	UserPresent float64
	Busy        float64
	Unavailable float64 // evictions among them
}

func (f *Forecast) add(g Forecast) {
	f.Completes += g.Completes
	f.UserPresent += g.UserPresent
	f.Busy += g.Busy
	f.Unavailable += g.Unavailable
}

func (f Forecast) sum() float64 { return f.Completes + f.UserPresent + f.Busy + f.Unavailable }

func (f Forecast) over(n float64) Forecast {
	return Forecast{f.Completes / n, f.UserPresent / n, f.Busy / n, f.Unavailable / n}
}
