package floor

// Memo returns what f knows, which is f's own as long as nothing else is told to it.
// Its machines are not part of it: they are the world, simulated or real.
func (f *Floor) Memo() State {
	f.allocate() // nothing is left to be done for this instant
	return f.State
}

// Recall makes f the floor that s was taken from, on machines that are where those
// were. S is f's afterwards.
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
