package main

import (
	"errors"
	"fmt"

	"bourse/bank/keys"
	"bourse/bank/order"

	"github.com/urfave/cli/v2"
)

var signCommand = command(`sign ORDER
sign an order, and print it with the signature

An order consists of these lines, in this sequence. ORDER is a file, or - for standard input:

   bourse transfer 1
   ledger 5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6
   id rent-11
   account user:ann
   to user:bob
   amount 12.500000
   expires 2026-11-22T15:10:00Z

'bank whoami' prints the ledger's id. A second key can add its signature to a signed order. If an
order is not well-formed, the command reports the line and the field, and does not sign the order.

   bourse bank sign rent --key ann | jq -cRs '{order: .}' | bourse bank apply books`, func(c *cli.Context, _ *signOptions) error {
	private, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	name := c.Args().First()
	text, err := readText(c, name)
	if err != nil {
		return err
	}
	signed, err := order.Sign(text, private)
	if err != nil {
		return usagef("%s: %w", name, err)
	}
	_, err = c.App.Writer.Write(signed)
	return err
})

type signOptions struct {
	Key string `doc:"sign with the private key in {FILE}, created by 'bourse bank key'"`
}

// privateKey returns the private key from the file named by the given flag.
func privateKey(c *cli.Context, name string) (string, error) {
	if c.String(name) == "" {
		return "", usagef("%s: --%s is missing; create a key with 'bourse bank key'", commandName(c), name)
	}
	return await(c.Context, func() (string, error) { return keys.Read(c.String(name)) })
}

// signOrder returns a signed order of the given kind for the bank's ledger. An account issues
// the order, and the given private keys sign it.
func signOrder(c *cli.Context, b banked, kind, id, account string, private []string, fields ...string) ([]byte, error) {
	ledger := b.Ledger()
	if ledger == "" {
		return nil, errors.New("the bank is open and needs no signatures; 'bourse bank own' turns it into an owned bank")
	}
	if t, ok := b.(*there); ok { // only the account itself may ask the bank for the answers to its orders
		t.Account, t.Key = account, private[0]
	}
	return orderNow(c, private, ledger, kind, id, account, fields...)
}

type expiresOption struct {
	Expires float64 `unit:"seconds" default:"600" validate:"min=1" doc:"let the order expire after {SECONDS}; units such as 1h are accepted"`
}

// orderNow returns an order signed with private keys. It expires after the time given by
// --expires.
func orderNow(c *cli.Context, private []string, ledger, kind, id, account string, fields ...string) ([]byte, error) {
	expires := 600.0 // seconds
	if q, ok := c.Generic("expires").(*quantity); ok {
		expires = q.x
	}
	o, err := order.For(kind, ledger, id, account, wall()+expires, fields...)
	if err != nil {
		return nil, usagef("%s: %w", commandName(c), err)
	}
	note := []byte(o.String())
	for _, key := range private {
		if note, err = order.Sign(note, key); err != nil {
			return nil, err
		}
	}
	return note, nil
}

// signer returns the only account with the public key that belongs to a private key.
func signer(c *cli.Context, b banked, private string) (string, error) {
	public, err := keys.Of(private)
	if err != nil {
		return "", err
	}
	all, err := b.Having(c.Context, public)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", fmt.Errorf("found %s signed with the given key, want exactly one", count(len(all), "account"))
	}
	return all[0], nil
}
