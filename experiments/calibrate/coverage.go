package calibrate

import (
	"fmt"

	"bourse/market"
)

// forecasts is how many are made in a window.
const forecasts = 10

// A Coverage is how the percentiles that one forecaster foretold of one series did.
//
// A tenth of a window apart it is asked for the price that the next window does not exceed
// with probability G. Covered is the part of that time, over all forecasts, for which
// the price was at most that.
type Coverage struct {
	Series     string  `json:"series"`
	Forecaster string  `json:"forecaster"`
	G          float64 `json:"g" doc:"probability asked for"`
	Forecasts  int     `json:"forecasts"`
	Covered    float64 `json:"covered" doc:"part of the time for which the price was at most what was foretold"`
	Sharpness  float64 `json:"sharpness" doc:"mean of what was foretold, no less than 0 and no more than the highest price, over the mean price; less is sharper"`
	Pinball    float64 `json:"pinball" doc:"mean pinball loss of the same, over the mean price; less is better"`
}

// Cover asks forecaster f for percentiles of s.
func Cover(s Series, name string, f market.Forecaster, g float64) (Coverage, error) {
	a, err := market.New(market.Config{Window: s.Window})
	if err != nil {
		return Coverage{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	c := Coverage{Series: s.Name, Forecaster: name, G: g}
	highest, mean := 0.0, 0.0
	for i, p := range s.steps {
		until := s.End
		if i+1 < len(s.steps) {
			until = s.steps[i+1].at
		}
		highest = max(highest, p.price.Float64())
		mean += p.price.Float64() * (until - p.at) / s.End
	}
	var open []promise // made in the last window, oldest first
	now, price, next := 0.0, market.Rate(0), 0
	every := s.Window / forecasts
	for k := 0; ; k++ {
		at := float64(k) * every
		if at > s.End {
			break
		}
		for now < at || next < len(s.steps) && s.steps[next].at <= now {
			if next < len(s.steps) && s.steps[next].at <= at {
				stand(open, price, s.steps[next].at-now)
				now = s.steps[next].at
				a.Bid(now, price, s.steps[next].price)
				price = s.steps[next].price
				next++
				continue
			}
			stand(open, price, at-now)
			now = at
		}
		if len(open) == forecasts {
			done := &open[0]
			c.Forecasts++
			c.Covered += done.share()
			c.Pinball += done.pinball(highest) / mean
			c.Sharpness += min(max(0, done.price), highest) / mean
			open = open[1:]
		}
		open = append(open, promise{g: g, price: f.Percentile(a.History(), now, g)})
	}
	if c.Forecasts == 0 {
		return c, fmt.Errorf("%s: %v s are less than a window of %v s", s.Name, s.End, s.Window)
	}
	n := float64(c.Forecasts)
	c.Covered, c.Pinball, c.Sharpness = c.Covered/n, c.Pinball/n, c.Sharpness/n
	return c, nil
}

// stand lets a price stand for so many seconds.
func stand(all []promise, price market.Rate, seconds float64) {
	for i := range all {
		all[i].stand(price.Float64(), seconds)
	}
}
