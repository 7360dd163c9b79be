package client

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"bourse/bank"
	"bourse/bank/keys"
	bankorder "bourse/bank/order"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/service"
	"bourse/experiments/live/wire"
	"bourse/hosts/remote"
)

// A scribe is a market that records the received orders. It answers the first few by
// closing the connection.
type scribe struct {
	wire.UnimplementedMarketHandler
	during func() // once, while it decides
	away   atomic.Int32
	now    float64 // by its clock
	least  float64 // orders that expire earlier are refused
	orders atomic.Pointer[[]string]
}

func (s *scribe) Submit(_ context.Context, r *wire.SubmitRequest) (*wire.SubmitResponse, error) {
	var all []string
	if had := s.orders.Load(); had != nil {
		all = append(all, *had...)
	}
	all = append(all, string(r.GetOrder()))
	s.orders.Store(&all)
	if o, err := bankorder.Open(r.GetOrder()); err != nil || o.Expires() < s.least {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("an order that expired"))
	}
	if f := s.during; f != nil {
		s.during = nil
		f()
	}
	if s.away.Add(-1) >= 0 {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the bank is away"))
	}
	return &wire.SubmitResponse{Answer: &wire.Answer{Contract: int64(len(all)), Verdict: "accept"}}, nil
}

func (s *scribe) About(context.Context, *wire.AboutRequest) (*wire.AboutResponse, error) {
	return &wire.AboutResponse{Now: s.now}, nil
}

func (s *scribe) PutBlob(context.Context, *wire.PutBlobRequest) (*wire.PutBlobResponse, error) {
	return &wire.PutBlobResponse{}, nil
}

// user returns a client with a user's home folder. Its market is a scribe.
func user(t *testing.T, s *scribe) (Home, *Client) {
	t.Helper()
	return userAt(t, s, func(*httptest.Server) {})
}

