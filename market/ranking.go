package market

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Ranking keeps the items 0..n-1 in order of price. It is updated, not
// rebuilt: a changed price moves one item, once somebody asks. BenchmarkRankingJob asks for it: sorting
// takes 3 to 600 times as long, a B-tree (tidwall/btree) 4 times as long on 15 hosts
// and on 1,000.
type Ranking struct {
	items []standing

	// chunks hold the keys in order, none of them empty unless it is the only one: short
	// enough to insert by shifting, long enough that there are few.
	chunks [][]key
	free   [][]key
	stale  bool   // some of few items are no longer at the price in their key
	moved  []move // of many, those that may not be

	call uint32
}

// A standing is what is known of an item, in one place: of many items it is far from that
// of the last.
type standing struct {
	price Rate
	seen  uint32 // the call of Cheapest that last saw it
	left  bool   // it is in moved
}

// A key orders items by price, then by number.
type key struct {
	price Rate
	item  int32
}

// A move is an item that has left the price in its key.
type move struct {
	item int32
	from Rate
}

// A place is where a key is, or would be: an index into a chunk.
type place struct{ chunk, i int }

const (
	chunkSize = 512 // keys; at most
	few       = 64  // items that are sorted when asked for: faster than moving each
)

// NewRanking returns a ranking of n items, all at price 0.
func NewRanking(n int) *Ranking {
	r := &Ranking{items: make([]standing, n)}
	r.Reset()
	return r
}

// Len returns the number of items.
func (r *Ranking) Len() int { return len(r.items) }

// Set makes price the price of item.
func (r *Ranking) Set(item int32, price Rate) {
	of := &r.items[item]
	old := of.price
	if old == price {
		return
	}
	of.price = price
	if len(r.items) <= few {
		r.stale = true
	} else if !of.left {
		of.left = true
		r.moved = append(r.moved, move{item, old})
	}
}

// put moves an item of many to its price.
func (r *Ranking) put(m move) {
	old, k := key{m.from, m.item}, key{r.items[m.item].price, m.item}
	if old == k {
		return
	}
	from, to := r.chunkOf(old), r.chunkOf(k)
	if from == to {
		shift(r.chunks[from], old, k)
		return
	}
	r.remove(from, old)
	r.insert(k)
}

// Cheapest appends to out the n items of lowest price, in order of price, among
// those for which ok is true; nil means all. If fewer are eligible, it appends
// these.
//
// Items of equal price come in random order, and those tied for the last places
// are equally likely to be taken. The choice depends on nothing but the prices,
// ok and rng.
func (r *Ranking) Cheapest(n int, rng *rand.Rand, ok func(item int32) bool, out []int32) []int32 {
	r.refresh()
	r.call++
	if r.call == 0 { // the counter went round: forget all
		for i := range r.items {
			r.items[i].seen = 0
		}
		r.call = 1
	}
	switch {
	case len(r.items) == 0:
		return out
	case len(r.items) <= few:
		return r.cheapestOf(r.chunks[0], n, rng, ok, out)
	}
	var at place
	for n > 0 && at.chunk < len(r.chunks) {
		price := r.chunks[at.chunk][at.i].price
		end := r.seek(key{price, math.MaxInt32})
		before := len(out)
		out = r.draw(at, end, n, rng, ok, out)
		n -= len(out) - before
		at = end
	}
	return out
}

// cheapestOf is Cheapest where all keys are in one chunk.
func (r *Ranking) cheapestOf(keys []key, n int, rng *rand.Rand, ok func(item int32) bool, out []int32) []int32 {
	for i := 0; n > 0 && i < len(keys); {
		price, end := keys[i].price, i+1
		for end < len(keys) && keys[end].price == price {
			end++
		}
		before := len(out)
		if item := keys[i].item; end == i+1 && (ok == nil || ok(item)) {
			out = append(out, item)
			rng.Uint64() // which of one it is: drawn as from among many
		} else if isMany(end-i, n) {
			last := place{0, end}
			if end == len(keys) {
				last = place{1, 0}
			}
			out = r.draw(place{0, i}, last, n, rng, ok, out)
		} else {
			for _, k := range keys[i:end] {
				if ok == nil || ok(k.item) {
					out = append(out, k.item)
				}
			}
			out = out[:before+shuffle(out[before:], n, rng)]
		}
		n -= len(out) - before
		i = end
	}
	return out
}

// Reset sets all prices to 0. The storage is kept.
func (r *Ranking) Reset() {
	for i := range r.items {
		of := &r.items[i]
		of.price, of.left = 0, false
	}
	r.stale, r.moved = false, r.moved[:0]
	r.free = append(r.free, r.chunks...)
	r.chunks = r.chunks[:0]
	for item := range int32(len(r.items)) {
		if item%(chunkSize/2) == 0 {
			r.chunks = append(r.chunks, r.newChunk())
		}
		last := &r.chunks[len(r.chunks)-1]
		*last = append(*last, key{0, item})
	}
}

