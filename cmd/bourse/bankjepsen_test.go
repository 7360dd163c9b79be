//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/order"
	"bourse/bank/owners"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/place"
	"bourse/bank/service"
	"bourse/bank/store"
	"bourse/bank/store/postgres/pgtest"
)

var jepsenRounds = flag.Int("jepsen", 10, "rounds of TestJepsen, ten at a time")

// TestJepsen is a Jepsen test of a bank. Clients move money among accounts through two
// servers of one ledger in PostgreSQL. Meanwhile the servers are killed, and their
// connections are cut or silenced. Every read of all accounts must add up to the issued
// amount. An answered request must be visible at once to its client and must be in the
// ledger exactly once, as it was answered. No other entries may be booked.
func TestJepsen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts servers, and waits for leases to end")
	}
	if !pgtest.Found() {
		t.Skip("there is no PostgreSQL")
	}
	var booked, read atomic.Int64
	for left := *jepsenRounds; left > 0 && !t.Failed(); left -= 10 {
		var rounds sync.WaitGroup
		for range min(left, 10) {
			j := newJepsen(t)
			rounds.Go(func() {
				j.round(4 * time.Second)
				booked.Add(int64(len(j.answered)))
				read.Add(int64(j.reads))
			})
		}
		rounds.Wait()
	}
	t.Logf("%d transfers, %d reads", booked.Load(), read.Load())
	if least := int64(10 * *jepsenRounds); booked.Load() < least || read.Load() < least {
		t.Errorf("%d transfers and %d reads, want %d or more: nothing is shown", booked.Load(), read.Load(), least)
	}
}

const (
	jepsenAccounts = 5
	jepsenIssued   = 100 * 1e6 // initial balance of each account in micro-dollars
)

// A jepsen is one round of the test.
type jepsen struct {
	*testing.T
	seed    uint64
	url     string
	secrets string
	servers [2]*jepsenServer
	pin     string

	mu       sync.Mutex
	answered map[string]store.Receipt
	unknown  map[string]bank.Entry // requests that were never answered
	reads    int
}

// A jepsenServer is one of the two servers.
type jepsenServer struct {
	proxy *pgtest.Proxy
	at    string
	cmd   *exec.Cmd
}

func newJepsen(t *testing.T) *jepsen {
	t.Helper()
	j := &jepsen{T: t, seed: rand.Uint64(), url: pgtest.URL(t), secrets: filepath.Join(t.TempDir(), "secrets"), answered: make(map[string]store.Receipt), unknown: make(map[string]bank.Entry)}
	journal, err := place.At(j.url).Create(store.Options{})
	j.must(err)
	s := store.NewSequencer(journal, bank.New(journal))
	entries := []bank.Entry{ownerstest.Own(), j.order("operator", "enrol", "e", "of", "bursar", "key", ownerstest.Public("bursar")),
		j.order("operator", "right", "r1", "of", "bursar", "right", "mint", "cap", "1000.000000", "period", "1000"),
		j.order("operator", "right", "r2", "of", "bursar", "right", "audit")}
	for n := range jepsenAccounts {
		name := account(n)
		entries = append(entries, j.order("operator", "enrol", "e"+fmt.Sprint(n), "of", name, "key", ownerstest.Public(name)),
			j.order("bursar", "mint", "m"+fmt.Sprint(n), "to", name, "amount", bank.Micros(jepsenIssued).String()))
	}
	for _, e := range entries {
		_, err := s.Do(t.Context(), e)
		j.must(err)
	}
	j.must(s.Close())
	for i := range j.servers {
		l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free and probably stays free
		j.must(err)
		j.servers[i] = &jepsenServer{proxy: pgtest.NewProxy(t, j.url), at: l.Addr().String()}
		j.must(l.Close())
		j.start(i)
	}
	return j
}

func account(n int) string { return fmt.Sprintf("user:%d", n) }

