package packing

import "math"

// A flow solves the fractional problem of a part exactly.
//
// With y_j = n_j x_j, every row has coefficients 0 and 1 that are consecutive in time. In this
// form, capacity units flow from the first row past the last row. Units can idle from row to
// row at no cost. At most n_j units can move along item j, from its first row to the row after
// its last, at a cost of -v_j/n_j each. The algorithm adds cheapest paths until the cheapest
// one costs nothing. The distances are then the prices of the dual.
type flow struct {
	used  []int32   // per item: number of units that flow along it
	idle  []int32   // per row: number of units that idle until the next row
	dist  []float64 // per row and one more: cost of the cheapest path
	from  []int32   // like dist: the previous row on that path
	along []int32   // per row and one more: the last arc of that path, an item or idling
	tiny  float64   // smallest improvement that counts
}

const idling = -1

// price sets the part's prices and its items' gains, and returns the value of the fractional
// problem. That value is an upper bound for any rounding of the prices.
func (f *flow) price(p *part, capacity int32) (bound float64) {
	f.reset(p)
	for rest := capacity; ; {
		f.distances(p)
		if rest == 0 || f.dist[p.rows] >= -f.tiny {
			break
		}
		sent := f.push(p, rest)
		if sent == 0 {
			break
		}
		rest -= sent
	}

	p.prices = p.prices[:0]
	for r := range p.rows {
		p.prices = append(p.prices, max(0, f.dist[r]-f.dist[r+1]))
	}
	return p.assess(capacity)
}

func (f *flow) reset(p *part) {
	rows := int(p.rows)
	f.used = zeroed(f.used, len(p.items))
	f.idle = zeroed(f.idle, rows)
	f.dist = zeroed(f.dist, rows+1)
	f.from = zeroed(f.from, rows+1)
	f.along = zeroed(f.along, rows+1)
	f.tiny = 0
	for i := range p.items {
		f.tiny += 1e-13 * p.items[i].value / float64(p.items[i].nodes)
	}
}

// distances finds the cheapest paths from the first row. It sweeps forward along free arcs and
// backward along used ones until nothing changes. Apart from rounding, the number of sweeps is
// at most the number of rows.
func (f *flow) distances(p *part) {
	for r := range f.dist {
		f.dist[r] = math.Inf(1)
	}
	f.dist[0] = 0
	changed := true
	for sweep := int32(0); changed && sweep <= p.rows; sweep++ {
		for r := range p.rows {
			f.relax(r, r+1, 0, idling)
			begin, end := p.begin(r)
			for i := begin; i < end; i++ {
				if it := &p.items[i]; f.used[i] < it.nodes {
					f.relax(r, it.last+1, -it.value/float64(it.nodes), i)
				}
			}
		}
		changed = false
		for r := p.rows; r > 0; r-- {
			if f.idle[r-1] > 0 && f.relax(r, r-1, 0, idling) {
				changed = true
			}
			for _, i := range p.over(r) {
				it := &p.items[i]
				if f.used[i] > 0 && f.relax(r, it.first, it.value/float64(it.nodes), i) {
					changed = true
				}
			}
		}
	}
}

func (f *flow) relax(from, to int32, cost float64, along int32) bool {
	if d := f.dist[from] + cost; d < f.dist[to]-f.tiny {
		f.dist[to], f.from[to], f.along[to] = d, from, along
		return true
	}
	return false
}

// push sends as many units as fit along the cheapest path, at most rest, and returns their
// number. It returns 0 if rounding has turned the path into a cycle.
func (f *flow) push(p *part, rest int32) int32 {
	sent, steps := rest, int32(0)
	for r := p.rows; r != 0; r = f.from[r] {
		if steps++; steps > p.rows {
			return 0
		}
		i, forward := f.along[r], f.from[r] < r
		switch {
		case i != idling && forward:
			sent = min(sent, p.items[i].nodes-f.used[i])
		case i != idling:
			sent = min(sent, f.used[i])
		case !forward:
			sent = min(sent, f.idle[r])
		}
	}
	for r := p.rows; r != 0; r = f.from[r] {
		i, by := f.along[r], sent
		at := f.from[r]
		if at > r {
			by, at = -sent, r
		}
		if i == idling {
			f.idle[at] += by
		} else {
			f.used[i] += by
		}
	}
	return sent
}
