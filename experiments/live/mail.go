package live

import (
	"sync"

	bankorder "bourse/bank/order"
	"bourse/contracts/order"
)

// A letter is a message with a channel for the reply.
type letter struct {
	message
	first *letter // an identical message that came before it
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

// Mail is the queue of messages to the loop.
type mail struct {
	bell chan struct{} // holds one ring

	mu     *sync.Mutex
	box    *[]*letter
	closed *bool
}

const (
	mostMail = 4096 // letters that wait
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

// back withdraws a letter, and reports whether it was still in the queue.
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

// waiting reports whether there are messages, and whether all are reports of hosts.
func (m *mail) waiting() (any, readings bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	readings = len(*m.box) > 0
	for _, l := range *m.box {
		readings = readings && l.Report != nil && len(l.Report.Ends) == 0
	}
	return len(*m.box) > 0, readings
}

// take removes and returns messages, at most as many as one step can process.
func (m *mail) take() []*letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(*m.box), perTurn)
	out := (*m.box)[:n:n]
	*m.box = (*m.box)[n:]
	return out
}

// close replies to all waiting messages that the market has stopped.
func (m *mail) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.closed = true
	for _, l := range *m.box {
		l.answer(result{err: ErrStopped})
	}
	*m.box = nil
}

// orderID returns the account and the id of a well-formed order, and its hash.
func orderID(signed string) (account, id, sum string) {
	o, err := bankorder.Open([]byte(signed))
	if err != nil {
		panic("live: an accepted order: " + err.Error())
	}
	return o.Value("account"), o.Value("id"), order.Sum([]byte(signed))
}
