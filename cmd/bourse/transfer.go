package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"bourse/bank"
	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/bank/whole"

	"github.com/urfave/cli/v2"
)

var bankInitCommand = command(`init DIR
create a bank without money

   bourse bank init books`, func(c *cli.Context, _ *none) error {
	j, err := place.At(c.Args().First()).Create(store.Options{})
	if err != nil {
		return err
	}
	noteMode(c, "")
	return j.Close()
})

type idOption struct {
	ID string `doc:"give the request the {ID}; a request repeated with the same ID is not booked again"`
}

var mintCommand = command(`mint DIR ACCOUNT AMOUNT
issue money to an account, and print the receipt

   bourse bank mint books user:ann 100 --id salary-1

In an owned bank, an account with the right mint signs the order. If the right requires it, a second
account also signs:

   bourse bank mint books user:ann 100 --id week-47 --key bursar --second dean`, func(c *cli.Context, _ *mintOptions) error {
	return move(c, store.Order{From: "mint", To: c.Args().Get(1)}, c.Args().Get(2))
})

type mintOptions struct {
	idOption                  `yaml:",inline"`
	Key                       string `doc:"sign with the key in {FILE}"`
	Second                    string `doc:"also sign with the key in {FILE}"`
	expiresOption             `yaml:",inline"`
	pinOption                 `yaml:",inline"`
	jsonOption[store.Outcome] `yaml:",inline"`
}

var transferCommand = command(`transfer DIR FROM TO AMOUNT
move money between accounts, and print the receipt

   bourse bank transfer books user:ann user:bob 12.50 --id rent-1

In an owned bank, the key of the paying account signs the order:

   bourse bank transfer books user:ann user:bob 12.50 --id rent-1 --key ann

A served bank signs its receipt, which 'bank receipt' checks:

   bourse bank transfer https://127.0.0.1:8424 user:ann user:bob 12.50 --id rent-1 --key ann \
      --pin sha256:5f7c… --signed receipt`, func(c *cli.Context, _ *transferOptions) error {
	o := store.Order{From: c.Args().Get(1), To: c.Args().Get(2)}
	if err := checkParty("FROM", o.From); err != nil {
		return err
	}
	return move(c, o, c.Args().Get(3))
})

type transferOptions struct {
	idOption                  `yaml:",inline"`
	Key                       string `doc:"sign with the key in {FILE}"`
	expiresOption             `yaml:",inline"`
	pinOption                 `yaml:",inline"`
	Signed                    string `doc:"write the signed receipt of a served bank to {FILE}"`
	jsonOption[store.Outcome] `yaml:",inline"`
}

// checkParty rejects invalid account names and accounts whose money only the bank may move.
func checkParty(role, name string) error {
	if err := bank.CheckName(name); err != nil {
		return usagef("%s: %w", role, err)
	}
	if name == "mint" || bank.IsEscrow(name) {
		return usagef("%s: found %s, want a personal account such as user:7", role, name)
	}
	return nil
}

// move executes o for the given amount in the named bank and prints the receipt.
func move(c *cli.Context, o store.Order, amount string) error {
	if err := checkParty("account", o.To); err != nil {
		return err
	}
	if o.From == o.To {
		return usagef("found %s twice, want two different accounts", o.To)
	}
	var err error
	if o.Amount, err = bank.Parse(amount); err != nil {
		return usagef("AMOUNT: %w", err)
	}
	if o.Amount.Sign() <= 0 {
		return usagef("AMOUNT: found %s, want more than 0", amount)
	}
	if o.ID, err = requestID(c); err != nil {
		return err
	}
	private, err := privateKeys(c)
	if err != nil {
		return err
	}
	return withBank(c, func(b banked) error {
		var id string
		var r store.Receipt
		if len(private) > 0 {
			var note []byte
			if note, err = signed(c, b, o, private); err == nil {
				id, r, err = ask(c, b, note)
			}
		} else {
			id = o.ID
			r, err = b.Do(c.Context, o.Entry(wall()))
		}
		if err == nil && c.String("signed") != "" {
			err = keepReceipt(c.String("signed"), b)
		}
		if err != nil {
			return err
		}
		return answer(c, b, id, r)
	})
}

