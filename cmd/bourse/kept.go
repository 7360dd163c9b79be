package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/keys"
	"bourse/bank/proof"
	"bourse/bank/store"
	"bourse/bank/tiles"

	"filippo.io/torchwood"
	"github.com/urfave/cli/v2"
	sumdb "golang.org/x/mod/sumdb/note"
)

type againstOption struct {
	Checkpoint   string `doc:"compare with the checkpoint in {FILE}"`
	publicOption `yaml:",inline"`
}

type publicOption struct {
	Public string `doc:"verify the checkpoint with the signer's public {KEY}, given as text or as a file"`
}

// unsigned rejects flags about signatures if the user named neither a checkpoint nor a
// published log.
func unsigned(c *cli.Context) error {
	for _, flag := range []string{"public", "witness", "quorum"} {
		if c.IsSet(flag) && (flag != "public" || !c.IsSet("checkpoint")) {
			return usagef("--%s: found no signature to verify, want also --checkpoint or, for 'ledger audit', --earlier or a log that 'ledger publish' wrote", flag)
		}
	}
	return nil
}

const mostText = 1 << 20 // maximum size of a proof in bytes, larger than any checkpoint or key

// readCheckpoint reads the checkpoint that the command line names, and checks that the given
// key signed it. Without a key, it warns that the signature was not checked.
func readCheckpoint(c *cli.Context) (proof.Checkpoint, error) {
	name := c.String("checkpoint")
	signed, err := readText(c, name)
	if err != nil {
		return proof.Checkpoint{}, err
	}
	var p proof.Checkpoint
	if c.IsSet("public") {
		public, err := publicKey(c, "public")
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
	note(c, "%s: the signature was not checked; name the signer's public key with --public", name)
	return p, nil
}

// publicKey returns the key given by the named flag, either directly or in a file.
func publicKey(c *cli.Context, name string) (string, error) {
	key := c.String(name)
	if key == "" {
		return "", usagef("%s: --%s is missing: want a public key, or a file with a public key", commandName(c), name)
	}
	if public, err := keys.Public(key); err == nil {
		return public, nil
	}
	text, err := readText(c, key)
	if err != nil {
		return "", fmt.Errorf("--%s: found neither a key nor a file: %w", name, err)
	}
	public, err := keys.Public(string(text))
	if err != nil {
		return "", usagef("--%s: %s contains no public key, as printed by 'bourse bank key'", name, key)
	}
	return public, nil
}

type keysOption struct {
	Keys string `doc:"expect the operator's first public {KEY}, or the keys in a file whose second line is the recovery key"`
}

// pinnedKeys returns the public keys given by --keys: none, one or two.
func pinnedKeys(c *cli.Context) ([]string, error) {
	if !c.IsSet("keys") {
		return nil, nil
	}
	if public, err := keys.Public(c.String("keys")); err == nil {
		return []string{public}, nil
	}
	text, err := readText(c, c.String("keys"))
	if err != nil {
		return nil, fmt.Errorf("--keys: found neither a key nor a file: %w", err)
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		public, err := keys.Public(line)
		if err != nil || len(all) == 2 {
			return nil, usagef("--keys: found %.40q in %s, want a public key, or two keys on separate lines", line, c.String("keys"))
		}
		all = append(all, public)
	}
	if len(all) == 0 {
		return nil, usagef("--keys: %s contains no public key", c.String("keys"))
	}
	return all, nil
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

type receiptOption struct {
	Receipt string `doc:"check that the ledger contains the receipt {SEQ:HASH}"`
}

// keptHead returns, as text, the head that the user saved elsewhere. It comes from a head, a
// receipt or a checkpoint. The result is empty if none of them is given.
func keptHead(c *cli.Context) (string, error) {
	given, head := 0, ""
	for _, name := range []string{"head", "receipt"} {
		s := c.String(name)
		if s == "" && !c.IsSet(name) {
			continue
		}
		parse := func(s string) error { _, err := store.ParseHead(s); return err }
		if name == "receipt" {
			parse = func(s string) error { _, err := store.ParseReceipt(s); return err }
		}
		if err := parse(s); err != nil {
			return "", usagef("--%s: %w", name, err)
		}
		given, head = given+1, s
	}
	if c.IsSet("checkpoint") {
		p, err := readCheckpoint(c)
		if err != nil {
			return "", err
		}
		given, head = given+1, p.Head.String()
	}
	if given > 1 {
		return "", usagef("%s: found more than one head to compare with the ledger, want only one", commandName(c))
	}
	return head, nil
}

// bad prints the name of the failed check and the reason, and returns the error of a failed
// audit.
func bad(c *cli.Context, what string, why error) error {
	if _, err := fmt.Fprintf(c.App.Writer, "%s: BAD\n  %v\n", what, why); err != nil {
		return err
	}
	return errAudit
}

type trustOptions struct {
	publicOption `yaml:",inline"`
	cosignOption `yaml:",inline"`
}

type cosignOption struct {
	Witness []string `doc:"require a cosignature with the public {KEY}; may be repeated"`
	Quorum  int      `shown:"all of them" doc:"require cosignatures from {N} witnesses"`
}

// A trust lists who must have signed a published log.
type trust struct {
	signers, witnesses []sumdb.Verifier
	quorum             int // number of witnesses required
}

// trustOf returns the signers that the flags in [trustFlags] name.
func trustOf(c *cli.Context) (t trust, err error) {
	if c.IsSet("public") {
		public, err := publicKey(c, "public")
		if err != nil {
			return t, err
		}
		v, err := sumdb.NewVerifier(public)
		if err != nil {
			return t, err
		}
		t.signers = append(t.signers, v)
	} else {
		note(c, "the signature of the log was not checked; name the signer's public key with --public")
	}
	for _, text := range c.StringSlice("witness") {
		v, err := torchwood.NewCosignatureVerifier(text)
		if err != nil {
			return t, usagef("--witness: found %q, want the key printed by 'bourse ledger witness'", text)
		}
		t.witnesses = append(t.witnesses, v)
	}
	t.quorum = len(t.witnesses)
	if c.IsSet("quorum") {
		if t.quorum = c.Int("quorum"); t.quorum < 0 || t.quorum > len(t.witnesses) {
			return t, usagef("--quorum: found %d, want 0 to %d, the number of witnesses", t.quorum, len(t.witnesses))
		}
	}
	return t, nil
}

// seen returns the heads that witnesses have cosigned in a published log, with the time of
// each cosignature.
func (t *trust) seen(l *tiles.Log) (all []audit.Seen, err error) {
	head, err := l.Head()
	if err != nil {
		return nil, err
	}
	for _, s := range l.Cosignatures(t.witnesses) {
		all = append(all, audit.Seen{Head: head.String(), Time: float64(s.Unix - bank.Epoch.Unix()), By: s.Witness})
	}
	return all, nil
}

// earlier returns the checkpoints of --earlier, with the times of their cosignatures. It
// returns an error if a required signer has not signed one of the checkpoints.
func (t *trust) earlier(c *cli.Context) (logs []*tiles.Log, all []audit.Seen, err error) {
	for _, name := range c.StringSlice("earlier") {
		text, err := readText(c, name)
		if err != nil {
			return nil, nil, err
		}
		l, err := tiles.Kept(text)
		if err == nil {
			err = l.Verify(t.signers, t.witnesses, t.quorum)
		}
		var seen []audit.Seen
		if err == nil {
			seen, err = t.seen(l)
		}
		if err != nil {
			return nil, nil, bad(c, name, err)
		}
		logs, all = append(logs, l), append(all, seen...)
	}
	return logs, all, nil
}

// openLog opens the published log named on the command line. It returns an error if a required
// signer has not signed the log.
func openLog(c *cli.Context, t trust) (*tiles.Log, error) {
	address := c.Args().First()
	l, err := await(c.Context, func() (*tiles.Log, error) { return tiles.Open(context.WithoutCancel(c.Context), address) })
	if err != nil {
		return nil, err
	}
	if err := l.Verify(t.signers, t.witnesses, t.quorum); err != nil {
		return nil, bad(c, address, err)
	}
	return l, nil
}
