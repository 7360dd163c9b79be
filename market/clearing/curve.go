package clearing

import (
	"fmt"
	"math"

	"bourse/market"
)

// A Curve is a list price that depends on the load, the fraction of the units that is sold, in
// [0,1]. The shapes are
//
//	fixed      low
//	power      low + (high - low) load^power
//	threshold  max(low, (high e / low)^load low / e)
//
// Threshold is (ln(high/low) + 1)-competitive if all values, per unit and second, are in [low,
// high] (Zhou, Chakrabarty, Lukose, "Budget Constrained Bidding in Keyword Auctions and Online
// Knapsack Problems", 2008).
type Curve struct {
	Shape string  `yaml:"shape" validate:"oneof=fixed power threshold" doc:"list price by load: fixed (low), power (low + (high - low) load^power) or threshold (low, then exponential in the load up to high)"`
	Low   float64 `yaml:"low" validate:"gt=0,max=1e6" doc:"lowest price, $ per node and second"`
	High  float64 `yaml:"high" validate:"gt=0,max=1e6" doc:"price at full load, $ per node and second; not used by shape fixed"`
	Power float64 `yaml:"power" validate:"gt=0,max=1e3" doc:"exponent of the load in shape power"`
}

// DefaultCurve returns a fixed price.
func DefaultCurve() Curve { return Curve{Shape: "fixed", Low: 0.001, High: 0.01, Power: 1} }

// Validate returns an error if the price would fall as the load increases.
func (c *Curve) Validate() error {
	if c.Shape != "fixed" && c.High < c.Low {
		return fmt.Errorf("high: found %v, want at least low, %v", c.High, c.Low)
	}
	return nil
}

// At returns the price at a load in [0,1], rounded to the nearest whole rate, with halves rounded
// to even.
func (c *Curve) At(load float64) market.Rate {
	const nano = 1e9
	low, high := c.Low*nano, c.High*nano
	price := low
	switch c.Shape {
	case "power":
		price += (high - low) * math.Pow(load, c.Power)
	case "threshold":
		price = max(low, math.Pow(high*math.E/low, load)*low/math.E)
	}
	return market.Rate(math.RoundToEven(min(price, float64(market.MaxRate))))
}
