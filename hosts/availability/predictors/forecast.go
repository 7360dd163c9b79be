package predictors

// A Forecast contains the probabilities of the possible outcomes of a host, which sum to 1: the
// host completes the job, or it leaves for one of three states first.
type Forecast struct {
	Completes   float64
	UserPresent float64
	Busy        float64
	Unavailable float64 // including evictions
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
