package postgres

import (
	"time"

	"bourse/bank"
	"bourse/bank/store"
)

// CreateWith is [Create] with signs of life ten times a second.
func CreateWith(url string, opts store.Options) (*store.Journal, error) {
	return create(url, opts, timing{answer: 10 * time.Second, beat: 100 * time.Millisecond, dead: 2 * time.Second})
}

// Setting returns a setting of the server as a writer has it.
func Setting(url, name string) (value string, err error) {
	p, err := parse(url)
	if err != nil {
		return "", err
	}
	k := &backend{place: p, timing: ordinary()}
	if k.conn, err = p.connect(k.timing); err != nil {
		return "", err
	}
	defer k.Release()
	ctx, cancel := k.within()
	defer cancel()
	if err := k.prepare(ctx); err != nil {
		return "", err
	}
	err = k.conn.QueryRow(ctx, "select current_setting($1)", name).Scan(&value)
	return value, err
}

// OpenWith is [Open] with other waits for an answer, and for another writer's sign of
// life.
func OpenWith(url string, opts store.Options, answer, dead time.Duration) (*store.Journal, *bank.Ledger, error) {
	return open(url, opts, timing{answer: answer, beat: 100 * time.Millisecond, dead: dead})
}
