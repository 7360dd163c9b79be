package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/order"
	"bourse/bank/owners"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/proof"
	"bourse/bank/store"
	"bourse/bank/wire"

	"connectrpc.com/connect"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// clock is the time at which the tests send their orders.
func clock() float64 { return 1000 }

// A bankHere is a bank that a test serves on this machine.
type bankHere struct {
	fs   vfs.FS
	at   string // address of the bank
	pin  string
	stop func() error
}

// begin creates a ledger in memory with the given entries.
func begin(t testing.TB, entries ...bank.Entry) *bankHere {
	t.Helper()
	b := &bankHere{fs: vfs.NewMem()}
	j, err := store.Create("books", store.Options{FS: b.fs})
	check(t, err)
	s := store.NewSequencer(j, bank.New(j))
	for _, e := range entries {
		_, err := s.Do(t.Context(), e)
		check(t, err)
	}
	check(t, s.Close())
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve serves the ledger.
func (b *bankHere) serve(t testing.TB, change func(*Config)) *server {
	t.Helper()
	certificate, pin, err := Certificate(filepath.Join(t.TempDir(), "tls.pem"), func(string) {})
	check(t, err)
	c := Config{
		Write:       func() (*store.Sequencer, error) { return store.OpenSequencer("books", store.Options{FS: b.fs}) },
		Read:        func() (*store.Reader, error) { return store.OpenReader("books", store.Options{FS: b.fs}) },
		Key:         ownerstest.Private("bank"),
		Certificate: certificate,
		Now:         clock,
	}
	if change != nil {
		change(&c)
	}
	s, err := newServer(c)
	check(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	b.at, b.pin = "https://"+l.Addr().String(), pin
	if c.Certificate == nil {
		b.at, b.pin = "http://"+l.Addr().String(), ""
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.run(ctx, l) }()
	b.stop = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	t.Cleanup(func() { b.stop() })
	return s
}

// client returns a client that reads as the given account, with the key of that name.
func (b *bankHere) client(t testing.TB, account string) *Client {
	t.Helper()
	d := Dial{Addresses: []string{b.at}, Pin: b.pin, Now: clock}
	if account != "" {
		d.Account, d.Key = account, ownerstest.Private(account)
	}
	c, err := NewClient(d)
	check(t, err)
	t.Cleanup(c.Close)
	return c
}

// owned contains the first entries of a ledger in which contract 0 of market:lab is open.
func owned() []bank.Entry {
	return append(ownerstest.Begin(), ownerstest.Admit("a0", "user:0", ownerstest.Contract(0), 1000, 900),
		ownerstest.Says("operator", "right", "see", "operator", "of", "user:7", "right", "audit"))
}

// TestSame checks that a remote bank answers like a local one: receipts, balances, escrows,
// booked requests, and distinguishable errors.
func TestSame(t *testing.T) {
	t.Parallel()
	here, err := begin(t, owned()...), error(nil)
	there := begin(t, owned()...)
	there.serve(t, nil)
	s, err := store.OpenSequencer("books", store.Options{FS: here.fs})
	check(t, err)
	defer s.Close()
	escrow := bank.EscrowName(ownerstest.Contract(0))
	other := ownerstest.Transfer("t1", "user:1", "user:2", 40)
	for i, e := range []bank.Entry{
		ownerstest.Transfer("t1", "user:1", "user:2", 30),
		ownerstest.Transfer("t1", "user:1", "user:2", 30), // the same transfer again
		other, // another transfer with the same id
		ownerstest.Transfer("t2", "user:1", "user:2", 1e7),
		with(ownerstest.Transfer("t3", "user:1", "user:2", 5), func(e *bank.Entry) { e.Note = nil }),
		ownerstest.Admit("a1", "user:1", ownerstest.Contract(0), 10, 10), // a contract that was admitted before
		with(ownerstest.Admit("a2", "user:1", ownerstest.Contract(2), 10, 10), func(e *bank.Entry) { e.Note = append(e.Note, 0xff) }),
		ownerstest.Market(bank.Settle, "s0", ownerstest.Contract(0), ownerstest.Move(escrow, "host:0", 600), ownerstest.Move(escrow, "user:0", 300)),
		ownerstest.Market(bank.Settle, "s1", ownerstest.Contract(0), ownerstest.Move(escrow, "host:0", 600), ownerstest.Move(escrow, "user:0", 300)),
		ownerstest.Admit("a3", "user:1", ownerstest.Contract(3), 10, 7),
	} {
		e.Time = clock()
		want, wrong := s.Do(t.Context(), e)
		got, err := there.client(t, "").Do(t.Context(), e)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Errorf("%d: %v %v, want %v %v", i, got, err, want, wrong)
		}
		if got, want := store.Reason(err), store.Reason(wrong); got != want {
			t.Errorf("%d: %v is %q, want %q", i, err, got, want)
		}
		var short, shortly *bank.Shortfall
		if errors.As(err, &short) != errors.As(wrong, &shortly) || short != nil && *short != *shortly {
			t.Errorf("%d: %v, want %v", i, short, shortly)
		}
		if gives := errors.Is(wrong, bank.ErrInsufficientFunds); gives != (i == 3) {
			t.Errorf("%d: %v is a shortfall: %v", i, wrong, gives)
		}
	}
	market, auditor := there.client(t, "market:lab"), there.client(t, "user:7")
	for _, name := range []string{"user:0", "user:1", "host:0", "nobody", bank.EscrowName(ownerstest.Contract(3))} {
		want, err := s.Balance(t.Context(), name)
		check(t, err)
		if got, err := auditor.Balance(t.Context(), name); err != nil || got != want {
			t.Errorf("%s has %v %v, want %v", name, got, err, want)
		}
	}
	want, err := s.Escrows(t.Context())
	check(t, err)
	if got, err := market.Escrows(t.Context()); err != nil || !reflect.DeepEqual(got, want) || len(got) != 2 {
		t.Errorf("escrows %v %v, want the 2 of %v", got, err, want)
	}
	all, err := auditor.Balances(t.Context())
	check(t, err)
	check(t, s.Look(t.Context(), func(l *bank.Ledger) {
		for name, b := range l.Balances() {
			if name != "mint" && !slices.Contains(all, bank.Holding{Name: name, Balance: b}) {
				t.Errorf("%s, which has %v, is not in %v", name, b, all)
			}
		}
	}))
	if own, err := there.client(t, "user:0").Balances(t.Context()); err != nil || len(own) != 1 || own[0].Name != "user:0" {
		t.Errorf("user:0 reads %v %v, want its own", own, err)
	}
	for _, id := range []string{"user:1/t1", "user:1/a2", "market:lab/s0", "user:1/a3", "user:1/none"} {
		want, there, err := s.Answer(t.Context(), id)
		check(t, err)
		if got, ok, err := auditor.Answer(t.Context(), id); err != nil || ok != there || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v %v %v, want %v %v", id, got, ok, err, want, there)
		}
	}
}

