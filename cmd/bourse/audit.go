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

Checks every hash, that money is conserved at every entry, that no account is
overdrawn, that no escrow is left behind, and each contract's trail: admitted =
charges + refund, penalties apart. DIR is a ledger, or a results directory. Its
ledgers are also held against the heads in its manifest and the rows of jobs.csv,
and every charge, penalty and verdict is computed again from the bids, by share,
price and time; and every file that a run wrote there against its size and hash in
the manifest. What you added beside is let be. Of results, the plan of jobs is drawn again
from scenario and seed, metrics are computed again from jobs.csv, plan and prices, tables,
figures and page are made again, and jobs.parquet is compared with jobs.csv. The first
difference of each file is named by row and column, and so is all that was not compared. --deep runs the experiment
again and compares every decision, note and number; it takes as long as the run. Who changes the manifest, too, is
found by its sha256 alone, which is printed: keep it elsewhere. Of an owned bank every
entry's order is checked, its signature, key and right as of that entry; --keys holds
the operator's first key, and that of recovery, against those that you were given.
DIR may be the folder or URL of a log that 'ledger publish' wrote: it is audited from its
tiles alone; --witness holds it against those that must have cosigned it. Each of its files
must arrive within 30 s. The times of the witnesses' cosignatures are printed, and bound
the times of entries: to a minute for published entries, and to ten minutes for what came
after a checkpoint of --earlier. Entries dated more than a minute ahead of this machine's
clock are named.
Exit status 3 if anything is amiss.

   bourse ledger audit results/paper
   bourse ledger audit results/paper --deep
   bourse ledger audit books --checkpoint checkpoint --public key.pub
   bourse ledger audit books --keys operator.pub
   bourse ledger audit books --since 1000
   bourse ledger audit https://bank.example/books --public key.pub --witness w.example+… \
      --earlier checkpoint --fresh 24h`, auditAction)

type auditOptions struct {
	Head                       string   `doc:"compare the ledger with the head {SIZE:ROOT}"`
	Since                      int64    `doc:"sum up the entries after {N}; all entries are checked"`
	Earlier                    []string `doc:"compare the ledger and the times of entries with the older checkpoint in {FILE}, as printed by 'ledger publish'; may be repeated"`
	Fresh                      float64  `unit:"seconds" doc:"require a cosignature of a --witness in the last {SECONDS}, or as 24h"`
	Deep                       bool     `doc:"run the experiment of results again, and compare every decision, note and number"`
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
		return usagef("--since: found %d, want the number of an entry", opts.Since)
	}
	if witnesses := o.Witness; c.IsSet("fresh") && (opts.Fresh <= 0 || len(witnesses) == 0) {
		return usagef("--fresh: found %v s and %s, want more than 0 s, and a --witness", opts.Fresh, witnessCount(len(witnesses)))
	}
	address := c.Args().First()
	if _, err := results.Open(address); o.Deep && err != nil {
		return usagef("--deep: want results of 'bourse run', which have a scenario: %w", err)
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

// tellAudits prints what audits found, and tells whether all is clean.
func tellAudits(c *cli.Context, f *audits.Found) error {
	if err := show(c, f.Document(c.Bool("quiet")), nil); err != nil || f.Clean() {
		return err
	}
	return errAudit
}

// auditRun audits the ledgers that a run has left in dir.
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

// witnessCount says how many there are.
func witnessCount(n int) string {
	if n == 1 {
		return "1 witness"
	}
	return fmt.Sprintf("%d witnesses", n)
}
