package optimum

import (
	"container/heap"
	"math"
	"slices"
)

// A search finds the most valuable set of jobs that can all be completed. It uses
// best-first branch and bound. The bound is the value of the greedy flow.
type search struct {
	*fluid
	nodes   []node
	open    []int32 // nodes as a heap
	decided []uint8 // decision on each job in the current node
	best    incumbent
	spent   int // number of visits so far
}

// A node contains a decision on one more job than its predecessor.
type node struct {
	before int32
	job    int32 // number of the job, or none at the root
	take   bool
	bound  float64 // upper bound on the values of the successors
	next   int32   // job that the greedy flow leaves partly done
}

// An incumbent is the best known set of jobs.
type incumbent struct {
	value  float64
	chosen []bool
}

// run returns an upper bound on the total value of any set of jobs that can be completed. It
// stores the best set found.
func (s *search) run() (bound float64) {
	s.best.chosen = slices.Clone(s.complete)
	for i, yes := range s.complete {
		if yes {
			s.best.value += s.jobs[i].Value
		}
	}
	s.decided = make([]uint8, len(s.jobs))
	s.visits = searchable
	if !s.enter(node{before: none, job: none}) {
		return math.Inf(1)
	}
	for len(s.open) > 0 && s.visits > 0 {
		at := heap.Pop(s).(int32)
		n := s.nodes[at]
		if n.bound <= s.best.value*(1+tiny) {
			s.open = s.open[:0]
			break
		}
		for _, take := range []bool{true, false} {
			if !s.enter(node{before: at, job: n.next, take: take}) {
				heap.Push(s, at) // some successors have not been examined
				break
			}
		}
	}
	s.spent = searchable - s.visits
	bound = s.best.value
	for _, at := range s.open {
		bound = max(bound, s.nodes[at].bound)
	}
	return bound
}

// enter computes the bounds of n's successors. If the bound exceeds the best known value, it
// adds n to the open nodes. It reports whether the limit on effort allowed this.
func (s *search) enter(n node) bool {
	clear(s.decided)
	for at := &n; at.job != none; at = &s.nodes[at.before] {
		if at.take {
			s.decided[at.job] = taken
			continue
		}
		// Of several equal jobs, take the first ones.
		for i := at.job; i == at.job || int(i) < len(s.jobs) && s.alike(i); i++ {
			s.decided[i] = dropped
		}
	}
	if !s.serve(s.decided) {
		return s.visits >= 0
	}
	value, whole := 0.0, 0.0
	n.next = none
	for i := range s.jobs {
		switch {
		case s.complete[i]:
			value += s.jobs[i].Value
			whole += s.jobs[i].Value
		case s.decided[i] == undecided:
			value += s.part(&s.jobs[i]) * s.jobs[i].Value
			if n.next == none {
				n.next = int32(i)
			}
		}
	}
	if whole > s.best.value {
		s.best.value = whole
		copy(s.best.chosen, s.complete)
	}
	n.bound = value * (1 + tiny)
	if n.next != none && n.bound > s.best.value*(1+tiny) {
		s.nodes = append(s.nodes, n)
		heap.Push(s, int32(len(s.nodes)-1))
	}
	return true
}

// alike reports whether job i equals the previous job.
func (s *search) alike(i int32) bool {
	a, b := s.jobs[i-1].Window, s.jobs[i].Window
	return a == b
}

// part returns the fraction of job j that is done.
func (s *search) part(j *fluidJob) (sum float64) {
	for _, by := range s.done[j.edges : j.edges+j.to-j.from] {
		sum += by
	}
	return min(1, sum/j.Work)
}

// Len implements [heap.Interface].
func (s *search) Len() int { return len(s.open) }

// Less implements [heap.Interface].
func (s *search) Less(a, b int) bool {
	x, y := &s.nodes[s.open[a]], &s.nodes[s.open[b]]
	if x.bound != y.bound {
		return x.bound > y.bound
	}
	return s.open[a] > s.open[b] // deeper nodes have later indices and come first
}

// Swap implements [heap.Interface].
func (s *search) Swap(a, b int) { s.open[a], s.open[b] = s.open[b], s.open[a] }

// Push implements [heap.Interface].
func (s *search) Push(x any) { s.open = append(s.open, x.(int32)) }

// Pop implements [heap.Interface].
func (s *search) Pop() any {
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	return last
}
