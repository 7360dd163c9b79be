package client

import (
	"net/http"
	"time"

	"bourse/experiments/live/service"
	"bourse/hosts/link"
)

// A Client asks one market for one account.
type Client struct {
	Membership
	*service.Caller
	home Home
	key  string // private
}

// Open returns a client of the user whose home it is.
func Open(h Home) (*Client, error) {
	m, err := h.Membership()
	if err != nil {
		return nil, err
	}
	key, err := h.Key()
	if err != nil {
		return nil, err
	}
	return &Client{m, m.Dial(), h, key}, nil
}

// Dial returns who asks the market, which is known by its pin if it has one.
func (m *Membership) Dial() *service.Caller {
	t := &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second}
	if m.Pin != "" {
		t.TLSClientConfig = link.ClientTLS(nil, m.Pin)
	}
	return service.Dial(m.URL, &http.Client{Transport: t})
}
