package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// A logs manages the parts of logs and archives that are requested from hosts.
type logs struct {
	urge func(host string, on bool) // makes the market answer a host immediately

	mu    sync.Mutex
	asked map[string][]*asking // by host
}

// An asking is a requested part for which a caller waits.
type asking struct {
	remote.Log // request without the text
	answer     chan *remote.Log
}

// longest is the maximum time to wait for the answer of a host.
const longest = 8 * time.Second

// ask requests a part from a host and waits for it.
func (l *logs) ask(ctx context.Context, host string, part remote.Log) (*remote.Log, error) {
	a := &asking{part, make(chan *remote.Log, 1)}
	l.mu.Lock()
	l.asked[host] = append(l.asked[host], a)
	l.urge(host, true)
	l.mu.Unlock()
	defer l.drop(host, a)
	wait := time.NewTimer(longest)
	defer wait.Stop()
	select {
	case part := <-a.answer:
		return part, nil
	case <-wait.C:
		return nil, fmt.Errorf("host %s does not respond", host)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *logs) drop(host string, a *asking) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[host] = slices.DeleteFunc(l.asked[host], func(o *asking) bool { return o == a })
	l.urge(host, len(l.asked[host]) > 0)
}

// of returns the pending requests to a host.
func (l *logs) of(host string) (all []remote.Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.asked[host] {
		all = append(all, a.Log)
	}
	return all
}

// put passes a part to every caller that waits for it.
func (l *logs) put(host string, part *remote.Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[host] = slices.DeleteFunc(l.asked[host], func(a *asking) bool {
		if a.Name != part.Name || a.Errors != part.Errors || a.From != part.From || a.Archive != part.Archive {
			return false
		}
		a.answer <- part
		return true
	})
	l.urge(host, len(l.asked[host]) > 0)
}

var _ link.Market = (*Server)(nil)

// Host and the following methods implement link.Market.
func (s *Server) Host(pin string) (string, error) {
	name, ok := s.Market.HostOf(pin)
	if !ok {
		return "", link.ErrUnknown
	}
	return name, nil
}

// Enrol registers a host that has an invitation.
func (s *Server) Enrol(ctx context.Context, e link.Enrolment) (host, market string, err error) {
	name, err := s.invitations.use(e.Secret, e.Pin, func(i *invitation) (string, error) {
		name := i.Name
		if name == "" {
			name = e.Name
		}
		if name == "" {
			return "", errors.New("found a host without a name, want a name in the token or from the host")
		}
		spec, err := s.Market.Spec(name, &e.Offer)
		if err != nil {
			return "", err
		}
		return name, s.Market.Join(ctx, spec, i.Owner, e.Pin)
	})
	s.acted("host", e.Pin, "Enrol", name, err)
	return name, s.Name, err
}

// Sync passes a host's report to the market and returns the reply.
func (s *Server) Sync(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error) {
	o, err := s.Market.Sync(ctx, host, t)
	if err == nil {
		o.Logs = s.logs.of(host)
	}
	return o, err
}

// Blob returns a file.
func (s *Server) Blob(_ context.Context, _, sha string) ([]byte, error) { return s.blobs.get(sha) }

// PutCheckpoint stores a part of a checkpoint, or the list of all parts.
func (s *Server) PutCheckpoint(ctx context.Context, host string, c *remote.Checkpoint) error {
	if err := s.Market.MaySave(host, c.Name); err != nil {
		return err
	}
	if len(c.Sums) == 0 {
		_, err := s.blobs.put(c.Data)
		return err
	}
	size := int64(0)
	for _, sum := range c.Sums {
		n, err := s.blobs.size(sum)
		if err != nil {
			return err
		}
		size += n
	}
	return s.Market.Save(ctx, host, c, size)
}

// PutLog receives one part of a log or archive.
func (s *Server) PutLog(_ context.Context, host string, l *remote.Log) error {
	s.logs.put(host, l)
	return nil
}
