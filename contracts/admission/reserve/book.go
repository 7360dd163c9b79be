package reserve

import (
	"errors"
	"math"

	"bourse/hosts"
	"bourse/hosts/timetable"
)

// A keeper contains the schedule of one cluster: a [timetable.Book] or a [timetable.Preemptive].
type keeper interface {
	Speed() int64
	Instants(out []int64) []int64
	Next() int64
	Quote(now int64, j timetable.Job) timetable.Quote
	Commit(now int64, q timetable.Quote, facts []timetable.Fact) ([]timetable.Fact, error)
	Cancel(now, id int64, facts []timetable.Fact) ([]timetable.Fact, error)
	Advance(now int64, ended []int64, facts []timetable.Fact) []timetable.Fact
}

// A book is a keeper with the events that have not been entered in it yet. Books work in whole
// seconds. An event within a second is therefore entered at the next full second.
type book struct {
	keeper
	host    hosts.ID
	number  int32 // index in the policy's list of books
	kind    int   // index of its kind in the policy's index
	nodes   int
	speed   int64 // permille
	preempt bool

	ended, gone []int64 // jobs completed or cancelled since the last full second
	at          int64   // second at which these jobs are entered
}

// newBook returns the empty book of a host. It returns nil if the host cannot have a book,
// because it has less than one processor or is too slow.
func newBook(h hosts.ID, spec *hosts.Spec, o *Options) *book {
	b := &book{
		host: h, preempt: o.Preempt,
		nodes: int(min(spec.CPUs, timetable.MaxNodes)),
		speed: int64(min(spec.Speed*1000+1e-6, timetable.MaxSpeed)),
	}
	c := timetable.Config{Nodes: b.nodes, Speed: b.speed, ExtendPct: o.ExtendPct, Brief: o.ZetaScope != "all"}
	if o.Admission == "edf+insert" {
		c.Admission = timetable.EDFInsert
	}
	if o.Overrun == "kill" {
		c.Overrun = timetable.Kill
	}
	if b.nodes < 1 || b.speed < timetable.MinSpeed {
		return nil
	}
	var err error
	if b.preempt {
		b.keeper, err = timetable.NewPreemptive(c, 0, 0, nil)
	} else {
		b.keeper, err = timetable.New(c)
	}
	if err != nil {
		panic("reserve: " + err.Error())
	}
	return b
}

// done records that a job has completed.
func (b *book) done(now float64, id int64) {
	b.ended, b.at = append(b.ended, id), int64(math.Ceil(now))
}

// cancel removes a job from the book. The removal is immediate if now is a full second, and
// otherwise at the next full second. In a book without preemption, a running job that is
// cancelled within a second counts as completed.
func (b *book) cancel(now float64, id int64, runs bool, facts []timetable.Fact) ([]timetable.Fact, error) {
	at := int64(math.Ceil(now))
	switch {
	case float64(at) == now:
		return b.Cancel(at, id, facts)
	case runs && !b.preempt:
		b.ended = append(b.ended, id)
	default:
		b.gone = append(b.gone, id)
	}
	b.at = at
	return facts, nil
}

// next returns the next second at which an event is scheduled or must be entered.
func (b *book) next() int64 {
	if len(b.ended)+len(b.gone) > 0 {
		return min(b.at, b.Next())
	}
	return b.Next()
}

// drop records that a job must be removed from the book at second at. The book may not have
// been advanced to that second yet.
func (b *book) drop(at, id int64) { b.gone, b.at = append(b.gone, id), at }

// advance moves the book to the second that next returns.
func (b *book) advance(facts []timetable.Fact) []timetable.Fact {
	now := b.next()
	if len(b.ended)+len(b.gone) == 0 || b.at > now {
		return b.Advance(now, nil, facts)
	}
	facts = b.Advance(now, b.ended, facts)
	for _, id := range b.gone {
		var err error
		if facts, err = b.Cancel(now, id, facts); err != nil && !errors.Is(err, timetable.ErrUnknown) {
			panic("reserve: " + err.Error())
		}
	}
	b.ended, b.gone = b.ended[:0], b.gone[:0]
	return facts
}