// refresh puts all keys in order. Few are sorted by insertion: they are nearly in order.
func (r *Ranking) refresh() {
	for _, m := range r.moved {
		r.items[m.item].left = false
		r.put(m)
	}
	r.moved = r.moved[:0]
	if !r.stale {
		return
	}
	r.stale = false
	keys := r.chunks[0]
	for i := range keys {
		j, k := i, key{r.items[keys[i].item].price, keys[i].item}
		for ; j > 0 && k.before(keys[j-1]); j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}

// draw appends to out at most n random eligible items of those from at to end,
// which have one price.
func (r *Ranking) draw(at, end place, n int, rng *rand.Rand, ok func(int32) bool, out []int32) []int32 {
	// Of many, draw ranks, passing over items seen before. What is passed over
	// has no influence on which of the others comes next, so one may stop at any
	// time.
	if size := r.count(at, end); isMany(size, n) {
		for range 4*n + 16 {
			item := r.item(at, rng.IntN(size))
			if r.items[item].seen == r.call {
				continue
			}
			r.items[item].seen = r.call
			if ok == nil || ok(item) {
				out = append(out, item)
				if n--; n == 0 {
					return out
				}
			}
		}
	}

	// Of few, or where few are eligible, shuffle all the others.
	drawn := len(out)
	for ; at != end; at = r.next(at) {
		item := r.chunks[at.chunk][at.i].item
		if r.items[item].seen != r.call && (ok == nil || ok(item)) {
			out = append(out, item)
		}
	}
	return out[:drawn+shuffle(out[drawn:], n, rng)]
}

// isMany reports whether n of size items are drawn sooner by rank than by shuffling
// all.
func isMany(size, n int) bool { return size > 4*n+16 }

// shuffle puts n random items, or all, first in random order, and returns how many.
func shuffle(items []int32, n int, rng *rand.Rand) int {
	n = min(n, len(items))
	for i := range n {
		j := i + rng.IntN(len(items)-i)
		items[i], items[j] = items[j], items[i]
	}
	return n
}

// count returns the number of keys from at to end.
func (r *Ranking) count(at, end place) int {
	n := end.i - at.i
	for _, c := range r.chunks[at.chunk:end.chunk] {
		n += len(c)
	}
	return n
}

// item returns the item whose key is rank places after at.
func (r *Ranking) item(at place, rank int) int32 {
	rank += at.i
	for len(r.chunks[at.chunk]) <= rank {
		rank -= len(r.chunks[at.chunk])
		at.chunk++
	}
	return r.chunks[at.chunk][rank].item
}

// next returns the place after at.
func (r *Ranking) next(at place) place {
	if at.i++; at.i == len(r.chunks[at.chunk]) {
		return place{at.chunk + 1, 0}
	}
	return at
}

// seek returns the place of the first key that is not before k.
func (r *Ranking) seek(k key) place {
	c := r.chunkOf(k)
	i := search(r.chunks[c], k)
	if i == len(r.chunks[c]) {
		return place{c + 1, 0}
	}
	return place{c, i}
}

// chunkOf returns the chunk that k belongs to: the last that does not begin
// after it, or the first.
func (r *Ranking) chunkOf(k key) int {
	low, high := 0, len(r.chunks)
	for high-low > 1 {
		mid := (low + high) / 2
		if k.before(r.chunks[mid][0]) {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// insert puts k where it belongs, splitting a full chunk.
func (r *Ranking) insert(k key) {
	at := r.chunkOf(k)
	if c := r.chunks[at]; len(c) == chunkSize {
		half := append(r.newChunk(), c[chunkSize/2:]...)
		r.chunks[at] = c[:chunkSize/2]
		r.chunks = slices.Insert(r.chunks, at+1, half)
		at = r.chunkOf(k)
	}
	c := r.chunks[at]
	r.chunks[at] = slices.Insert(c, search(c, k), k)
}

// remove takes k from the chunk at, which it joins with a neighbour where both
// have become short.
func (r *Ranking) remove(at int, k key) {
	c := r.chunks[at]
	i := search(c, k)
	r.chunks[at] = slices.Delete(c, i, i+1)
	r.join(at)
	r.join(at - 1)
}

// join makes one chunk of the chunks at and at+1 if they fit into half of one,
// or if one is empty. It does nothing if one of the two does not exist.
func (r *Ranking) join(at int) {
	if at < 0 || at+1 >= len(r.chunks) {
		return
	}
	a, b := r.chunks[at], r.chunks[at+1]
	if len(a) > 0 && len(b) > 0 && len(a)+len(b) > chunkSize/2 {
		return
	}
	r.chunks[at] = append(a, b...)
	r.chunks = slices.Delete(r.chunks, at+1, at+2)
	r.free = append(r.free, b)
}

// newChunk returns an empty chunk.
func (r *Ranking) newChunk() []key {
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		return c[:0]
	}
	return make([]key, 0, chunkSize)
}

// shift replaces old by k in keys and keeps them in order.
func shift(keys []key, old, k key) {
	i, j := search(keys, old), search(keys, k)
	if i < j {
		j--
		copy(keys[i:j], keys[i+1:])
	} else {
		copy(keys[j+1:i+1], keys[j:])
	}
	keys[j] = k
}

// search returns the index of the first of keys that is not before k.
func search(keys []key, k key) int {
	low, high := 0, len(keys)
	for low < high {
		mid := int(uint(low+high) / 2)
		if keys[mid].before(k) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

func (k key) before(o key) bool {
	return k.price < o.price || k.price == o.price && k.item < o.item
}
