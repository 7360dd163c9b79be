package settlement

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
)

// TestDistribute checks the method of the largest remainder against exact fractions: parts sum
// to the total, each is its quota rounded up or down, and the parts rounded up have the largest
// remainders, or the first of equal remainders.
func TestDistribute(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "total")
		weight := rapid.OneOf(rapid.Uint64Range(0, 4), rapid.Uint64Range(0, 1<<57))
		weights := rapid.SliceOfN(weight, 1, 60).Draw(t, "weights")
		sum := new(big.Int)
		for _, w := range weights {
			sum.Add(sum, new(big.Int).SetUint64(w))
		}
		if sum.Sign() == 0 {
			return
		}
		type remainder struct {
			node int
			rest *big.Int
		}
		var want []int64
		var rests []remainder
		left := total
		for i, w := range weights {
			product := new(big.Int).Mul(big.NewInt(total), new(big.Int).SetUint64(w))
			quota, rest := product.QuoRem(product, sum, new(big.Int))
			want, left, rests = append(want, quota.Int64()), left-quota.Int64(), append(rests, remainder{i, rest})
		}
		slices.SortStableFunc(rests, func(a, b remainder) int { return cmp.Or(b.rest.Cmp(a.rest), cmp.Compare(a.node, b.node)) })
		for _, r := range rests[:left] {
			want[r.node]++
		}
		parts := slices.Clone(weights)
		distribute(total, parts)
		for i := range want {
			if parts[i] != uint64(want[i]) {
				t.Fatalf("%d over %v: %v, want %v", total, weights, parts, want)
			}
		}
	})
}

// TestBillsOfManyNodes checks that the bill of a contract equals the amount owed within one
// micro-dollar, for any number of nodes. Each host is paid in proportion to the amount owed to
// it, within one micro-dollar, even if the budget does not suffice.
func TestBillsOfManyNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes        int
		owed         float64 // amount owed to each node, $
		budget, paid int64   // budget and payment, in micro-dollars
	}{
		{1000, 0.00000146, 1e6, 1460},
		{7, 0.0000014, 98, 10},
		{1000, 1e-9, 1e6, 1},
		{1 << 17, 0.1, 1e12, 13107200000},
		{3, 1, 2e6, 2e6},
		{1000, 0.00000146, 1000, 1000},
	} {
		r := contracts.Request{Work: 1, Nodes: c.nodes, SLA: contracts.SLA{Budget: bank.Micros(c.budget), Deadline: 50}}
		over := Case{Request: &r, Work: 1, End: 40, Hosts: []Host{{Capacity: 1}}}
		for range c.nodes {
			over.Nodes = append(over.Nodes, contracts.Placement{Done: 1, Owed: c.owed})
		}
		v := over.Judge(contracts.Open)
		b, err := over.Bill(false, &v, nil)
		sum, least, most := int64(0), int64(math.MaxInt64), int64(0)
		for _, p := range b.Pay {
			m := p.Amount.Micros()
			sum, least, most = sum+m, min(least, m), max(most, m)
		}
		if err != nil || b.Paid.Micros() != c.paid || sum != c.paid || most-least > 1 {
			t.Errorf("%d nodes owing $%v each of a budget of %d: %v, paid %v, %d in all, %d to %d each; want %d",
				c.nodes, c.owed, c.budget, err, b.Paid, sum, least, most, c.paid)
		}
	}
}

// TestPaidInProportion checks random bills, some of which exceed the budget. A bill must equal
// the sum owed or the budget, and the part of each node must be proportional, within one
// micro-dollar.
func TestPaidInProportion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dollars := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e-5), rapid.Float64Range(0, 100))
		nodes := rapid.SliceOfN(dollars, 1, 40).Draw(t, "owed")
		budget := rapid.OneOf(rapid.Int64Range(1, 100), rapid.Int64Range(1, 1e9)).Draw(t, "budget")
		r := contracts.Request{Work: 1, Nodes: len(nodes), SLA: contracts.SLA{Budget: bank.Micros(budget), Deadline: 50}}
		over := Case{Request: &r, Work: 1, End: 40, Hosts: []Host{{Capacity: 1}}}
		sum := new(big.Rat)
		for i, x := range nodes {
			p := contracts.Placement{Done: 1, Owed: x}
			if i%3 == 2 {
				over.Arrears = append(over.Arrears, p)
			} else {
				over.Nodes = append(over.Nodes, p)
			}
			sum.Add(sum, new(big.Rat).SetFloat64(x))
		}
		v := over.Judge(contracts.Open)
		b, err := over.Bill(false, &v, nil)
		if err != nil {
			t.Fatal(err)
		}
		owed, _ := sum.Float64()
		if want := min(owed*1e6, float64(budget)); math.Abs(float64(b.Paid.Micros())-want) > 0.5+1e-9*want {
			t.Fatalf("paid %v, want %v micro-dollars", b.Paid, want)
		}
		all := slices.Concat(over.Arrears, over.Nodes)
		for i, p := range b.Pay {
			if owed > 0 {
				quota := float64(b.Paid.Micros()) * (all[i].Owed / owed)
				if got := float64(p.Amount.Micros()); math.Abs(got-quota) > 1+1e-9*quota {
					t.Fatalf("node %d of %v is paid %v of %v, want %v", i, all, p.Amount, b.Paid, quota)
				}
			}
		}
	})
}
