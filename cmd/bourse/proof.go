package main

import (
	"crypto/rand"
	"fmt"
	"io"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/place"
	"bourse/bank/proof"
	"bourse/bank/store"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/sumdb/tlog"
)

func keyCommand() *cli.Command {
	return &cli.Command{
		Name:  "key",
		Usage: "make keys that sign checkpoints",
		Subcommands: []*cli.Command{{
			Name:      "new",
			Usage:     "make a key, and print its public half",
			ArgsUsage: "FILE",
			Description: `Writes an ed25519 key to a new file that only its owner may read, and prints the
public key, which is no secret.

   bourse key new key > key.pub`,
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "name", Value: "bourse", Usage: "`NAME` of the signer, which stands in checkpoints"},
			},
			Action: func(c *cli.Context) error {
				if err := exactly(c, "FILE"); err != nil {
					return err
				}
				private, public, err := proof.NewKey(rand.Reader, c.String("name"))
				if err != nil {
					return err
				}
				if _, err := proof.PublicKey(public); err != nil || len(c.String("name")) > 64 {
					return usagef("--name: found %.64q, want up to 64 characters without space or +", c.String("name"))
				}
				if err := proof.WriteKey(c.Args().First(), private); err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.App.Writer, public)
				return err
			},
		}},
	}
}

func checkpointCommand() *cli.Command {
	return &cli.Command{
		Name:      "checkpoint",
		Usage:     "audit a ledger and sign its head",
		ArgsUsage: "DIR",
		Description: `Prints a small text to keep where the ledger's keeper cannot change it: origin, number
of entries, root, signature. 'ledger audit --checkpoint' then finds a cut tail, a
ledger made anew, or a fork. A ledger that is not clean is not signed: exit status 3.

   bourse ledger checkpoint books --key key > checkpoint`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "key", Usage: "sign with the key in `FILE`, of 'bourse key new'"},
			&cli.StringFlag{Name: "origin", DefaultText: "the last part of DIR", Usage: "what the ledger is called: `NAME` without spaces"},
		},
		Action: checkpointAction,
	}
}

func checkpointAction(c *cli.Context) error {
	if err := exactly(c, "DIR"); err != nil {
		return err
	}
	if c.String("key") == "" {
		return usagef("%s: --key is missing; 'bourse key new' makes one", commandName(c))
	}
	key, err := await(c.Context, func() (string, error) { return proof.ReadKey(c.String("key")) })
	if err != nil {
		return err
	}
	dir := c.Args().First()
	origin := c.String("origin")
	if origin == "" {
		if origin, err = place.At(dir).Base(); err != nil {
			return misplaced(err)
		}
	}
	all, err := auditAll([]string{dir}, []string{""}, nil, audit.Options{}, nil)
	if err != nil {
		return err
	}
	if !all[0].Report.Clean() {
		return tellAudits(c, all)
	}
	head, err := store.ParseHead(all[0].Report.Head)
	if err != nil {
		return err
	}
	if err := place.At(dir).Sync(); err != nil {
		return err
	}
	signed, err := proof.Checkpoint{Origin: origin, Head: head}.Sign(key)
	if err != nil {
		return usageError{err}
	}
	_, err = c.App.Writer.Write(signed)
	return err
}

func checkpointFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "checkpoint", Usage: "hold it against the checkpoint in `FILE`"},
		&cli.StringFlag{Name: "public", Usage: "`KEY` that must have signed it, or a file that holds the key"},
	}
}

const mostText = 1 << 20 // bytes of a proof, more than any checkpoint or key has

// readCheckpoint returns the checkpoint that c names, signed by whom it names. One
// that is not is told of.
func readCheckpoint(c *cli.Context) (proof.Checkpoint, error) {
	name := c.String("checkpoint")
	signed, err := readText(c, name)
	if err != nil {
		return proof.Checkpoint{}, err
	}
	var p proof.Checkpoint
	if c.IsSet("public") {
		public, err := publicKey(c)
		if err != nil {
			return p, err
		}
		p, err = proof.Open(signed, public)
		if err != nil {
			return p, bad(c, name, err)
		}
		return p, nil
	}
	if p, err = proof.Read(signed); err != nil {
		return p, bad(c, name, err)
	}
	note(c, "%s: who signed it was not checked; --public tells whose key it must be", name)
	return p, nil
}

