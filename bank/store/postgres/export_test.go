package postgres

import (
	"time"

	"bourse/bank"
	"bourse/bank/store"
)

// CreateWith is like [Create], but with ten heartbeats per second.
func CreateWith(url string, opts store.Options) (*store.Journal, error) {
	return create(url, opts, timing{answer: 10 * time.Second, beat: 100 * time.Millisecond, dead: 2 * time.Second})
}

// Setting returns the value of a server setting on a writer's connection.
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

// OpenWith is like [Open], but with other time limits for a reply and for another writer's
// heartbeat.
func OpenWith(url string, opts store.Options, answer, dead time.Duration) (*store.Journal, *bank.Ledger, error) {
	return open(url, opts, timing{answer: answer, beat: 100 * time.Millisecond, dead: dead})
}
