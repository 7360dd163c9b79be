package clearing

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"bourse/market"
)

// BundleOptions are the options of the mechanisms that sell bundles.
type BundleOptions struct {
	Exact   int     `yaml:"exact" validate:"min=0" doc:"most bids for which vcg finds the best set; with more, greedy replaces it"`
	Norm    float64 `yaml:"norm" validate:"oneof=0.5 1" doc:"greedy ranks by value / (nodes x seconds)^norm"`
	Reserve float64 `yaml:"reserve" validate:"min=0" doc:"least price, in $ per node-second"`
}

// DefaultBundle returns the defaults of [BundleOptions].
func DefaultBundle() BundleOptions { return BundleOptions{Exact: 24, Norm: 0.5} }

// A bundles contains the bids of a book that can win, and the number of units in use at each
// time.
type bundles struct {
	BundleOptions
	reserve market.Rate // per unit and second
	bids    []bundle    // in order of arrival
	times   []float64   // times at which the number of units in use may change, sorted
	room    usage       // units in use
}

// A bundle is a bid with its rank.
type bundle struct {
	at          int   // position in the book
	first, last int   // intervals between times: [first, last)
	units       int   // number of units wanted
	value, size int64 // micro-dollars; units x seconds, rounded up
	least       int64 // reserve price, in micro-dollars
}

// Least returns the reserve price, in micro-dollars, of a bundle of units for a number of seconds.
// It rounds toward zero. The rate is per unit and second.
func Least(reserve market.Rate, units int, seconds float64) int64 {
	return int64(min(float64(reserve)*float64(units)*seconds/1000, 1<<62))
}

// read stores the bids of b that can win. A bid cannot win if it is below the reserve price,
// has no value or needs more units than the capacity.
func (s *bundles) read(b *Book, capacity int) {
	s.bids, s.times = s.bids[:0], s.times[:0]
	for i := range b.Bids {
		bid := &b.Bids[i]
		least := Least(s.reserve, bid.Units, bid.Seconds)
		if bid.Units < 1 || bid.Units > capacity || bid.Value <= 0 || bid.Value < least || !(bid.To > bid.From) {
			continue
		}
		s.bids = append(s.bids, bundle{at: i, units: bid.Units, value: bid.Value, size: int64(bid.Units) * int64(math.Ceil(bid.Seconds)), least: least})
		s.times = append(s.times, bid.From, bid.To)
	}
	for _, h := range b.Held {
		s.times = append(s.times, h.From, h.To)
	}
	slices.Sort(s.times)
	s.times = slices.Compact(s.times)
	for i := range s.bids {
		bid := &b.Bids[s.bids[i].at]
		s.bids[i].first, s.bids[i].last = s.interval(bid.From), s.interval(bid.To)
	}
	s.room.reset(len(s.times))
	for _, h := range b.Held {
		s.room.add(s.interval(h.From), s.interval(h.To), h.Units)
	}
}

// interval returns the position of t in the times.
func (s *bundles) interval(t float64) int {
	i, _ := slices.BinarySearch(s.times, t)
	return i
}

// A ratio is a value and a size. Ratios are compared exactly.
type ratio struct{ value, size int64 }

// compare compares a.value / a.size^norm with b.value / b.size^norm. To avoid division, it
// compares a.value^2 b.size with b.value^2 a.size for a norm of 1/2, and a.value b.size with
// b.value a.size for a norm of 1.
func (s *bundles) compare(a, b ratio) int {
	x, y := product(a.value, b.size, s.Norm), product(b.value, a.size, s.Norm)
	for i := range x {
		if x[i] != y[i] {
			return cmp.Compare(x[i], y[i])
		}
	}
	return 0
}

// product returns value x size for a norm of 1, or value^2 x size, with the high word first.
func product(value, size int64, norm float64) [3]uint64 {
	v, w := uint64(value), uint64(size)
	hi, lo := uint64(0), v
	if norm != 1 {
		hi, lo = bits.Mul64(v, v)
	}
	carry, low := bits.Mul64(lo, w)
	high, mid := bits.Mul64(hi, w)
	mid, c := bits.Add64(mid, carry, 0)
	return [3]uint64{high + c, mid, low}
}

// critical returns the highest value with which a bid of the given size does not rank above r:
// floor(r.value (size/r.size)^norm).
func (s *bundles) critical(r ratio, size int64) int64 {
	v := int64(float64(r.value) * math.Pow(float64(size)/float64(r.size), s.Norm))
	for s.compare(ratio{v, size}, r) > 0 {
		v--
	}
	for s.compare(ratio{v + 1, size}, r) <= 0 {
		v++
	}
	return v
}

// usage is a segment tree that stores the units in use in each interval between times.
type usage struct {
	size int     // number of leaves, a power of 2
	most []int64 // per node: maximum of its intervals, excluding plus of the node and of its ancestors
	plus []int64 // per node: number of units added to all its intervals
}

// reset makes u empty, with n intervals.
func (u *usage) reset(n int) {
	u.size = 1 << bits.Len(uint(max(0, n-1)))
	u.most, u.plus = zeroed(u.most, 2*u.size), zeroed(u.plus, 2*u.size)
}

// copy makes u equal to v.
func (u *usage) copy(v *usage) {
	u.size = v.size
	u.most, u.plus = append(u.most[:0], v.most...), append(u.plus[:0], v.plus...)
}

// add adds units in the intervals [first, last).
func (u *usage) add(first, last, units int) { u.change(1, 0, u.size, first, last, int64(units)) }

func (u *usage) change(node, from, to, first, last int, units int64) {
	if first >= to || last <= from {
		return
	}
	if first <= from && to <= last {
		u.plus[node] += units
		return
	}
	middle := (from + to) / 2
	u.change(2*node, from, middle, first, last, units)
	u.change(2*node+1, middle, to, first, last, units)
	u.most[node] = max(u.most[2*node]+u.plus[2*node], u.most[2*node+1]+u.plus[2*node+1])
}

// peak returns the maximum of the intervals [first, last), or 0 if there is none.
func (u *usage) peak(first, last int) int { return int(u.highest(1, 0, u.size, first, last)) }

func (u *usage) highest(node, from, to, first, last int) int64 {
	if first >= to || last <= from {
		return 0
	}
	if first <= from && to <= last {
		return u.most[node] + u.plus[node]
	}
	middle := (from + to) / 2
	return u.plus[node] + max(u.highest(2*node, from, middle, first, last), u.highest(2*node+1, middle, to, first, last))
}

// fits reports whether j fits in addition to u.
func (u *usage) fits(j *bundle, capacity int) bool {
	return u.peak(j.first, j.last)+j.units <= capacity
}
