package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Rename renames the ledger at the first URL to the name in the second URL, which must be in
// the same database. The ledger must not be open in any process. It returns an error wrapping
// [store.ErrExists] if there is already a ledger with the new name.
func Rename(from, to string) error {
	p, err := parse(to)
	if err != nil {
		return err
	}
	return alter(from, "rename", func(schema string) string {
		return "alter schema " + schema + " rename to " + pgx.Identifier{p.schema}.Sanitize()
	})
}

// Finish marks the ledger at a URL as finished. The ledger must have been created with
// [store.Options].Unfinished, and closed.
func Finish(url string) error {
	return alter(url, "finish", func(string) string {
		return fmt.Sprintf("update ledger set format = %d where format = %d", format, unfinished)
	})
}

// Drop removes the ledger at a URL with all its data.
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
