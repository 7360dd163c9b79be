package packing

import "math"

// collect lists the losses below the limit that result from deciding every state both ways.
func (d *program) collect(nodes int32, with, without float64) {
	losses, n := room(d.losses, 2*len(d.now)), 0
	most, limit := d.capacity-nodes, d.limit
	for _, s := range d.now {
		loss := s.loss + with
		losses[n] = loss
		n += one(s.used <= most) & one(loss < limit)

		loss = s.loss + without
		losses[n] = loss
		n += one(loss < limit)
	}
	d.losses = losses[:n]
}

// narrow returns the smallest loss after the width smallest ones, and how many of those width
// losses equal it. There must be more than width losses.
func (d *program) narrow(width int) (dropped float64, equals int) {
	losses := d.losses
	if len(losses) >= worthSampling {
		least, most := d.guess(width)
		near, below := d.between(least, most)
		if below <= width && width < below+len(near) {
			losses, width = near, width-below
			if least == most { // many plans often have the same loss
				return least, width
			}
		}
	}
	divide(losses, width)
	dropped = losses[width]
	for _, loss := range losses[:width] {
		equals += one(loss == dropped)
	}
	return dropped, equals
}

const (
	worthSampling = 512 // number of losses
	samples       = 256
	margin        = 16 // number of samples: two standard deviations of a rank that is estimated from all samples
)

// guess returns two losses, estimated from a sample. The loss at position width in sorted order
// probably lies between them.
func (d *program) guess(width int) (least, most float64) {
	var sample [samples]float64
	stride := len(d.losses)/samples - 1 | 1 // odd, because both decisions of a state often alternate
	for i := range sample {
		sample[i] = d.losses[i*stride]
	}
	at := width * samples / len(d.losses)
	from, to := max(0, at-margin), at+margin
	least, most = math.Inf(-1), math.Inf(1)
	divide(sample[:], from)
	if from > 0 {
		least = sample[from]
	}
	if to < samples {
		divide(sample[from:], to-from)
		most = sample[to]
	}
	return least, most
}

// between lists the losses from least to most, and returns how many losses are smaller than
// least.
func (d *program) between(least, most float64) (near []float64, below int) {
	d.near = room(d.near, len(d.losses))
	near, n := d.near, 0
	for _, loss := range d.losses {
		near[n] = loss
		below += one(loss < least)
		n += one(least <= loss) & one(loss <= most)
	}
	return near[:n], below
}

// trim removes next states that have the given loss, except the first few of them (few is the
// number kept). There must be more than few such states.
func (d *program) trim(loss float64, few int) {
	n := 0
	for ; few > 0 || d.next[n].loss != loss; n++ {
		few -= one(d.next[n].loss == loss)
	}
	for _, s := range d.next[n+1:] {
		d.next[n] = s
		n += one(s.loss != loss)
	}
	d.next = d.next[:n]
}

// one returns 1 for true and 0 for false. A loop that adds the result to an index needs no
// branch, which the processor would often mispredict.
func one(yes bool) (n int) {
	if yes {
		n = 1
	}
	return n
}

// divide partitions x so that x[k] has the value that it would have if x were sorted. No value
// before it is greater, and no value after it is smaller (Hoare's find).
func divide(x []float64, k int) {
	for from, to := 0, len(x)-1; from < to; {
		a, b, c := x[from], x[(from+to)/2], x[to]
		middle := max(min(a, b), min(max(a, b), c))
		i, j := from, to
		for i <= j {
			for x[i] < middle {
				i++
			}
			for middle < x[j] {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		if k >= i {
			from = i
		} else if k <= j {
			to = j
		} else {
			return
		}
	}
}

// compactAt is the smallest length of the trail, in decisions, at which compaction pays off.
const compactAt = 1 << 16

// compact removes the decisions of plans that did not survive. Surviving plans share most of
// their decisions.
func (d *program) compact() {
	d.alive = zeroed(d.alive, len(d.trail)) // an element is first a mark; later it is the new position plus 1
	for _, s := range d.now {
		for t := s.trail; t != none && d.alive[t] == 0; t = d.trail[t].before {
			d.alive[t] = 1
		}
	}
	kept := d.trail[:0]
	for t, step := range d.trail {
		if d.alive[t] == 0 {
			continue
		}
		if step.before != none {
			step.before = d.alive[step.before] - 1
		}
		kept = append(kept, step)
		d.alive[t] = int32(len(kept))
	}
	for i := range d.now {
		if s := &d.now[i]; s.trail != none {
			s.trail = d.alive[s.trail] - 1
		}
	}
	d.trail = kept
	d.full = max(compactAt, 4*len(kept))
}
