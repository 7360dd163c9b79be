package study

import "slices"

// A reading chooses one value of each factor.
type reading struct {
	levels []int // index of the selected value, by factor
	array  bool  // whether the reading belongs to the array; if not, it changes at most one factor
}

// design sets the readings to run. Each occurs once: first the unchanged scenario, then the
// readings that change a single factor, then the rest of the array.
func (r *Readings) design() error {
	levels := make([]int, len(r.Factors))
	for i, f := range r.Factors {
		levels[i] = len(f.Values)
	}
	array := orthogonal(levels, r.Strength, r.Most)
	if array == nil {
		return r.fail("most", "found %d, want more, because an orthogonal array of strength %d over %d factors has more variants", r.Most, r.Strength, len(levels))
	}
	r.readings = []reading{{levels: make([]int, len(levels))}}
	for i, n := range levels {
		for l := 1; l < n; l++ {
			one := make([]int, len(levels))
			one[i] = l
			r.readings = append(r.readings, reading{levels: one})
		}
	}
	for _, row := range array {
		i := slices.IndexFunc(r.readings, func(o reading) bool { return slices.Equal(o.levels, row) })
		if i < 0 {
			i = len(r.readings)
			r.readings = append(r.readings, reading{levels: row})
		}
		r.readings[i].array = true
	}
	return nil
}

// changed returns the only factor that differs from the scenario. It returns -1 if no
// factor differs and -2 if several do.
func (r reading) changed() int {
	at := -1
	for i, l := range r.levels {
		switch {
		case l != 0 && at >= 0:
			return -2
		case l != 0:
			at = i
		}
	}
	return at
}

// orthogonal returns an orthogonal array of the given strength. Each factor has the given
// number of levels. In any set of strength columns, all combinations of levels occur
// equally often. It returns nil if the array needs more than most rows.
//
// Factors whose numbers of levels are powers of the same prime share a linear array (Rao
// 1947; Hedayat, Sloane, Stufken 1999, ch. 3 and 9). Any other factor has its own column.
// The arrays of the groups are then crossed.
func orthogonal(levels []int, strength, most int) [][]int {
	array := [][]int{make([]int, len(levels))}
	groups := make(map[int][]int) // factors, by prime
	for i, n := range levels {
		if p, _ := power(n); p > 0 {
			groups[p] = append(groups[p], i)
			continue
		}
		column := make([][]int, n)
		for l := range column {
			column[l] = []int{l}
		}
		array = cross(array, []int{i}, column, most)
	}
	for p := 2; p <= slices.Max(levels); p++ {
		if groups[p] == nil {
			continue
		}
		dims := make([]int, len(groups[p]))
		for i, factor := range groups[p] {
			_, dims[i] = power(levels[factor])
		}
		array = cross(array, groups[p], linear(p, dims, strength, most), most)
	}
	return array
}

// power returns m and the prime p such that n = p^m, or 0 if there are none.
func power(n int) (p, m int) {
	for p = 2; n%p != 0; p++ {
	}
	for ; n%p == 0; n /= p {
		m++
	}
	if n > 1 {
		return 0, 0
	}
	return p, m
}

// cross combines each row of columns with each row of array. The columns of array are placed
// at the given indices. It returns nil if columns is nil or if the result needs more than most
// rows.
func cross(array [][]int, at []int, columns [][]int, most int) (all [][]int) {
	if len(array)*len(columns) > most {
		return nil
	}
	for _, row := range array {
		for _, c := range columns {
			both := slices.Clone(row)
			for i, place := range at {
				both[place] = c[i]
			}
			all = append(all, both)
		}
	}
	return all
}

// linear returns the smallest array of p^k rows that it finds for factors with p^dims[i]
// levels. A row is a vector x over the integers modulo p. The level of a factor in this row
// consists of the products of x with the vectors of the factor. The vectors of any set of
// strength factors must be linearly independent. A vector is represented by an integer, whose
// digits in base p are the components.
func linear(p int, dims []int, strength, most int) [][]int {
	for rows := p; rows <= most; rows *= p {
		bases := independent(p, rows, dims, strength)
		if bases == nil {
			continue
		}
		array := make([][]int, rows)
		for x := range array {
			for _, basis := range bases {
				level := 0
				for _, v := range basis {
					level = level*p + dot(p, x, v)
				}
				array[x] = append(array[x], level)
			}
		}
		return array
	}
	return nil
}

// independent returns vectors below size for each factor. It processes the largest factors
// first and chooses the first possible vectors. It returns nil if there are not enough
// vectors.
func independent(p, size int, dims []int, strength int) [][]int {
	order := make([]int, len(dims))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return dims[b] - dims[a] })
	bases, done := make([][]int, len(dims)), [][]int{}
	for _, factor := range order {
		for range dims[factor] {
			v := free(p, size, done, bases[factor], strength)
			if v < 0 {
				return nil
			}
			bases[factor] = append(bases[factor], v)
		}
		done = append(done, bases[factor])
	}
	return bases
}

// free returns the first vector below size that is linearly independent of basis together
// with the vectors of any strength-1 factors in done. It returns -1 if there is none.
func free(p, size int, done [][]int, basis []int, strength int) int {
	taken := make([]bool, size)
	var mark func(span []int, from, more int)
	mark = func(span []int, from, more int) {
		for _, v := range span {
			taken[v] = true
		}
		for i := from; more > 0 && i < len(done); i++ {
			mark(widened(p, span, done[i]), i+1, more-1)
		}
	}
	mark(widened(p, []int{0}, basis), 0, strength-1)
	return slices.Index(taken, false)
}

// widened returns all sums of a vector in span and a linear combination of vectors.
func widened(p int, span, vectors []int) []int {
	for _, v := range vectors {
		var wider []int
		for _, s := range span {
			for range p {
				wider = append(wider, s)
				s = sum(p, s, v)
			}
		}
		span = wider
	}
	return span
}

// sum adds two vectors modulo p. The function dot returns their scalar product modulo p.
func sum(p, a, b int) (s int) {
	for digit := 1; a > 0 || b > 0; a, b, digit = a/p, b/p, digit*p {
		s += (a + b) % p * digit
	}
	return s
}

func dot(p, a, b int) (s int) {
	for ; a > 0 && b > 0; a, b = a/p, b/p {
		s += a * b
	}
	return s % p
}
