package market

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Ranking keeps the items 0..n-1 sorted by price. A policy uses it to find the cheapest
// hosts for a job without examining all hosts.
//
// A price change moves only the item concerned, and only when the order is next needed.
// BenchmarkRankingJob compares this with sorting, which is about 10 times slower on 1,000
// hosts and 500 times slower on 100,000.
type Ranking struct {
	items []ranked

	// chunks hold the keys in order. No chunk is empty unless it is the only one. A chunk is
	// short enough to insert a key by shifting, and long enough to keep the number of chunks
	// small.
	chunks [][]key
	free   [][]key
	moved  []move // items whose key may have an outdated price

	call uint32
}

// A ranked is the state of one item. Its fields are stored together because, with many items,
// almost every access to an item is a cache miss.
type ranked struct {
	price Rate
	drawn uint32 // number of the last call of Cheapest that drew the item
	left  bool   // whether the item is in Ranking.moved
}

// A key orders items by price, then by number.
type key struct {
	price Rate
	item  int32
}

// A move records an item whose price has changed, with the old price that its key still has.
type move struct {
	item int32
	from Rate
}

// A place is a position in the order: a chunk and an index in this chunk. There may be no key
// at a place.
type place struct{ chunk, i int }

const chunkSize = 512 // maximum number of keys in a chunk

// NewRanking returns a ranking of n items, all at price 0.
func NewRanking(n int) *Ranking {
	r := &Ranking{items: make([]ranked, n)}
	r.Reset()
	return r
}

// Len returns the number of items.
func (r *Ranking) Len() int { return len(r.items) }

// Set changes the price of item. The item moves to its new place when the order is next
// needed.
func (r *Ranking) Set(item int32, price Rate) {
	of := &r.items[item]
	old := of.price
	if old == price {
		return
	}
	of.price = price
	if !of.left {
		of.left = true
		r.moved = append(r.moved, move{item, old})
	}
}

// put moves the key of m's item to its current price.
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

// Cheapest appends to out the n items with the lowest prices, in order of price, among those
// for which ok returns true. A nil ok accepts all items. If fewer than n items are eligible,
// it appends all of them.
//
// Items of equal price are appended in random order. All items tied for the last positions are
// equally likely to be chosen. Without this, every job would go to the lowest-numbered idle
// hosts. The choice depends only on the prices, ok and rng.
func (r *Ranking) Cheapest(n int, rng *rand.Rand, ok func(item int32) bool, out []int32) []int32 {
	r.refresh()
	r.call++
	if r.call == 0 { // the counter overflowed: clear all marks
		for i := range r.items {
			r.items[i].drawn = 0
		}
		r.call = 1
	}
	// Process the items by price, starting with the lowest. Only the last group of equal
	// prices can have more items than needed.
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

// Reset sets all prices to 0. It reuses the allocated memory.
func (r *Ranking) Reset() {
	for i := range r.items {
		of := &r.items[i]
		of.price, of.left = 0, false
	}
	r.moved = r.moved[:0]
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

// refresh moves the keys whose prices have changed to their sorted positions.
func (r *Ranking) refresh() {
	for _, m := range r.moved {
		r.items[m.item].left = false
		r.put(m)
	}
	r.moved = r.moved[:0]
}

// draw appends to out at most n random eligible items from the keys between at and end, all of
// which have the same price.
func (r *Ranking) draw(at, end place, n int, rng *rand.Rand, ok func(int32) bool, out []int32) []int32 {
	// If there are many items, draw ranks at random and skip items already drawn. A skipped
	// item does not affect which of the others is drawn next, so the loop may stop at any
	// time.
	if size := r.count(at, end); size > 4*n+16 {
		for range 4*n + 16 {
			item := r.item(at, rng.IntN(size))
			if r.items[item].drawn == r.call {
				continue
			}
			r.items[item].drawn = r.call
			if ok == nil || ok(item) {
				out = append(out, item)
				if n--; n == 0 {
					return out
				}
			}
		}
	}

	// If there are few items, or few of them are eligible, shuffle all items not yet drawn.
	drawn := len(out)
	for ; at != end; at = r.next(at) {
		item := r.chunks[at.chunk][at.i].item
		if r.items[item].drawn != r.call && (ok == nil || ok(item)) {
			out = append(out, item)
		}
	}
	return out[:drawn+shuffle(out[drawn:], n, rng)]
}

// shuffle moves n random items, or all if there are fewer, to the front of items in random
// order. It returns the number of items moved.
func shuffle(items []int32, n int, rng *rand.Rand) int {
	n = min(n, len(items))
	for i := range n {
		j := i + rng.IntN(len(items)-i)
		items[i], items[j] = items[j], items[i]
	}
	return n
}

// count returns the number of keys from at up to but not including end.
func (r *Ranking) count(at, end place) int {
	n := end.i - at.i
	for _, c := range r.chunks[at.chunk:end.chunk] {
		n += len(c)
	}
	return n
}

// item returns the item of the key that is rank positions after at.
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

// seek returns the place of the first key that does not sort before k.
func (r *Ranking) seek(k key) place {
	c := r.chunkOf(k)
	i := search(r.chunks[c], k)
	if i == len(r.chunks[c]) {
		return place{c + 1, 0}
	}
	return place{c, i}
}

// chunkOf returns the index of the chunk to which k belongs. This is the last chunk whose
// first key does not sort after k, or the first chunk if there is none.
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

// insert adds k at its sorted position. It splits the chunk if it is full.
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

// remove deletes k from chunk at. It then joins that chunk with a neighbour if both are short.
func (r *Ranking) remove(at int, k key) {
	c := r.chunks[at]
	i := search(c, k)
	r.chunks[at] = slices.Delete(c, i, i+1)
	r.join(at)
	r.join(at - 1)
}

// join merges the chunks at and at+1 if together they fill at most half a chunk, or if one of
// them is empty. It does nothing if one of the two does not exist.
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

// newChunk returns an empty chunk, reusing a freed one if possible.
func (r *Ranking) newChunk() []key {
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		return c[:0]
	}
	return make([]key, 0, chunkSize)
}

// shift replaces old with k in keys, which stay sorted.
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

// search returns the index of the first key in keys that does not sort before k, or len(keys)
// if there is none.
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

// before reports whether k sorts before o.
func (k key) before(o key) bool {
	return k.price < o.price || k.price == o.price && k.item < o.item
}
