package client

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"bourse/bank"
	"bourse/experiments/live/service"
	"bourse/hosts/link"
)

// A Client sends requests of one account to one market.
type Client struct {
	Membership
	*service.Caller
	home  Home
	key   string       // private
	ahead atomic.Int64 // seconds by which the market's clock is known to be ahead of this machine's clock
}

// Open returns a client for the user whose home folder is given.
func Open(h Home) (*Client, error) {
	m, err := h.Membership()
	if err != nil {
		return nil, err
	}
	key, err := h.Key()
	if err != nil {
		return nil, err
	}
	changed := func(pins string) {
		renewed := m
		renewed.Pin = pins
		_ = h.save(renewed) // if saving fails, the next call receives the pins again
	}
	return &Client{Membership: m, Caller: m.Dial(changed), home: h, key: key}, nil
}

// now returns the time for signed orders, in seconds since 2000-01-01 UTC.
func (c *Client) now() float64 { return time.Since(bank.Epoch).Seconds() + float64(c.ahead.Load()) }

// signs calls f, which signs an order and sends it. If the market refuses the order and its
// clock is more than 15 s ahead of this machine's clock, signs calls f again. This happens,
// for example, if this machine's clock was set back.
func (c *Client) signs(ctx context.Context, f func() error) error {
	err := f()
	if err == nil || errors.As(err, new(*service.Away)) {
		return err
	}
	about, wrong := c.About(ctx)
	ahead := about.Now - c.now()
	if wrong != nil || ahead < 15 {
		return err
	}
	c.ahead.Add(int64(ahead))
	return f()
}

// Dial returns a client for the market. If m.Pin is set, the client accepts only a certificate
// that matches it. The client calls changed with the new pins that the market announces. If it
// is nil, the client ignores them.
func (m *Membership) Dial(changed func(pins string)) *service.Caller {
	t := &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second}
	h := &http.Client{Transport: t}
	if m.Pin != "" {
		h.Transport = link.NewPins(m.Pin, changed).Transport(nil, t)
	}
	return service.Dial(m.URL, h)
}
