package booked

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"bourse/contracts/admission/policytest"
)

// TestGolden runs the golden cases of windows and of bundles in real markets.
func TestGolden(t *testing.T) {
	t.Parallel()
	for dir, kinds := range map[string]map[string]func(*testing.T, *policytest.Case){
		"testdata/mechanisms":                      {"windows": windowsCase},
		"../../../market/clearing/testdata/golden": {"vcg": bundleCase, "greedy": bundleCase},
	} {
		policytest.RunCases(t, "BOURSE_GOLDEN_MECHANISMS", dir, func(c *policytest.Case) func(*testing.T, *policytest.Case) { return kinds[c.Kind] })
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func windowsCase(t *testing.T, c *policytest.Case) {
	var in struct {
		Capacity, Width  float64
		Ahead            int
		Shape            string
		Low, High, Power float64
		Prices           []float64
		Requests         []policytest.Trade
	}
	check(t, json.Unmarshal(c.Input, &in))
	o := policytest.Options{"width": in.Width, "ahead": in.Ahead, "low": in.Low / 1e9}
	if in.Shape != "" {
		o["shape"], o["high"] = in.Shape, in.High/1e9
	}
	if in.Power != 0 {
		o["power"] = in.Power
	}
	for i := range in.Prices {
		in.Prices[i] /= 1e9
	}
	o["prices"] = in.Prices
	p, err := newWindows(o.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, 1, in.Capacity, p, "planned", "budget", in.Requests)
	requests, revenue := map[string]any{}, int64(0)
	for id, d := range m.Traded {
		out := map[string]any{"verdict": "reject", "reason": d.Refused}
		if s := d.Settled; s != nil {
			revenue += s.Paid.Micros()
			out = map[string]any{"verdict": "accept", "start": s.Began, "end": s.Ended, "ask": s.Paid.Micros()}
		} else if ask, ok := d.Numbers["ask"]; ok {
			out["ask"] = int64(ask*1e6 + 0.5)
		}
		requests[fmt.Sprint(id)] = out
	}
	c.Exact(t, "requests", requests)
	c.Exact(t, "revenue", revenue)
}

// bundleCase sells the units that are held in the case at a first clearing. The bids of the
// case take part in a second clearing, which is time 0 of the case.
func bundleCase(t *testing.T, c *policytest.Case) {
	type bundle struct {
		ID, Value int64
		Nodes     int
		From, To  float64
	}
	in := struct {
		Capacity, Reserve float64
		Norm              *float64
		Exact             *int
		Held, Bids        []bundle
	}{}
	check(t, json.Unmarshal(c.Input, &in))
	o := policytest.Options{"every": 100, "rule": c.Kind, "reserve": in.Reserve / 1e9, "losers": "leave"}
	if in.Norm != nil {
		o["norm"] = *in.Norm
	}
	if in.Exact != nil {
		o["exact"] = *in.Exact
	}
	p, err := newBundle(o.Decode, nil, nil)
	check(t, err)
	var jobs []policytest.Trade
	add := func(id int64, submit float64, b *bundle, value int64) {
		jobs = append(jobs, policytest.Trade{ID: id, Submit: submit, Lead: 200 + b.From - submit, Nodes: b.Nodes, Estimate: b.To - b.From, Deadline: 1000, Budget: value})
	}
	for i := range in.Held {
		add(1000+int64(i), 10, &in.Held[i], 1e9)
	}
	values := map[int64]int64{}
	for i := range in.Bids {
		add(in.Bids[i].ID, 110, &in.Bids[i], in.Bids[i].Value)
		values[in.Bids[i].ID] = in.Bids[i].Value
	}
	m := policytest.Deal(t, 1, in.Capacity, p, "planned", "budget", jobs)
	won, pays, welfare, revenue := []int64{}, map[string]any{}, int64(0), int64(0)
	for id, d := range m.Traded {
		if d.Settled == nil {
			if id >= 1000 {
				t.Fatalf("held bundle %d is not sold: %s", id, d.Refused)
			}
			continue
		}
		if id >= 1000 {
			continue
		}
		won = append(won, id)
		pays[fmt.Sprint(id)] = d.Settled.Paid.Micros()
		welfare, revenue = welfare+values[id], revenue+d.Settled.Paid.Micros()
	}
	slices.Sort(won)
	slices.SortFunc(c.Expect["won"].([]any), func(a, b any) int { return int(a.(float64) - b.(float64)) })
	c.Exact(t, "won", won)
	c.Exact(t, "pays", pays)
	c.Exact(t, "welfare", welfare)
	c.Exact(t, "revenue", revenue)
}
