package contracts

import "fmt"

// A Planner is a policy that keeps books of its own, one for each host: what it
// accepts is given a place in a plan, with all its nodes on one host, and starts
// when the planner says. It may move a start until then; nobody else may.
//
// The broker holds the money, runs the work and tells the planner what is done;
// only the planner ends a contract.
type Planner interface {
	Decider

	// Commit enters the request that Decide accepted last, at the same instant,
	// and appends what follows at once to out. It is an error if the books have
	// changed since.
	Commit(now float64, out []Step) ([]Step, error)

	// Next returns the earliest instant at which there is a step, +Inf if there
	// will be none.
	Next() float64

	// Done says that the work of a contract is done. Its nodes are free again at
	// the step End, at now or soon after.
	Done(now float64, id ID)

	// Advance appends the steps due by now to out, in order.
	Advance(now float64, out []Step) []Step

	// Cancel takes a contract out of the books for its owner, and appends what
	// follows to out, but no End. Due is the part of its price that is owed all
	// the same, in [0,1]. An error says that there is no such contract.
	Cancel(now float64, id ID, out []Step) (due float64, steps []Step, err error)
}

// A Step is what a planner has decided of a contract.
type Step struct {
	ID   ID
	Move Move
}

// A Move says what is to be done.
type Move uint8

const (
	Start Move = iota // give it its nodes, for the first time or again
	Pause             // take them away, and keep what has been done
	End               // it is over
	Kill              // it is over, whatever is left to do: its estimate is used up
)

func (m Move) String() string {
	words := [...]string{"start", "pause", "end", "kill"}
	if int(m) < len(words) {
		return words[m]
	}
	return fmt.Sprintf("Move(%d)", uint8(m))
}
