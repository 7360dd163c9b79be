package contracts

import "bourse/hosts"

// A Dispatcher is a policy that keeps those who wait in a queue of its own and
// looks at them at instants of its own. Decide enters a request, and defers it, or
// rejects it.
//
// It is told what happens to hosts and tasks at once, in the order in which it
// happens.
type Dispatcher interface {
	Decider

	// Open is called before anything else, when the market opens.
	Open(now float64, v View)

	// Next returns the instant at which it looks next, +Inf as long as nobody
	// waits.
	Next() float64

	// Look appends what is decided now to out. Of an accepted request the broker
	// may find that it cannot be paid for: then it is told Off.
	Look(now float64, v View, out []Answer) []Answer

	// Came and Gone say that a host has come, or has left: of those on it that do
	// not stay on it, Off is said before.
	Came(now float64, h hosts.ID)
	Gone(now float64, h hosts.ID)

	// Off says that a task has left its host, done or not.
	Off(now float64, id ID, h hosts.ID)

	// Again takes back a contract whose host has left, and reports whether it
	// waits.
	Again(now float64, id ID) bool

	// Withdraw takes out a contract that waits.
	Withdraw(id ID)
}

// An Answer is what is decided of a request that has waited.
type Answer struct {
	ID ID
	Decision
}
