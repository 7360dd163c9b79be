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

// A Caller sends requests to a remote market.
type Caller struct {
	market wire.MarketClient
	admin  wire.AdminClient
	http   *http.Client
}

// Dial returns a caller for the market at url.
func Dial(url string, h *http.Client) *Caller {
	most := connect.WithReadMaxBytes(mostBlob)
	return &Caller{wire.NewMarketClient(h, url, most), wire.NewAdminClient(h, url, most), h}
}

// Close drops the connections.
func (c *Caller) Close() { c.http.CloseIdleConnections() }

// asks is the maximum duration of a call that does not wait for events.
const asks = 15 * time.Second

// call sends one request to the market.
func call[Q, R any](ctx context.Context, f func(context.Context, *Q) (*R, error), q *Q) (*R, error) {
	ctx, cancel := context.WithTimeout(ctx, asks)
	defer cancel()
	r, err := f(ctx, q)
	return r, said(err)
}

// An Away is the error of a call to a market that does not respond. The market may still have
// executed the request.
type Away struct{ err error }

// Error implements error.
func (a *Away) Error() string { return fmt.Sprintf("the market does not respond: %v", a.err) }

// Unwrap returns why.
func (a *Away) Unwrap() error { return a.err }

// said returns the error that the market itself reported. If the market did not answer or asks
// the caller to try again, said returns an [Away].
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

// An About identifies a market.
type About struct {
	Market string  `json:"market"`
	Ledger string  `json:"ledger" doc:"id of the bank's ledger"`
	Bourse string  `json:"bourse" doc:"version of bourse"`
	Now    float64 `json:"now" doc:"current time, s since 2000-01-01 UTC"`
	Head   string  `json:"head" doc:"head of the ledger, ENTRY:HASH"`

	Licences  []live.Licence `json:"licences,omitempty" doc:"licences of the market"`
	Unsettled int            `json:"unsettled,omitempty" doc:"number of settlements and penalties that the bank has refused and that the market sends again"`
}

// About returns the identity of the market that responds.
func (c *Caller) About(ctx context.Context) (About, error) {
	r, err := call(ctx, c.market.About, &wire.AboutRequest{})
	about := About{Market: r.GetMarket(), Ledger: r.GetLedger(), Bourse: r.GetBourse(), Now: r.GetNow(), Head: r.GetHead(), Unsettled: int(r.GetUnsettled())}
	if len(r.GetLicences()) > 0 {
		about.Licences = all(r.GetLicences(), toLicence)
	}
	return about, err
}

// Submit sends a signed order with its job and returns the decision.
func (c *Caller) Submit(ctx context.Context, signed, job []byte) (*live.Answer, error) {
	r, err := call(ctx, c.market.Submit, &wire.SubmitRequest{Order: signed, Job: job})
	if err != nil {
		return nil, err
	}
	return toAnswer(r.GetAnswer()), nil
}

// Cancel sends a signed order that cancels a contract.
func (c *Caller) Cancel(ctx context.Context, signed []byte) (*live.Answer, error) {
	r, err := call(ctx, c.market.Cancel, &wire.CancelRequest{Order: signed})
	if err != nil {
		return nil, err
	}
	return toAnswer(r.GetAnswer()), nil
}

// Bid sends a signed order that changes the budget of a contract.
func (c *Caller) Bid(ctx context.Context, signed []byte) (*live.Answer, error) {
	r, err := call(ctx, c.market.Bid, &wire.BidRequest{Order: signed})
	if err != nil {
		return nil, err
	}
	return toAnswer(r.GetAnswer()), nil
}

// Quote returns the lowest budget at which the market accepts t now, and reports whether
// such a budget exists. It also returns the penalty that is owed if a host or the market
// delivers too little, and the expected charges by resource.
func (c *Caller) Quote(ctx context.Context, t *order.Terms) (least bank.Amount, owed live.Owed, charges []live.Charge, ok bool, err error) {
	r, err := call(ctx, c.market.Quote, &wire.QuoteRequest{Class: t.Class, Nodes: int32(t.Nodes), Cpus: t.CPUs, Work: t.Work, Deadline: t.Deadline, Memory: t.Memory, Disk: t.Disk, Bandwidth: t.Bandwidth, Counts: t.Counts, Licences: t.Licences})
	if err != nil || r.GetLeast() == "" {
		return least, owed, nil, false, err
	}
	if least, err = bank.Parse(r.GetLeast()); err == nil {
		charges, err = toCharges(r.GetCharges())
	}
	return least, live.Owed{Part: r.GetPenaltyPart(), Most: r.GetPenaltyMost()}, charges, err == nil, err
}

// Status returns the state of a contract.
func (c *Caller) Status(ctx context.Context, id int64) (*live.Contract, error) {
	r, err := call(ctx, c.market.Status, &wire.StatusRequest{Contract: id})
	if err != nil {
		return nil, err
	}
	k, err := toContract(r.GetContract())
	return &k, err
}

