package settlement

import (
	"math"
	"math/bits"
	"slices"

	"bourse/bank"
	"bourse/contracts"
)

// distribute divides total micro-dollars in proportion to weights, and replaces each weight by
// its part. It uses the method of the largest remainder. Each part starts as its exact quota,
// total × weight / sum, rounded toward zero. The remaining micro-dollars go, one each, to the
// parts with the largest remainders. If remainders are equal, earlier parts come first.
//
// The parts sum to total, unless all weights are 0. For example, a total of 10 with weights 1,
// 1 and 1 gives 4, 3 and 3. Rounding each part separately would create or lose money. The sum
// of the weights must be below 2^64.
func distribute(total int64, weights []uint64) {
	sum := uint64(0)
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return
	}
	var few [2 * 16]uint64 // this array avoids an allocation for up to 16 nodes
	rests, left := few[:0], uint64(total)
	for i, w := range weights {
		hi, lo := bits.Mul64(uint64(total), w)
		quota, rest := bits.Div64(hi, lo, sum)
		weights[i], left, rests = quota, left-quota, append(rests, rest)
	}
	if left == 0 {
		return
	}
	ranked := append(rests[len(rests):], rests...)
	slices.Sort(ranked)
	least, ties := ranked[len(ranked)-int(left)], left
	for _, rest := range rests {
		if rest > least {
			ties--
		}
	}
	for i, rest := range rests {
		switch {
		case rest > least:
			weights[i]++
		case rest == least && ties > 0:
			weights[i]++
			ties--
		}
	}
}

// Divide divides total in proportion to weights, which are at least 0, by the method of the largest
// remainder. The parts sum to total. If all weights are 0, total is the first part.
func Divide(total bank.Amount, weights []float64) []bank.Amount {
	most, parts, out := 0.0, make([]uint64, len(weights)), make([]bank.Amount, len(weights))
	for _, w := range weights {
		most += w
	}
	_, exponent := math.Frexp(most)
	for i, w := range weights {
		parts[i] = uint64(math.Ldexp(w, 62-exponent))
	}
	if most == 0 && len(parts) > 0 {
		parts[0] = 1
	}
	distribute(total.Micros(), parts)
	for i, part := range parts {
		out[i] = bank.Micros(int64(part))
	}
	return out
}

// owed returns the sum of the charges accrued on nodes, in dollars. The summation is
// compensated (Neumaier), so its error is a few parts in 2^53 for any number of nodes.
func owed(nodes ...[]contracts.Placement) float64 {
	sum, lost := 0.0, 0.0
	for _, on := range nodes {
		for i := range on {
			x := on[i].Owed
			if next := sum + x; sum >= x {
				lost, sum = lost+(sum-next+x), next
			} else {
				lost, sum = lost+(x-next+sum), next
			}
		}
	}
	return sum + lost
}

// weigh appends the charge accrued on each node to weights, in units of 2^-shift dollars.
func weigh(weights []uint64, nodes []contracts.Placement, shift int) []uint64 {
	for i := range nodes {
		weights = append(weights, uint64(math.Ldexp(nodes[i].Owed, shift)))
	}
	return weights
}

// pay appends one payment per node: the part of the node, in micro-dollars, to the owner of
// its host.
func (c *Case) pay(pay []bank.Payment, nodes []contracts.Placement, parts []uint64) []bank.Payment {
	for i := range nodes {
		pay = append(pay, bank.Payment{To: c.Hosts[nodes[i].Host].Owner, Amount: bank.Micros(int64(parts[i]))})
	}
	return pay
}
