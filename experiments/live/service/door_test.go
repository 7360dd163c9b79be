package service

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/cockroachdb/pebble/v2/vfs"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/wire"
)

// A still is a clock that does not advance.
type still float64

func (c still) Now() float64 { return float64(c) }

func (still) Reach(float64) {}

// door serves a market in which ann and bob have accounts, on a bank with owners. It
// returns where its log is stored.
func door(t *testing.T) *Server {
	t.Helper()
	conf, err := live.Parse("lab.yaml", []byte("name: lab"))
	check(t, err)
	j, err := store.Create("books", store.Options{FS: vfs.NewMem()})
	check(t, err)
	b := store.NewSequencer(j, bank.New(j))
	t.Cleanup(func() { b.Close() })
	for _, e := range ownerstest.Begin() {
		_, err := b.Do(t.Context(), e)
		check(t, err)
	}
	m, err := live.Open("market", conf, live.World{
		Bank: b, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: still(1000), FS: vfs.NewMem(),
		Reads: func(_ context.Context, account string) (bool, error) { return account == "user:dan", nil },
		KeyOf: func(_ context.Context, account string) (string, error) {
			if account == "user:eve" {
				return "", nil
			}
			return ownerstest.Public(account), nil
		},
	})
	check(t, err)
	t.Cleanup(func() { m.Close() })
	s, err := New(Config{Metrics: http.NotFoundHandler(), Page: http.NotFoundHandler(),
		Market: m, Dir: t.TempDir(), Name: "lab", Ledger: ownerstest.Ledger, Rate: 4, Files: mostBlob, Bank: b, Now: still(1000).Now, Admin: "secret",
		Head: func(context.Context) (string, error) { return "0:-", nil },
	})
	check(t, err)
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reading returns an order to read for an account, signed with another account's key.
func reading(t *testing.T, id, account, signer, market string, contract int64, expires float64) []byte {
	t.Helper()
	o, err := order.About(order.Head{Ledger: ownerstest.Ledger, Market: market, ID: id, Account: account, Expires: expires}, "read", contract)
	check(t, err)
	signed, err := bankorder.Sign([]byte(o.String()), ownerstest.Private(signer))
	check(t, err)
	return signed
}

// TestDoor checks that files are stored only for account holders and at the rate allowed
// for the account, and that unsigned orders store nothing.
func TestDoor(t *testing.T) {
	t.Parallel()
	s := door(t)
	kept := func() int {
		all, err := os.ReadDir(s.blobs.dir)
		check(t, err)
		return len(all)
	}
	put := func(signed []byte, data string) connect.Code {
		_, err := s.PutBlob(t.Context(), &wire.PutBlobRequest{Order: signed, Data: []byte(data)})
		if err == nil {
			return 0
		}
		return connect.CodeOf(err)
	}
	for _, c := range []struct {
		name  string
		order []byte
		want  connect.Code
	}{
		{"no order", nil, connect.CodeInvalidArgument},
		{"another's key", reading(t, "a", "user:bob", "user:ann", "lab", 0, 1060), connect.CodePermissionDenied},
		{"no account", reading(t, "a", "user:eve", "user:eve", "lab", 0, 1060), connect.CodePermissionDenied},
		{"another market", reading(t, "a", "user:bob", "user:bob", "other", 0, 1060), connect.CodeInvalidArgument},
		{"an old order", reading(t, "a", "user:dan", "user:dan", "lab", 0, 100), connect.CodeInvalidArgument},
		{"another kind", ownerstest.Note([]string{"user:cid"}, "transfer", "a", "user:cid", "to", "user:ann", "amount", "1.000000"), connect.CodeInvalidArgument},
	} {
		if got := put(c.order, c.name); got != c.want || kept() != 0 {
			t.Errorf("%s: %v, %d kept, want %v", c.name, got, kept(), c.want)
		}
	}
	for range 6 { // in her name, but not by her
		if got := put(reading(t, "a", "user:ann", "user:bob", "lab", 0, 1060), "forged"); got != connect.CodePermissionDenied {
			t.Errorf("in another's name: %v", got)
		}
	}
	for i := range 6 {
		want := connect.Code(0)
		if i >= 4 {
			want = connect.CodeResourceExhausted
		}
		if got := put(reading(t, fmt.Sprint(i), "user:ann", "user:ann", "lab", 0, 1060), fmt.Sprint("file ", i)); got != want {
			t.Errorf("file %d: %v, want %v", i, got, want)
		}
	}
	if kept() != 4 {
		t.Errorf("%d kept, want 4", kept())
	}
	job := []byte(`{"command":["true"]}`)
	terms := order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 5, Deadline: 60, Budget: bank.Micros(1), Job: order.Sum(job)}
	o, err := terms.Order(order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: "o", Account: "user:bob", Expires: 1060})
	check(t, err)
	forged, err := bankorder.Sign([]byte(o.String()), ownerstest.Private("user:ann"))
	check(t, err)
	if _, err := s.Submit(t.Context(), &wire.SubmitRequest{Order: forged, Job: job}); connect.CodeOf(err) != connect.CodePermissionDenied || kept() != 4 {
		t.Errorf("an order that another signed: %v, %d kept", err, kept())
	}
	for name, call := range map[string]func() error{
		"a log": func() error {
			_, err := s.Logs(t.Context(), &wire.LogsRequest{Order: reading(t, "l", "user:cid", "user:cid", "lab", 7, 1060)})
			return err
		},
		"files": func() error {
			_, err := s.Files(t.Context(), &wire.FilesRequest{Archive: "x", Order: reading(t, "f", "user:cid", "user:cid", "lab", 7, 1060)})
			return err
		},
	} {
		if err := call(); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("%s of no contract: %v", name, err)
		}
	}
	if _, err := s.Files(t.Context(), &wire.FilesRequest{Order: reading(t, "g", "user:cid", "user:cid", "lab", 7, 1060)}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("an archive without a name: %v", err)
	}
}

