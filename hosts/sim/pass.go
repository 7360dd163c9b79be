package sim

import (
	"math"

	"bourse/hosts"
)

// Each event requires one pass over all tasks of the machine.

// append adds a task at the end of the lists.
func (m *Machine) append(slot hosts.Slot, key int64, work float64, s hosts.Share) {
	n := len(m.tasks)
	m.tasks = append(m.tasks, task{key: key, work: work, slot: slot})
	m.shares, m.rates = append(m.shares, s), append(m.rates, 0)
	if work <= math.MaxFloat64 {
		m.finite = true
	}
	m.weight += s.Weight
	m.place[slot] = int32(n)
	m.stale = true
}

// resize sets the length of the lists of tasks to n. Their capacity must be sufficient.
func (m *Machine) resize(n int) {
	m.tasks = m.tasks[:n] // one statement per list, so that the compiler writes only the lengths
	m.shares = m.shares[:n]
	m.rates = m.rates[:n]
}

// divide allocates the host among its tasks and finds the next completion.
func (m *Machine) divide() {
	m.stale = false
	if m.finite && m.spec.Cap == 0 && !m.limited && m.proportional() {
		return
	}
	// Divide again and apply the limits. The completion time of each task follows from its new
	// rate.
	m.limited = hosts.Divide(m.spec.CPUs, m.spec.Cap, m.shares, m.rates)
	// If no work is finite, no task ever completes.
	if !m.finite {
		m.next = math.Inf(1)
		return
	}
	next, now, speed, tasks := never, m.now, m.spec.Speed, m.tasks
	rates := m.rates[:len(tasks)]
	for i := range tasks {
		t := &tasks[i]
		t.finish = t.due(now, rates[i]*speed)
		next = min(next, math.Float64bits(t.finish))
	}
	m.next = math.Float64frombits(next)
}

// proportional does the work of divide in one pass, for a host without a cap. It reports
// whether it succeeded. It succeeds if no task is at a limit. The rates then equal those of the
// first round of hosts.Divide. Hosts with a cap are excluded, because there some task is
// usually at the cap and the pass would be wasted.
func (m *Machine) proportional() bool {
	// The sum of the weights is added up in order of start, because float64 addition depends
	// on the order. Results must not depend on the history of the machine.
	if !m.summed {
		m.weight, m.summed = 0, true
		for i := range m.shares { // always in order of start, so that rounding is reproducible
			m.weight += m.shares[i].Weight
		}
	}
	tasks := m.tasks
	if len(tasks) < 2 || m.weight == 0 {
		return false
	}
	factor := m.spec.CPUs / m.weight
	next, now, speed, shares, rates := never, m.now, m.spec.Speed, m.shares[:len(tasks)], m.rates[:len(tasks)]
	for i := range tasks {
		t := &tasks[i]
		rate, below := shares[i].Part(factor)
		if !below {
			return false
		}
		rates[i] = rate
		t.finish = t.due(now, rate*speed)
		next = min(next, math.Float64bits(t.finish))
	}
	m.next = math.Float64frombits(next)
	return true
}

// never is the bit pattern of +Inf. Times are not negative, so their bit patterns sort in the
// same order as the times. Comparing integers is faster.
var never = math.Float64bits(math.Inf(1))

// due returns the time at which t completes if it does the given rate of work per second from
// now on.
func (t *task) due(now, rate float64) float64 {
	if left := t.work - t.done; left > 0 {
		return now + left/rate
	}
	return now
}

// complete moves the machine to the next completion. It ends the tasks that complete at that
// time, and credits the others with the work done until then.
func (m *Machine) complete() {
	at := m.next
	// span is the work that one processor does until that time.
	span, kept, weight := (at-m.now)*m.spec.Speed, 0, 0.0
	tasks, from := m.tasks, len(m.ended)
	shares, rates := m.shares[:len(tasks)], m.rates[:len(tasks)]
	// In one pass, move the remaining tasks to the front, in order, and add up their weights
	// for the next division.
	for i := range tasks {
		t := &tasks[i]
		if t.finish <= at {
			m.ended = append(m.ended, hosts.Report{Key: t.key, At: at, Done: t.work, Exit: hosts.Exit{Slot: t.slot}})
			m.place[t.slot] = over
			continue
		}
		// A task never does more than its work, regardless of rounding.
		if t.done += rates[i] * span; t.done > t.work {
			t.done = t.work
		}
		weight += shares[i].Weight
		if kept != i {
			tasks[kept], shares[kept] = *t, shares[i]
			m.place[t.slot] = int32(kept)
		}
		kept++
	}
	m.now, m.weight, m.summed, m.stale = at, weight, true, true
	m.resize(kept)
	if m.holding {
		for i := from; i < len(m.ended); i++ {
			m.release(m.ended[i].Slot)
		}
	}
}

// accrue credits all tasks with the work done until time at, and moves the machine to that
// time.
func (m *Machine) accrue(at float64) {
	span, tasks := (at-m.now)*m.spec.Speed, m.tasks
	rates := m.rates[:len(tasks)]
	for i := range tasks {
		t := &tasks[i]
		if t.done += rates[i] * span; t.done > t.work {
			t.done = t.work
		}
	}
	m.now = at
}

// remove deletes task i and keeps the order of the others.
func (m *Machine) remove(i int) {
	slot := m.tasks[i].slot
	n := len(m.tasks) - 1
	for ; i < n; i++ {
		m.tasks[i], m.shares[i] = m.tasks[i+1], m.shares[i+1]
		m.place[m.tasks[i].slot] = int32(i)
	}
	m.resize(n)
	m.summed, m.stale = false, true
	if m.holding {
		m.release(slot)
	}
}

// recount computes the room from the beginning, so that repeated addition and subtraction
// leave no rounding error.
func (m *Machine) recount() {
	m.room = m.spec.Offers()
	for i := range m.tasks {
		if slot := m.tasks[i].slot; int(slot) < len(m.holds) {
			m.room = m.room.Sub(m.holds[slot])
		}
	}
}
