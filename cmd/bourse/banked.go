package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"bourse/bank"
	"bourse/bank/owners"
	"bourse/bank/place"
	"bourse/bank/service"
	"bourse/bank/store"

	"github.com/urfave/cli/v2"
)

// A banked is a bank that commands ask: one that this process writes, or one that is
// served.
type banked interface {
	Do(ctx context.Context, e bank.Entry) (store.Receipt, error)
	Ledger() string                                              // its id, empty if it is open
	Having(ctx context.Context, public string) ([]string, error) // the accounts that have a public key
}

// isServed reports whether an address is of a bank that is served.
func isServed(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

func pinFlag() cli.Flag {
	return &cli.StringFlag{Name: "pin", Usage: "of a bank that is served, at https://…, the `PIN` of its certificate, as 'bank serve' prints it"}
}

// withBank opens the bank that c names for f, and says who may move its money.
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
		s, err2 := place.At(address).Writer()
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

// here is a bank that this process writes.
type here struct{ *store.Sequencer }

func (h here) Having(ctx context.Context, public string) (all []string, err error) {
	err = h.Owners(ctx, func(o *owners.Owners, _ float64) { all = o.Having(public) })
	return all, err
}

// KeyOf returns the public key of an account, empty if it has none.
func (h here) KeyOf(ctx context.Context, account string) (key string, err error) {
	err = h.Owners(ctx, func(o *owners.Owners, _ float64) { key = o.Key(account) })
	return key, err
}

// there is a bank that is served.
type there struct {
	*service.Client
	id     string
	signed []byte // the last receipt
}

// away is how long a bank that is served may not answer.
const away = 30 * time.Second

// dial asks the bank at the address that c names who it is.
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
	if r, t.signed, err = t.DoSigned(ctx, e); err == nil && t.id == "" { // it may have made the bank owned
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

// wall returns the seconds since 2000-01-01 UTC, the date that exports give to
// second 0.
func wall() float64 {
	return time.Since(bank.Epoch).Seconds()
}
