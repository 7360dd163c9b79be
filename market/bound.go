package market

import (
	"math"
	"slices"
)

// Of very many items most are never among the cheapest. A ranking keeps those in order
// whose price is at most a bound, and of the others the price alone. The bound goes up
// when more are asked for than are below it, and down when these have become many.
// BenchmarkScale of experiments asks for it: without, 10^5 hosts take a fifth longer.

const enough = 512 // items below the bound are not too few

// aim returns how many items are to be below the bound.
func (r *Ranking) aim() int { return max(enough, len(r.items)/32) }

// raise moves the bound up, and reports whether there are items above it. No item is to
// be moved any more.
func (r *Ranking) raise() bool {
	above := len(r.items) - r.held
	if above == 0 {
		return false
	}
	from := r.bound
	r.bound = math.MaxInt64
	if aim := r.aim(); above > 2*aim {
		var some []Rate
		for i := 0; i < len(r.items); i += 1 + len(r.items)/4096 {
			if p := r.items[i].price; p > from {
				some = append(some, p)
			}
		}
		slices.Sort(some)
		if at := aim * len(some) / above; at < len(some) {
			r.bound = some[at]
		}
	}
	var keys []key
	for i := range r.items {
		p := r.items[i].price
		if p > from && p <= r.bound {
			keys = append(keys, key{p, int32(i)})
		}
	}
	slices.SortFunc(keys, compare)
	if len(r.chunks[0]) == 0 {
		r.free, r.chunks = append(r.free, r.chunks...), r.chunks[:0]
	}
	for half := range slices.Chunk(keys, chunkSize/2) {
		r.chunks = append(r.chunks, append(r.newChunk(), half...))
	}
	r.held += len(keys)
	return true
}

// lower moves the bound down if very many items are below it.
func (r *Ranking) lower() {
	aim := r.aim()
	if r.held <= 4*aim {
		return
	}
	rank, c := aim, 0
	for ; rank >= len(r.chunks[c]); c++ {
		rank -= len(r.chunks[c])
	}
	bound := r.chunks[c][rank].price
	end := r.seek(key{bound, math.MaxInt32})
	if end.chunk == len(r.chunks) {
		return // so many at one price
	}
	r.bound = bound
	r.held = r.count(place{}, end)
	if end.i > 0 {
		r.chunks[end.chunk] = r.chunks[end.chunk][:end.i]
		end.chunk++
	}
	r.free = append(r.free, r.chunks[end.chunk:]...)
	r.chunks = r.chunks[:end.chunk]
	r.join(end.chunk - 2)
}
