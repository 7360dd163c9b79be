package service

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bourse/bank"
	"bourse/bank/order"
	"bourse/bank/store"
	"bourse/bank/wire"

	"connectrpc.com/connect"
)

// A Dial contains the address of a bank and the identity of the client.
type Dial struct {
	Addresses []string // URLs of the servers, such as https://bank.example:8424; http:// is permitted only for the loopback interface
	Pin       string   // pins of the servers' certificates, as printed by 'bank serve', separated by commas; if empty, the system must trust the certificates
	Account   string   // account that signs orders to read; empty for an open ledger
	Key       string   // private key of Account

	Now func() float64 // function that returns the seconds since 2000-01-01 UTC
}

// A Client is a client of a remote bank. It sends a request to each server in turn and repeats
// this until one answers or the context is done.
type Client struct {
	Dial
	http    *http.Transport
	servers []wire.BankClient

	patience time.Duration // time limit for one server
	trusted  atomic.Bool   // whether a server has answered

	mu     sync.Mutex
	at     int    // index of the server that answered last
	ledger string // id of the ledger; empty if unknown
	read   string // the current order to read
	until  float64
}

var _ Ledger = (*Client)(nil)

// NewClient returns a client. NewClient does not connect yet.
func NewClient(d Dial) (*Client, error) { return newClient(d, mostAnswer) }

func newClient(d Dial, mostAnswer int) (*Client, error) {
	c := &Client{Dial: d, patience: patience, http: &http.Transport{Protocols: new(http.Protocols), IdleConnTimeout: time.Minute, DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext, TLSHandshakeTimeout: 3 * time.Second}}
	c.http.Protocols.SetHTTP2(true)
	c.http.Protocols.SetUnencryptedHTTP2(true)
	if d.Pin != "" {
		pins := strings.Split(d.Pin, ",")
		for _, pin := range pins {
			if len(pin) != len(pinStart)+64 || !strings.HasPrefix(pin, pinStart) {
				return nil, fmt.Errorf("pin %.80q: want sha256: and 64 hexadecimal digits, as printed by 'bank serve', or two pins separated by a comma", pin)
			}
		}
		c.http.TLSClientConfig = pinned(pins)
	}
	for _, address := range d.Addresses {
		if err := checkAddress(address); err != nil {
			return nil, err
		}
		c.servers = append(c.servers, wire.NewBankClient(&http.Client{Transport: c.http}, strings.TrimSuffix(address, "/"), connect.WithReadMaxBytes(mostAnswer)))
	}
	if len(c.servers) == 0 {
		return nil, errors.New("no bank address")
	}
	return c, nil
}

// checkAddress rejects an address at which others could intercept the connection.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Path != "" && u.Path != "/" || u.User != nil || u.RawQuery != "" {
		return fmt.Errorf("address %.200q: want https://NAME:PORT", address)
	}
	if u.Scheme == "https" {
		return nil
	}
	if at, err := netip.ParseAddrPort(strings.TrimPrefix(address, "http://")); u.Scheme != "http" || err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("address %.200q: want https://, or http:// on this machine, such as http://127.0.0.1:8424", address)
	}
	return nil
}

// Close closes the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// These are the pauses between two rounds through all servers.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
)

// These are the time limits for one server. If there are several servers, a request to one of
// them may be repeated to another with the same id.
const (
	turn     = 2 * time.Second // time limit if there are several servers
	patience = 30 * time.Second
)

const mostAnswer = 256 << 20 // maximum size of an answer in bytes, sufficient for the balances of millions of accounts

// ask calls f with one server after another until a server answers or refuses, or ctx is done.
func (c *Client) ask(ctx context.Context, f func(context.Context, wire.BankClient) error) error {
	next := firstPause
	for n := 1; ; n++ {
		c.mu.Lock()
		at := c.at
		c.mu.Unlock()
		err := c.askOne(ctx, c.servers[at], f)
		if err == nil {
			c.trusted.Store(true)
			return nil
		}
		if !again(err) && !(strange(err) && c.trusted.Load()) {
			return plainly(err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), plainly(err))
		}
		c.mu.Lock()
		if c.at == at {
			c.at = (at + 1) % len(c.servers)
		}
		c.mu.Unlock()
		if n%len(c.servers) > 0 {
			continue
		}
		if !wait(ctx, next) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), plainly(err))
		}
		next = min(2*next, lastPause)
	}
}

