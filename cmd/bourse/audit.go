package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"bourse/bank/audit"
	"bourse/bank/place"
	"bourse/experiments/verify"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "recompute a ledger from its journal alone, and name the first bad entry or changed file",
		ArgsUsage: "DIR",
		Description: `Checks every hash, that money is conserved at every entry, that no account is
overdrawn, that no escrow is left behind, and each contract's trail: admitted =
charges + refund, penalties apart. DIR is a ledger, or a results directory. Its
ledgers are also held against the heads in its manifest and the rows of jobs.csv,
and every charge, penalty and verdict is computed again from the bids, by share,
price and time; and every file that a run wrote there against its size and hash in
the manifest. What you added beside is let be. Who changes the manifest, too, is
found by its sha256 alone, which is printed: keep it elsewhere. Exit status 3 if
anything is amiss.

   bourse ledger audit results/paper
   bourse ledger audit books --checkpoint checkpoint --public key.pub
   bourse ledger audit books --since 1000`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "head", Usage: "hold the ledger against `SIZE:ROOT`, kept elsewhere"},
			&cli.Int64Flag{Name: "since", Usage: "sum up what came after entry `N`, which must be there; all entries are checked"},
			jsonFlag(),
			amissFlag(),
		}, checkpointFlags()...),
		Action: auditAction,
	}
}

// An audited ledger has a directory and a report.
type audited struct {
	Ledger string        `json:"ledger"`
	Report *audit.Report `json:"report"`
}

func auditAction(c *cli.Context) error {
	if err := exactly(c, "DIR"); err != nil {
		return err
	}
	dirs, heads, err := ledgersIn(c.Args().First())
	if err != nil {
		return err
	}
	head, err := keptHead(c)
	if err != nil {
		return err
	}
	opts := audit.Options{Since: c.Int64("since"), Whole: head == ""}
	if opts.Since < 0 {
		return usagef("--since: found %d, want the number of an entry", opts.Since)
	}
	if head != "" {
		if len(dirs) > 1 {
			return usagef("%s keeps %d ledgers, want one to hold against a head", c.Args().First(), len(dirs))
		}
		heads[0] = head
	}
	runs, err := published(c.Args().First(), dirs)
	if err != nil {
		return err
	}
	all, err := await(c.Context, func() ([]audited, error) { return auditAll(dirs, heads, runs, opts, progress(c, "audit")) })
	if err != nil {
		return err
	}
	if len(dirs) == 1 && dirs[0] == c.Args().First() {
		return tellAudits(c, all)
	}
	files, err := checkFiles(c.Context, c.Args().First(), all)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		if err := printJSON(c, append(forJSON(all), files)); err != nil {
			return err
		}
	} else if err := errors.Join(printAudits(c, all), files.print(c)); err != nil {
		return err
	}
	if !clean(all) || len(files.Findings) > 0 {
		return errAudit
	}
	return nil
}

// tellAudits prints reports, and tells whether all are clean.
func tellAudits(c *cli.Context, all []audited) error {
	print := printAudits
	if c.Bool("json") {
		print = func(c *cli.Context, all []audited) error { return printJSON(c, forJSON(all)) }
	}
	if err := print(c, all); err != nil {
		return err
	}
	if !clean(all) {
		return errAudit
	}
	return nil
}

// forJSON returns reports whose lists are never null.
func forJSON(all []audited) []any {
	list := []any{}
	for _, a := range all {
		a.Report.Findings = append([]audit.Finding{}, a.Report.Findings...)
		a.Report.Beyond = append([]string{}, a.Report.Beyond...)
		list = append(list, a)
	}
	return list
}

func clean(all []audited) bool {
	return !slices.ContainsFunc(all, func(a audited) bool { return !a.Report.Clean() })
}

