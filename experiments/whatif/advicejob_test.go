package whatif

import (
	"math"
	"strings"
	"testing"
)

// TestParseJob checks the valid parts of a job and that errors name the invalid part.
func TestParseJob(t *testing.T) {
	t.Parallel()
	j, err := ParseJob("work=3600, nodes=2,deadline=7200,value=5")
	if want := (AdviceJob{Work: 3600, Nodes: 2, Deadline: 7200, Value: 5}); err != nil || j != want {
		t.Errorf("%+v, %v", j, err)
	}
	if got := j.String(); got != "3600 processor-seconds on each of 2 nodes within 7200 s, worth $5" {
		t.Error(got)
	}
	for text, want := range map[string]string{
		"work=1":                       "want work and deadline",
		"work=0,deadline=1":            `job: work: found "0", want a number above 0`,
		"work=1,deadline=NaN":          "job: deadline: found",
		"work=1,deadline=2,nodes=1.5":  "job: nodes: found",
		"work=1,deadline=2,colour=red": `job: found "colour=red", want work=S`,
	} {
		if _, err := ParseJob(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"1", "2..1", "0..1", "1..x"} {
		if _, _, err := ParseBudgets(text); err == nil {
			t.Errorf("budgets %s pass", text)
		}
	}
}

// TestReadPrices checks the forms of times and prices, their order, and that errors name
// the line.
func TestReadPrices(t *testing.T) {
	t.Parallel()
	p, read, err := readPrices(strings.NewReader("\ufeffseries,time,price_usd_per_hour,region\na,2010-01-01 00:01:00,7.2,x\nb,2010-01-01 00:00:00,9,x\na,2010-01-01 00:00:00,1,x\na,2010-01-01 00:00:00,3.6,x\n"), "f", PriceSeries{Series: "a"})
	if err != nil || read.String() != "2 prices are used, 1 belong to another series or zone, and 1 were replaced by a later line with the same time, columns not used: region" || len(p.Steps) != 2 || p.Steps[0].Price != 0.001 || p.Steps[1].Price != 0.002 || p.Steps[1].At-p.Steps[0].At != 60 || p.End != p.Steps[1].At {
		t.Errorf("%+v, %v, %v", p, read, err)
	}
	for text, want := range map[string]string{
		"":                                   "f:1: found no header",
		"when,price\n":                       "f:1: found columns when, price, want time and one of",
		"time,price\n1,2\nx,3\n":             `f:3: time: found "x"`,
		"time,price\n1,2\n2,-3\n":            `f:3: price: found "-3"`,
		"time,price\n1,2\n":                  "found 1 prices, want two or more",
		"time,price\n1,2\n2\n":               "wrong number of fields",
		"series,time,price\na,1,2\nb,2,3\n":  "f:3: series: found a and b, want only one of them",
		"zone,time,price\na,1,2\nb,2,3\n":    "f:3: zone: found a and b, want only one of them, selected with --zone",
		"time,price\n1262304000000,2\n":      "f:2: time: found \"1262304000000\", which looks like milliseconds, want seconds",
		"{\"a\": [1]}":                       "f:1: found no SpotPriceHistory",
		"{\n\"SpotPriceHistory\": [\n{}\n]}": "f:3: time: found \"\"",
		"{\"SpotPriceHistory\": [1]}":        "f:1: json: cannot unmarshal number",
		"{\"SpotPriceHistory\": [":           "f:1: the list is incomplete",
		"{\"SpotPriceHistory\": []":          "f:1: the object does not end",
		"{\"SpotPriceHistory\": [], \"a\"}":  "f:1: not at beginning of value",
	} {
		if _, _, err := readPrices(strings.NewReader(text), "f", PriceSeries{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := readPrices(strings.NewReader("series,time,price\na,1,2\n"), "f", PriceSeries{Series: "z"}); err == nil || !strings.Contains(err.Error(), `series: found "z", want one of a`) {
		t.Error(err)
	}
}

// TestSpotHistory checks reading EC2's spot prices of one zone.
func TestSpotHistory(t *testing.T) {
	t.Parallel()
	const text = `{
  "NextToken": {"x": ["y"]},
  "SpotPriceHistory": [
    {"AvailabilityZone": "us-east-1a", "InstanceType": "m1.small", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.036", "Timestamp": "2010-01-01T00:01:00.000Z"},
    {"AvailabilityZone": "us-east-1b", "InstanceType": "m1.small", "ProductDescription": "Linux/UNIX", "SpotPrice": "9", "Timestamp": "2010-01-01T00:00:30.000Z"},
    {"AvailabilityZone": "us-east-1a", "InstanceType": "m1.small", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.0036", "Timestamp": "2010-01-01T00:00:00.000Z"}
  ]
}`
	if _, _, err := readPrices(strings.NewReader(text), "f", PriceSeries{}); err == nil || !strings.Contains(err.Error(), "f:5: zone: found us-east-1a and us-east-1b") {
		t.Error(err)
	}
	p, read, err := readPrices(strings.NewReader(text), "f", PriceSeries{Series: "m1.small Linux/UNIX", Zone: "us-east-1a"})
	if err != nil || read.String() != "2 prices are used, 1 belong to another series or zone, and 0 were replaced by a later line with the same time" || p.Steps[0].Price != 0.000001 || math.Abs(p.Steps[1].Price-1e-5) > 1e-12 || p.Steps[1].At-p.Steps[0].At != 60 {
		t.Errorf("%+v, %v, %v", p, read, err)
	}
}

// TestHistory compares the outcome of a job of 60 s within 100 s with values computed by hand.
// Prices are 1 and 3 and change every 50 s. On an exclusive host, the job needs a bid of 3 and
// pays 50 at price 1 and 10 s at price 3; with a bid of 1, it pays 50 and is not completed. A
// reservation at the price that was not exceeded for 0.4 of the time needs a bid of 1, and at
// the price for 0.9 a bid of 3. On a shared host with two processors, whose other bids add up
// to 1 and 3, a bid of b gets 2b/(b+1) and 2b/(b+3) processors, at most 1.
func TestHistory(t *testing.T) {
	t.Parallel()
	var p Prices
	for i := range 40 {
		p.Steps = append(p.Steps, Step{float64(50 * i), []float64{1, 3}[i%2]})
	}
	p.End = 2000
	j := &AdviceJob{Work: 60, Nodes: 2, Deadline: 100}
	for _, c := range []struct {
		g    float64
		want [2]meanOutcome // outcomes with a bid of 1 and with a bid of 3, as reservations
	}{{0.4, [2]meanOutcome{{1, 0, 100}, {1, 1, 160}}}, {0.9, [2]meanOutcome{{}, {1, 1, 160}}}} {
		h := &PriceHistory{Prices: p, Rule: exclusive, Held: true, Guarantee: c.g}
		units, batch, err := h.units(j, []float64{120, 360})
		if err != nil || len(units) != 19 || batch != 1 {
			t.Fatalf("%d units of %d, %v", len(units), batch, err)
		}
		for _, u := range units {
			if u.Spot[0] != (meanOutcome{1, 0, 100}) || u.Spot[1] != (meanOutcome{1, 1, 160}) || u.Reservation[0] != c.want[0] || u.Reservation[1] != c.want[1] {
				t.Fatalf("g %v: %+v", c.g, u)
			}
		}
	}
	h := &PriceHistory{Prices: p, Rule: SharedHost(2), Guarantee: 0.9}
	// With bid b = budget/200, the job gets min(1, 2b/(b+1)) processors for 50 s and min(1,
	// 2b/(b+3)) for 50 s. It does 60 s of work if b is about 0.9: 100b/(b+1) + 100b/(b+3) = 60
	// at (b²+3b + b²+b)·100 = 60(b²+4b+3).
	b := (-160 + math.Sqrt(160*160+4*140*180)) / (2 * 140)
	least := h.least(j, h.within(100, 200))
	if !(math.Abs(least-200*b) <= 1e-3) {
		t.Errorf("the least budget is %v, want %v", least, 200*b)
	}
	if f := h.run(j, h.within(100, 200), h.bid(j, least*1.0001)); f.Done != 1 || f.Paid > least*1.001 {
		t.Errorf("%+v of $%v", f, least)
	}
	if lo, hi := h.ends(j); !(lo < least && least < hi) {
		t.Errorf("budgets from %v to %v, and %v does", lo, hi, least)
	}
	if _, _, err := h.units(&AdviceJob{Work: 1, Nodes: 1, Deadline: 800}, nil); err == nil {
		t.Error("a history of two deadlines and a half passes")
	}
	// In a long history, each unit is a batch of stretches.
	short := &AdviceJob{Work: 5, Nodes: 1, Deadline: 10}
	if units, batch, err := h.units(short, []float64{1}); err != nil || batch != 5 || len(units) != 39 {
		t.Errorf("%d units of %d, %v", len(units), batch, err)
	}
}

// TestPlanned checks the verdicts. A market that is better in every unit must be chosen, and
// random differences must be undecided. The markets may also be equal, or both without value.
// The test also checks the lowest budgets with and without certainty.
func TestPlanned(t *testing.T) {
	t.Parallel()
	budgets := []float64{1, 2}
	whole := func(spot, reservation meanOutcome) unit {
		return unit{[]meanOutcome{{}, spot}, []meanOutcome{{}, reservation}}
	}
	done, half := meanOutcome{1, 1, 1}, meanOutcome{1, 0, 0.5}
	for _, c := range []struct {
		verdict string
		units   []unit
	}{
		{"spot", []unit{whole(done, meanOutcome{}), whole(done, meanOutcome{}), whole(meanOutcome{1, 1, 0.5}, meanOutcome{}), whole(done, meanOutcome{})}},
		{"reserve", []unit{whole(half, done), whole(half, done), whole(half, done), whole(half, meanOutcome{1, 1, 0})}},
		{"undecided", []unit{whole(done, half), whole(half, done), whole(done, done)}},
		{"either", []unit{whole(done, done), whole(done, done)}},
		{"neither", []unit{whole(meanOutcome{1, 0, 1}, meanOutcome{1, 0, 2}), whole(meanOutcome{1, 0, 1}, meanOutcome{1, 0, 1})}},
	} {
		p := planned(AdviceJob{Work: 1, Nodes: 1, Deadline: 1, Value: 3}, "x", "units", 0.9, budgets, c.units)
		if p.Verdict != c.verdict {
			t.Errorf("%s: found %+v", c.verdict, p)
		}
	}
	var many []unit
	for range 60 {
		many = append(many, whole(done, half))
	}
	p := planned(AdviceJob{Work: 1, Nodes: 1, Deadline: 1}, "x", "units", 0.9, budgets, many)
	if p.Verdict != "" || p.Spot.Least == nil || *p.Spot.Least != 2 || p.Spot.Surely == nil || p.Reservation.Least != nil {
		t.Errorf("%+v", p)
	}
	if text := strings.Join(p.summary(), "\n"); !strings.Contains(text, "As a reservation, none of these budgets") || !strings.Contains(text, "To get a recommendation") {
		t.Error(text)
	}
}
