package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"bourse/hosts/remote"
	"bourse/hosts/wire"
)

// A Client is a host's way to its market over the network. It dials when it is used, and
// anew when a connection is lost.
type Client struct {
	link wire.LinkClient
	http *http.Client
}

// Dial returns the way to the market at an address whose certificate has one of these pins,
// for who has own.
func Dial(address string, pins *Pins, own tls.Certificate) *Client {
	h := &http.Client{Transport: pins.Transport([]tls.Certificate{own}, &http.Transport{
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
	})}
	return &Client{wire.NewLinkClient(h, "https://"+address, connect.WithReadMaxBytes(mostBytes+1<<10)), h}
}

// Close drops the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

var versions = &wire.Versions{Oldest: oldest, Newest: newest}

// How long the market may take to answer a call, [Client.Sync] apart, which has its caller's
// context: one that is silent must not keep a host from its work.
const (
	patience  = 30 * time.Second
	transfers = 5 * time.Minute // of files
)

// Enrol makes the host known, by its certificate.
func (c *Client) Enrol(ctx context.Context, e Enrolment) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := c.link.Enrol(ctx, &wire.EnrolRequest{Versions: versions, Secret: e.Secret, Name: e.Name, Offer: wire.FromOffer(&e.Offer)})
	return r.GetName(), decoded(err)
}

// Sync tells the market t and returns its orders. Its certificate says for which host.
func (c *Client) Sync(ctx context.Context, _ string, t *remote.Told) (*remote.Orders, error) {
	q := wire.FromTold(t)
	q.Versions = versions
	r, err := c.link.Sync(ctx, q)
	if err != nil {
		return nil, decoded(err)
	}
	return wire.ToOrders(r), nil
}

// Blob returns what has this SHA-256.
func (c *Client) Blob(ctx context.Context, _, sha string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, transfers)
	defer cancel()
	r, err := c.link.Blob(ctx, &wire.BlobRequest{Sha: sha})
	return r.GetData(), decoded(err)
}

// PutLog answers a request for a log.
func (c *Client) PutLog(ctx context.Context, _ string, l *remote.Log) error {
	ctx, cancel := context.WithTimeout(ctx, transfers)
	defer cancel()
	_, err := c.link.PutLog(ctx, wire.FromLog(l))
	return decoded(err)
}

// decoded returns what a market has refused as the error that it was.
func decoded(err error) error {
	if err == nil {
		return nil
	}
	var sent *connect.Error
	if errors.As(err, &sent) && connect.IsWireError(err) {
		for _, c := range codes {
			if sent.Code() == c.code {
				return &refusal{c.err, sent.Message()}
			}
		}
		return errors.New(sent.Message())
	}
	return fmt.Errorf("the market does not answer: %w", err)
}

// A refusal is an error with what the market says of it.
type refusal struct {
	err  error
	text string
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.err }
