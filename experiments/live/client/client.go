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
	ahead atomic.Int64 // s by which the market's clock is known to be ahead of this machine's
}

// Open returns a client for the user with the given home.
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
		_ = h.save(renewed) // the next call reads them again
	}
	return &Client{Membership: m, Caller: m.Dial(changed), home: h, key: key}, nil
}

// now returns the time, in seconds since 2000-01-01 UTC, that is used in signed orders.
func (c *Client) now() float64 { return time.Since(bank.Epoch).Seconds() + float64(c.ahead.Load()) }

// signs calls f, which signs and sends an order. If the order is refused and the market's
// clock is more than 15 s ahead, for example because this machine's was set back, it calls f
// again.
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

// Dial returns a client for the market. If m.Pin is set, the client accepts only a
// certificate that matches it. Changed is called with the new pins that the market announces;
// if it is nil, they are ignored.
func (m *Membership) Dial(changed func(pins string)) *service.Caller {
	t := &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second}
	h := &http.Client{Transport: t}
	if m.Pin != "" {
		h.Transport = link.NewPins(m.Pin, changed).Transport(nil, t)
	}
	return service.Dial(m.URL, h)
}