// askOne calls f with one server, with a time limit.
func (c *Client) askOne(ctx context.Context, s wire.BankClient, f func(context.Context, wire.BankClient) error) error {
	most := c.patience
	if len(c.servers) > 1 {
		most = turn
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return f(ctx, s)
}

// again reports whether to retry after err. If it returns false, err is the reply to the
// request.
func again(err error) bool {
	if strange(err) {
		return false
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded, connect.CodeCanceled, connect.CodeUnknown, connect.CodeInternal:
		return true
	}
	return false
}

// strange reports whether a server has a certificate that the client does not know. A client
// that has received an answer before waits for a server with a known certificate.
func strange(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.Is(err, errPin) || errors.As(err, &untrusted)
}

// plainly converts the error of a call to the error that the bank reported.
func plainly(err error) error {
	var call *connect.Error
	if !errors.As(err, &call) {
		return err
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return fmt.Errorf("this machine does not trust the server's certificate: give its pin, as printed by 'bank serve' (%w)", untrusted.Err)
	}
	switch call.Code() {
	case connect.CodePermissionDenied:
		return &refused{call.Message(), store.ErrRefused}
	case connect.CodeDeadlineExceeded:
		return &refused{call.Message(), store.ErrNotApplied}
	}
	return errors.New(call.Message())
}

// Ledger returns the id of the ledger, or "" if it is open, and the accounts that have the
// given public key.
func (c *Client) Ledger(ctx context.Context, key string) (id string, having []string, err error) {
	var l *wire.LedgerResponse
	err = c.ask(ctx, func(ctx context.Context, s wire.BankClient) (err error) {
		l, err = s.Ledger(ctx, &wire.LedgerRequest{Key: key})
		return err
	})
	return l.GetId(), l.GetAccounts(), err
}

// KeyOf returns the public key of an account, or "" if it has none. In an owned ledger, the
// client must be the account, a market, or an account that may read everything.
func (c *Client) KeyOf(ctx context.Context, account string) (string, error) {
	l, err := c.about(ctx, account, "")
	return l.GetOwner(), err
}

// Payee reports whether an account is a payee of a market. The client must be permitted to
// read the account's key. A bank older than version 0.3 does not report payees, so Payee then
// returns true.
func (c *Client) Payee(ctx context.Context, account, market string) (bool, error) {
	l, err := c.about(ctx, account, market)
	return err == nil && (l.Payee == nil || l.GetPayee()), err
}

// Reads reports whether an account may read the whole ledger. The client must be permitted to
// read the account's key. A bank of an earlier version does not report this right, so Reads
// then returns false.
func (c *Client) Reads(ctx context.Context, account string) (bool, error) {
	l, err := c.about(ctx, account, "")
	return l.GetReads(), err
}

// about returns the ledger's data about an account and, unless it is empty, a market.
func (c *Client) about(ctx context.Context, account, market string) (l *wire.LedgerResponse, err error) {
	err = c.asks(ctx, func(ctx context.Context, s wire.BankClient, read string) (err error) {
		l, err = s.Ledger(ctx, &wire.LedgerRequest{Account: account, Read: read, Market: market})
		return err
	})
	return l, err
}

// Head returns the head of the ledger.
func (c *Client) Head(ctx context.Context) (store.Head, error) {
	var h *wire.HeadResponse
	err := c.ask(ctx, func(ctx context.Context, s wire.BankClient) (err error) {
		h, err = s.Head(ctx, &wire.HeadRequest{})
		return err
	})
	if err != nil {
		return store.Head{}, err
	}
	return store.ParseHead(h.GetHead())
}

// owned returns the id of the ledger. It asks the bank only until it receives an id, because
// an owned ledger stays owned.
func (c *Client) owned(ctx context.Context) (string, error) {
	c.mu.Lock()
	id := c.ledger
	c.mu.Unlock()
	if id != "" {
		return id, nil
	}
	id, _, err := c.Ledger(ctx, "")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger = id
	return id, err
}

// reading is the lifetime of an order to read, in seconds. It is half of the time that a bank
// permits, because the two clocks may differ.
const reading = 30

// reads returns an order to read, or "" if there is no key or the ledger is open.
func (c *Client) reads(ctx context.Context) (string, error) {
	if c.Key == "" {
		return "", nil
	}
	id, err := c.owned(ctx)
	if err != nil || id == "" {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if now < c.until-reading/2 {
		return c.read, nil
	}
	until := math.Floor(now) + reading
	o, err := order.New("read",
		order.Field{Name: "ledger", Value: id},
		order.Field{Name: "market", Value: "bank"},
		order.Field{Name: "id", Value: rand.Text()},
		order.Field{Name: "account", Value: c.Account},
		order.Expiry(until))
	if err != nil {
		return "", err
	}
	signed, err := order.Sign([]byte(o.String()), c.Key)
	if err != nil {
		return "", err
	}
	c.read, c.until = string(signed), until
	return c.read, nil
}

// Do implements [Ledger]. The bank sets the Time of e. An entry without an ID is sent only
// once: if there is no reply, the error wraps [store.ErrUnknown].
func (c *Client) Do(ctx context.Context, e bank.Entry) (store.Receipt, error) {
	r, _, err := c.DoSigned(ctx, e)
	return r, err
}

// DoSigned is like [Client.Do] but also returns the receipt as signed by the bank.
func (c *Client) DoSigned(ctx context.Context, e bank.Entry) (receipt store.Receipt, signed []byte, err error) {
	var was error
	err = c.ask(ctx, func(ctx context.Context, s wire.BankClient) error {
		response, err := s.Book(ctx, &wire.BookRequest{Entries: []*wire.Entry{toWire(&e)}})
		if err != nil && e.ID == "" && again(err) {
			was = fmt.Errorf("%w: %w", store.ErrUnknown, plainly(err))
			return nil
		}
		if err != nil {
			return err
		}
		if len(response.GetResults()) != 1 {
			return connect.NewError(connect.CodeDataLoss, fmt.Errorf("found %d answers, want one", len(response.GetResults())))
		}
		r := response.GetResults()[0]
		if r.GetRefused() == nil {
			receipt, was = store.ParseReceipt(fmt.Sprintf("%d:%s", r.GetSeq(), r.GetHash()))
			signed = []byte(response.GetReceipt())
			return nil
		}
		was = refusedBy(r.GetRefused())
		if e.ID != "" && passing(r.GetRefused().GetReason()) {
			return connect.NewError(connect.CodeUnavailable, was)
		}
		return nil
	})
	switch {
	case err != nil && (ctx.Err() != nil || again(err)):
		err = fmt.Errorf("request %s: %w: %w", e.ID, store.ErrUnknown, err)
	case err == nil:
		err = was
	}
	return receipt, signed, err
}

// passing reports whether a refusal is temporary and independent of the request itself.
func passing(reason string) bool {
	return reason == tooMany || reason == "unknown" || reason == "closed" || reason == "not applied"
}

// asks is like ask, but also passes an order to read to f.
func (c *Client) asks(ctx context.Context, f func(ctx context.Context, s wire.BankClient, read string) error) error {
	return c.ask(ctx, func(ctx context.Context, s wire.BankClient) error {
		read, err := c.reads(ctx)
		if err != nil {
			return err
		}
		return f(ctx, s, read)
	})
}

// Answer implements [Ledger].
func (c *Client) Answer(ctx context.Context, id string) (e bank.Entry, ok bool, err error) {
	var r *wire.AnswerResponse
	err = c.asks(ctx, func(ctx context.Context, s wire.BankClient, read string) (err error) {
		r, err = s.Answer(ctx, &wire.AnswerRequest{Id: id, Read: read})
		return err
	})
	if err != nil || r.GetEntry() == nil {
		return e, false, err
	}
	e, err = fromWire(r.GetEntry())
	return e, err == nil, err
}

// Balance implements [Ledger].
func (c *Client) Balance(ctx context.Context, name string) (bank.Amount, error) {
	var r *wire.BalanceResponse
	err := c.asks(ctx, func(ctx context.Context, s wire.BankClient, read string) (err error) {
		r, err = s.Balance(ctx, &wire.BalanceRequest{Account: name, Read: read})
		return err
	})
	if err != nil {
		return bank.Amount{}, err
	}
	return bank.Parse(r.GetAmount())
}

// Escrows implements [Ledger].
func (c *Client) Escrows(ctx context.Context) (all []bank.Holding, err error) {
	var r *wire.EscrowsResponse
	err = c.asks(ctx, func(ctx context.Context, s wire.BankClient, read string) (err error) {
		r, err = s.Escrows(ctx, &wire.EscrowsRequest{Read: read})
		return err
	})
	if err != nil {
		return nil, err
	}
	return holdings(r.GetEscrows())
}

// Balances returns the balances of all accounts and open escrows that the client may read, as
// of one point in time.
func (c *Client) Balances(ctx context.Context) ([]bank.Holding, error) {
	var r *wire.BalancesResponse
	err := c.asks(ctx, func(ctx context.Context, s wire.BankClient, read string) (err error) {
		r, err = s.Balances(ctx, &wire.BalancesRequest{Read: read})
		return err
	})
	if err != nil {
		return nil, err
	}
	return holdings(r.GetAccounts())
}

// holdings converts holdings from their wire format.
func holdings(all []*wire.Holding) (holdings []bank.Holding, err error) {
	for _, h := range all {
		b, err := bank.Parse(h.GetAmount())
		if err != nil {
			return nil, err
		}
		holdings = append(holdings, bank.Holding{Name: h.GetName(), Balance: b, Owner: h.GetOwner()})
	}
	return holdings, nil
}
