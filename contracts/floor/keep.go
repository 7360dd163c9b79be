package floor

import "bourse/contracts"

// A program on a real host can save a checkpoint elsewhere. If the host is lost, only the work
// after the checkpoint is lost.

// A kept is the saved work of a node, which is not lost with its host.
type kept struct {
	done float64 // saved work
	owed float64 // charges for this work on the current host, $
	from float64 // part of done that was completed on earlier hosts
}

// Keep records that the work of node n of run i is saved and is not lost with its host. The
// given unsaved amount, done last, is not included. If the node is on no host, Keep does
// nothing.
func (f *Floor) Keep(i, n int32, unsaved float64) {
	c := &f.runs[i]
	if int(n) >= len(c.Placements) || c.Placements[n].Left {
		return
	}
	if c.kept == nil {
		c.kept = make([]kept, len(c.Placements))
	}
	k, v := &c.kept[n], &f.hosts[c.Placements[n].Host]
	if !v.reads {
		f.touch(v)
	}
	s := &v.on[v.find(i, n)]
	if done := s.Done - max(0, unsaved); done > k.done {
		k.done, k.owed = done, s.Owed*(done-k.from)/(s.Done-k.from)
	}
}

// salvage reduces the work of node n of c, whose host was lost, to the saved work. It returns
// the lost work. The charges for the saved work, or for all work if charged is set, remain owed
// to the host.
func (c *run) salvage(n int, charged bool) (lost float64) {
	pl, k := &c.Placements[n], kept{}
	if c.kept != nil {
		k = c.kept[n]
		k.done = min(k.done, pl.Done)
	}
	owed := k.owed
	if charged {
		owed = pl.Owed
	}
	if owed > 0 {
		c.arrears = append(c.arrears, contracts.Placement{Host: pl.Host, Owed: owed, Charged: pl.Charged})
	}
	lost = max(0, pl.Done-k.done) // pl.Done is less than 0 until a suspended run has done its extra work
	pl.Done, pl.Owed = k.done, 0
	if c.kept != nil {
		c.kept[n] = kept{done: k.done, from: k.done}
	}
	return lost
}
