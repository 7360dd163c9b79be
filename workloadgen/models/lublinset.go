package models

import (
	"fmt"
	"math"
)

// A lublinSet is one set of parameters, under their names in the authors' program. Gammas are
// (shape, scale).
type lublinSet struct {
	serialProb, pow2Prob   float64
	ulow, umed, uhi, uprob float64
	a1, b1, a2, b2, pa, pb float64
	aarr, barr             float64
	anum, bnum, arar       float64
	processors             float64 // size of the machine for which umed and uhi are given
}

// lublinSets contains the sets of the authors' program, for a machine of 128 processors, and
// farooq2006. According to the program's comments, uhi is log2 of the machine's size and umed
// is smaller by 1.5 to 3.5. With farooq2006 the mean size is 8.39 and the mean runtime is 2200
// s on 64 processors, as in Farooq, Majumdar and Parsons (2006). They fitted the model again
// but print no parameters. Both gammas are narrower by a factor, and umed is higher.
var lublinSets = map[string]lublinSet{
	"whole": {
		0.244, 0.576, 0.8, 4.5, 7, 0.86,
		4.2, 0.94, 312, 0.03, -0.0054, 0.78,
		10.2303, 0.4871, 8.1737, 3.9631, 1.0225,
		128,
	},
	"batch": {
		0.2927, 0.6686, 1.2, 5, 7, 0.875,
		6.57, 0.823, 639.1, 0.0156, -0.003, 0.6986,
		6.0415, 0.8531, 6.1271, 5.274, 1.0519,
		128,
	},
	"interactive": {
		0.1541, 0.625, 1, 3, 5.5, 0.705,
		3.8351, 0.6605, 7.073, 0.6856, -0.0118, 0.9156,
		6.551, 0.6621, 8.9186, 3.668, 0.9797,
		128,
	},
	"farooq2006": {
		0.244, 0.576, 0.8, 4.02, 6, 0.86,
		4.2, 0.876, 312, 0.02796, -0.0054, 0.78,
		10.2303, 0.4871, 8.1737, 3.9631, 1.0225,
		64,
	},
}

// sized adjusts the two upper limits of sizes to the machine's size. For example, the authors
// use a umed of 5.5 rather than 4.5 for a log from 256 processors.
func (s lublinSet) sized(size int) lublinSet {
	up := math.Log2(float64(size)) - math.Log2(s.processors)
	s.umed += up
	s.uhi += up
	return s
}

// least returns the smallest machine that the stages of sizes fit. On a smaller machine, the
// first stage would begin above its end.
func (s lublinSet) least() int {
	return int(math.Ceil(math.Exp2(s.ulow-s.umed+math.Log2(s.processors)) * (1 - 1e-9)))
}

// changed replaces the parameters that c sets.
func (s lublinSet) changed(c LublinChange) lublinSet {
	for _, p := range []struct {
		to   *float64
		from *float64
	}{
		{&s.serialProb, c.SerialProb}, {&s.pow2Prob, c.Pow2Prob},
		{&s.ulow, c.ULow}, {&s.umed, c.UMed}, {&s.uhi, c.UHi}, {&s.uprob, c.UProb},
		{&s.a1, c.A1}, {&s.b1, c.B1}, {&s.a2, c.A2}, {&s.b2, c.B2}, {&s.pa, c.PA}, {&s.pb, c.PB},
		{&s.aarr, c.AArr}, {&s.barr, c.BArr}, {&s.anum, c.ANum}, {&s.bnum, c.BNum}, {&s.arar, c.ARAR},
	} {
		if p.from != nil {
			*p.to = *p.from
		}
	}
	return s
}

// validate checks constraints between parameters, and with the size of the machine.
func (s *lublinSet) validate() error {
	for _, p := range []struct {
		name   string
		x      float64
		lo, hi float64
	}{
		{"pow2_prob", s.pow2Prob, 0, 1 - s.serialProb}, {"umed", s.umed, s.ulow, s.uhi}, {"uhi", s.uhi, s.umed, 24},
	} {
		if !(p.x >= p.lo && p.x <= p.hi) {
			return fmt.Errorf("change.%s: found %v, want %v to %v", p.name, p.x, p.lo, p.hi)
		}
	}
	return nil
}
