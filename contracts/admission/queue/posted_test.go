package queue

import (
	"encoding/json"
	"fmt"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
)

// TestPostedGolden runs the golden cases of posted prices in a real market.
func TestPostedGolden(t *testing.T) {
	t.Parallel()
	policytest.RunCases(t, "BOURSE_GOLDEN_MECHANISMS", "testdata/mechanisms", func(c *policytest.Case) func(*testing.T, *policytest.Case) {
		if c.Kind != "posted" {
			return nil
		}
		return postedCase
	})
}

func postedCase(t *testing.T, c *policytest.Case) {
	var in struct {
		Hosts  int
		Shape  string
		At     string
		Losers string
		Low    float64
		High   float64
		Power  float64
		Jobs   []policytest.Trade
	}
	check(t, json.Unmarshal(c.Input, &in))
	o := options{"low": in.Low / 1e9}
	for name, x := range map[string]float64{"high": in.High / 1e9, "power": in.Power} {
		if x != 0 {
			o[name] = x
		}
	}
	for name, x := range map[string]string{"shape": in.Shape, "at": in.At, "losers": in.Losers} {
		if x != "" {
			o[name] = x
		}
	}
	p, err := newPosted(o.Decode, nil, nil)
	check(t, err)
	m := policytest.Deal(t, in.Hosts, 1, p, "exclusive", "bid", in.Jobs)
	revenue := int64(0)
	jobs := map[string]any{}
	for id, d := range m.Traded {
		out := map[string]any{"verdict": "reject", "reason": d.Refused, "paid": 0}
		if d.Settled != nil {
			paid := d.Settled.Paid.Micros()
			revenue += paid
			by := d.ByNode
			out = map[string]any{
				"verdict": "accept", "start": d.Settled.Admitted, "end": d.Settled.Ended, "state": d.State(),
				"rates": d.Rates, "paid_by_node": by, "paid": paid,
			}
		} else if d.Refused == contracts.None {
			t.Errorf("job %d is open", id)
		}
		jobs[fmt.Sprint(id)] = out
	}
	c.Exact(t, "jobs", jobs)
	c.Exact(t, "revenue", revenue)
}
