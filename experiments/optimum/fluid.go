package optimum

import (
	"cmp"
	"slices"
	"sort"
)

// A fluid is a flow of work from jobs through cells of time.
type fluid struct {
	jobs     []fluidJob // by decreasing density
	instants []float64  // sorted times at which windows open or close

	starts []float64 // start of each cell, followed by the end of the last cell
	room   []float64 // work that the fleet can do in each cell
	left   []float64 // unused part of room for each cell
	full   []bool    // whether each cell is permanently full: no more work can be done in it
	price  []float64 // price of each cell in dollars per work; set by the job that found the cell full
	done   []float64 // work done by each edge; an edge is a job in one of its cells
	at     []int32   // jobs by cell
	begin  []int32   // for each cell, the position of its first job in at, followed by one more element

	complete []bool  // whether all work of each job is done
	visits   int     // remaining visits
	reach    []reach // for each cell, how the last search reached it
	stamp    int32   // number of the last search
	seen     []int32 // for each job, the number of the last search that processed it
	queue    []int32 // cells reached by the search
	fill     []offer
}

// A fluidJob is a job that competes with other jobs.
type fluidJob struct {
	Window
	window   int32   // index among the caller's windows
	density  float64 // $ per work
	from, to int32   // range of its cells
	edges    int32   // position of the first edge of the job
}

// A reach describes how a search reached a cell.
type reach struct {
	stamp int32
	job   int32 // job that moves work to this cell
	from  int32 // cell from which the job moves work; outside if the job is the one being served
}

// An offer is the amount of work that a job could do at a price.
type offer struct{ price, work float64 }

// divide creates cells between every stride-th of the times. It returns false if the division
// has too many edges and more than one cell.
func (f *fluid) divide(stride int, capacity float64) bool {
	f.starts = f.starts[:0]
	last := len(f.instants) - 1
	for i := 0; i < last; i += stride {
		f.starts = append(f.starts, f.instants[i])
	}
	if last >= 0 {
		f.starts = append(f.starts, f.instants[last])
	}
	cells := max(0, len(f.starts)-1)
	edges := 0
	for i := range f.jobs {
		j := &f.jobs[i]
		j.from = int32(sort.Search(cells, func(k int) bool { return f.starts[k+1] > j.Opens }))
		j.to = int32(sort.Search(cells, func(k int) bool { return f.starts[k] >= j.Closes }))
		j.edges = int32(edges)
		if edges += int(j.to - j.from); edges > mostEdges && cells > 1 {
			return false
		}
	}
	f.room = make([]float64, cells)
	for k := range f.room {
		f.room[k] = (f.starts[k+1] - f.starts[k]) * capacity
	}
	f.begin = make([]int32, cells+1)
	for i := range f.jobs {
		for k := f.jobs[i].from; k < f.jobs[i].to; k++ {
			f.begin[k+1]++
		}
	}
	for k := range cells {
		f.begin[k+1] += f.begin[k]
	}
	f.at, f.done = make([]int32, edges), make([]float64, edges)
	next := slices.Clone(f.begin)
	for i := range f.jobs {
		for k := f.jobs[i].from; k < f.jobs[i].to; k++ {
			f.at[next[k]] = int32(i)
			next[k]++
		}
	}
	f.left, f.full, f.price = make([]float64, cells), make([]bool, cells), make([]float64, cells)
	f.reach, f.seen, f.complete = make([]reach, cells), make([]int32, len(f.jobs)), make([]bool, len(f.jobs))
	f.stamp = 0
	return true
}

// most returns the maximum work of job j in cell k.
func (f *fluid) most(j *fluidJob, k int32) float64 {
	return j.Rate * (min(j.Closes, f.starts[k+1]) - max(j.Opens, f.starts[k]))
}

// edge returns the position in done of j's work in cell k.
func (j *fluidJob) edge(k int32) int32 { return j.edges + k - j.from }

// The possible decisions on a job in a search.
const (
	undecided = iota
	taken
	dropped
)

// serve serves first the taken jobs, and then the other jobs that are not dropped, in
// descending order of value per work. If decided is nil, all jobs are undecided. It returns
// false if a taken job cannot be completed together with the other taken jobs, or if the limit
// of visits is reached.
func (f *fluid) serve(decided []uint8) bool {
	copy(f.left, f.room)
	clear(f.full)
	clear(f.price)
	clear(f.done)
	clear(f.complete)
	for i := range f.jobs {
		if decided != nil && decided[i] == taken {
			if missing := f.admit(int32(i)); missing > tiny*f.jobs[i].Work || f.visits < 0 {
				return false
			}
			f.complete[i] = true
		}
	}
	for i := range f.jobs {
		if decided == nil || decided[i] == undecided {
			f.complete[i] = f.admit(int32(i)) <= tiny*f.jobs[i].Work
			if f.visits < 0 {
				return false
			}
		}
	}
	return true
}

