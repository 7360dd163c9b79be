package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"bourse/bank/keys"
	"bourse/bank/peers"
	"bourse/bank/proof"
	"bourse/bank/witness"

	"filippo.io/torchwood"
	"github.com/urfave/cli/v2"
	sumdb "golang.org/x/mod/sumdb/note"
)

var witnessCommand = command(`witness DIR
cosign checkpoints of published logs

The command serves the protocol c2sp.org/tlog-witness, which 'ledger publish --witness' and
operators of other logs can use. It cosigns checkpoints of the logs given with --log. For each log,
it stores the last signed checkpoint in DIR. Never replace DIR with an older copy. The command
prints the public key of the witness, which the readers of a log need.

   bourse bank key --name w.example key
   bourse ledger witness watched --key key --log books=key.pub --listen 127.0.0.1:8423`, witnessAction)

type witnessOptions struct {
	Key    string   `doc:"sign with the private key in {FILE}, created by 'bourse bank key'"`
	Log    []string `doc:"cosign the log {ORIGIN=KEY}, given by name and public key; may be repeated"`
	Listen string   `default:"127.0.0.1:8423" doc:"answer at {ADDRESS}"`
}

func witnessAction(c *cli.Context, o *witnessOptions) error {
	if o.Key == "" || len(o.Log) == 0 {
		return usagef("witness: --key and --log are required")
	}
	private, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	name, key, err := keys.Pair(private)
	if err != nil {
		return usagef("--key: %w", err)
	}
	signer, err := torchwood.NewCosignatureSigner(name, key)
	if err != nil {
		return err
	}
	logs, err := watched(c)
	if err != nil {
		return err
	}
	w, err := witness.New(c.Args().First(), signer, logs)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if _, err := fmt.Fprintln(c.App.Writer, signer.Verifier()); err != nil {
		return err
	}
	note(c, "witness of %s at http://%s", count(len(logs), "log"), listener.Addr())
	p := peers.Server{Handler: w, Bytes: func(*http.Request) int64 { return 1 << 16 }}
	return p.Serve(c.Context, listener)
}

// watched returns the public keys of the logs named on the command line.
func watched(c *cli.Context) (map[string][]sumdb.Verifier, error) {
	logs := make(map[string][]sumdb.Verifier)
	for _, text := range c.StringSlice("log") {
		origin, key, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--log: found %q, want ORIGIN=KEY", text)
		}
		if err := proof.CheckOrigin(origin); err != nil {
			return nil, usagef("--log: %w", err)
		}
		public, err := keys.Public(key)
		if err != nil {
			file, err := readText(c, key)
			if err != nil {
				return nil, err
			}
			if public, err = keys.Public(string(file)); err != nil {
				return nil, usagef("--log: %s: %w", key, err)
			}
		}
		v, err := sumdb.NewVerifier(public)
		if err != nil {
			return nil, err
		}
		logs[origin] = append(logs[origin], v)
	}
	return logs, nil
}