func with(e bank.Entry, change func(*bank.Entry)) bank.Entry {
	change(&e)
	return e
}

// second and third return the error of a call.
func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

// signed returns an order with the given fields, each "name value", signed by the key of an
// account.
func signed(t testing.TB, account, kind string, fields ...string) string {
	t.Helper()
	text := "bourse " + kind + " 1\nledger " + ownerstest.Ledger + "\n" + strings.Join(fields, "\n") + "\n"
	b, err := order.Sign([]byte(text), ownerstest.Private(account))
	check(t, err)
	return string(b)
}

// late returns a transfer with an expired order; the time of the transfer is before the expiry.
func late(t testing.TB) bank.Entry {
	t.Helper()
	note := signed(t, "user:1", "transfer", "id late", "account user:1", "to user:2", "amount 0.000005", "expires 2000-01-01T00:00:10Z")
	e, err := owners.Entry([]byte(note), 1)
	check(t, err)
	return e
}

// TestAttacks checks that no client can read data of other accounts or book entries for them.
// It performs the attacks on the server in THREATS.md.
func TestAttacks(t *testing.T) {
	t.Parallel()
	b := begin(t, owned()...)
	b.serve(t, func(c *Config) { c.Limits = Limits{Bytes: 1 << 16, Orders: 4, Rate: 50} })
	ctx := t.Context()
	one := b.client(t, "user:1")
	theft := b.client(t, "user:1")
	theft.Key = ownerstest.Private("user:2")
	market := b.client(t, "market:lab")
	reads := func(read string) error {
		c := b.client(t, "user:1")
		c.read, c.until = read, 1e9
		return second(c.Balance(ctx, "user:1"))
	}
	for name, attack := range map[string]struct {
		err  error
		want string
	}{
		"another's balance":        {second(one.Balance(ctx, "user:0")), "user:0 belongs to someone else"},
		"another's escrow":         {second(one.Balance(ctx, bank.EscrowName(ownerstest.Contract(0)))), "belongs to someone else"},
		"another's answer":         {third(one.Answer(ctx, "user:0/a0")), "belongs to someone else"},
		"a guessed account":        {second(one.KeyOf(ctx, "user:0")), "the key of user:0 belongs to another account"},
		"a guess without an order": {second(b.client(t, "").KeyOf(ctx, "user:0")), "found no read order"},
		"another's key":            {second(theft.Balance(ctx, "user:1")), "not signed by the key of user:1"},
		"no order to read":         {second(b.client(t, "").Balance(ctx, "user:1")), "found no read order"},
		"an order to pay":          {reads(string(ownerstest.Transfer("x", "user:1", "user:2", 5).Note)), "found an order of kind transfer"},
		"an order for a market":    {reads(signed(t, "user:1", "read", "market lab", "id x", "account user:1", "expires 2000-01-01T00:17:30Z")), `for market "lab"`},
		"an order for ever":        {reads(signed(t, "user:1", "read", "market bank", "id x", "account user:1", "expires 2099-01-01T00:00:30Z")), "at most 60 s"},
		"a market's own of a user": {second(market.Balance(ctx, "user:0")), "user:0 belongs to someone else"},
		"an old order":             {reads(signed(t, "user:1", "read", "market bank", "id x", "account user:1", "expires 2000-01-01T00:00:10Z")), "expired"},
		"another server": {func() error {
			c := b.client(t, "user:1")
			c, err := NewClient(Dial{Addresses: c.Addresses, Pin: "sha256:" + strings.Repeat("0", 64), Now: clock})
			check(t, err)
			return second(c.Balance(ctx, "user:1"))
		}(), "has a different pin"},
		"no signature":     {second(one.Do(ctx, bank.Entry{Kind: bank.Transfer, Contract: bank.NoContract, ID: "x", Moves: []bank.Move{ownerstest.Move("user:0", "user:1", 5)}})), "the ledger is owned"},
		"money made":       {second(one.Do(ctx, bank.Entry{Kind: bank.Issue, Contract: bank.NoContract, ID: "x", Moves: []bank.Move{ownerstest.Move("mint", "user:1", 5)}})), "the ledger is owned"},
		"an expired order": {second(one.Do(ctx, late(t))), "expired"},
	} {
		if attack.err == nil || !strings.Contains(attack.err.Error(), attack.want) {
			t.Errorf("%s: %v, want %q", name, attack.err, attack.want)
		}
	}
	if got, err := market.Balance(ctx, bank.EscrowName(ownerstest.Contract(0))); err != nil || got.Micros() != 900 {
		t.Errorf("its own escrow: %v %v", got, err)
	}
	for _, c := range []*Client{one, market, b.client(t, "user:7")} { // the account's own client, its market's client, and an auditor's client
		if got, err := c.KeyOf(ctx, "user:1"); err != nil || got != ownerstest.Public("user:1") {
			t.Errorf("%s reads the key of user:1: %q %v", c.Account, got, err)
		}
	}
	if got, err := one.Balance(ctx, "user:1"); err != nil || got.Micros() != 1e6 {
		t.Errorf("its own balance: %v %v", got, err)
	}
	check(t, b.stop())
	r, err := audit.Audit("books", audit.Options{FS: b.fs})
	if err != nil || !r.Clean() || r.Entries != int64(len(owned()))+1 || r.Refused != 1 { // The refused order had expired.
		t.Errorf("after the attacks: %v %v", r, err)
	}
}

