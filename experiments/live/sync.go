package live

import (
	"context"
	"fmt"
	"math"
	"time"

	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// Sync processes the report of a host. It replies when the report is durable and either the
// market has an allocation that the host does not have yet, or an interval has passed. It also
// replies if the bank does not respond. In that case, the host must send the report again.
func (m *Market) Sync(ctx context.Context, name string, t *remote.Told) (*remote.Orders, error) {
	begun := m.world.Clock.Now()
	p := m.seen.of(name)
	if p == nil {
		return nil, fmt.Errorf("%w: host %s", link.ErrUnknown, name)
	}
	stale := !p.listens(t.Session, t.Boot, t.After)
	if !stale {
		p = m.seen.hear(name, begun, t)
	}
	interval := time.NewTimer(time.Duration(m.conf.Link.Interval * 1e9))
	defer interval.Stop()
	var known []int64
	news := t.Session != p.orders.Session || len(t.Ends) > 0 || t.First+int64(len(t.Spans))-1 > p.orders.Ack || !p.here || p.wants(t) || !p.reaches(name, &t.Offer)
	if news && !stale {
		said, err := newReport(name, t)
		if err != nil {
			return nil, err
		}
		put := m.world.Clock.Now()
		l, err := m.mail.put(message{Report: said})
		if err != nil {
			return nil, err
		}
		select {
		case <-l.done:
			if l.err != nil {
				return nil, l.err
			}
			m.world.Meter.Sync(m.world.Clock.Now() - put)
			known, stale = l.known, l.superseded
		case <-interval.C:
			interval.Reset(0)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if p = m.seen.of(name); !stale && p.orders.Deal == t.Have && !p.removed && !p.urged {
		select {
		case <-p.changed:
		case <-interval.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		p = m.seen.of(name)
	}
	o := p.orders
	o.Known, o.Lease, o.Drain = known, m.conf.Link.leaseOf(p.whole), p.removed || (p.drained || p.told.Leaving == remote.WhenDone) && len(o.Wanted) == 0
	o.Wanted = append([]remote.Wanted(nil), o.Wanted...)
	for i := range o.Wanted {
		if w := &o.Wanted[i]; w.Left > 0 {
			w.Left = max(math.SmallestNonzeroFloat64, w.Left-max(0, m.world.Clock.Now()-p.at))
		}
	}
	return &o, nil
}

// wants reports whether the host's agent requests a change that the market has not made yet,
// such as closing or removing the host.
func (p *hostSeen) wants(t *remote.Told) bool {
	return !p.removed && (t.Leaving == remote.AtOnce || (t.Closed != "" || t.Leaving == remote.WhenDone) != p.closed)
}

// listens reports whether the market accepts reports from this agent session, which must be
// the current session or its successor. See [remote.Machine.Hear].
func (p *hostSeen) listens(session int64, boot, after string) bool {
	return listens(&p.orders, session, boot, after)
}

func listens(was *remote.Orders, session int64, boot, after string) bool {
	return session == was.Session && boot == was.Boot || session > was.Session && (was.Session == 0 || after == was.Boot)
}

// hear records that a host has sent a report. It returns the host's published state, or nil if
// the host is unknown.
func (s *seen) hear(name string, now float64, t *remote.Told) *hostSeen {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.hosts[name]
	if p == nil {
		return nil
	}
	p.heard, p.told = now, remote.Told{Offer: t.Offer, Load: t.Load, Closed: t.Closed, Leaving: t.Leaving, Stored: t.Stored, Deleted: t.Deleted}
	copied := *p
	return &copied
}

// of returns the published state of a host, or nil if the host is unknown.
func (s *seen) of(name string) *hostSeen {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.hosts[name]
	if p == nil {
		return nil
	}
	copied := *p
	return &copied
}
