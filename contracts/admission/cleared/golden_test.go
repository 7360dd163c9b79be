package cleared

import (
	"encoding/json"
	"fmt"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/market"
)

// TestGolden runs the golden cases of cleared markets in real markets.
func TestGolden(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(*testing.T, *policytest.Case){"spot": spotCase, "progress": progressCase}
	policytest.RunCases(t, "BOURSE_GOLDEN_MECHANISMS", "testdata/mechanisms", func(c *policytest.Case) func(*testing.T, *policytest.Case) {
		return kinds[c.Kind]
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func spotCase(t *testing.T, c *policytest.Case) {
	in := struct {
		Every, Notice, Reserve, K, Restore, OnDemand float64
		Hosts                                        int
		Fill                                         *bool
		Interrupted, Losers                          string
		Jobs                                         []policytest.Trade
	}{}
	check(t, json.Unmarshal(c.Input, &in))
	o := policytest.Options{
		"every": in.Every, "notice": in.Notice, "reserve": in.Reserve / 1e9, "k": in.K, "restore": in.Restore, "ondemand": in.OnDemand / 1e9,
	}
	if in.Fill != nil {
		o["fill"] = *in.Fill
	}
	if in.Interrupted != "" {
		o["interrupted"] = in.Interrupted
	}
	if in.Losers != "" {
		o["losers"] = in.Losers
	}
	p, err := newSpot(o.Decode, nil, nil)
	check(t, err)
	bids := map[contracts.ID]market.Rate{}
	for _, j := range in.Jobs {
		if j.Bid != nil {
			bids[contracts.ID(j.ID)] = market.Rate(*j.Bid)
		}
	}
	p.(*Policy).seller.(*spot).price = func(r *contracts.Request) market.Rate {
		if b, ok := bids[r.ID]; ok {
			return b
		}
		return value(r, 1)
	}
	m := policytest.Deal(t, in.Hosts, 1, p, "exclusive", "bid", in.Jobs)
	jobs, revenue := map[string]any{}, int64(0)
	for id, d := range m.Traded {
		out := map[string]any{"state": d.State(), "paid": 0, "interruptions": 0, "reason": d.Refused, "stays": []any{}}
		if s := d.Settled; s != nil {
			revenue += s.Paid.Micros()
			n := s.Suspensions
			if d.State() == "interrupted" {
				n++
			}
			out["end"], out["paid"], out["interruptions"], out["stays"] = s.Ended, s.Paid.Micros(), n, d.Stays
		}
		jobs[fmt.Sprint(id)] = out
	}
	c.Exact(t, "jobs", jobs)
	prices := []any{}
	for _, line := range m.Cleared {
		var price any
		if line["offered"] > 0 {
			price = line["price"]
		}
		prices = append(prices, []any{line["time"], price, line["units"]})
	}
	c.Exact(t, "prices", prices)
	c.Exact(t, "revenue", revenue)
}

func progressCase(t *testing.T, c *policytest.Case) {
	var in struct {
		Elapsed, Done, Work, Deadline, Delay float64
		State                                string
		Spot, Safe                           bool
	}
	check(t, json.Unmarshal(c.Input, &in))
	names := []string{idling: "idle", onSpot: "spot", onDemand: "ondemand"}
	b := progress{elapsed: in.Elapsed, done: in.Done, work: in.Work, deadline: in.Deadline, delay: in.Delay, spot: in.Spot, safe: in.Safe}
	for k, name := range names {
		if name == in.State {
			b.on = course(k)
		}
	}
	do, safe := b.next()
	c.Exact(t, "do", names[do])
	c.Exact(t, "safe", safe)
}
