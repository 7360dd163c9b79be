package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/wire"
)

// A Caller asks a market elsewhere.
type Caller struct {
	market wire.MarketClient
	admin  wire.AdminClient
	http   *http.Client
}

// Dial returns a caller of the market at url.
func Dial(url string, h *http.Client) *Caller {
	most := connect.WithReadMaxBytes(mostBlob)
	return &Caller{wire.NewMarketClient(h, url, most), wire.NewAdminClient(h, url, most), h}
}

// Close drops the connections.
func (c *Caller) Close() { c.http.CloseIdleConnections() }

// asks is how long a call may take that waits for nothing.
const asks = 15 * time.Second

// call calls the market once.
func call[Q, R any](ctx context.Context, f func(context.Context, *Q) (*R, error), q *Q) (*R, error) {
	ctx, cancel := context.WithTimeout(ctx, asks)
	defer cancel()
	r, err := f(ctx, q)
	return r, said(err)
}

// An Away is a market that does not answer. What it was sent may have been done.
type Away struct{ err error }

// Error implements error.
func (a *Away) Error() string { return fmt.Sprintf("the market does not answer: %v", a.err) }

// Unwrap returns why.
func (a *Away) Unwrap() error { return a.err }

// said returns what a market has refused in its own words; where it has said nothing, or
// to ask again, an [Away].
func said(err error) error {
	var sent *connect.Error
	var dial *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &dial):
		return &Away{dial}
	case errors.As(err, &sent) && connect.IsWireError(err):
		if sent.Code() == connect.CodeUnavailable || sent.Code() == connect.CodeResourceExhausted {
			return &Away{errors.New(sent.Message())}
		}
		return errors.New(sent.Message())
	}
	return &Away{err}
}

// An About says which market answers.
type About struct {
	Market string  `json:"market"`
	Ledger string  `json:"ledger" doc:"id of its bank's"`
	Bourse string  `json:"bourse" doc:"version"`
	Now    float64 `json:"now" doc:"instant, s since 2000-01-01 UTC"`
	Head   string  `json:"head" doc:"of the ledger, ENTRY:HASH"`

	Unsettled int `json:"unsettled,omitempty" doc:"settlements and penalties that the bank has refused, and is asked for again"`
}

// About tells which market answers.
func (c *Caller) About(ctx context.Context) (About, error) {
	r, err := call(ctx, c.market.About, &wire.AboutRequest{})
	return About{r.GetMarket(), r.GetLedger(), r.GetBourse(), r.GetNow(), r.GetHead(), int(r.GetUnsettled())}, err
}

// Submit sends a signed order and its job, and returns what is decided.
func (c *Caller) Submit(ctx context.Context, signed, job []byte) (*live.Answer, error) {
	r, err := call(ctx, c.market.Submit, &wire.SubmitRequest{Order: signed, Job: job})
	if err != nil {
		return nil, err
	}
	return toAnswer(r.GetAnswer()), nil
}

// Cancel sends a signed order to take a contract back.
func (c *Caller) Cancel(ctx context.Context, signed []byte) (*live.Answer, error) {
	r, err := call(ctx, c.market.Cancel, &wire.CancelRequest{Order: signed})
	if err != nil {
		return nil, err
	}
	return toAnswer(r.GetAnswer()), nil
}

// Quote returns the least budget at which the market accepts t now, whether there is one, and
// what is owed if a host or the market delivers too little.
func (c *Caller) Quote(ctx context.Context, t *order.Terms) (least bank.Amount, owed live.Owed, ok bool, err error) {
	r, err := call(ctx, c.market.Quote, &wire.QuoteRequest{Class: t.Class, Nodes: int32(t.Nodes), Cpus: t.CPUs, Work: t.Work, Deadline: t.Deadline})
	if err != nil || r.GetLeast() == "" {
		return least, owed, false, err
	}
	least, err = bank.Parse(r.GetLeast())
	return least, live.Owed{Part: r.GetPenaltyPart(), Most: r.GetPenaltyMost()}, err == nil, err
}

// Status tells how a contract stands.
func (c *Caller) Status(ctx context.Context, id int64) (*live.Contract, error) {
	r, err := call(ctx, c.market.Status, &wire.StatusRequest{Contract: id})
	if err != nil {
		return nil, err
	}
	k, err := toContract(r.GetContract())
	return &k, err
}

// Wait follows a contract until it has ended. It waits out a market that is away.
func (c *Caller) Wait(ctx context.Context, id int64) (*live.Contract, error) {
	for state := ""; ; {
		once, cancel := context.WithTimeout(ctx, waits+asks)
		r, err := c.market.Status(once, &wire.StatusRequest{Contract: id, Known: state})
		cancel()
		if err = said(err); err != nil {
			if !errors.As(err, new(*Away)) {
				return nil, err
			}
			if err := Pause(ctx, time.Second); err != nil {
				return nil, err
			}
			continue
		}
		k, err := toContract(r.GetContract())
		if err != nil || k.Over() {
			return &k, err
		}
		state = k.State
	}
}

