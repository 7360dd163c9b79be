package live

import (
	"context"
	"fmt"
	"slices"

	"bourse/contracts/order"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// A logWait is who waits for a part of a log of a task.
type logWait struct {
	want remote.Log
	got  chan *remote.Log // holds one
}

// Logs returns a part of what a node of a contract has printed, with a signed order of its
// owner to read it. Its host is asked, which keeps it for an hour after its end.
func (m *Market) Logs(ctx context.Context, signed []byte, node int32, errors bool, from int64) (*remote.Log, error) {
	s, err := m.check(ctx, signed, "read")
	if err != nil {
		return nil, err
	}
	id, err := order.Contract(s.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	c, err := m.Status(id)
	if err != nil {
		return nil, err
	}
	if c.Account != s.Value("account") {
		return nil, fmt.Errorf("%w: %d of %s", ErrNotFound, id, s.Value("account"))
	}
	last := -1
	for i := range c.Tasks {
		if c.Tasks[i].Node == node {
			last = i
		}
	}
	if last < 0 {
		return nil, fmt.Errorf("%w: node %d of %d has not started", ErrNotFound, node, id)
	}
	w := &logWait{remote.Log{Name: c.Tasks[last].Name, Errors: errors, From: from}, make(chan *remote.Log, 1)}
	host := c.Tasks[last].Host
	m.seen.wants(host, w)
	defer m.seen.wantsNot(host, w)
	select {
	case l := <-w.got:
		return l, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("host %s: %w", host, ctx.Err())
	}
}

// PutLog implements [link.Market].
func (m *Market) PutLog(_ context.Context, host string, l *remote.Log) error {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.hosts[host]
	if p == nil {
		return link.ErrUnknown
	}
	for _, w := range p.asked {
		if w.want.Name == l.Name && w.want.Errors == l.Errors && w.want.From == l.From {
			select {
			case w.got <- l:
			default:
			}
		}
	}
	return nil
}

func (s *seen) wants(host string, w *logWait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.hosts[host]; p != nil {
		p.asked = append(p.asked, w)
		p.change()
	}
}

func (s *seen) wantsNot(host string, w *logWait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.hosts[host]; p != nil {
		p.asked = slices.DeleteFunc(slices.Clone(p.asked), func(o *logWait) bool { return o == w })
	}
}
