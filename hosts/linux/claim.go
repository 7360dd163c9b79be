//go:build linux

package linux

import (
	"math"
	"slices"

	"bourse/hosts"
)

// A claim is the processor time that other groups owe to one group.
type claim struct {
	share hosts.Share // 0 if the group does not compete for processors
	used  float64     // processor-seconds used since the last slice
	owed  float64     // processor-seconds in arrears
	spare float64     // processor-seconds that the group may use before it reaches its limit
	runs  bool        // whether it runs in the next slice
}

// mostOwed limits, in processor-seconds, the claim of a group that does not use its time
// slices, for example because it waits for a disk.
const mostOwed = 0.5

// A scheduler allocates time slices among claims.
type scheduler struct {
	processors float64
	spare      float64 // remaining processor-seconds of the processors offered
}

// settle accounts for dt seconds and decides which groups run next. Each group is owed its part
// of the total time that all groups used. It is not owed part of the elapsed time, because
// light groups would then starve if other programs use the machine. The groups with the largest
// arrears run, as many as there are processors offered, plus one for each group that does not
// use its slice.
func (d *scheduler) settle(dt float64, claims []*claim) {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c *claim) bool {
		if c.share.Weight == 0 {
			c.owed, c.spare, c.runs = 0, 0, false
		}
		return c.share.Weight == 0
	})
	used := 0.0
	shares := make([]hosts.Share, len(claims))
	rates := make([]float64, len(claims))
	for i, c := range claims {
		used += c.used
		shares[i] = c.share
	}
	hosts.Divide(used/dt, 0, shares, rates)
	slots := int(d.processors)
	if d.spare = min(d.spare+d.processors*dt-used, d.processors*dt); d.spare >= 0 {
		slots = int(math.Ceil(d.processors))
	}
	for i, c := range claims {
		c.owed = max(-mostOwed, min(c.owed+rates[i]*dt-c.used, mostOwed))
		if c.spare = min(c.spare+c.share.Limit*dt-c.used, c.share.Limit*dt); c.share.Limit == 0 {
			c.spare = 0
		}
		if c.runs && c.used < dt/10 {
			slots++
		}
	}
	slices.SortStableFunc(claims, func(a, b *claim) int {
		if a.owed > b.owed {
			return -1
		} else if a.owed < b.owed {
			return 1
		}
		return 0
	})
	for _, c := range claims {
		c.runs = slots > 0 && (c.share.Limit == 0 || c.spare >= 0)
		if c.runs {
			slots--
		}
	}
}
