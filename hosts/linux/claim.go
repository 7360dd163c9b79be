//go:build linux

package linux

import (
	"math"
	"slices"

	"bourse/hosts"
)

// A claim is what one group is owed by the others.
type claim struct {
	share hosts.Share // 0 does not take part
	used  float64     // processor-seconds since the last turn
	owed  float64     // processor-seconds that it is in arrears
	spare float64     // processor-seconds left until its limit
	runs  bool        // until the next turn
}

// mostOwed bounds what a group that waits for a disk, and so does not use what it is
// offered, can claim later.
const mostOwed = 0.5

// A dealer deals turns among claims.
type dealer struct {
	processors float64
	spare      float64 // processor-seconds left until what is offered
}

// settle books dt seconds and says who runs next. Of what all have used together each is
// owed its part: of what was delivered, not of the clock, by which the light ones would
// starve where others use the machine. The most in arrears run, as many as are
// offered, and one more for each that has its turn and does not use it.
func (d *dealer) settle(dt float64, claims []*claim) {
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