// TestReceipt checks that every kind of call gets a signed receipt, and that the signed text
// cannot be changed.
func TestReceipt(t *testing.T) {
	t.Parallel()
	b := begin(t, owned()...)
	b.serve(t, func(c *Config) { c.Certificate = nil })
	e := ownerstest.Transfer("t1", "user:1", "user:2", 30)
	r, signed, err := b.client(t, "").DoSigned(t.Context(), e)
	check(t, err)
	got, err := proof.OpenReceipts(signed, ownerstest.Public("bank"))
	want := proof.Receipts{Ledger: ownerstest.Ledger, Booked: []proof.Booked{{Receipt: r, ID: "user:1/t1"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v %v, want %v", got, err, want)
	}
	for _, changed := range [][]byte{
		bytes.Replace(signed, []byte("user:1/t1"), []byte("user:1/t2"), 1),
		bytes.Replace(signed, []byte(ownerstest.Ledger), []byte(strings.Repeat("0", 32)), 1),
		append([]byte("x"), signed...),
	} {
		if got, err := proof.OpenReceipts(changed, ownerstest.Public("bank")); err == nil {
			t.Errorf("%s: %v", changed, got)
		}
	}
	if _, err := proof.OpenReceipts(signed, ownerstest.Public("user:1")); err == nil {
		t.Error("a receipt that another signed")
	}
}

// post sends a call as curl does, and returns the reply.
func post(t testing.TB, at, call, body string) (int, string) {
	t.Helper()
	r, err := http.Post(at+"/bank.v1.Bank/"+call, "application/json", strings.NewReader(body))
	check(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	check(t, err)
	return r.StatusCode, string(text)
}

// TestLimits checks that requests that are too large, too many or too slow are refused and book
// nothing, and that the orders of one account do not block the orders of another.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := begin(t, owned()...)
	s := b.serve(t, func(c *Config) {
		c.Certificate = nil
		c.Limits = Limits{Bytes: 1 << 12, Orders: 2, Calls: 2, Rate: 2}
	})
	quoted := func(e bank.Entry) string {
		b, err := json.Marshal(string(e.Note))
		check(t, err)
		return string(b)
	}
	if code, text := post(t, b.at, "Ledger", "{}"); code != 200 || !strings.Contains(text, `"id":"`+ownerstest.Ledger) {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := post(t, b.at, "Transfer", `{"orders":["`+strings.Repeat("x", 1<<12)+`"]}`); code != http.StatusTooManyRequests || !strings.Contains(text, "resource_exhausted") {
		t.Errorf("a large call: %d %s", code, text)
	}
	if code, text := post(t, b.at, "Transfer", `{"orders":["","",""]}`); code != http.StatusTooManyRequests || !strings.Contains(text, "at most 2") {
		t.Errorf("many orders: %d %s", code, text)
	}
	many := 0
	for n := range 12 {
		_, text := post(t, b.at, "Transfer", `{"orders":[`+quoted(ownerstest.Transfer(fmt.Sprint("l", n), "user:1", "user:2", 1))+`]}`)
		if strings.Contains(text, tooMany) {
			many++
		}
	}
	_, text := post(t, b.at, "Transfer", `{"orders":[`+quoted(ownerstest.Transfer("l", "user:0", "user:2", 1))+`]}`)
	if many != 9 || !strings.Contains(text, `"seq":`) { // the first request counts for the sender's address, because the key is not known yet
		t.Errorf("%d of 12 of one account were too many, want 9; of another %s", many, text)
	}
	read := 0
	for range 5 {
		if code, _ := post(t, b.at, "Balance", `{"account":"user:0"}`); code == http.StatusServiceUnavailable {
			read++
		}
	}
	if read != 3 {
		t.Errorf("%d of 5 reads were too many, want 3", read)
	}
	page, err := http.NewRequest("POST", b.at+"/bank.v1.Bank/Ledger", strings.NewReader("{}"))
	check(t, err)
	page.Header.Set("Content-Type", "application/json")
	page.Header.Set("Origin", "http://page.example")
	if r, err := http.DefaultClient.Do(page); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("a page in a browser: %v %v", r, err)
	}
	s.calls <- struct{}{}
	s.calls <- struct{}{}
	if code, text := post(t, b.at, "Ledger", "{}"); code != http.StatusTooManyRequests {
		t.Errorf("calls at once: %d %s", code, text)
	}
	<-s.calls
	<-s.calls
}

// TestSlow checks that no client can keep a call open for long.
func TestSlow(t *testing.T) {
	t.Parallel()
	b := begin(t)
	b.serve(t, func(c *Config) {
		c.Certificate = nil
		c.Limits.Deadline = 100 * time.Millisecond
	})
	slow, err := net.Dial("tcp", strings.TrimPrefix(b.at, "http://"))
	check(t, err)
	defer slow.Close()
	fmt.Fprintf(slow, "POST /bank.v1.Bank/Head HTTP/1.1\r\nHost: bank\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	check(t, slow.SetReadDeadline(time.Now().Add(30*time.Second)))
	if answer, err := io.ReadAll(slow); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(answer), "200 OK") {
		t.Errorf("a slow call: %s %v", answer, err)
	}
}

// TestShutdown checks that a server that is shut down replies to the requests that it has
// applied, and that health checks work until then.
func TestShutdown(t *testing.T) {
	t.Parallel()
	b := begin(t)
	b.serve(t, func(c *Config) { c.Certificate = nil; c.Limits.Rate = 1e9 })
	for path, want := range map[string]string{"/healthz": "writing", "/metrics": "bourse_bank_writing 1"} {
		r, err := http.Get(b.at + path)
		check(t, err)
		text, err := io.ReadAll(r.Body)
		check(t, errors.Join(err, r.Body.Close()))
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, want %q", path, text, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var booked sync.Map
	for n := range 8 {
		clients.Go(func() {
			c := b.client(t, "")
			for i := 0; ctx.Err() == nil; i++ {
				e := store.Order{ID: fmt.Sprintf("%d-%d", n, i), From: "mint", To: "user:a", Amount: bank.Micros(1)}.Entry(0)
				if r, err := c.Do(ctx, e); err == nil {
					booked.Store(e.ID, r)
				}
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // shut the server down under load
	check(t, b.stop())
	cancel()
	clients.Wait()
	kept := make(map[string]store.Receipt)
	r, err := store.OpenReader("books", store.Options{FS: b.fs})
	check(t, err)
	defer r.Close()
	for e, hash := range r.Entries() {
		kept[e.ID] = store.Receipt{Seq: e.Seq, Hash: hash}
	}
	answered := 0
	for id, receipt := range booked.Range {
		answered++
		if kept[id.(string)] != receipt {
			t.Errorf("%v was answered %v, is %v", id, receipt, kept[id.(string)])
		}
	}
	if answered == 0 || len(kept) != answered {
		t.Errorf("%d answered, %d kept", answered, len(kept))
	}
}

// TestEntries checks that an auditor gets entries in parts, in the format of 'bank log', and
// valid proofs.
func TestEntries(t *testing.T) {
	t.Parallel()
	b := begin(t, owned()...)
	b.serve(t, func(c *Config) { c.Certificate = nil })
	c := b.client(t, "user:7")
	read, err := c.reads(t.Context())
	check(t, err)
	first, err := c.servers[0].Entries(t.Context(), &wire.EntriesRequest{Read: read})
	check(t, err)
	rest, err := c.servers[0].Entries(t.Context(), &wire.EntriesRequest{Read: read, After: first.GetLast()})
	check(t, err)
	if first.GetLast() != int64(len(owned())) || rest.GetLines() != "" || rest.GetLast() != first.GetLast() {
		t.Errorf("told to %d, then to %d %q", first.GetLast(), rest.GetLast(), rest.GetLines())
	}
	report, err := audit.Log(strings.NewReader(first.GetLines()), audit.Options{})
	if err != nil || !report.Clean() || report.Entries != int64(len(owned())) {
		t.Errorf("the log: %v %v", report, err)
	}
	p, err := c.servers[0].Prove(t.Context(), &wire.ProveRequest{Read: read, Seq: 5})
	check(t, err)
	proved, err := proof.ParseInclusion([]byte(p.GetProof()))
	check(t, err)
	if e, _, err := proved.Verify(); err != nil || e.Seq != 5 {
		t.Errorf("proved %v %v", e, err)
	}
	user, err := b.client(t, "user:1").reads(t.Context())
	check(t, err)
	if _, err := c.servers[0].Entries(t.Context(), &wire.EntriesRequest{Read: user}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a user reads all: %v", err)
	}
}

// TestRotatedCertificate checks with real handshakes that a bank uses a new certificate that
// replaces the old one. Clients with both pins are answered before and after the change, and
// clients with one pin while its certificate is in use. A new certificate for the same key has
// the same pin. A broken certificate changes nothing and is reported in one sentence.
func TestRotatedCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, next := filepath.Join(dir, "tls.pem"), filepath.Join(dir, "next")
	var mu sync.Mutex
	var told []string
	certificate, first, err := Certificate(file, func(what string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, what)
	})
	check(t, err)
	_, second, err := Certificate(next, func(string) {})
	check(t, err)
	b := begin(t)
	b.serve(t, func(c *Config) { c.Certificate = certificate })
	answered := func(what, pin string, want bool) {
		t.Helper()
		c, err := NewClient(Dial{Addresses: []string{b.at}, Pin: pin, Now: clock})
		check(t, err)
		defer c.Close()
		_, _, err = c.Ledger(t.Context(), "")
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "different pin") {
			t.Errorf("%s: %v, want an answer: %v", what, err, want)
		}
	}
	long, err := NewClient(Dial{Addresses: []string{b.at}, Pin: first, Now: clock})
	check(t, err)
	if _, _, err := long.Ledger(t.Context(), ""); err != nil {
		t.Error(err)
	}
	long.Close() // the next call opens a new connection
	both := first + "," + second
	answered("before", first, true)
	answered("before, with the next", second, false)
	answered("before, with both", both, true)
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, text[:len(text)-50], 0o600))
	answered("broken", first, true)
	other, err := os.ReadFile(next)
	check(t, err)
	at := bytes.Index(text, []byte("-----BEGIN PRIVATE"))
	check(t, os.WriteFile(file, append(bytes.Clone(other[:bytes.Index(other, []byte("-----BEGIN PRIVATE"))]), text[at:]...), 0o600))
	answered("the key of the other", first, true)
	check(t, os.Chmod(next, 0o644))
	check(t, os.Rename(next, file))
	answered("for all to read", first, true)
	check(t, os.Chmod(file, 0o600))
	answered("after, with the old", first, false)
	answered("after", second, true)
	waits, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err := long.Ledger(waits, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that was answered before: %v, want it to wait", err)
	}
	answered("after, with both", both, true)
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 4 || !strings.Contains(told[3], second) || strings.Contains(told[0], "\n") {
		t.Errorf("told %q, want three faults and the new pin", told)
	}
	if _, err := NewClient(Dial{Addresses: []string{b.at}, Pin: first + ",", Now: clock}); err == nil {
		t.Error("an empty pin is accepted")
	}
}
