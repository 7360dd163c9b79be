package timetable

import "slices"

// A profile is the number of free nodes as a step function of time: free[i] from at[i] to
// at[i+1]; the last step has no end. Adjacent steps may be equal.
type profile struct {
	at   []int64 // starts of the steps, in ascending order
	free []int32 // free nodes per step
}

// reset makes p a single step with n free nodes from now on.
func (p *profile) reset(now int64, n int) {
	p.at = append(p.at[:0], now)
	p.free = append(p.free[:0], int32(n))
}

// copyFrom makes p equal to o.
func (p *profile) copyFrom(o *profile) {
	p.at = append(p.at[:0], o.at...)
	p.free = append(p.free[:0], o.free...)
}

// find returns the index of the step that contains t, or 0 if t is before the first step.
func (p *profile) find(t int64) int {
	i, found := slices.BinarySearch(p.at, t)
	if !found && i > 0 {
		i--
	}
	return i
}

// split returns the index of the step that starts at t. It creates the step if necessary.
func (p *profile) split(t int64) int {
	i := p.find(t)
	if p.at[i] >= t {
		return i
	}
	p.at = slices.Insert(p.at, i+1, t)
	p.free = slices.Insert(p.free, i+1, p.free[i])
	return i + 1
}

// add adds n to the free nodes within [from, to). It ignores times before the first step.
func (p *profile) add(from, to int64, n int) {
	if to <= max(from, p.at[0]) {
		return
	}
	i := p.split(from)
	j := i
	for j < len(p.at) && p.at[j] < to { // a job overlaps few steps, so a linear walk is faster than a search
		j++
	}
	if j == len(p.at) || p.at[j] != to {
		p.at = slices.Insert(p.at, j, to)
		p.free = slices.Insert(p.free, j, p.free[j-1])
	}
	for k := i; k < j; k++ {
		p.free[k] += int32(n)
	}
}

// fits reports whether n nodes are free throughout [s, s+span).
func (p *profile) fits(s, span int64, n int) bool {
	for i := p.find(s); i < len(p.at) && p.at[i] < s+span; i++ {
		if p.free[i] < int32(n) {
			return false
		}
	}
	return true
}

// fit returns the earliest s >= from at which n nodes are free throughout [s, s+span), or any s
// >= limit if there is none before limit. Because n is at most the number of nodes, such an s
// always exists.
func (p *profile) fit(from, limit, span int64, n int) int64 {
	s, need := from, int32(n)
	for i := p.find(from); s < limit; {
		if p.free[i] >= need {
			i++
			if i == len(p.at) || p.at[i] >= s+span {
				return s
			}
			continue
		}
		for i++; p.free[i] < need; i++ {
		}
		s = p.at[i]
	}
	return s
}

// trim removes steps before now and merges equal adjacent steps.
func (p *profile) trim(now int64) {
	k := 0
	for i := p.find(now); i < len(p.at); i++ {
		if k > 0 && p.free[i] == p.free[k-1] {
			continue
		}
		p.at[k], p.free[k] = p.at[i], p.free[i]
		k++
	}
	p.at, p.free = p.at[:k], p.free[:k]
	p.at[0] = max(p.at[0], now)
}
