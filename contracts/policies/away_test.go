package policies

import (
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts/bidding"
	"bourse/contracts/floor"
	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
)

// drawChurn gives n hosts random availability, after which they stay permanently.
func drawChurn(t *rapid.T, n int) *floor.Availability {
	p := &floor.Availability{
		Leaving: rapid.SampledFrom([]floor.Leaving{floor.Resubmit, floor.Lose, floor.Suspend}).Draw(t, "leaving"),
		Charged: rapid.Bool().Draw(t, "charged"), Predictor: predictors.Completing{Predictor: must(predictors.Table().New("naive", nil))},
	}
	for range n {
		var records []availability.Record
		at, state := 0.0, availability.Available
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			end := at + float64(rapid.IntRange(1, 400).Draw(t, "span"))
			records = append(records, availability.Record{Start: at, End: end, State: state})
			at, state = end, availability.Available+availability.Unavailable-state
		}
		records = append(records, availability.Record{Start: at, End: 1e9, State: availability.Available})
		p.Histories = append(p.Histories, must(availability.NewHistory("", 1, records, 0)))
	}
	return p
}

// TestAwayGetsNothing checks that no policy, under any bidding strategy, starts a task on an
// absent host, and that all contracts end once hosts stay.
func TestAwayGetsNothing(t *testing.T) {
	t.Parallel()
	for _, name := range Table(nil, nil).Names() {
		switch name {
		case "queue", "reserve", "spot", "call", "karma", "slices", "bundle", "windows": // these policies need an event for every arrival and departure; the market rejects them if hosts come and go
			continue
		case "conservative", "drf", "fairshare": // place contracts at ticks, which this world does not send
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			placed := 0
			rapid.Check(t, func(t *rapid.T) {
				specs := drawSpecs(t)
				churn := drawChurn(t, len(specs))
				o := options{"bidding": rapid.SampledFrom(bidding.Table(nil).Names()).Draw(t, "bidding")}
				if name == "sac" || name == "cac" {
					o["discount"] = rapid.SampledFrom([]string{"none", "predicted"}).Draw(t, "discount")
				}
				w := newWorldOf(t, specs, name, o, churn)
				w.run(t, drawJobs(t, len(specs), false))
				if w.misplaced > 0 {
					t.Errorf("%d tasks are put on hosts that are away", w.misplaced)
				}
				placed += len(w.on)
			})
			if placed < 20 {
				t.Errorf("%d requests are placed: too few to tell", placed)
			}
		})
	}
}
