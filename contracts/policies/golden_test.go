package policies

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

// TestGolden runs every case of kind sim of a folder: the project's own, or the one that
// BOURSE_GOLDEN_LIBRA names. Package libra runs the others.
func TestGolden(t *testing.T) {
	t.Parallel()
	policytest.Run(t, filepath.Join("..", "admission", "libra", "testdata"), func(c *policytest.Case) func(*testing.T, *policytest.Case) {
		if c.Kind != "sim" {
			return nil
		}
		return goldenSim
	})
}

// rating is the rating of a node of speed 1.
const rating = 168

// goldenSim runs jobs through the broker, from submission to settlement.
func goldenSim(t *testing.T, c *policytest.Case) {
	var in struct {
		Policy  string
		Options options
		Hosts   int `json:"m"`
		Ratings []float64
		Jobs    []job
	}
	var priced struct{ Jobs []struct{ Budget *float64 } } // a budget of 0 is valid
	check(t, json.Unmarshal(c.Input, &in))
	check(t, json.Unmarshal(c.Input, &priced))
	w := newWorld(t, specs(in.Hosts, in.Ratings), strings.ToLower(in.Policy), in.Options)
	fates := w.run(t, in.Jobs)
	var out []any
	done, fulfilled, slowdown, utility := 0, 0, 0.0, 0.0
	for i, j := range in.Jobs {
		f := fates[j.ID]
		if !f.ended {
			out = append(out, map[string]any{"id": float64(j.ID), "state": "rejected"})
			continue
		}
		done++
		row := map[string]any{
			"id": float64(j.ID), "state": "done", "start": f.Admitted, "finish": f.Ended, "nodes": f.on,
			"delay": f.Delay, "fulfilled": f.Outcome == contracts.Fulfilled,
		}
		if f.Outcome == contracts.Fulfilled {
			fulfilled++
			slowdown += (f.Ended - j.Submit) / j.Runtime
		}
		if priced.Jobs[i].Budget != nil {
			own := f.Paid.Float64() - f.Penalty.Float64()
			if exact := f.SLA.Budget.Float64() - f.SLA.Penalty.Of(f.Delay); math.Abs(own-exact) < 2e-6 {
				own = exact // the difference is the fraction of a micro-dollar that is not paid
			}
			utility += own
			row["utility"] = own
		}
		out = append(out, row)
	}
	c.Same(t, "jobs", out)
	measured := map[string]any{
		"submitted": len(in.Jobs), "accepted": done, "completed": done, "fulfilled": fulfilled,
		"fulfilled_pct": 100 * float64(fulfilled) / float64(len(in.Jobs)), "utility": utility,
		"slowdown": slowdown / float64(fulfilled),
	}
	if fulfilled == 0 {
		measured["slowdown"] = nil
	}
	c.Same(t, "metrics", measured)
}

func specs(n int, ratings []float64) []hosts.Spec {
	all := policytest.Uniform(max(n, len(ratings)))
	for h := range ratings {
		all[h].Speed = ratings[h] / rating
	}
	return all
}