// Pause waits for so long, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// List tells of contracts.
func (c *Caller) List(ctx context.Context, f live.Filter) ([]live.Contract, error) {
	r, err := call(ctx, c.market.List, &wire.ListRequest{Account: f.Account, Ended: f.Ended, From: f.From, Most: int32(f.Most)})
	out := make([]live.Contract, len(r.GetContracts()))
	for i, k := range r.GetContracts() {
		if out[i], err = toContract(k); err != nil {
			return nil, err
		}
	}
	return out, err
}

// Prices tells the prices of a host from an instant on.
func (c *Caller) Prices(ctx context.Context, host string, since float64) ([]live.Price, error) {
	r, err := call(ctx, c.market.Prices, &wire.PricesRequest{Host: host, Since: since})
	return all(r.GetPrices(), func(p *wire.Price) live.Price { return live.Price{At: p.GetAt(), Price: p.GetPrice()} }), err
}

// Hosts tells of all hosts.
func (c *Caller) Hosts(ctx context.Context) ([]live.Host, error) {
	r, err := call(ctx, c.market.Hosts, &wire.HostsRequest{})
	return all(r.GetHosts(), toHost), err
}

// PutBlob sends a file that a job needs, with a signed order to read that is about no
// contract.
func (c *Caller) PutBlob(ctx context.Context, signed, data []byte) error {
	_, err := call(ctx, c.market.PutBlob, &wire.PutBlobRequest{Data: data, Order: signed})
	return err
}

// A Log is what a node of a contract printed, or wrote as errors.
type Log struct {
	Node   int
	Errors bool
}

// Read returns, by a signed order to read a contract, what there is of a log from a byte
// on, and how long it is so far; ended says that no more will come.
func (c *Caller) Read(ctx context.Context, signed []byte, l Log, from int64) (text []byte, size int64, ended bool, err error) {
	r, err := call(ctx, c.market.Logs, &wire.LogsRequest{Order: signed, Node: int32(l.Node), Errors: l.Errors, From: from})
	return r.GetText(), r.GetSize(), r.GetEnded(), err
}

// An Archive is what a node of a contract left in its folder.
type Archive struct {
	Node  int
	Name  string   // that whoever asks has made up: its parts are asked for in turn
	Paths []string // in the folder; none is all of it
}

// Files returns, by a signed order to read a contract, a part of an archive from a byte on:
// tar; last says that it ends with it.
func (c *Caller) Files(ctx context.Context, signed []byte, a Archive, from int64) (part []byte, last bool, err error) {
	r, err := call(ctx, c.market.Files, &wire.FilesRequest{Order: signed, Node: int32(a.Node), Archive: a.Name, Paths: a.Paths, From: from})
	return r.GetData(), r.GetLast(), err
}

// Pass has the bank book an order that says all there is to book, and returns the receipt.
func (c *Caller) Pass(ctx context.Context, signed []byte) (string, error) {
	r, err := call(ctx, c.market.Pass, &wire.PassRequest{Order: signed})
	return r.GetReceipt(), err
}

// InviteHost returns a token by which a host joins, for who has the operator's secret.
func (c *Caller) InviteHost(ctx context.Context, secret, name, owner string) (string, error) {
	r, err := call(operating(ctx, secret), c.admin.InviteHost, &wire.InviteHostRequest{Name: name, Owner: owner})
	return r.GetToken(), err
}

// DrainHost lets a host take no more tasks, or take them again, for who has the operator's
// secret.
func (c *Caller) DrainHost(ctx context.Context, secret, name string, undo bool) error {
	_, err := call(operating(ctx, secret), c.admin.Drain, &wire.DrainRequest{Host: name, Undo: undo})
	return err
}

// Users tells which accounts may ask, for who has the operator's secret.
func (c *Caller) Users(ctx context.Context, secret string) ([]User, error) {
	r, err := call(operating(ctx, secret), c.admin.Users, &wire.UsersRequest{})
	return all(r.GetUsers(), func(u *wire.User) User {
		return User{u.GetAccount(), u.GetKey(), u.GetBalance(), int(u.GetOpen())}
	}), err
}

// RemoveHost gives a host up, for who has the operator's secret.
func (c *Caller) RemoveHost(ctx context.Context, secret, name string) error {
	_, err := call(operating(ctx, secret), c.admin.Remove, &wire.RemoveRequest{Host: name})
	return err
}

// operating says in the call that is made with the context that who asks has the secret.
func operating(ctx context.Context, secret string) context.Context {
	ctx, info := connect.NewClientContext(ctx)
	info.RequestHeader().Set("Authorization", "Bearer "+secret)
	return ctx
}
