package sim

import "math"

// Forms of a machine that a test forces: linear whatever the number of tasks, or in
// virtual time from the first on.
const (
	Linear  = math.MaxInt32
	Virtual = -1
)

// SetMany makes n the number of tasks from which on m, which is idle, keeps them in
// virtual time.
func (m *Machine) SetMany(n int) { m.many = int32(n) }

// InVirtualTime reports whether m keeps its tasks so.
func (m *Machine) InVirtualTime() bool { return m.virtual != nil }

// SetMany does so for the machines of e, which is new.
func (e *Engine) SetMany(n int) { e.many = int32(n) }
