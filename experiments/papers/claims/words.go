package claims

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// after fills in what n does not say from first.
func (n Number) after(first Number) Number {
	if len(n.Metric) == 0 && n.Reserve == nil {
		n.Metric, n.Since, n.Reserve = first.Metric, first.Since, first.Reserve
	}
	if len(n.Of) == 0 {
		n.Of = first.Of
	}
	if len(n.In) == 0 {
		n.In = first.In
	}
	if n.At == nil {
		n.At = first.At
	}
	if n.Less == "" && n.Per == "" && len(n.Of) == 1 && n.Of[0] == first.Of[0] {
		n.Less, n.Per = first.Less, first.Per
	}
	if n.Along == "" && n.Spread == "" {
		n.Along, n.Spread = first.Along, first.Spread
	}
	n.Deviation, n.Effect = first.Deviation, first.Effect
	return n
}

// over returns what n is beside first, which it is subtracted from.
func (n Number) over(first Number) string {
	var s []string
	if n.metric() != first.metric() {
		s = append(s, n.metric())
	}
	if n.Of[0] != first.Of[0] || n.Less != first.Less || n.Per != first.Per {
		s = append(s, "of "+n.policy())
	}
	if n.In[0] != first.In[0] {
		s = append(s, n.In[0])
	}
	for _, axis := range slices.Sorted(maps.Keys(n.At)) {
		if !slices.Equal(n.At[axis], first.At[axis]) {
			s = append(s, axis+" "+n.At[axis].words())
		}
	}
	return strings.Join(s, ", ")
}

func (r Range) words() string {
	if len(r) > 1 {
		return fmt.Sprintf("%v to %v", r[0], r[1])
	}
	return fmt.Sprint(r[0])
}

// metric says what is measured.
func (n Number) metric() string {
	switch {
	case n.Reserve != nil:
		r := n.Reserve
		return fmt.Sprintf("%s less (p - q)/(1 - q), p %s, q %s of %s,", r.Admitted, strings.Join(r.Fulfilled, " and "), r.Cost, r.Spot)
	case n.Since != "":
		return n.Metric[0] + " less " + n.Since
	}
	return n.Metric[0]
}

// policy says whose metric it is.
func (n Number) policy() string {
	switch {
	case n.Less != "":
		return n.Of[0] + " less " + n.Less
	case n.Per != "":
		return n.Of[0] + " per " + n.Per + " less 1"
	}
	return n.Of[0]
}

// words says what the number is.
func (n Number) words() string {
	s := n.metric() + " of " + n.policy() + ", " + n.In[0]
	for _, axis := range slices.Sorted(maps.Keys(n.At)) {
		s += ", " + axis + " " + n.At[axis].words()
	}
	switch {
	case n.Along != "":
		s = "change along " + n.Along + " of " + s
	case n.Spread != "":
		s = "spread along " + n.Spread + " of " + s
	}
	switch {
	case n.Deviation:
		s = "log deviation of " + s
	case n.Effect:
		s = "mean by deviation of " + s
	}
	return s
}
