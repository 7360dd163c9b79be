package client

import (
	"net/http"
	"time"

	"bourse/experiments/live/service"
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
	return &Client{m, service.Dial(m.URL, m.http()), h, key}, nil
}

// http returns what dials the market.
func (m *Membership) http() *http.Client {
	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second}}
}
