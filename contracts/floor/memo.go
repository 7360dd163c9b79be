package floor

// Memo returns the state of f. It shares memory with f, so it is valid only until the next
// change of f. The state of the machines is not included, because they are outside the floor,
// simulated or real.
func (f *Floor) Memo() State {
	f.allocate() // no changes at the current time remain pending
	return f.State
}

// Recall restores f to the state s. The machines must be in the state that they had when s was
// created. Afterwards f owns s.
//
// Heaps and the price order are not part of a State. Recall rebuilds them, so states are
// smaller and independent of the layout of the heaps.
func (f *Floor) Recall(c Config, s State) {
	f.Reset(c)
	f.State = s
	f.heaps.changes.Reset()
	for h := range f.hosts {
		v := &f.hosts[h]
		move(&f.heaps.completions, int32(h), v.next)
		move(&f.heaps.changes, int32(h), v.change)
		f.rank(v)
	}
	for i := range f.runs {
		if c := &f.runs[i]; c.left != vacant {
			move(&f.heaps.ends, int32(i), c.next)
		}
	}
}
