package workloadgen

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestSplit compares values with exact fractions of the decimals of budgets, worths, runtimes
// and nodes, and checks that no user exceeds its budget.
func TestSplit(t *testing.T) {
	t.Parallel()
	rat := func(x float64) *big.Rat {
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.OneOf(rapid.Float64Range(0, 1e6), rapid.SampledFrom([]float64{0.29, 0.3, 1, 4.35, 100})).Draw(t, "budget")
		number := rapid.OneOf(rapid.SampledFrom([]float64{0.1, 0.3, 0.7, 1, 3}), rapid.Float64Range(1e-6, 1e4))
		plan := make(Plan, rapid.IntRange(1, 30).Draw(t, "jobs"))
		sums := make(map[int64]*big.Rat)
		work := func(j *Job) *big.Rat {
			r := rat(j.Worth)
			return r.Mul(r, rat(j.Runtime)).Mul(r, rat(float64(j.Nodes)))
		}
		for i := range plan {
			j := &plan[i]
			*j = Job{User: rapid.SampledFrom([]int64{0, 1, 1 << 40}).Draw(t, "user"), Worth: number.Draw(t, "worth"), Runtime: number.Draw(t, "runtime"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
			if sums[j.User] == nil {
				sums[j.User] = new(big.Rat)
			}
			sums[j.User].Add(sums[j.User], work(j))
		}
		plan.Split(budget, (*Job).Weights)
		offers := make(map[int64]int64)
		for i := range plan {
			j := &plan[i]
			want := new(big.Int)
			if sum := sums[j.User]; sum.Sign() > 0 {
				q := work(j)
				q.Mul(q, rat(budget)).Mul(q, rat(1e6)).Quo(q, sum)
				want.Quo(q.Num(), q.Denom())
			}
			got := int64(math.Round(j.Value * 1e6))
			if got != want.Int64() {
				t.Fatalf("job %d of %+v: %d micro-dollars of $%v, want %v", i, plan, got, budget, want)
			}
			if offers[j.User] += got; float64(offers[j.User]) > budget*1e6*(1+1e-15) {
				t.Fatalf("user %d offers %d micro-dollars of $%v", j.User, offers[j.User], budget)
			}
		}
	})
}
