package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bourse/bank/store"

	"github.com/jackc/pgx/v5"
)

// errTaken is the error of a writer that was presumed dead.
var errTaken = fmt.Errorf("%w: it took over because this one did not respond", store.ErrLocked)

// take makes this process the ledger's writer and returns the head. It returns
// [store.ErrLocked] if another writer is alive.
func (k *backend) take() (head string, err error) {
	was, err := k.state()
	if err != nil {
		return "", err
	}
	for since := time.Now(); was.writer != "" && time.Since(since) < k.dead; {
		time.Sleep(k.beat / 10)
		is, err := k.state()
		if err != nil {
			return "", err
		}
		if is.writer != "" && is != was {
			return "", store.ErrLocked
		}
		was = is
	}
	k.beaten = time.Now()
	err = k.insist(func(ctx context.Context) error {
		return k.conn.QueryRow(ctx, "update ledger set writer = gen_random_uuid()::text, beat = beat + 1 where writer = $1 and beat = $2 returning writer, head",
			was.writer, was.beat).Scan(&k.writer, &head)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", store.ErrLocked // another process was faster
	}
	return head, err
}

// state reads the row of the ledger.
func (k *backend) state() (state, error) {
	ctx, cancel := k.within()
	defer cancel()
	return readState(ctx, k.conn)
}

// live starts the heartbeat.
func (k *backend) live() {
	k.stop, k.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(k.stopped)
		tick := time.NewTicker(k.beat / 2)
		defer tick.Stop()
		for {
			select {
			case <-k.stop:
				return
			case <-tick.C:
				k.sign()
			}
		}
	}()
}

// sign shows that this writer is alive, unless a recent write has shown it.
func (k *backend) sign() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost != nil || k.conn == nil || time.Since(k.beaten) < k.beat/2 {
		return
	}
	k.grow()
}

var _ store.Holder = (*backend)(nil)

// Held returns an error unless it is certain that no other process has become the writer.
func (k *backend) Held() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	late := func() bool { return time.Since(k.beaten) > k.dead-k.beat }
	if k.gone() == nil && late() {
		k.grow()
	}
	if err := k.gone(); err != nil || !late() {
		return err
	}
	return errors.New("the server did not accept a heartbeat: another process may write the ledger")
}

// grow increases beat, or stores the error that prevents it.
func (k *backend) grow() {
	ctx, cancel := k.within()
	defer cancel()
	sent := time.Now()
	tag, err := k.conn.Exec(ctx, "update ledger set beat = beat + 1 where writer = $1", k.writer)
	switch {
	case isCode(err, again, deadlock):
	case err != nil:
		k.lost = plain(err)
	case tag.RowsAffected() == 0:
		k.lost = errTaken
	default:
		k.beaten = sent
	}
}

// Close releases the ledger for the next writer.
func (k *backend) Close(store.Head) error {
	k.stopBeating()
	k.mu.Lock()
	err := k.gone()
	if err == nil {
		err = k.told(k.insist(func(ctx context.Context) error {
			_, err := k.conn.Exec(ctx, "update ledger set writer = '', beat = beat + 1 where writer = $1", k.writer)
			return err
		}))
	}
	k.mu.Unlock()
	return errors.Join(err, k.Release())
}

// Release closes the connection. After Release, the next writer must wait until this writer is
// presumed dead.
func (k *backend) Release() error {
	k.stopBeating()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.conn == nil {
		return nil
	}
	hangUp(k.conn, k.timing)
	k.conn = nil
	return nil
}

// stopBeating stops the heartbeat.
func (k *backend) stopBeating() {
	if k.stop != nil {
		close(k.stop)
		<-k.stopped
		k.stop = nil
	}
}
