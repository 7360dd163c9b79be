package packing

// A part is a sequence of rows connected by items. It is a separate problem.
type part struct {
	rows   int32
	items  []item    // items by first row; rows count from 0
	starts []int32   // per row and one more: the first item at or after it
	prices []float64 // per row: dollars per node

	sums  []float64 // per row and one more: sum of the prices before it
	ends  []int32   // items by last row
	endAt []int32   // per row and two more: index in ends of the first item whose last row is the previous row
}

// cut sets p to the first part of items, which must not be empty, and returns the number of
// its items.
func (p *part) cut(items []item) int {
	base, last := items[0].first, items[0].last
	n := 0
	for n < len(items) && items[n].first <= last {
		last = max(last, items[n].last)
		n++
	}
	p.items, p.rows = items[:n], last-base+1
	p.starts = zeroed(p.starts, int(p.rows)+1)
	p.endAt = zeroed(p.endAt, int(p.rows)+3)
	for i := range p.items {
		it := &p.items[i]
		it.first -= base
		it.last -= base
		p.starts[it.first+1]++
		p.endAt[it.last+3]++
	}
	for r := range p.rows {
		p.starts[r+1] += p.starts[r]
		p.endAt[r+3] += p.endAt[r+2]
	}
	p.ends = zeroed(p.ends, n)
	for i := range p.items {
		at := &p.endAt[p.items[i].last+2]
		p.ends[*at] = int32(i)
		*at++
	}
	return n
}

// begin returns the items whose first row is row, as positions [from, to).
func (p *part) begin(row int32) (from, to int32) { return p.starts[row], p.starts[row+1] }

// over returns the items whose last row is the row before the given one.
func (p *part) over(row int32) []int32 { return p.ends[p.endAt[row]:p.endAt[row+1]] }

// assess sets the items' gains at the prices, and returns the resulting bound. For any prices,
// the bound is at least the value of the fractional problem.
func (p *part) assess(capacity int32) (bound float64) {
	p.sums = append(p.sums[:0], 0)
	for r, price := range p.prices {
		p.sums = append(p.sums, p.sums[r]+price)
	}
	for i := range p.items {
		it := &p.items[i]
		it.gain = it.value - float64(it.nodes)*(p.sums[it.last+1]-p.sums[it.first])
		bound += max(0, it.gain)
	}
	return bound + float64(capacity)*p.sums[p.rows]
}

// room returns n elements with undefined values, in the memory of s if it is large enough.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, 2*n)
	}
	return s[:n]
}

// zeroed returns n zeros, in the memory of s if it is large enough.
func zeroed[T bool | int | int32 | float64](s []T, n int) []T {
	s = room(s, n)
	clear(s)
	return s
}
