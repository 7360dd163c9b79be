package main

import (
	"crypto/rand"
	"fmt"
	"io"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/keys"
	"bourse/bank/place"
	"bourse/bank/proof"
	"bourse/bank/store"
	"bourse/experiments/misuse"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/sumdb/tlog"
)

var keyNewCommand = command(`key FILE
create a key, and print the public key

The command writes a private ed25519 key to a new file that only its owner may read. It prints the
public key, which is not secret.

   bourse bank key key > key.pub`, func(c *cli.Context, o *keyNewOptions) error {
	private, public, err := keys.New(rand.Reader, o.Name)
	if err != nil {
		return err
	}
	if _, err := keys.Public(public); err != nil || len(o.Name) > 64 {
		return usagef("--name: found %.64q, want at most 64 characters, without a space or +", o.Name)
	}
	if err := keys.Write(c.Args().First(), private); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.App.Writer, public)
	return err
})

type keyNewOptions struct {
	Name string `default:"bourse" doc:"show {NAME} as the signer in checkpoints"`
}

var checkpointCommand = command(`checkpoint DIR
audit a ledger and sign its head

A checkpoint is a short text with the ledger's name, its number of entries, its root hash and a
signature. Store it where the ledger's operator cannot change it. The command 'ledger audit
--checkpoint' can then detect removed, rewritten or forked entries. If the ledger has errors, the
command signs nothing and exits with status 3.

   bourse ledger checkpoint books --key key > checkpoint`, checkpointAction)

type checkpointOptions struct {
	Key    string `doc:"sign with the private key in {FILE}, created by 'bourse bank key'"`
	Origin string `shown:"the last part of DIR" doc:"name the ledger {NAME}, without spaces"`
}

func checkpointAction(c *cli.Context, _ *checkpointOptions) error {
	key, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	origin, err := originOf(c)
	if err != nil {
		return err
	}
	head, err := cleanHead(c)
	if err != nil {
		return err
	}
	signed, err := proof.Checkpoint{Origin: origin, Head: head}.Sign(key)
	if err != nil {
		return misuse.Of(err)
	}
	_, err = c.App.Writer.Write(signed)
	return err
}

var proveCommand = command(`prove DIR
print a proof that an entry is in a ledger

The proof is a JSON text of a few thousand bytes, which 'ledger verify' checks without the
ledger. It also contains the other entries of the same leaf of the hash tree; a leaf has at most
32 entries. With --checkpoint, it proves that the entry was in the ledger when the checkpoint
was signed.

   bourse ledger prove books --entry 2 > proof
   bourse ledger prove books --entry 2 --checkpoint checkpoint > proof`, proveAction)

type proveOptions struct {
	Entry         int64 `shown:"none; required" doc:"prove entry {N}; the first entry is 1"`
	againstOption `yaml:",inline"`
}

func proveAction(c *cli.Context, o *proveOptions) error {
	seq := o.Entry
	if seq < 1 {
		return usagef("--entry: found %d, want an entry number, from 1", seq)
	}
	var then *store.Head
	if c.IsSet("checkpoint") {
		p, err := readCheckpoint(c)
		if err != nil {
			return err
		}
		then = &p.Head
	} else if err := unsigned(c); err != nil {
		return err
	}
	var p *proof.Inclusion
	err := readLedger(c, func(_ io.Writer, entries export.Entries) (err error) {
		if then != nil {
			entries = export.UpTo(entries, then.Size)
		}
		if p, err = proof.Prove(entries, seq); err != nil { // the ledger has no such entry
			return misuse.Of(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if then != nil && p.Head != *then {
		return bad(c, place.At(c.Args().First()).String(), fmt.Errorf("found head %v, want %v, from the checkpoint", p.Head, *then))
	}
	return p.Write(c.App.Writer)
}

var verifyProofCommand = command(`verify PROOF
check a proof of 'ledger prove' without the ledger

The command prints the proved entry. The proof is only as trustworthy as the head in it. With
--checkpoint, the command checks that the checkpoint signs this head. If FILE is -, the command
reads standard input. The exit status is 3 if the proof is not valid.

   bourse ledger verify proof --checkpoint checkpoint --public key.pub`, verifyProofAction)

type verifyProofOptions struct {
	againstOption `yaml:",inline"`
	movesOption   `yaml:",inline"`
}

func verifyProofAction(c *cli.Context, o *verifyProofOptions) error {
	name := c.Args().First()
	text, err := readText(c, name)
	if err != nil {
		return err
	}
	p, err := proof.ParseInclusion(text)
	if err != nil {
		return bad(c, name, fmt.Errorf("not a proof written by 'ledger prove': %w", err))
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
			return bad(c, name, fmt.Errorf("found a proof for head %v, want %v, from the checkpoint; create one with 'ledger prove --checkpoint'", p.Head, signed.Head))
		}
	} else if err := unsigned(c); err != nil {
		return err
	} else {
		note(c, "the proof is only as trustworthy as this head: compare it with a head stored elsewhere, or use --checkpoint")
	}
	format := "json"
	if !o.JSON {
		format = "text"
		fmt.Fprintf(c.App.Writer, "%s: entry %d is in the ledger with head %v\n", name, e.Seq, p.Head)
	}
	return export.Write(c.App.Writer, format, func(yield func(*bank.Entry, tlog.Hash) bool) { yield(e, hash) }, export.Options{})
}
