package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"bourse/bank"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A stoppedBank is a bank whose commits wait until the test permits them.
type stoppedBank struct {
	*Sequencer
	came chan struct{} // receives a value when a commit starts
	on   chan error    // result of the commit; nil means success
}

// newStopped returns a bank with money while it is writing the entry "first", a transfer of the
// whole balance of user:a.
func newStopped(t *testing.T, fs vfs.FS) (*stoppedBank, <-chan error) {
	j := create(t, "bank", Options{FS: fs})
	b := &stoppedBank{came: make(chan struct{}), on: make(chan error)}
	c := &counted{Backend: j.backend}
	c.fail = func() error {
		if c.groups == 1 {
			return nil
		}
		b.came <- struct{}{}
		return <-b.on
	}
	j.backend = c
	b.Sequencer = NewSequencer(j, bank.New(j))
	do(t, b.Sequencer, transfer("", "mint", "user:a", 100))
	first := b.ask(context.Background(), transfer("first", "user:a", "user:b", 100))
	<-b.came
	return b, first
}

// ask sends e and returns the channel of the reply.
func (b *stoppedBank) ask(ctx context.Context, e bank.Entry) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := b.Do(ctx, e)
		answer <- err
	}()
	return answer
}

// TestWhileWritten checks that no reply reveals a group before it is durable: neither to a
// repeated request, nor to a reader, nor by a refusal that depends on it. A request that
// arrives during the write can be canceled and is then not applied. A canceled request that is
// being written still waits for its reply.
func TestWhileWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		b, first := newStopped(t, vfs.NewMem())
		again := b.ask(context.Background(), transfer("first", "user:a", "user:b", 100))
		refused := b.ask(context.Background(), transfer("", "user:a", "user:b", 1))
		read := make(chan error, 1)
		go func() {
			has, err := b.Balance(context.Background(), "user:b")
			if err == nil && has.Micros() != 100 {
				err = fmt.Errorf("user:b has %v", has)
			}
			read <- err
		}()
		givenUp := b.ask(ctx, transfer("second", "user:b", "user:a", 1))
		synctest.Wait()
		cancel()
		if err := <-givenUp; !errors.Is(err, ErrNotApplied) {
			t.Errorf("given up while another group was written: %v", err)
		}
		answers := map[string]<-chan error{"first": first, "again": again, "refused": refused, "read": read}
		for who, answer := range answers {
			synctest.Wait()
			select {
			case err := <-answer:
				t.Errorf("%s: answered while the group was written: %v", who, err)
			default:
			}
		}
		b.on <- nil
		for who, answer := range answers {
			if err := <-answer; (err != nil) != (who == "refused") || who == "refused" && !errors.Is(err, bank.ErrInsufficientFunds) {
				t.Errorf("%s: %v", who, err)
			}
		}
		taken, stop := context.WithCancel(context.Background())
		third := b.ask(taken, transfer("third", "user:b", "user:a", 1))
		<-b.came
		stop()
		synctest.Wait()
		select {
		case err := <-third:
			t.Errorf("given up while it was written: %v", err)
		default:
		}
		b.on <- nil
		if err := <-third; err != nil {
			t.Errorf("given up while it was written, and applied: %v", err)
		}
		go func() { <-b.came; b.on <- nil }() // the commit of the balances
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestWhileFailing checks that if a group fails, its requests get ErrUnknown, later requests
// get ErrClosed, and the ledger contains every answered request.
func TestWhileFailing(t *testing.T) {
	t.Parallel()
	fs := vfs.NewCrashableMem()
	synctest.Test(t, func(t *testing.T) {
		b, first := newStopped(t, fs)
		later := b.ask(context.Background(), transfer("later", "mint", "user:b", 1))
		again := b.ask(context.Background(), transfer("first", "user:a", "user:b", 100))
		synctest.Wait()
		b.on <- errors.New("no room")
		if err := <-first; !errors.Is(err, ErrUnknown) {
			t.Errorf("in the group that failed: %v", err)
		}
		for who, answer := range map[string]<-chan error{"later": later, "again": again} {
			if err := <-answer; !errors.Is(err, ErrClosed) {
				t.Errorf("%s, while a group failed: %v", who, err)
			}
		}
		if _, err := b.Do(context.Background(), transfer("late", "mint", "user:b", 1)); !errors.Is(err, ErrClosed) {
			t.Errorf("after a group failed: %v", err)
		}
		if err := b.Close(); err == nil {
			t.Error("closed well")
		}
	})
	j, l, err := Open("bank", Options{FS: fs.CrashClone(vfs.CrashCloneCfg{})})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := l.Lookup("user:a")
	if l.Entries() < 1 || l.Entries() > 2 || l.Balance(a).Micros() != 100*(2-l.Entries()) {
		t.Errorf("%d entries, user:a has %v", l.Entries(), l.Balance(a))
	}
	closeJournal(t, j)
}

// TestFullQueue checks that a round has at most as many requests as a group, and that further
// requests wait until there is room, they are canceled, or the bank is closed.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		ctx, cancel := context.WithCancel(context.Background())
		put := func() <-chan error {
			c := make(chan error, 1)
			go func() {
				_, err := q.put(ctx, new(request))
				c <- err
			}()
			synctest.Wait()
			return c
		}
		full := func() {
			for len(q.next.requests) < GroupSize {
				if err := <-put(); err != nil {
					t.Fatal(err)
				}
			}
		}
		waits := func(c <-chan error) {
			t.Helper()
			select {
			case err := <-c:
				t.Errorf("put in a full round: %v", err)
			default:
			}
		}
		full()
		c := put()
		waits(c)
		if r := q.turn(); r != nil {
			t.Error("a round ends that was not looked at")
		}
		if n := len(q.take()); n != GroupSize {
			t.Errorf("%d are looked at, want %d", n, GroupSize)
		}
		q.answer(q.turn())
		if err := <-c; err != nil || len(q.next.requests) != 1 {
			t.Errorf("when there was room: %v, %d in the next round", err, len(q.next.requests))
		}
		full()
		c = put()
		waits(c)
		cancel()
		if err := <-c; !errors.Is(err, ErrNotApplied) {
			t.Errorf("given up at a full round: %v", err)
		}
		ctx = context.Background()
		c = put()
		waits(c)
		q.close()
		if err := <-c; !errors.Is(err, ErrClosed) {
			t.Errorf("closed while a round was full: %v", err)
		}
	})
}