// Wait waits until a contract has ended and returns its state. While the market does not
// respond, Wait retries.
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

// Pause waits for the given duration or until ctx is done.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// List returns contracts. List returns contracts. The signed order to read must permit its
// signer to read them. Without an order, List requires the operator's secret.
func (c *Caller) List(ctx context.Context, signed []byte, secret string, f live.Filter) ([]live.Contract, error) {
	if len(signed) == 0 {
		ctx = operating(ctx, secret)
	}
	r, err := call(ctx, c.market.List, &wire.ListRequest{Account: f.Account, Ended: f.Ended, From: f.From, Most: int32(f.Most), Order: signed})
	out := make([]live.Contract, len(r.GetContracts()))
	for i, k := range r.GetContracts() {
		if out[i], err = toContract(k); err != nil {
			return nil, err
		}
	}
	return out, err
}

// Prices returns the prices of a host since the given time.
func (c *Caller) Prices(ctx context.Context, host string, since float64) ([]live.Price, error) {
	r, err := call(ctx, c.market.Prices, &wire.PricesRequest{Host: host, Since: since})
	return all(r.GetPrices(), func(p *wire.Price) live.Price { return live.Price{At: p.GetAt(), Price: p.GetPrice()} }), err
}

// Hosts returns all hosts.
func (c *Caller) Hosts(ctx context.Context) ([]live.Host, error) {
	r, err := call(ctx, c.market.Hosts, &wire.HostsRequest{})
	return all(r.GetHosts(), toHost), err
}

// PutBlob sends a file that a job needs. The signed order to read must not name a contract.
func (c *Caller) PutBlob(ctx context.Context, signed, data []byte) error {
	_, err := call(ctx, c.market.PutBlob, &wire.PutBlobRequest{Data: data, Order: signed})
	return err
}

// A Log identifies the standard output or the standard error of one node of a contract.
type Log struct {
	Node   int
	Errors bool
}

// Read returns the available part of a log after an offset, and the log's current length. The
// signed order must permit its signer to read the contract. The result ended reports whether
// the log is complete.
func (c *Caller) Read(ctx context.Context, signed []byte, l Log, from int64) (text []byte, size int64, ended bool, err error) {
	r, err := call(ctx, c.market.Logs, &wire.LogsRequest{Order: signed, Node: int32(l.Node), Errors: l.Errors, From: from})
	return r.GetText(), r.GetSize(), r.GetEnded(), err
}

// An Archive identifies the files that a node of a contract left in its folder.
type Archive struct {
	Node  int
	Name  string   // name of the archive, chosen by the caller, because its parts are requested one by one
	Paths []string // paths in the folder; if empty, the whole folder
}

// Files returns one part of a tar archive, starting at an offset. The signed order must permit
// its signer to read the contract. The result last reports whether this is the last part of
// the archive.
func (c *Caller) Files(ctx context.Context, signed []byte, a Archive, from int64) (part []byte, last bool, err error) {
	r, err := call(ctx, c.market.Files, &wire.FilesRequest{Order: signed, Node: int32(a.Node), Archive: a.Name, Paths: a.Paths, From: from})
	return r.GetData(), r.GetLast(), err
}

// Pass forwards a completely signed order to the bank and returns the receipt.
func (c *Caller) Pass(ctx context.Context, signed []byte) (string, error) {
	r, err := call(ctx, c.market.Pass, &wire.PassRequest{Order: signed})
	return r.GetReceipt(), err
}

// InviteHost returns the token with which a host can join. It requires the operator's secret.
func (c *Caller) InviteHost(ctx context.Context, secret, name, owner string) (string, error) {
	r, err := call(operating(ctx, secret), c.admin.InviteHost, &wire.InviteHostRequest{Name: name, Owner: owner})
	return r.GetToken(), err
}

// DrainHost makes a host stop or resume accepting tasks. It requires the operator's secret.
func (c *Caller) DrainHost(ctx context.Context, secret, name string, undo bool) error {
	_, err := call(operating(ctx, secret), c.admin.Drain, &wire.DrainRequest{Host: name, Undo: undo})
	return err
}

// Users returns the accounts that may send requests. It requires the operator's secret.
func (c *Caller) Users(ctx context.Context, secret string) ([]User, error) {
	r, err := call(operating(ctx, secret), c.admin.Users, &wire.UsersRequest{})
	return all(r.GetUsers(), func(u *wire.User) User {
		return User{u.GetAccount(), u.GetKey(), u.GetBalance(), int(u.GetOpen())}
	}), err
}

// RemoveHost removes a host. It requires the operator's secret.
func (c *Caller) RemoveHost(ctx context.Context, secret, name string) error {
	_, err := call(operating(ctx, secret), c.admin.Remove, &wire.RemoveRequest{Host: name})
	return err
}

// operating adds the operator's secret to calls made with the context.
func operating(ctx context.Context, secret string) context.Context {
	ctx, info := connect.NewClientContext(ctx)
	info.RequestHeader().Set("Authorization", "Bearer "+secret)
	return ctx
}