// TestList checks who may list the contracts of an account: the account itself, accounts that may
// read the whole ledger, and the operator, by key or by secret.
func TestList(t *testing.T) {
	t.Parallel()
	s := door(t)
	mux := http.NewServeMux()
	mux.Handle(wire.NewMarketHandler(s))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	caller := Dial(server.URL, server.Client())
	for i, c := range []struct {
		by, of, secret, want string
	}{
		{by: "user:ann", of: "user:ann"},
		{by: "user:dan", of: "user:ann"},
		{by: "user:dan"},
		{by: "operator", of: "user:ann"},
		{by: "operator"},
		{secret: "secret", of: "user:ann"},
		{secret: "secret"},
		{by: "user:bob", of: "user:ann", want: "user:bob may not read the contracts of other accounts"},
		{by: "user:bob", want: "user:bob may not read the contracts of other accounts"},
		{secret: "guess", of: "user:ann", want: "order"},
		{of: "user:ann", want: "order"},
	} {
		var signed []byte
		if c.by != "" {
			signed = reading(t, fmt.Sprint("list", i), c.by, c.by, "lab", 0, 1060)
		}
		_, err := caller.List(t.Context(), signed, c.secret, live.Filter{Account: c.of, Ended: true})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("another's contracts: %+v: %v", c, err)
		}
	}
	forged := reading(t, "forged", "user:ann", "user:bob", "lab", 0, 1060)
	if _, err := caller.List(t.Context(), forged, "", live.Filter{Account: "user:ann"}); err == nil {
		t.Error("an order in another's name lists")
	}
}

// TestGuard checks that a market refuses four kinds of calls: calls that are too large,
// calls made by a page in a browser, too many large calls at once, and operator calls
// without the operator's secret.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := door(t)
	at := httptest.NewServer(s.Handler())
	defer at.Close()
	ask := func(path, body string, head ...string) (int, string) {
		r, err := http.NewRequest(http.MethodPost, at.URL+"/bourse.market.v1."+path, strings.NewReader(body))
		check(t, err)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(head); i += 2 {
			r.Header.Set(head[i], head[i+1])
		}
		a, err := http.DefaultClient.Do(r)
		check(t, err)
		defer a.Body.Close()
		var text bytes.Buffer
		_, err = text.ReadFrom(a.Body)
		check(t, err)
		return a.StatusCode, text.String()
	}
	if code, text := ask("Market/About", "{}"); code != http.StatusOK {
		t.Errorf("asked well: %d %s", code, text)
	}
	if code, text := ask("Market/About", "{}", "Origin", "https://a.page"); code != http.StatusForbidden {
		t.Errorf("a page in a browser: %d %s", code, text)
	}
	if code, text := ask("Market/Submit", `{"job":"`+strings.Repeat("QUFB", mostCall/4+1)+`"}`); code == http.StatusOK || strings.Contains(text, "order") {
		t.Errorf("a large order: %d %s", code, text)
	}
	for _, call := range []string{"InviteHost", "Drain", "Users", "Remove"} {
		for _, secret := range []string{"", "Bearer ", "Bearer guess"} {
			if code, text := ask("Admin/"+call, "{}", "Authorization", secret); code != http.StatusForbidden {
				t.Errorf("%s with %q: %d %s", call, secret, code, text)
			}
		}
	}
	for range mostLarge {
		s.large <- struct{}{}
	}
	if code, text := ask("Market/PutBlob", "{}"); code != http.StatusServiceUnavailable {
		t.Errorf("one file more than may be sent at once: %d %s", code, text)
	}
	if code, text := ask("Market/About", "{}"); code != http.StatusOK {
		t.Errorf("meanwhile: %d %s", code, text)
	}
}

// TestBlobsBound checks that storing a file removes the file that was unused for longest,
// but never a file in use. If all are in use, the new file is refused.
func TestBlobsBound(t *testing.T) {
	t.Parallel()
	wanted := make(map[string]bool)
	open := func(dir string) *blobs {
		b, err := openBlobs(dir, 10, func() map[string]bool { return wanted })
		check(t, err)
		return b
	}
	b := open(t.TempDir())
	put := func(text string, age time.Duration) string {
		t.Helper()
		sha, err := b.put([]byte(text))
		check(t, err)
		then := time.Now().Add(-age)
		check(t, os.Chtimes(b.dir+"/"+sha, then, then))
		return sha
	}
	old, older := put("4 by", time.Hour), put("four", 2*time.Hour)
	put("here", 0)
	if _, err := b.get(older); err == nil {
		t.Error("the oldest is kept")
	}
	if _, err := b.get(old); err != nil {
		t.Errorf("the next: %v", err)
	}
	b = open(b.dir) // it counts the existing files
	wanted[old] = true
	if _, err := b.put([]byte("7 bytes")); err != errFull {
		t.Errorf("no room: %v", err)
	}
	if _, err := b.get(old); err != nil || b.total != 4 {
		t.Errorf("what is wanted: %v, %d bytes", err, b.total)
	}
	delete(wanted, old)
	put("7 bytes", 0)
	if b.total != 7 {
		t.Errorf("%d bytes are counted, want 7", b.total)
	}
}
