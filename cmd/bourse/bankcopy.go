package main

import (
	"errors"
	"fmt"
	"os"
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
under the name TO.part and takes its own when it is whole, so that a copy cut short
is no bank. What is written to FROM meanwhile is not copied: close it before.

   bourse bank copy books postgres://bank@db/money?ledger=books
   bourse bank copy postgres://bank@db/money?ledger=books books2`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, for programs"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print only what is amiss"},
		},
		Action: copyAction,
	}
}

func copyAction(c *cli.Context) (err error) {
	if err := exactly(c, "FROM", "TO"); err != nil {
		return err
	}
	from, to := c.Args().First(), c.Args().Get(1)
	part, err := partOf(to)
	if err != nil {
		return err
	}
	all, err := auditAll([]string{from}, []string{""}, nil, audit.Options{}, nil)
	if err != nil {
		return err
	}
	if !clean(all) {
		return tellAudits(c, all)
	}
	head, err := store.ParseHead(all[0].Report.Head)
	if err != nil {
		return err
	}
	j, err := createBank(part)
	if errors.Is(err, store.ErrExists) {
		return fmt.Errorf("%s is left of a copy that was cut short: remove it, then copy again", placeName(part))
	}
	if err != nil {
		return misplaced(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removePart(part))
		}
	}()
	if err := errors.Join(copyEntries(c, j, from, head.Size), j.Close()); err != nil {
		return err
	}
	if all, err = auditAll([]string{part}, []string{head.String()}, nil, audit.Options{Whole: true}, nil); err != nil {
		return err
	}
	if !clean(all) {
		return tellAudits(c, all)
	}
	if err := renamePart(part, to); err != nil {
		return err
	}
	all[0].Ledger = placeName(to)
	return tellAudits(c, all)
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
		names, err := os.ReadDir(to)
		if err == nil && len(names) > 0 {
			return "", there
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

// renamePart makes the copy in part that in to.
func renamePart(part, to string) error {
	if postgres.IsURL(to) {
		return postgres.Rename(part, to)
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
	return os.RemoveAll(part)
}
