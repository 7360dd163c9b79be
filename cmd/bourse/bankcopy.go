package main

import (
	"errors"
	"fmt"
	"os"
	"path"

	"bourse/bank/audit"
	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/experiments/audits"
	"bourse/experiments/misuse"

	"github.com/urfave/cli/v2"
)

var copyCommand = command(`copy FROM TO
copy a ledger, to a folder or into PostgreSQL

The copy has the same entries, hashes, receipts and head. It answers repeated requests as the
original does. The command audits FROM before it copies, and audits the copy afterwards. Until the
copy is complete, it is named TO.part and cannot be opened as a bank. Entries written to FROM during
the copy are not copied, so stop its writers first.

   bourse bank copy books postgres://bank@db/money?ledger=books
   bourse bank copy postgres://bank@db/money?ledger=books books2`, copyAction)

type copyOptions struct {
	jsonOption[[]audits.Value] `yaml:",inline"`
	amissOption                `yaml:",inline"`
}

func copyAction(c *cli.Context, _ *copyOptions) error {
	f, err := copyLedger(c, place.At(c.Args().First()), place.At(c.Args().Get(1)))
	if err != nil {
		return err
	}
	return tellAudits(c, f)
}

// copyLedger copies a ledger and returns the audit of the copy. If the ledger or the copy
// fails the audit, copyLedger returns the failed audit and removes the copy.
func copyLedger(c *cli.Context, from, to place.Place) (*audits.Found, error) {
	var last place.Place
	copying := place.Copying{
		Audit: func(p place.Place, opts audit.Options) (*audit.Report, error) {
			last = p
			return audits.Place(p, opts)
		},
		Fatal: func(err error) {
			fmt.Fprintf(c.App.ErrWriter, "bourse: copy to %s: %v; the incomplete copy was removed: repeat the command\n", to, err)
			os.Exit(statusFailed)
		},
	}
	r, err := copying.Copy(c.Context, from, to)
	if errors.Is(err, place.ErrWithin) {
		err = misuse.Of(err)
	}
	if err != nil {
		return nil, err
	}
	if r.Clean() {
		last = to
	}
	return &audits.Found{Ledgers: []audits.Audited{{Ledger: last.String(), Report: r}}}, nil
}

// copyRun copies the ledgers of the named run in dir to a server. It appends
// NAME/CONFIGURATION/ADMISSION/REPLICATION to the URL to name each copy.
func copyRun(c *cli.Context, dir, name, url string) error {
	l, err := audits.In(dir, "")
	if err != nil {
		return err
	}
	names, err := l.Names()
	if err != nil {
		return err
	}
	base, err := postgres.Ledger(url)
	if err != nil {
		return err
	}
	for i, from := range l.Addresses {
		address, err := postgres.WithLedger(url, path.Join(base, name, names[i]))
		if err != nil {
			return err
		}
		to := place.At(address)
		f, err := copyLedger(c, place.At(from), to)
		if err != nil {
			return err
		}
		if !f.Clean() {
			fmt.Fprint(c.App.Writer, f.Text(c.Bool("quiet")))
			return errAudit
		}
		note(c, "%s: %d entries, audited, clean", to, f.Ledgers[0].Report.Entries)
	}
	return nil
}

// checkBank returns an error unless --bank is the URL of a ledger on a responding server.
func checkBank(url string) error {
	v, err := postgres.OpenView(url)
	switch {
	case err == nil:
		return v.Close()
	case errors.Is(err, store.ErrNone):
		return nil
	case errors.Is(err, postgres.ErrURL):
		return usagef("--bank: %w", err)
	}
	return err
}