// userAt is like user, for a server that is set up before it starts.
func userAt(t *testing.T, s *scribe, set func(*httptest.Server)) (Home, *Client) {
	t.Helper()
	_, h := wire.NewMarketHandler(s)
	server := httptest.NewUnstartedServer(h)
	set(server)
	server.Start()
	t.Cleanup(server.Close)
	home := Home(filepath.Join(t.TempDir(), "home"))
	private, _, err := keys.New(rand.Reader, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if err := home.Save(Membership{URL: server.URL, Market: "lab", Ledger: strings.Repeat("5f", 16), Account: "user:ann"}, private); err != nil {
		t.Fatal(err)
	}
	c, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return home, c
}

func task() *Task {
	return &Task{
		Terms: order.Terms{Class: "cac", Nodes: 1, CPUs: 1, Work: 60, Deadline: 120, Budget: bank.Micros(500_000)},
		Job:   remote.Job{Command: []string{"./render"}}, Files: map[string][]byte{"render": []byte("x")},
	}
}

// TestSubmit checks that an order is signed and well formed, that it is sent again
// unchanged while the bank is away, and that it is deleted once it is answered.
func TestSubmit(t *testing.T) {
	t.Parallel()
	s := new(scribe)
	s.away.Store(1)
	home, c := user(t, s)
	a, err := c.Submit(context.Background(), task())
	if err != nil || a.Contract != 2 || a.Verdict != "accept" {
		t.Fatalf("%+v, %v", a, err)
	}
	sent := *s.orders.Load()
	if len(sent) != 2 || sent[0] != sent[1] {
		t.Fatalf("%q, want one order twice", sent)
	}
	o, err := bankorder.Open([]byte(sent[0]))
	if err != nil {
		t.Fatal(err)
	}
	key, err := home.Key()
	if err != nil {
		t.Fatal(err)
	}
	public, err := keys.Of(key)
	if err != nil || !o.By(public) {
		t.Errorf("not signed by the account's key: %v", err)
	}
	got, err := order.Parse(o.Order)
	want := task().Terms
	if want.Job = got.Job; err != nil || !reflect.DeepEqual(*got, want) || o.Value("market") != "lab" || o.Value("account") != "user:ann" {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if left, err := os.ReadDir(home.path("sent")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestSetBack checks the case that this machine's clock was set back but the market's was
// not. After one refusal, orders must be signed with the market's time. An order refused
// for another reason must be sent only once.
func TestSetBack(t *testing.T) {
	t.Parallel()
	now := time.Since(bank.Epoch).Seconds() + 3*86400
	s := &scribe{now: now, least: now}
	home, c := user(t, s)
	for want := range 2 {
		if a, err := c.Submit(t.Context(), task()); err != nil || a.Contract != int64(want+2) {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	sent := len(*s.orders.Load())
	s.now, s.least = 0, math.Inf(1)
	if _, err := c.Submit(t.Context(), task()); err == nil || len(*s.orders.Load()) != sent+1 {
		t.Errorf("sent %d times, %v", len(*s.orders.Load())-sent, err)
	}
	if left, err := os.ReadDir(home.path("sent")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestBoth checks an order that two clients send at the same time, the one that signed it
// and one that resumes. Both must get the answer.
func TestBoth(t *testing.T) {
	t.Parallel()
	s := new(scribe)
	home, c := user(t, s)
	other, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	answered := 0
	s.during = func() {
		if err := other.Resume(context.Background(), func(_ string, a *live.Answer, err error) {
			if answered++; err != nil || a.Contract != 2 {
				t.Errorf("%+v, %v", a, err)
			}
		}); err != nil {
			t.Error(err)
		}
	}
	if a, err := c.Submit(context.Background(), task()); err != nil || a.Verdict != "accept" || answered != 1 {
		t.Errorf("%+v, %v after %d answers", a, err, answered)
	}
}

// TestResume checks that a signed order without an answer is sent again unchanged.
func TestResume(t *testing.T) {
	t.Parallel()
	s := new(scribe)
	s.away.Store(1 << 20)
	home, c := user(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for s.orders.Load() == nil {
		}
		cancel()
	}()
	if _, err := c.Submit(ctx, task()); err == nil || !strings.Contains(err.Error(), "submit --resume") {
		t.Fatalf("broken off: %v", err)
	}
	first := (*s.orders.Load())[0]
	s.away.Store(0)
	resumed(t, home)
	sent := *s.orders.Load()
	if sent[len(sent)-1] != first {
		t.Errorf("sent again %q, want %q", sent[len(sent)-1], first)
	}
}

// resumed makes the client of a home send its unanswered orders again. There must be one,
// and it must be answered.
func resumed(t *testing.T, home Home) {
	t.Helper()
	again, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	answered := 0
	if err := again.Resume(t.Context(), func(_ string, a *live.Answer, err error) {
		if answered++; err != nil || a.Verdict != "accept" {
			t.Errorf("%+v, %v", a, err)
		}
	}); err != nil || answered != 1 {
		t.Fatalf("%d answered, %v", answered, err)
	}
}

// TestAway checks that a market that does not respond is distinguished from one that
// refuses.
func TestAway(t *testing.T) {
	t.Parallel()
	m := Membership{URL: "http://127.0.0.1:1"}
	c := m.Dial(nil)
	defer c.Close()
	if _, err := c.About(context.Background()); !errors.As(err, new(*service.Away)) {
		t.Errorf("nobody there: %v", err)
	}
	_, u := user(t, new(scribe))
	if _, err := u.Status(context.Background(), 1); err == nil || errors.As(err, new(*service.Away)) {
		t.Errorf("refused: %v", err)
	}
}

// TestInvitation checks that an invitation is read as it was written, and that invalid ones
// are rejected.
func TestInvitation(t *testing.T) {
	t.Parallel()
	for _, i := range []Invitation{
		{URL: "https://192.0.2.7:8421", Pin: "q1Vb", Account: "user:bob", Secret: "0f"},
		{URL: "http://127.0.0.1:8421", Account: "user:bob", Secret: "0f"},
	} {
		if got, err := ParseInvitation(i.String() + "\n"); err != nil || got != i {
			t.Errorf("%s: %+v, %v", i, got, err)
		}
	}
	for _, text := range []string{"", "x", "https://a:1/s/p", "ftp://a:1/s/p/user:b", "https://a:1/s/-/user:b", "http://a:1/s/p/user:b", "https:///s/p/user:b"} {
		if got, err := ParseInvitation(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
