package live

import (
	"sync"

	bankorder "bourse/bank/order"
	"bourse/contracts/order"
)

// A letter is a message with who waits for what comes of it.
type letter struct {
	message
	first *letter // that is the same and came before it
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

// Mail is what waits for the loop.
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

// put puts a message in the box.
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

// back takes a letter back, and tells whether it was still there.
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

// waiting tells whether there is anything, and whether that is what hosts tell alone.
func (m *mail) waiting() (any, readings bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	readings = len(*m.box) > 0
	for _, l := range *m.box {
		readings = readings && l.Report != nil && len(l.Report.Ends) == 0
	}
	return len(*m.box) > 0, readings
}

// take takes what there is, up to what one turn can do.
func (m *mail) take() []*letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(*m.box), perTurn)
	out := (*m.box)[:n:n]
	*m.box = (*m.box)[n:]
	return out
}

// close answers what waits that the market has stopped.
func (m *mail) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.closed = true
	for _, l := range *m.box {
		l.answer(result{err: ErrStopped})
	}
	*m.box = nil
}

// orderID returns by whom and under what id an order is, which is well formed, and the sum
// of it.
func orderID(signed string) (account, id, sum string) {
	o, err := bankorder.Open([]byte(signed))
	if err != nil {
		panic("live: an order that was taken: " + err.Error())
	}
	return o.Value("account"), o.Value("id"), order.Sum([]byte(signed))
}
