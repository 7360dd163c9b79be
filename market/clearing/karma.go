package clearing

import (
	"cmp"
	"slices"
)

// A karma divides the units of each period among the users by their credits (Vuppalapati et
// al., "Karma: Resource Allocation for Dynamic Demands", OSDI 2023, Algorithm 1). A user earns
// credits with units that it does not need, and has priority in later periods. A bid names a
// user and the units that it demands; a bid for 0 units introduces its user.
type karma struct {
	KarmaOptions
	demands
	credits []int64 // per user
	gives   []int   // per user: guaranteed units that it donates
	takers  []int   // users that want more units
	donors  []int
}

// KarmaOptions are the options of karma.
type KarmaOptions struct {
	Alpha   float64 `yaml:"alpha" validate:"min=0,max=1" doc:"fraction of the units that is guaranteed, in equal parts"`
	Credits int64   `yaml:"credits" validate:"min=0,max=1e15" doc:"credits of the first users; later ones get the mean"`
}

// A demands groups the bids of a book by user.
type demands struct {
	users  []int32 // users that have ever bid, sorted
	wanted []int   // per user: number of units that its bids request
	units  []int   // per user: number of units that it obtains
}

// NewKarma returns karma.
func NewKarma(o KarmaOptions) Mechanism { return &karma{KarmaOptions: o} }

// Clear implements [Mechanism].
func (k *karma) Clear(b *Book, r *Result) error {
	r.reset(b)
	k.read(b, func(at int) {
		first := k.Credits
		if n := int64(len(k.credits)); n > 0 {
			sum := int64(0)
			for _, c := range k.credits {
				sum += c
			}
			first = sum / n
		}
		k.credits = slices.Insert(k.credits, at, first)
	})
	n := len(k.users)
	if n == 0 {
		return nil
	}
	guaranteed := int(k.Alpha * float64(b.Capacity) / float64(n))
	shared := b.Capacity - n*guaranteed
	k.gives, k.takers, k.donors = zeroed(k.gives, n), k.takers[:0], k.donors[:0]
	for u := range n {
		k.credits[u] += int64(shared / n)
		k.units[u] = min(k.wanted[u], guaranteed)
		k.gives[u] = guaranteed - k.units[u]
		if k.gives[u] > 0 {
			k.donors = append(k.donors, u)
		} else if k.wanted[u] > guaranteed {
			k.takers = append(k.takers, u)
		}
	}
	for {
		// The borrower with the most credits receives a unit from the donor with the fewest
		// credits, or a shared unit. Users are visited in order, so the first of several equal
		// users is chosen.
		to, from := -1, -1
		for _, u := range k.takers {
			if k.credits[u] > 0 && k.units[u] < k.wanted[u] && (to < 0 || k.credits[u] > k.credits[to]) {
				to = u
			}
		}
		for _, u := range k.donors {
			if k.gives[u] > 0 && (from < 0 || k.credits[u] < k.credits[from]) {
				from = u
			}
		}
		switch {
		case to < 0 || from < 0 && shared == 0:
			k.award(b, r)
			return nil
		case from >= 0:
			k.gives[from]--
			k.credits[from]++
		default:
			shared--
		}
		k.credits[to]--
		k.units[to]++
	}
}

// Balance returns the credits of a user, and whether it has ever bid.
func (k *karma) Balance(user int32) (n int64, known bool) {
	at, known := slices.BinarySearch(k.users, user)
	if known {
		n = k.credits[at]
	}
	return n, known
}

// read sets the number of units that each user requests, and calls enter with the index of each
// new user. Users remain registered when they no longer bid.
func (d *demands) read(b *Book, enter func(at int)) {
	for i := range b.Bids {
		if at, known := slices.BinarySearch(d.users, b.Bids[i].User); !known {
			d.users = slices.Insert(d.users, at, b.Bids[i].User)
			enter(at)
		}
	}
	d.wanted, d.units = zeroed(d.wanted, len(d.users)), zeroed(d.units, len(d.users))
	for i := range b.Bids {
		at, _ := slices.BinarySearch(d.users, b.Bids[i].User)
		d.wanted[at] += b.Bids[i].Units
	}
}

// award divides the units of each user among its bids in order of arrival.
func (d *demands) award(b *Book, r *Result) {
	for i := range b.Bids {
		at, _ := slices.BinarySearch(d.users, b.Bids[i].User)
		n := min(d.units[at], b.Bids[i].Units)
		d.units[at] -= n
		r.award(i, n)
	}
}

// An equal divides the units of each period one by one. Each unit goes to the user with the
// fewest units relative to the user's weight.
type equal struct {
	demands
	weight func(user int32) float64
}

// NewSlices returns slices. A user without a positive weight receives no units.
func NewSlices(weight func(user int32) float64) Mechanism { return &equal{weight: weight} }

// Clear implements [Mechanism].
func (e *equal) Clear(b *Book, r *Result) error {
	r.reset(b)
	e.read(b, func(int) {})
	for range b.Capacity {
		least := -1
		for u, id := range e.users {
			if e.units[u] < e.wanted[u] && e.weight(id) > 0 && (least < 0 ||
				cmp.Less(float64(e.units[u])*e.weight(e.users[least]), float64(e.units[least])*e.weight(id))) {
				least = u
			}
		}
		if least < 0 {
			break
		}
		e.units[least]++
	}
	e.award(b, r)
	return nil
}
