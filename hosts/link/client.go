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

// A Client is a host's connection to its market over the network. It opens a connection on first
// use, and a new one after a connection is lost.
type Client struct {
	link wire.LinkClient
	http *http.Client
}

// Dial returns a client for the market at address. The client accepts only a certificate that
// matches one of the pins. The client authenticates itself with the certificate own.
func Dial(address string, pins *Pins, own tls.Certificate) *Client {
	h := &http.Client{Transport: pins.Transport([]tls.Certificate{own}, &http.Transport{
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 5 * time.Second,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
	})}
	return &Client{wire.NewLinkClient(h, "https://"+address, connect.WithReadMaxBytes(mostBytes+1<<10)), h}
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

var versions = &wire.Versions{Oldest: oldest, Newest: newest}

// Timeouts of calls, except [Client.Sync], which uses its caller's context. Without timeouts, a
// market that does not answer would block the host's work.
const (
	patience  = 30 * time.Second
	transfers = 5 * time.Minute // timeout of file transfers
)

// Enrol registers the host's certificate with the market. Earlier versions of markets do not
// return the name of the market.
func (c *Client) Enrol(ctx context.Context, e Enrolment) (host, market string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := c.link.Enrol(ctx, &wire.EnrolRequest{Versions: versions, Secret: e.Secret, Name: e.Name, Offer: wire.FromOffer(&e.Offer)})
	return r.GetName(), r.GetMarket(), decoded(err)
}

// Sync sends the report t and returns the market's orders. The certificate identifies the host.
func (c *Client) Sync(ctx context.Context, _ string, t *remote.Told) (*remote.Orders, error) {
	q := wire.FromTold(t)
	q.Versions = versions
	r, err := c.link.Sync(ctx, q)
	if err != nil {
		return nil, decoded(err)
	}
	return wire.ToOrders(r), nil
}

// Blob downloads the data with this SHA-256.
func (c *Client) Blob(ctx context.Context, _, sha string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, transfers)
	defer cancel()
	r, err := c.link.Blob(ctx, &wire.BlobRequest{Sha: sha})
	return r.GetData(), decoded(err)
}

// PutLog uploads a requested part of a log.
func (c *Client) PutLog(ctx context.Context, _ string, l *remote.Log) error {
	ctx, cancel := context.WithTimeout(ctx, transfers)
	defer cancel()
	_, err := c.link.PutLog(ctx, wire.FromLog(l))
	return decoded(err)
}

// PutCheckpoint uploads a part of a checkpoint, or the list of its parts.
func (c *Client) PutCheckpoint(ctx context.Context, _ string, k *remote.Checkpoint) error {
	ctx, cancel := context.WithTimeout(ctx, transfers)
	defer cancel()
	_, err := c.link.PutCheckpoint(ctx, &wire.Checkpoint{Name: k.Name, Data: k.Data, Sums: k.Sums, Used: k.Used})
	return decoded(err)
}

// decoded converts an error from the network to the error that the market returned.
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

// A refusal is one of the market's permanent errors together with the market's explanation.
type refusal struct {
	err  error
	text string
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.err }
