package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/place"
	"bourse/bank/proof"
	"bourse/bank/store"
	"bourse/bank/tiles"
	"bourse/bank/witness"
	"bourse/experiments/audits"
	"bourse/experiments/misuse"

	"filippo.io/torchwood"
	"github.com/urfave/cli/v2"
	sumdb "golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var publishCommand = command(`publish DIR
publish a ledger as static files that others can audit

The command writes the lines of the ledger, as printed by 'bank log', as a transparency log. The log
consists of tiles and a signed checkpoint (c2sp.org/tlog-tiles), which any web server or object
store can serve. The command 'ledger audit' accepts the folder or URL of the log instead of a
ledger. If you publish again, the command extends the log and never changes published lines. The
command refuses a different ledger, with exit status 3.

Everyone who reads the log can see every account, amount and note. You cannot withdraw published
entries. If accounts need pseudonyms, use them from the start.

The command requests a cosignature of the checkpoint from each --witness. A witness signs a
checkpoint only if the log extends the last checkpoint that the witness signed. All readers who
require the signature of this witness therefore see the same log. The requests are sent at the same
time, and each witness must respond within 10 s. The command publishes nothing unless at least
--quorum witnesses have signed.

   bourse ledger publish books --key key --out public
   bourse ledger publish books --key key --out public --witness https://w.example=KEY`, publishAction)

type publishOptions struct {
	Key     string   `doc:"sign with the private key in {FILE}, created by 'bourse bank key'"`
	Origin  string   `shown:"the last part of DIR" doc:"name the log {NAME}, without spaces; use the same name each time"`
	Out     string   `alias:"o" doc:"write the log to {DIR}"`
	Witness []string `doc:"request a cosignature from the witness {URL=KEY}; may be repeated"`
	Quorum  int      `shown:"all of them" doc:"publish only if {N} witnesses have signed"`
}

func publishAction(c *cli.Context, o *publishOptions) error {
	if o.Key == "" || o.Out == "" {
		return usagef("%s: --key and --out are required; create a key with 'bourse bank key'", commandName(c))
	}
	key, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	signer, err := sumdb.NewSigner(key)
	if err != nil {
		return usagef("--key: %s: found a different kind of key, want a private key", o.Key)
	}
	witnesses, err := witnessesOf(c)
	if err != nil {
		return err
	}
	quorum := len(witnesses)
	if c.IsSet("quorum") {
		if quorum = o.Quorum; quorum < 0 || quorum > len(witnesses) {
			return usagef("--quorum: found %d, want 0 to %d, the number of witnesses", quorum, len(witnesses))
		}
	}
	origin, err := originOf(c)
	if err != nil {
		return err
	}
	head, err := cleanHead(c)
	if err != nil {
		return err
	}
	var l *tiles.Log
	err = readLedger(c, func(_ io.Writer, entries export.Entries) (err error) {
		l, err = tiles.Write(o.Out, origin, head, export.UpTo(entries, head.Size))
		return err
	})
	if errors.Is(err, tiles.ErrFork) {
		return bad(c, o.Out, err)
	}
	if err != nil {
		return err
	}
	signed, err := sumdb.Sign(&sumdb.Note{Text: l.String()}, signer)
	if err != nil {
		return misuse.Of(err)
	}
	if signed, err = cosigned(c, l, signed, witnesses, quorum); err != nil {
		return err
	}
	if err := l.Publish(o.Out, signed); err != nil {
		return err
	}
	_, err = c.App.Writer.Write(signed)
	return err
}

// originOf returns the name under which a ledger is published.
func originOf(c *cli.Context) (string, error) {
	origin := c.String("origin")
	if origin == "" && !c.IsSet("origin") {
		var err error
		if origin, err = place.At(c.Args().First()).Base(); err != nil {
			return "", err
		}
	}
	if err := proof.CheckOrigin(origin); err != nil {
		return "", usagef("--origin: %w", err)
	}
	return origin, nil
}