// admit does as much work of job i as possible in addition to the work already done. It
// returns the work that remains. It may move the work of other jobs to other cells.
func (f *fluid) admit(i int32) (missing float64) {
	j := &f.jobs[i]
	missing = j.Work
	for k := j.to - 1; k >= j.from && missing > 0; k-- {
		f.visits--
		if f.full[k] {
			continue
		}
		by := min(missing, f.left[k], f.most(j, k))
		f.done[j.edge(k)] = by
		f.left[k] -= by
		missing -= by
	}
	for missing > 0 {
		k := f.find(i)
		if k == outside {
			break
		}
		missing -= f.push(k, missing)
	}
	return missing
}

// find returns a cell with free room to which work can be moved so that more of job i can be
// done. It returns outside if there is no such cell. In that case, the searched cells will
// never have free room again.
func (f *fluid) find(i int32) int32 {
	f.stamp++
	f.queue = f.queue[:0]
	visit := func(i int32, from int32) int32 {
		if f.seen[i] == f.stamp {
			return outside
		}
		f.seen[i] = f.stamp
		j := &f.jobs[i]
		f.visits -= int(j.to - j.from)
		for k := j.from; k < j.to; k++ {
			if f.full[k] || f.reach[k].stamp == f.stamp || f.done[j.edge(k)] >= f.most(j, k) {
				continue
			}
			f.reach[k] = reach{f.stamp, i, from}
			if f.left[k] > 0 {
				return k
			}
			f.queue = append(f.queue, k)
		}
		return outside
	}
	if k := visit(i, outside); k != outside {
		return k
	}
	for at := 0; at < len(f.queue) && f.visits >= 0; at++ {
		k := f.queue[at]
		for _, i := range f.at[f.begin[k]:f.begin[k+1]] {
			f.visits--
			if j := &f.jobs[i]; f.done[j.edge(k)] > 0 {
				if to := visit(i, k); to != outside {
					return to
				}
			}
		}
	}
	for _, k := range f.queue {
		f.full[k], f.price[k] = true, f.jobs[i].density
	}
	return outside
}

// push moves at most the given amount of work along the path to cell k that find has found.
func (f *fluid) push(k int32, most float64) (by float64) {
	by = min(most, f.left[k])
	for at := k; at != outside; at = f.reach[at].from {
		j := &f.jobs[f.reach[at].job]
		by = min(by, f.most(j, at)-f.done[j.edge(at)])
		if from := f.reach[at].from; from != outside {
			by = min(by, f.done[j.edge(from)])
		}
	}
	f.left[k] -= by
	for at := k; at != outside; at = f.reach[at].from {
		j := &f.jobs[f.reach[at].job]
		e := j.edge(at)
		if most := f.most(j, at); f.done[e]+by < most {
			f.done[e] += by
		} else {
			f.done[e] = most
		}
		if from := f.reach[at].from; from != outside {
			f.done[j.edge(from)] -= by
		}
	}
	return by
}

// bounds returns the value of the dual problem at the prices of the cells. The first result is
// for divisible jobs, and the second for jobs that must be done completely.
func (f *fluid) bounds() (parts, whole float64) {
	for k, p := range f.price {
		if p > 0 {
			parts += p * f.room[k]
		}
	}
	whole = parts
	for i := range f.jobs {
		part, all := f.gain(&f.jobs[i])
		parts += part
		whole += all
	}
	return parts, whole
}

// gain returns the maximum value of a job minus the price of the cells in which it is done.
// The first result assumes that parts of a job have value. The second result assumes that only
// the whole job has value; it may be 0.
func (f *fluid) gain(j *fluidJob) (part, whole float64) {
	f.fill = f.fill[:0]
	for k := j.from; k < j.to; k++ {
		f.fill = append(f.fill, offer{f.price[k], f.most(j, k)})
	}
	slices.SortFunc(f.fill, func(a, b offer) int { return cmp.Compare(a.price, b.price) })
	missing, cost := j.Work, 0.0
	for _, o := range f.fill {
		by := min(missing, o.work)
		if o.price < j.density {
			part += (j.density - o.price) * by
		}
		cost += o.price * by
		missing -= by
	}
	if cost == 0 && missing == 0 {
		part = j.Value
	}
	return part, max(0, j.Value-cost)
}
