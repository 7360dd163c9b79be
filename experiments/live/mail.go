package live

import (
	"sync"

	bankorder "bourse/bank/order"
	"bourse/contracts/order"
)

// A letter is a message with a channel for its reply.
type letter struct {
	message
	first *letter // an earlier letter with the same message
	done  chan struct{}
	once  sync.Once
	result
}

func newLetter(m message) *letter { return &letter{message: m, done: make(chan struct{})} }

func (l *letter) answer(r result) {
	l.once.Do(func() {
		l.result = r
		close(l.done)
	})
}

// A mail is the queue of messages to the loop.
type mail struct {
	bell chan struct{} // has room for one element, which signals new messages

	mu     *sync.Mutex
	box    *[]*letter
	closed *bool
}

const (
	mostMail = 4096 // maximum number of waiting letters
	perTurn  = 256
)

func newMail() mail {
	return mail{make(chan struct{}, 1), new(sync.Mutex), new([]*letter), new(bool)}
}

// put adds a message to the queue.
func (m *mail) put(one message) (*letter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case *m.closed:
		return nil, ErrStopped
	case len(*m.box) >= mostMail:
		return nil, ErrBusy
	}
	l := newLetter(one)
	*m.box = append(*m.box, l)
	select {
	case m.bell <- struct{}{}:
	default:
	}
	return l, nil
}

// back removes a letter from the queue and reports whether it was still there.
func (m *mail) back(l *letter) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, o := range *m.box {
		if o == l {
			*m.box = append((*m.box)[:i:i], (*m.box)[i+1:]...)
			return true
		}
	}
	return false
}

// waiting reports whether the queue has messages, and whether all of them are host reports.
func (m *mail) waiting() (any, readings bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	readings = len(*m.box) > 0
	for _, l := range *m.box {
		readings = readings && l.Report != nil && len(l.Report.Ends) == 0
	}
	return len(*m.box) > 0, readings
}

// take removes messages from the queue and returns them, but not more than one step can
// process.
func (m *mail) take() []*letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(*m.box), perTurn)
	out := (*m.box)[:n:n]
	*m.box = (*m.box)[n:]
	return out
}

// close answers every waiting message with [ErrStopped].
func (m *mail) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.closed = true
	for _, l := range *m.box {
		l.answer(result{err: ErrStopped})
	}
	*m.box = nil
}

// orderID returns the account and id of a well-formed order, and the hash of the order.
func orderID(signed string) (account, id, sum string) {
	o, err := bankorder.Open([]byte(signed))
	if err != nil {
		panic("live: an accepted order: " + err.Error())
	}
	return o.Value("account"), o.Value("id"), order.Sum([]byte(signed))
}