// publicKey returns the key that c gives, or names the file of.
func publicKey(c *cli.Context) (string, error) {
	key := c.String("public")
	if public, err := proof.PublicKey(key); err == nil {
		return public, nil
	}
	text, err := readText(c, key)
	if err != nil {
		return "", fmt.Errorf("--public: neither a key nor a file: %w", err)
	}
	public, err := proof.PublicKey(string(text))
	if err != nil {
		return "", usagef("--public: %s holds no public key, as 'bourse key new' prints it", key)
	}
	return public, nil
}

// readText reads a small file.
func readText(c *cli.Context, name string) ([]byte, error) {
	in, err := open(c, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, mostText+1))
	if err == nil && len(b) > mostText {
		err = fmt.Errorf("%s: longer than %d bytes", name, mostText)
	}
	return b, err
}

func proveCommand() *cli.Command {
	return &cli.Command{
		Name:      "prove",
		Usage:     "print a proof that an entry is in a ledger",
		ArgsUsage: "DIR",
		Description: `The proof, JSON of a few thousand bytes, is checked by 'ledger verify' without the
ledger. It holds the entries of the same leaf, up to 32, too. With --checkpoint it
proves that the entry was in the ledger when that was signed.

   bourse ledger prove books --entry 2 > proof
   bourse ledger prove books --entry 2 --checkpoint checkpoint > proof`,
		Flags: append([]cli.Flag{
			&cli.Int64Flag{Name: "entry", DefaultText: "none: it must be given", Usage: "prove entry `N`, from 1"},
		}, checkpointFlags()...),
		Action: proveAction,
	}
}

func proveAction(c *cli.Context) error {
	if err := exactly(c, "DIR"); err != nil {
		return err
	}
	seq := c.Int64("entry")
	if seq < 1 {
		return usagef("--entry: found %d, want the number of an entry, from 1", seq)
	}
	var then *store.Head
	if c.IsSet("checkpoint") {
		p, err := readCheckpoint(c)
		if err != nil {
			return err
		}
		then = &p.Head
	}
	var p *proof.Inclusion
	err := readLedger(c, func(_ io.Writer, entries export.Entries) (err error) {
		if then != nil {
			entries = first(entries, then.Size)
		}
		p, err = proof.Prove(entries, seq)
		return err
	})
	if err != nil {
		return err
	}
	if then != nil && p.Head != *then {
		return bad(c, place.At(c.Args().First()).String(), fmt.Errorf("found head %v, want %v, of the checkpoint", p.Head, *then))
	}
	return p.Write(c.App.Writer)
}

// first returns entries up to the n-th.
func first(entries export.Entries, n int64) export.Entries {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		for e, hash := range entries {
			if e.Seq > n || !yield(e, hash) {
				return
			}
		}
	}
}

func verifyProofCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a proof of 'ledger prove' without the ledger",
		ArgsUsage: "PROOF",
		Description: `Prints the entry that is proved. A proof is worth what the head in it is: with
--checkpoint that must be the one that was signed. A file of - is standard input.
Exit status 3 if the proof does not hold.

   bourse ledger verify proof --checkpoint checkpoint --public key.pub`,
		Flags:  append(checkpointFlags(), movesFlag()),
		Action: verifyProofAction,
	}
}

func verifyProofAction(c *cli.Context) error {
	if err := exactly(c, "PROOF"); err != nil {
		return err
	}
	name := c.Args().First()
	text, err := readText(c, name)
	if err != nil {
		return err
	}
	p, err := proof.ParseInclusion(text)
	if err != nil {
		return bad(c, name, fmt.Errorf("not a proof as 'ledger prove' writes it: %w", err))
	}
	e, hash, err := p.Verify()
	if err != nil {
		return bad(c, name, err)
	}
	if c.IsSet("checkpoint") {
		signed, err := readCheckpoint(c)
		if err != nil {
			return err
		}
		if p.Head != signed.Head {
			return bad(c, name, fmt.Errorf("found a proof for head %v, want %v, of the checkpoint: 'ledger prove --checkpoint' makes one", p.Head, signed.Head))
		}
	} else {
		note(c, "the proof is worth what this head is: compare it with one from elsewhere, or give --checkpoint")
	}
	format := "json"
	if !c.Bool("json") {
		format = "text"
		fmt.Fprintf(c.App.Writer, "%s: entry %d is in the ledger with head %v\n", name, e.Seq, p.Head)
	}
	return export.Write(c.App.Writer, format, func(yield func(*bank.Entry, tlog.Hash) bool) { yield(e, hash) }, export.Options{})
}
