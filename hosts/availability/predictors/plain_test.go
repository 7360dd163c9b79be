package predictors

import (
	"math"
	"math/big"
	"math/rand/v2"

	"bourse/hosts/availability"
)

type fataler interface {
	Helper()
	Fatal(...any)
}

func history(t fataler, records []availability.Record) *availability.History {
	t.Helper()
	h, err := availability.NewHistory("h", 1, records, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// drawDays draws a history of about n days in whole seconds, with periods of half an hour and
// some shorter than the gap.
func drawDays(rng *rand.Rand, n float64) []availability.Record {
	var records []availability.Record
	at := float64(rng.IntN(int(availability.Day)))
	for end := at + n*availability.Day; at < end; {
		r := availability.Record{Start: at, State: availability.Available}
		length := 1 + math.Floor(rng.ExpFloat64()*6000)
		if len(records) > 0 && records[len(records)-1].State == availability.Available && rng.IntN(8) > 0 {
			r.State = availability.State(2 + rng.IntN(4))
			length = 1 + math.Floor(rng.ExpFloat64()*2500)
			if rng.IntN(3) == 0 {
				length = float64(1 + rng.IntN(125))
			}
		}
		at += length
		r.End = at
		if rng.IntN(12) > 0 { // otherwise unknown
			records = append(records, r)
		}
	}
	return records
}

// plainTDE is a literal implementation of the definition on the records: it computes all
// intervals again for every day, in exact fractions.
func plainTDE(o TDEOptions, records []availability.Record, now, length float64) map[string]*big.Rat {
	type interval struct {
		x, y float64
		exit availability.State
	}
	// Apply the gap rule: short runs of non-A between adjacent A become A.
	states := make([]availability.State, len(records))
	for i, r := range records {
		states[i] = r.State
	}
	for i := 1; i < len(records); i++ {
		if records[i].State == availability.Available || records[i-1].State != availability.Available {
			continue
		}
		j := i
		for j < len(records) && records[j].State != availability.Available && records[j].Start == records[j-1].End {
			j++
		}
		if j > i && j < len(records) && records[j].State == availability.Available && records[j].Start == records[j-1].End &&
			records[j].Start-records[i-1].End < 120 {
			for k := i; k < j; k++ {
				states[k] = availability.Available
			}
		}
	}
	var avail []interval
	for i, r := range records {
		if states[i] != availability.Available {
			continue
		}
		if n := len(avail); n > 0 && avail[n-1].y == r.Start {
			avail[n-1].y, avail[n-1].exit = r.End, availability.Unknown
		} else {
			avail = append(avail, interval{x: r.Start, y: r.End})
		}
		if i+1 < len(records) && records[i+1].Start == r.End {
			avail[len(avail)-1].exit = states[i+1]
		}
	}

	zero := func() map[string]*big.Rat {
		return map[string]*big.Rat{"A": new(big.Rat), "P": new(big.Rat), "C": new(big.Rat), "U": new(big.Rat)}
	}
	total := func(m map[string]*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for _, x := range m {
			sum.Add(sum, x)
		}
		return sum
	}
	one := big.NewRat(1, 1)
	sums, pooled, days := zero(), zero(), int64(0)
	for d := 1; d <= o.Days; d++ {
		from := now - float64(d)*86400
		to := min(from+o.Plen*length, now)
		by := func(rule string) bool {
			switch rule {
			case "zero":
				sums["U"].Add(sums["U"], one)
			case "one":
				sums["A"].Add(sums["A"], one)
			}
			return rule != "skip"
		}
		if len(records) == 0 || to <= records[0].Start || from >= records[len(records)-1].End {
			if by(o.Missing) {
				days++
			}
			continue
		}
		counts := zero()
		for _, v := range avail {
			if clipped := min(v.y, to) - max(v.x, from); clipped > 0 {
				unit := length
				if o.Unit == "plen" {
					unit = o.Plen * length
				}
				fits := new(big.Rat).Quo(new(big.Rat).SetFloat64(clipped), new(big.Rat).SetFloat64(unit))
				whole := new(big.Int).Quo(fits.Num(), fits.Denom())
				switch {
				case o.Count == "floor":
					fits.SetInt(whole)
				case o.Count == "ceil" && !fits.IsInt():
					fits.SetInt(whole.Add(whole, big.NewInt(1)))
				}
				counts["A"].Add(counts["A"], fits)
			}
			if from < v.y && v.y < to && v.exit != availability.Unknown {
				s := v.exit.String()
				if s == "E" {
					s = "U"
				}
				counts[s].Add(counts[s], one)
			}
		}
		n := total(counts)
		if n.Sign() == 0 {
			if by(o.Empty) {
				days++
			}
			continue
		}
		days++
		for s := range counts {
			pooled[s].Add(pooled[s], counts[s])
			sums[s].Add(sums[s], new(big.Rat).Quo(counts[s], n))
		}
	}
	n := big.NewRat(days, 1)
	if o.Weight == "pooled" && total(pooled).Sign() > 0 {
		sums, n = pooled, total(pooled)
	} else if days == 0 {
		sums["A"].SetFloat64(o.NoHistory)
		sums["U"].Sub(one, sums["A"])
		n = one
	}
	for s := range sums {
		sums[s].Quo(sums[s], n)
	}
	return sums
}