func (j *jepsen) must(err error) {
	j.Helper()
	if err != nil {
		j.Fatalf("seed %d: %v", j.seed, err)
	}
}

// order returns a signed entry requested by an account.
func (j *jepsen) order(account, kind, id string, fields ...string) bank.Entry {
	o, err := order.For(kind, ownerstest.Ledger, id, account, wall()+600, fields...)
	j.must(err)
	note, err := order.Sign([]byte(o.String()), ownerstest.Private(account))
	j.must(err)
	e, err := owners.Entry(note, 1)
	j.must(err)
	return e
}

// start starts a server that runs until the end of the test. If it ends at once, it is
// started again, as a supervisor would do.
func (j *jepsen) start(i int) {
	for range 5 {
		if j.tryStart(i) {
			return
		}
	}
	j.Errorf("seed %d: server %d does not start", j.seed, i)
}

func (j *jepsen) tryStart(i int) bool {
	s := j.servers[i]
	s.cmd = exec.Command("bourse", "bank", "serve", s.proxy.URL, "--listen", s.at, "--secrets", j.secrets)
	out, err := s.cmd.StdoutPipe()
	j.must(err)
	j.must(s.cmd.Start())
	cmd := s.cmd
	j.Cleanup(func() { cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if pin, ok := strings.CutPrefix(lines.Text(), "pin "); ok {
			j.pin = pin
		}
		if strings.HasPrefix(lines.Text(), "key ") {
			go io.Copy(io.Discard, out)
			return true
		}
	}
	cmd.Wait()
	return false
}

// kill kills a server and starts it again.
func (j *jepsen) kill(i int) {
	j.servers[i].cmd.Process.Kill()
	j.servers[i].cmd.Wait()
	j.start(i)
}

// client returns a client of both servers that contacts the given one first and may read
// every account.
func (j *jepsen) client(first int) *service.Client {
	c, err := service.NewClient(service.Dial{
		Addresses: []string{"https://" + j.servers[first].at, "https://" + j.servers[1-first].at},
		Pin:       j.pin, Account: "bursar", Key: ownerstest.Private("bursar"), Now: wall,
	})
	j.must(err)
	return c
}

// round runs clients against the servers for the given time and then verifies the ledger.
func (j *jepsen) round(long time.Duration) {
	ctx, stop := context.WithTimeout(j.Context(), long)
	defer stop()
	var clients sync.WaitGroup
	for n := range 3 {
		clients.Go(func() { j.transfers(ctx, n) })
	}
	clients.Go(func() { j.read(ctx) })
	j.fail(ctx)
	<-ctx.Done()
	for _, s := range j.servers {
		s.proxy.Fail(-1, false)
	}
	clients.Wait()
	j.settle()
	j.prove()
}

// fail kills servers and cuts or silences their connections.
func (j *jepsen) fail(ctx context.Context) {
	chance := rand.New(rand.NewPCG(j.seed, 1))
	for pause(ctx, time.Duration(300+chance.IntN(700))*time.Millisecond) {
		i := chance.IntN(2)
		switch chance.IntN(3) {
		case 0:
			j.kill(i)
		case 1:
			j.servers[i].proxy.Fail(chance.Int64N(2000), false)
			pause(ctx, time.Duration(chance.IntN(500))*time.Millisecond)
			j.servers[i].proxy.Fail(-1, false)
		case 2: // long enough for the other server to take over
			j.servers[i].proxy.Fail(chance.Int64N(2000), true)
			pause(ctx, time.Duration(chance.IntN(4500))*time.Millisecond)
			j.servers[i].proxy.Fail(-1, false)
		}
	}
}

// pause waits and reports whether ctx is still active.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// transfers moves money until ctx ends.
func (j *jepsen) transfers(ctx context.Context, n int) {
	c, other := j.client(0), j.client(1) // the retry may go to another server
	defer c.Close()
	defer other.Close()
	chance := rand.New(rand.NewPCG(j.seed, uint64(2+n)))
	for i := 0; pause(ctx, time.Duration(chance.IntN(20))*time.Millisecond); i++ {
		from, to := chance.IntN(jepsenAccounts), chance.IntN(jepsenAccounts-1)
		if to >= from {
			to++
		}
		e := j.order(account(from), "transfer", fmt.Sprintf("%d-%d", n, i), "to", account(to), "amount", bank.Micros(1+chance.Int64N(jepsenIssued)).String())
		r, err := c.Do(ctx, e)
		var short *bank.Shortfall
		switch {
		case err == nil:
			j.told(e, r)
			if got, ok, err := other.Answer(ctx, e.ID); err == nil && (!ok || got.Seq != r.Seq) {
				j.Errorf("seed %d: %s was booked as %v, and is then found: %v, as %d", j.seed, e.ID, r, ok, got.Seq)
			}
		case errors.As(err, &short):
		case errors.Is(err, store.ErrUnknown):
			j.mu.Lock()
			j.unknown[e.ID] = e
			j.mu.Unlock()
		default:
			j.Errorf("seed %d: %s: %v", j.seed, e.ID, err)
		}
	}
}

func (j *jepsen) told(e bank.Entry, r store.Receipt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if was, ok := j.answered[e.ID]; ok && was != r {
		j.Errorf("seed %d: %s was answered %v, then %v", j.seed, e.ID, was, r)
	}
	j.answered[e.ID] = r
	delete(j.unknown, e.ID)
}

// read adds up all accounts until ctx ends.
func (j *jepsen) read(ctx context.Context) {
	c := j.client(0)
	defer c.Close()
	for pause(ctx, 5*time.Millisecond) {
		all, err := c.Balances(ctx)
		if err != nil {
			continue
		}
		sum := int64(0)
		for _, h := range all {
			sum += h.Balance.Micros()
		}
		if j.reads++; sum != jepsenAccounts*jepsenIssued || len(all) != jepsenAccounts {
			j.Errorf("seed %d: %d accounts hold %d, want %d", j.seed, len(all), sum, int64(jepsenAccounts*jepsenIssued))
		}
	}
}

// settle repeats the requests that are not known to be booked and ends the servers.
func (j *jepsen) settle() {
	ctx, stop := context.WithTimeout(j.Context(), time.Minute)
	defer stop()
	c := j.client(0)
	defer c.Close()
	for id, e := range j.unknown {
		r, err := c.Do(ctx, e)
		var short *bank.Shortfall
		if err == nil {
			j.told(e, r)
		} else if !errors.As(err, &short) {
			j.Errorf("seed %d: %s, asked again: %v", j.seed, id, err)
		}
	}
	for _, s := range j.servers {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	}
}

// prove compares the ledger with the answers.
func (j *jepsen) prove() {
	r, err := place.At(j.url).Reader()
	if err != nil {
		j.Errorf("seed %d: %v", j.seed, err)
		return
	}
	defer r.Close()
	kept := make(map[string]store.Receipt)
	transfers := 0
	for e, hash := range r.Entries() {
		if _, twice := kept[e.ID]; twice {
			j.Errorf("seed %d: %s is booked twice", j.seed, e.ID)
		}
		kept[e.ID] = store.Receipt{Seq: e.Seq, Hash: hash}
		if e.Kind == bank.Transfer {
			transfers++
		}
	}
	for id, r := range j.answered {
		if kept[id] != r {
			j.Errorf("seed %d: %s was answered %v, is %v", j.seed, id, r, kept[id])
		}
	}
	report, err := place.At(j.url).Audit(audit.Options{})
	if err != nil || !report.Clean() || r.Err() != nil {
		j.Errorf("seed %d: audit %v %v %v", j.seed, report, err, r.Err())
	}
	if transfers != len(j.answered) {
		j.Errorf("seed %d: %d transfers are booked, %d were answered", j.seed, transfers, len(j.answered))
	}
}
