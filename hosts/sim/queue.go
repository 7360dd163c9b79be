package sim

// A queue holds tasks as a 4-ary heap by key.
//
// The heaviest task is found by a look at all of them while they are few. From
// dense tasks on a second heap, by rate, holds their places in the first; it
// goes when half are left.
type queue struct {
	tasks  []vtask
	byRate []int32 // places in tasks, the heaviest first; empty while they are few
	rank   []int32 // by place in tasks: the place in byRate
}

const dense = 32

func (q *queue) reset() {
	q.tasks, q.byRate, q.rank = q.tasks[:0], q.byRate[:0], q.rank[:0]
}

// push adds a task.
func (q *queue) push(t vtask) {
	n := len(q.tasks)
	q.tasks = append(q.tasks, t)
	rank := int32(0)
	if len(q.byRate) > 0 {
		q.byRate = append(q.byRate, int32(n))
		q.rank = append(q.rank, int32(n))
		q.rise(n, int32(n))
		rank = q.rank[n]
	}
	q.up(n, t, rank)
}

// remove takes out the task at i.
func (q *queue) remove(i int) vtask {
	t, last := q.tasks[i], len(q.tasks)-1
	moved, rank := q.tasks[last], int32(0)
	if len(q.byRate) > 0 {
		q.unrank(int(q.rank[i]))
		rank = q.rank[last]
		q.rank = q.rank[:last]
	}
	q.tasks = q.tasks[:last]
	if i < last {
		if i > 0 && moved.key < q.tasks[(i-1)/4].key {
			q.up(i, moved, rank)
		} else {
			q.down(i, moved, rank)
		}
	}
	if last < dense/2 {
		q.byRate, q.rank = q.byRate[:0], q.rank[:0]
	}
	return t
}

// heaviest returns the place of a task of the highest rate.
func (q *queue) heaviest() int {
	if len(q.byRate) > 0 {
		return int(q.byRate[0])
	}
	if len(q.tasks) > dense {
		q.order()
		return int(q.byRate[0])
	}
	best := 0
	for i := range q.tasks {
		if q.tasks[i].rate > q.tasks[best].rate {
			best = i
		}
	}
	return best
}

// up puts t, of that rank, at i or above.
func (q *queue) up(i int, t vtask, rank int32) {
	for i > 0 {
		parent := (i - 1) / 4
		if t.key >= q.tasks[parent].key {
			break
		}
		q.move(i, parent)
		i = parent
	}
	q.put(i, t, rank)
}

// down puts t, of that rank, at i or below.
func (q *queue) down(i int, t vtask, rank int32) {
	for {
		least := 4*i + 1
		if least >= len(q.tasks) {
			break
		}
		for c := least + 1; c < min(4*i+5, len(q.tasks)); c++ {
			if q.tasks[c].key < q.tasks[least].key {
				least = c
			}
		}
		if q.tasks[least].key >= t.key {
			break
		}
		q.move(i, least)
		i = least
	}
	q.put(i, t, rank)
}

func (q *queue) move(to, from int) {
	q.tasks[to] = q.tasks[from]
	if len(q.byRate) > 0 {
		q.rank[to] = q.rank[from]
		q.byRate[q.rank[to]] = int32(to)
	}
}

func (q *queue) put(i int, t vtask, rank int32) {
	q.tasks[i] = t
	if len(q.byRate) > 0 {
		q.rank[i] = rank
		q.byRate[rank] = int32(i)
	}
}

// order builds the order by rate.
func (q *queue) order() {
	for i := range q.tasks {
		q.byRate = append(q.byRate, int32(i))
		q.rank = append(q.rank, int32(i))
		q.rise(i, int32(i))
	}
}

// unrank takes the entry at i out of the order by rate.
func (q *queue) unrank(i int) {
	last := len(q.byRate) - 1
	moved := q.byRate[last]
	q.byRate = q.byRate[:last]
	if i == last {
		return
	}
	if i > 0 && q.heavier(moved, q.byRate[(i-1)/4]) {
		q.rise(i, moved)
	} else {
		q.sink(i, moved)
	}
}

func (q *queue) heavier(a, b int32) bool { return q.tasks[a].rate > q.tasks[b].rate }

// rise puts the task at place in rank i or above.
func (q *queue) rise(i int, place int32) {
	for i > 0 {
		parent := (i - 1) / 4
		if !q.heavier(place, q.byRate[parent]) {
			break
		}
		q.putRank(i, q.byRate[parent])
		i = parent
	}
	q.putRank(i, place)
}

// sink puts the task at place in rank i or below.
func (q *queue) sink(i int, place int32) {
	for {
		best := 4*i + 1
		if best >= len(q.byRate) {
			break
		}
		for c := best + 1; c < min(4*i+5, len(q.byRate)); c++ {
			if q.heavier(q.byRate[c], q.byRate[best]) {
				best = c
			}
		}
		if !q.heavier(q.byRate[best], place) {
			break
		}
		q.putRank(i, q.byRate[best])
		i = best
	}
	q.putRank(i, place)
}

func (q *queue) putRank(i int, place int32) {
	q.byRate[i] = place
	q.rank[place] = int32(i)
}
