package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"

	"github.com/urfave/cli/v2"
)

func copyCommand() *cli.Command {
	return &cli.Command{
		Name:      "copy",
		Usage:     "copy a ledger to another place, such as into PostgreSQL and back",
		ArgsUsage: "FROM TO",
		Description: `The copy has the same entries, hashes, receipts and head, and answers requests sent
again as the ledger does. FROM is audited first, and the copy after; it is made
under the name TO.part and takes its own when it is whole; a copy cut short is no
bank, and says so to whoever opens it. What is written to FROM meanwhile is not copied: close it before.

   bourse bank copy books postgres://bank@db/money?ledger=books
   bourse bank copy postgres://bank@db/money?ledger=books books2`,
		Flags: []cli.Flag{
			jsonFlag(),
			amissFlag(),
		},
		Action: copyAction,
	}
}

func copyAction(c *cli.Context) error {
	if err := exactly(c, "FROM", "TO"); err != nil {
		return err
	}
	all, err := copyLedger(c, c.Args().First(), c.Args().Get(1))
	if err != nil {
		return err
	}
	return tellAudits(c, all)
}

// copyLedger copies the ledger in from to another place, and returns the audit of the
// copy; where the ledger or the copy is not clean, of that, and nothing is left.
func copyLedger(c *cli.Context, from, to string) (all []audited, err error) {
	part, err := partOf(to)
	if err != nil {
		return nil, err
	}
	if !postgres.IsURL(from) && !postgres.IsURL(to) && within(from, to) {
		return nil, usagef("copy to %s: found a place in %s, want one outside of it", to, from)
	}
	if all, err = auditAll([]string{from}, []string{""}, nil, audit.Options{}, nil); err != nil || !clean(all) {
		return all, err
	}
	head, err := store.ParseHead(all[0].Report.Head)
	if err != nil {
		return nil, err
	}
	j, err := createBank(part, store.Options{Unfinished: true, Fatal: fatalCopy(c, part, to)})
	if errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrUnfinished) || errors.Is(err, store.ErrOccupied) {
		return nil, fmt.Errorf("%s is left of a copy that was cut short: remove it, then copy again", placeName(part))
	}
	if err != nil {
		if !postgres.IsURL(part) && !errors.Is(err, store.ErrLocked) { // what it came to
			err = errors.Join(err, removePart(part))
		}
		return nil, misplaced(err)
	}
	whole := false
	defer func() {
		if !whole {
			err = errors.Join(err, removePart(part))
		}
	}()
	if err := errors.Join(copyEntries(c, j, from, head.Size), j.Close()); err != nil {
		return nil, err
	}
	all, err = auditAll([]string{part}, []string{head.String()}, nil, audit.Options{Whole: true, Unfinished: true}, nil)
	if err != nil || !clean(all) {
		return all, err
	}
	if err := renamePart(part, to); err != nil {
		return nil, err
	}
	whole = true
	if err := finishCopy(to); err != nil {
		return nil, err
	}
	all[0].Ledger = placeName(to)
	return all, nil
}

// fatalCopy returns what ends the program when the copy in part, which will be in to,
// cannot be written. What is left of it is removed, or says of itself that it is not
// finished.
func fatalCopy(c *cli.Context, part, to string) func(error) {
	return func(err error) {
		fmt.Fprintf(c.App.ErrWriter, "bourse: copy to %s: %v; nothing is left of the copy, which can then be made again\n", placeName(to), errors.Join(err, removePart(part)))
		os.Exit(statusFailed)
	}
}

// finishCopy makes a bank of the copy in to.
func finishCopy(to string) error {
	if postgres.IsURL(to) {
		return postgres.Finish(to)
	}
	return store.Finish(to, store.Options{})
}

// copyRun copies the ledgers that a run called name has left in dir to a server, by
// the names NAME/CONFIGURATION/ADMISSION/REPLICATION after that of the URL.
func copyRun(c *cli.Context, dir, name, url string) error {
	ledgers, _, err := ledgersIn(dir)
	if err != nil {
		return err
	}
	base, err := postgres.Ledger(url)
	if err != nil {
		return misplaced(err)
	}
	for _, from := range ledgers {
		key, err := filepath.Rel(filepath.Join(dir, "ledger"), from)
		if err != nil {
			return err
		}
		to, err := postgres.WithLedger(url, path.Join(base, name, filepath.ToSlash(key)))
		if err != nil {
			return misplaced(err)
		}
		all, err := copyLedger(c, from, to)
		if err != nil {
			return err
		}
		if !clean(all) {
			return tellAudits(c, all)
		}
		note(c, "%s: %d entries, audited, clean", placeName(to), all[0].Report.Entries)
	}
	return nil
}

// checkBank refuses a --bank that is no URL of a ledger on a server that answers.
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

// copyEntries adds the first n entries of the ledger in from to j.
func copyEntries(c *cli.Context, j *store.Journal, from string, n int64) error {
	r, err := readBank(from)
	if err != nil {
		return err
	}
	defer r.Close()
	for e := range r.Entries() {
		if e.Seq > n {
			break
		}
		if err := c.Context.Err(); err != nil {
			return err
		}
		if err := j.Append(e); err != nil {
			return err
		}
	}
	return r.Err()
}

// partOf returns where a copy is made that will be in the place to, at which there
// must be nothing.
func partOf(to string) (string, error) {
	there := fmt.Errorf("copy to %s: %w", placeName(to), store.ErrExists)
	if !postgres.IsURL(to) {
		if info, err := os.Stat(to); err == nil && !info.IsDir() {
			return "", fmt.Errorf("copy to %s: a file is there already", to)
		}
		names, err := os.ReadDir(to)
		if err == nil && len(names) > 0 {
			if err = store.Vacant(to, store.Options{}); err == nil {
				err = store.ErrOccupied
			}
			return "", misplaced(fmt.Errorf("copy to %s: %w", to, err))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		return filepath.Clean(to) + ".part", nil
	}
	ledger, err := postgres.Ledger(to)
	if err != nil {
		return "", misplaced(err)
	}
	v, err := postgres.OpenView(to)
	if err == nil {
		v.Close()
		return "", there
	}
	if !errors.Is(err, store.ErrNone) {
		return "", err
	}
	part, err := postgres.WithLedger(to, ledger+".part")
	return part, misplaced(err)
}

// within tells whether the directory to is in the directory from.
func within(from, to string) bool {
	from, err := filepath.Abs(from)
	to, err2 := filepath.Abs(to)
	rest, err3 := filepath.Rel(from, to)
	return errors.Join(err, err2, err3) == nil && filepath.IsLocal(rest)
}

// renamePart makes the copy in part that in to.
func renamePart(part, to string) error {
	if postgres.IsURL(to) {
		return postgres.Rename(part, to)
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) { // an empty directory
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(filepath.Clean(to)))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removePart removes a copy that will not be whole.
func removePart(part string) error {
	if postgres.IsURL(part) {
		return postgres.Drop(part)
	}
	return store.Discard(part, store.Options{})
}
