package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Rename gives the ledger at a URL, which nobody has open, the name of the one at
// another of the same database, where there must be none. It returns an error
// wrapping [store.ErrExists] if there is.
func Rename(from, to string) error {
	p, err := parse(to)
	if err != nil {
		return err
	}
	return alter(from, "rename", func(schema string) string {
		return "alter schema " + schema + " rename to " + pgx.Identifier{p.schema}.Sanitize()
	})
}

// Finish makes a ledger of the one at a URL, which was created with
// [store.Options].Unfinished, and closed.
func Finish(url string) error {
	return alter(url, "finish", func(string) string {
		return fmt.Sprintf("update ledger set format = %d where format = %d", format, unfinished)
	})
}

// Drop removes the ledger at a URL, with all that it holds.
func Drop(url string) error {
	return alter(url, "drop", func(schema string) string { return "drop schema if exists " + schema + " cascade" })
}

func alter(url, what string, sql func(schema string) string) error {
	p, err := parse(url)
	if err != nil {
		return err
	}
	t := ordinary()
	conn, err := p.connect(t)
	if err == nil {
		defer hangUp(conn, t)
		ctx, cancel := t.within()
		defer cancel()
		_, err = conn.Exec(ctx, sql(pgx.Identifier{p.schema}.Sanitize()))
	}
	if err != nil {
		return fmt.Errorf("%s ledger %s: %w", what, p.name, plain(err))
	}
	return nil
}