// cleanHead audits the named ledger and returns its head.
func cleanHead(c *cli.Context) (store.Head, error) {
	dir := c.Args().First()
	f, err := audits.At(dir, "").Audit(audit.Options{Now: wall()}, nil)
	if err != nil {
		return store.Head{}, err
	}
	if !f.Clean() {
		return store.Head{}, tellAudits(c, f)
	}
	head, err := store.ParseHead(f.Ledgers[0].Report.Head)
	if err != nil {
		return store.Head{}, err
	}
	return head, place.At(dir).Sync()
}

func witnessesOf(c *cli.Context) (all []witness.Peer, err error) {
	for _, text := range c.StringSlice("witness") {
		url, key, ok := strings.Cut(text, "=")
		v, err := torchwood.NewCosignatureVerifier(strings.TrimSpace(key))
		if !ok || err != nil || !strings.HasPrefix(url, "http") {
			return nil, usagef("--witness: found %q, want URL=KEY, with the key printed by 'bourse ledger witness'", text)
		}
		all = append(all, witness.Peer{URL: url, Key: v})
	}
	return all, nil
}

// cosigned returns a signed checkpoint with the witnesses' signature lines added.
func cosigned(c *cli.Context, l *tiles.Log, signed []byte, witnesses []witness.Peer, quorum int) ([]byte, error) {
	proof := func(from int64) (tlog.TreeProof, error) { return l.Proof(c.Context, from) }
	lines, errs := witness.AskAll(c.Context, witness.Patience, witnesses, signed, proof)
	n := 0
	for i, line := range lines {
		if errs[i] == nil {
			signed = append(signed, line...)
			n++
		}
	}
	if n < quorum {
		return nil, fmt.Errorf("%s signed the checkpoint, want %d; nothing was published: %w", witnessCount(n), quorum, errors.Join(errs...))
	}
	for _, err := range errs {
		if err != nil {
			note(c, "%v", err)
		}
	}
	return signed, nil
}

var extendsCommand = command(`extends DIR|URL
check that a published log extends an older checkpoint

The command reads the log's checkpoint and a few tiles of hashes. The exit status is 3 if the
present log does not extend the older checkpoint.

   bourse ledger extends https://bank.example/books --since checkpoint --public key.pub`, extendsAction)

type extendsOptions struct {
	Since                string `doc:"read the older checkpoint from {FILE}"`
	jsonOption[extended] `yaml:",inline"`
	trustOptions         `yaml:",inline"`
}

// extended is the JSON output about a log that extends a checkpoint.
type extended struct {
	Origin string `json:"origin"`
	Since  int64  `json:"since" doc:"number of lines at the older checkpoint"`
	Lines  int64  `json:"lines" doc:"number of lines of the log"`
	Then   string `json:"then" doc:"root hash in the older checkpoint"`
	Root   string `json:"root" doc:"root hash of the log"`
}

func extendsAction(c *cli.Context, o *extendsOptions) error {
	name := o.Since
	if name == "" {
		return usagef("%s: --since is missing; want a file with an older checkpoint", commandName(c))
	}
	text, err := readText(c, name)
	if err != nil {
		return err
	}
	trusted, err := trustOf(c)
	if err != nil {
		return err
	}
	older, err := tiles.Kept(text)
	if err == nil { // the witnesses may have seen a newer checkpoint
		err = older.Verify(trusted.signers, nil, 0)
	}
	if err != nil {
		return bad(c, name, err)
	}
	l, err := openLog(c, trusted)
	if err != nil {
		return err
	}
	err = l.Extends(c.Context, older.Checkpoint)
	if errors.Is(err, tiles.ErrFork) || errors.Is(err, tiles.ErrTile) {
		return bad(c, c.Args().First(), err)
	} else if err != nil {
		return err
	}
	if o.JSON {
		return printJSON(c, extended{l.Origin, older.N, l.N, older.Hash.String(), l.Hash.String()})
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: the log of %d lines extends the checkpoint in %s, of %d lines\n", c.Args().First(), l.N, name, older.N)
	return err
}
