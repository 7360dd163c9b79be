package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"bourse/bank"
	"bourse/bank/owners"
	"bourse/bank/place"
	"bourse/bank/service"
	"bourse/bank/store"

	"github.com/urfave/cli/v2"
)

// A banked is the bank that a command uses: either a ledger that this process writes, or a
// served bank.
type banked interface {
	Do(ctx context.Context, e bank.Entry) (store.Receipt, error)
	Ledger() string                                              // id of the ledger; empty if the ledger is open
	Having(ctx context.Context, public string) ([]string, error) // accounts that have a public key

	// Answer returns the entry that answered a request and reports whether that entry
	// exists.
	Answer(ctx context.Context, id string) (bank.Entry, bool, error)
}

// isServed reports whether an address belongs to a served bank.
func isServed(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

type pinOption struct {
	Pin string `doc:"expect a served bank's certificate {PIN} (https://…), as printed by 'bank serve'"`
}

// withBank calls f with the ledger in the folder that the first argument names, or with the
// bank served at that address.
func withBank(c *cli.Context, f func(banked) error) (err error) {
	var b banked
	if address := c.Args().First(); isServed(address) {
		t, err := dial(c, service.Dial{})
		if err != nil {
			return err
		}
		defer t.Close()
		b = t
	} else {
		s, err2 := writer(c, place.At(address))
		if err2 != nil {
			return err2
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		b = here{s}
	}
	if err := f(b); err != nil {
		return err
	}
	noteMode(c, b.Ledger())
	return nil
}

// The time to wait for a ledger that another process has open: before the wait is reported, and
// in total.
const (
	brief   = 2 * time.Second
	patient = 10 * time.Second
)

// writer opens the ledger in p for writing. It waits until no other process has the ledger
// open. The entries are dated by the wall clock.
func writer(c *cli.Context, p place.Place) (*store.Sequencer, error) {
	begun, said := time.Now(), false
	for {
		s, err := p.Writer(store.Options{Now: wall})
		waited := time.Since(begun)
		if !errors.Is(err, store.ErrLocked) || c.Context.Err() != nil {
			return s, err
		}
		if waited > patient {
			return nil, fmt.Errorf("%w; nothing was booked: try again, or use the address of the bank's server", err)
		}
		if !said && waited > brief {
			said = true
			note(c, "%v: waiting until no other process uses the bank", p)
		}
		select {
		case <-time.After(10*time.Millisecond + rand.N(40*time.Millisecond)):
		case <-c.Context.Done():
		}
	}
}

// ask books a signed order only once, even if the order was signed earlier with another
// expiry time.
func ask(c *cli.Context, b banked, note []byte) (id string, r store.Receipt, err error) {
	e, err := owners.Entry(note, wall())
	if err == nil {
		r, err = store.Once(c.Context, b, e)
	}
	return e.ID, r, err
}

// A here is a bank whose ledger this process writes.
type here struct{ *store.Sequencer }

func (h here) Having(ctx context.Context, public string) (all []string, err error) {
	err = h.Owners(ctx, func(o *owners.Owners, _ float64) { all = o.Having(public) })
	return all, err
}

// KeyOf returns the public key of an account, or an empty string if it has none.
func (h here) KeyOf(ctx context.Context, account string) (key string, err error) {
	err = h.Owners(ctx, func(o *owners.Owners, _ float64) { key = o.Key(account) })
	return key, err
}

// Payee reports whether an account is a payee of a market.
func (h here) Payee(ctx context.Context, account, market string) (is bool, err error) {
	err = h.Owners(ctx, func(o *owners.Owners, _ float64) { is = o.Payee(account, market) })
	return is, err
}

// Reads reports whether an account may read the whole ledger.
func (h here) Reads(ctx context.Context, account string) (is bool, err error) {
	err = h.Owners(ctx, func(o *owners.Owners, _ float64) { is = o.Reads(account) })
	return is, err
}

// A there is a bank that another process serves.
type there struct {
	*service.Client
	id     string
	signed []byte // the last receipt
}

// away is the maximum time to wait for a served bank.
const away = 30 * time.Second

// dial connects to the bank at the given address and requests its identity.
func dial(c *cli.Context, d service.Dial) (*there, error) {
	d.Addresses, d.Pin, d.Now = strings.Split(c.Args().First(), ","), c.String("pin"), wall
	client, err := service.NewClient(d)
	if err != nil {
		return nil, usagef("%s: %w", commandName(c), err)
	}
	ctx, cancel := context.WithTimeout(c.Context, away)
	defer cancel()
	id, _, err := client.Ledger(ctx, "")
	return &there{Client: client, id: id}, err
}

func (t *there) Ledger() string { return t.id }

func (t *there) Do(ctx context.Context, e bank.Entry) (r store.Receipt, err error) {
	ctx, cancel := context.WithTimeout(ctx, away)
	defer cancel()
	if r, t.signed, err = t.DoSigned(ctx, e); err == nil && t.id == "" { // the entry may have given the bank its first owner
		t.id, _, err = t.Client.Ledger(ctx, "")
	}
	return r, err
}

func (t *there) Having(ctx context.Context, public string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, away)
	defer cancel()
	_, all, err := t.Client.Ledger(ctx, public)
	return all, err
}

// wall returns the seconds since 2000-01-01 UTC, which is time 0 in exports.
func wall() float64 {
	return time.Since(bank.Epoch).Seconds()
}