// keepReceipt writes the last signed receipt of b to a file.
func keepReceipt(file string, b banked) error {
	t, ok := b.(*there)
	if !ok {
		return usagef("--signed: found a bank without a server, want the address of a served bank, because only a server signs receipts")
	}
	return whole.Write(file, t.signed)
}

// privateKeys returns the private keys given on the command line, if any.
func privateKeys(c *cli.Context) (all []string, err error) {
	for _, name := range []string{"key", "second"} {
		if c.IsSet(name) {
			private, err := privateKey(c, name)
			if err != nil {
				return nil, err
			}
			all = append(all, private)
		}
	}
	return all, nil
}

// signed returns o as a signed order.
func signed(c *cli.Context, b banked, o store.Order, private []string) ([]byte, error) {
	kind, account := "transfer", o.From
	if o.From == "mint" {
		var err error
		if account, err = signer(c, b, private[0]); err != nil {
			return nil, err
		}
		kind = "mint"
	}
	return signOrder(c, b, kind, o.ID, account, private, "to", o.To, "amount", o.Amount.String())
}

// answer prints the receipt of a request. With --json, it prints JSON in the same form as
// 'bank apply'.
func answer(c *cli.Context, b banked, id string, r store.Receipt) error {
	if c.Bool("json") {
		_, hash, _ := strings.Cut(r.String(), ":")
		o := store.Outcome{ID: id, Seq: r.Seq, Hash: hash, Mode: "open"}
		if b.Ledger() != "" {
			o.Mode = "owned"
		}
		return printJSON(c, o)
	}
	_, err := fmt.Fprintln(c.App.Writer, r)
	return err
}

// requestID returns the id of a request. It returns an error if the id is missing.
func requestID(c *cli.Context) (string, error) {
	id := c.String("id")
	if id == "" {
		return "", usagef("%s: --id is missing; an id ensures that a repeated request is booked only once", commandName(c))
	}
	if err := bank.CheckID(id); err != nil {
		return "", usagef("--id: %w", err)
	}
	return id, nil
}

const mostParallel = 1 << 16

var applyCommand = command(`apply DIR
book many transfers from standard input

The command reads one JSON object per line. It prints the answers in the same sequence, each one as
soon as its entry is durable. Requests that are processed at the same time may be booked in any
sequence. A transfer from the account mint issues money. Every order must have the fields id, from,
to and amount, each exactly once. The command also answers refused orders. If a line is not an
order, the answer contains its line number. In both cases, the exit status is still 0. After a crash
or an interruption, send the unanswered lines again. An order that was already booked gets the same
answer as before. In an owned bank, each line contains a signed order. If an order concerns a
contract, the market adds the transfers that result from its decision:

   {"order":"bourse transfer 1\nledger 5f7c…"}
   {"order":"bourse order 1\n…","contract":17,"moves":[{"from":"user:ann","to":"escrow:17","amount":"1.5"}]}
   {"order":"bourse settle 1\n…","contract":17,"moves":[{"from":"escrow:17","to":"host:h1","amount":"1.5"}]}

An open bank accepts plain lines:

   echo '{"id":"7","from":"user:ann","to":"user:bob","amount":"0.10"}' | bourse bank apply books
   {"id":"7","seq":3,"hash":"LzV5…="}
   {"id":"8","error":"transfer entry 4: insufficient funds: …"}`, func(c *cli.Context, o *applyOptions) error {
	parallel := o.Parallel
	if parallel < 1 || parallel > mostParallel {
		return usagef("--parallel: found %d, want 1 to %d", parallel, mostParallel)
	}
	return withBank(c, func(b banked) error {
		in := until(c.Context, c.App.Reader, nil)
		defer in.Close()
		err := store.Apply(c.Context, b.Do, in, c.App.Writer, parallel, wall)
		if err == nil {
			err = c.Context.Err() // after an interrupt, the first error may be only the end of the input
		}
		if errors.Is(err, context.Canceled) {
			return interruption("lines with an answer have been booked; send the other lines again")
		}
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("standard input: %w; the preceding lines have been answered", err)
		}
		return err
	})
})

type applyOptions struct {
	Parallel  int `default:"64" doc:"send up to {N} requests at the same time"`
	pinOption `yaml:",inline"`
}