// auditAll audits ledgers, each against its head if there is one, and against what
// was published beside it: runs and progress, which is told of entries, may be nil.
// As many are audited at once as there are processors; what is said does not depend
// on it.
func auditAll(dirs, heads []string, runs []*verify.Run, opts audit.Options, progress func(done, total int)) ([]audited, error) {
	all, errs := make([]audited, len(dirs)), make([]error, len(dirs))
	came := newTally(heads, progress)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, dir := range dirs {
		opts := opts
		opts.Head, opts.Whole, opts.Progress = heads[i], opts.Whole && heads[i] != "", came.of(i)
		if runs != nil {
			opts.Follow = verify.Follow(runs[i])
		}
		group.Go(func() error {
			p := place.At(dir)
			r, err := auditBank(p, opts)
			if errors.Is(err, audit.ErrNone) && runs != nil && runs[i] != nil && heads[i] != "" { // the results say that it was kept
				r, err = &audit.Report{Findings: []audit.Finding{{Found: "no ledger", Want: "one with head " + heads[i]}}}, nil
			}
			all[i], errs[i] = audited{p.String(), r}, err
			return err
		})
	}
	if group.Wait() != nil {
		return nil, errs[slices.IndexFunc(errs, func(err error) bool { return err != nil })]
	}
	return all, nil
}

// auditRun audits the ledgers that a run has left in dir.
func auditRun(c *cli.Context, dir string) error {
	dirs, heads, err := ledgersIn(dir)
	if err != nil {
		return err
	}
	runs, err := published(dir, dirs)
	if err != nil {
		return err
	}
	all, err := auditAll(dirs, heads, runs, audit.Options{Whole: true}, nil)
	if err != nil {
		return err
	}
	if !clean(all) {
		return errors.Join(printAudits(c, all), errAudit)
	}
	var entries int64
	for _, a := range all {
		entries += a.Report.Entries
	}
	note(c, "%s, %d entries: audited, clean", count(len(all), "ledger"), entries)
	return nil
}

// ledgersIn returns the ledgers that path is or keeps, and the heads that their
// manifest says they must have.
func ledgersIn(path string) (dirs, heads []string, err error) {
	if place.IsURL(path) {
		return []string{path}, []string{""}, nil
	}
	if _, err := os.Stat(filepath.Join(path, "manifest.json")); err != nil {
		return []string{path}, []string{""}, nil
	}
	r, err := openResults(path)
	if err != nil {
		return nil, nil, err
	}
	if len(r.Manifest.Ledgers) == 0 {
		return nil, nil, usagef("%s keeps no ledger", path)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Manifest.Ledgers)) {
		if !filepath.IsLocal(filepath.FromSlash(key)) {
			return nil, nil, fmt.Errorf("%s: ledger %q is outside", path, key)
		}
		heads = append(heads, r.Manifest.Ledgers[key])
		dirs = append(dirs, filepath.Join(path, filepath.FromSlash(key)))
	}
	return dirs, heads, nil
}

func printAudits(c *cli.Context, all []audited) error {
	w := bufio.NewWriter(c.App.Writer)
	defer w.Flush()
	for _, a := range all {
		r := a.Report
		if !r.Clean() {
			fmt.Fprintf(w, "%s: BAD\n", a.Ledger)
			for _, f := range r.Findings {
				fmt.Fprintf(w, "  %s\n", f)
			}
			continue
		}
		if c.Bool("quiet") {
			continue
		}
		fmt.Fprintf(w, "%s: clean\n  %d entries, head %s\n", a.Ledger, r.Entries, r.Head)
		if r.Since > 0 {
			fmt.Fprintf(w, "  since entry %d:\n", r.Since)
		}
		fmt.Fprintf(w, "  %d contracts admitted, %d settled, %d requests rejected\n", r.Admitted, r.Settled, r.Rejected)
		fmt.Fprintf(w, "  issued %s", r.Issued)
		if r.Since == 0 {
			fmt.Fprintf(w, " = accounts %s + escrow %s", accounts(r), r.Held)
		}
		fmt.Fprintf(w, "; charged %s, refunded %s, penalties %s\n%s", r.Charged, r.Refunded, r.Penalties, computed(r))
		for _, b := range r.Beyond {
			fmt.Fprintf(w, "  not to be found here: %s\n", b)
		}
	}
	return w.Flush()
}

// computed tells how many contracts were charged again, if any.
func computed(r *audit.Report) string {
	if r.Computed == 0 {
		return ""
	}
	return fmt.Sprintf("  charges and verdicts of %d contracts computed again, and as in jobs.csv\n", r.Computed)
}

// accounts returns what all accounts hold, escrows and the mint apart.
func accounts(r *audit.Report) audit.Money {
	var sum audit.Money
	for _, b := range r.Balances {
		if b.Account != "mint" && !strings.HasPrefix(b.Account, "escrow:") {
			sum += b.Amount
		}
	}
	return sum
}
