package main

import (
	"errors"
	"fmt"
	"runtime"

	"bourse/bank/audit"
	"bourse/bank/tiles"
	"bourse/experiments"
	"bourse/experiments/audits"
	"bourse/experiments/publication"
	"bourse/experiments/results"

	"github.com/urfave/cli/v2"
)

var auditCommand = command(`audit DIR
recompute a ledger or results, and report differences

The audit checks the hash of every entry. It checks that each entry conserves money, that no account
is overdrawn, and that no money remains in escrow. It also checks that the amount admitted for each
contract equals its charges plus its refund, apart from penalties. DIR is a ledger or a results
directory. For results, the audit compares the ledgers with the heads in the manifest and with the
rows of jobs.csv. It recomputes every charge, penalty and verdict from bids, shares, prices and
times. It also compares each published file with its size and hash in the manifest. It ignores files
that you added. It then generates the jobs again from the scenario and the seed, and recomputes the
metrics, tables, figures and page. It compares jobs.parquet with jobs.csv. For each file, it reports
the row and column of the first difference. It also lists the data that it could not compare. With
--deep, it runs the experiment again and compares every decision, note and number. This takes as
long as the run. If someone also changed the manifest, only its SHA-256 hash reveals the change. The
audit prints this hash. Store it in a place that nobody else can change. For an owned bank, the
audit checks the signed order of every entry. It checks the signature, and the key and the right
that were valid at that time. With --keys, it also checks that the operator's first key and the
recovery key match the keys in the file. DIR may be the folder or URL of a log that 'ledger publish'
wrote. The audit then downloads only the log's tiles, and waits at most 30 s for each file. With
--witness, it checks the cosignatures of witnesses and prints their times. The audit compares the
times of entries with the times of the cosignatures. The times of published entries may differ by at
most one minute, and the times of entries after the checkpoint in --earlier by at most ten minutes.
The audit lists entries whose times are more than a minute ahead of this machine's clock. The exit
status is 3 if the audit finds an error.

   bourse ledger audit results/paper
   bourse ledger audit results/paper --deep
   bourse ledger audit books --checkpoint checkpoint --public key.pub
   bourse ledger audit books --keys operator.pub
   bourse ledger audit books --since 1000
   bourse ledger audit https://bank.example/books --public key.pub --witness w.example+… \
      --earlier checkpoint --fresh 24h`, auditAction)

type auditOptions struct {
	Head                       string   `doc:"compare the ledger with the head {SIZE:ROOT}"`
	Since                      int64    `doc:"list only the entries after entry {N}; all entries are checked"`
	Earlier                    []string `doc:"compare with the older checkpoint in {FILE}; may be repeated"`
	Fresh                      float64  `unit:"seconds" doc:"require a cosignature that is at most {SECONDS} old; units such as 24h are accepted"`
	Deep                       bool     `doc:"run the experiment again, and compare every decision, note and number"`
	keysOption                 `yaml:",inline"`
	jsonOption[[]audits.Value] `yaml:",inline"`
	amissOption                `yaml:",inline"`
	againstOption              `yaml:",inline"`
	cosignOption               `yaml:",inline"`
}

func auditAction(c *cli.Context, o *auditOptions) error {
	head, err := keptHead(c)
	if err != nil {
		return err
	}
	opts := audit.Options{Since: o.Since, Whole: head == "", Now: wall(), Fresh: o.Fresh}
	if opts.Keys, err = pinnedKeys(c); err != nil {
		return err
	}
	if opts.Since < 0 {
		return usagef("--since: found %d, want a positive entry number", opts.Since)
	}
	if witnesses := o.Witness; c.IsSet("fresh") && (opts.Fresh <= 0 || len(witnesses) == 0) {
		return usagef("--fresh: found %v s and %s, want more than 0 s and at least one --witness", opts.Fresh, witnessCount(len(witnesses)))
	}
	address := c.Args().First()
	if _, err := results.Open(address); o.Deep && err != nil {
		return usagef("--deep: want results that 'bourse run' wrote for a scenario: %w", err)
	}
	if tiles.IsLog(address) {
		opts.Head = head
		return auditLog(c, address, opts)
	}
	if c.IsSet("earlier") {
		trusted, err := trustOf(c)
		if err != nil {
			return err
		}
		if _, opts.Seen, err = trusted.earlier(c); err != nil {
			return err
		}
	} else if err := unsigned(c); err != nil {
		return err
	}
	l, err := audits.In(c.Args().First(), head)
	if err != nil {
		return err
	}
	f, err := await(c.Context, func() (*audits.Found, error) { return l.Audit(opts, progress(c, "audit")) })
	if err != nil {
		return err
	}
	err = f.CheckFiles(c.Context, l, func(d *results.Dir, sound bool) ([]results.Change, []string, error) {
		opts := experiments.Options{Workers: runtime.GOMAXPROCS(0)}
		if o.Deep {
			opts.Progress = progress(c, "deep audit")
		}
		return publication.Rederive(c.Context, d, stands, sound, o.Deep, opts)
	})
	if err != nil {
		return err
	}
	return tellAudits(c, f)
}

// auditLog audits a published log.
func auditLog(c *cli.Context, address string, opts audit.Options) error {
	trusted, err := trustOf(c)
	if err != nil {
		return err
	}
	l, err := openLog(c, trusted)
	if err != nil {
		return err
	}
	older, seen, err := trusted.earlier(c)
	if err != nil {
		return err
	}
	if opts.Seen, err = trusted.seen(l); err != nil {
		return bad(c, address, err)
	}
	opts.Seen = append(opts.Seen, seen...)
	for _, o := range older {
		err := l.Extends(c.Context, o.Checkpoint)
		if errors.Is(err, tiles.ErrFork) || errors.Is(err, tiles.ErrTile) {
			return bad(c, address, err)
		} else if err != nil {
			return err
		}
	}
	f, err := await(c.Context, func() (*audits.Found, error) { return audits.Published(c.Context, address, l, opts) })
	if err != nil {
		return err
	}
	return tellAudits(c, f)
}

// tellAudits prints the findings of audits, and returns an error unless every ledger is clean.
func tellAudits(c *cli.Context, f *audits.Found) error {
	if err := show(c, f.Document(c.Bool("quiet")), nil); err != nil || f.Clean() {
		return err
	}
	return errAudit
}

// auditRun audits the ledgers of the run in dir.
func auditRun(c *cli.Context, dir string) (said string, err error) {
	l, err := audits.In(dir, "")
	if err != nil {
		return "", err
	}
	f, err := l.Audit(audit.Options{Whole: true}, nil)
	if err != nil {
		return "", err
	}
	if !f.Clean() {
		fmt.Fprint(c.App.Writer, f.Text(c.Bool("quiet")))
		return "", errAudit
	}
	var entries int64
	for _, a := range f.Ledgers {
		entries += a.Report.Entries
	}
	return fmt.Sprintf("%d audited, %d entries: clean", len(f.Ledgers), entries), nil
}

// witnessCount formats the number of witnesses.
func witnessCount(n int) string {
	if n == 1 {
		return "1 witness"
	}
	return fmt.Sprintf("%d witnesses", n)
}
