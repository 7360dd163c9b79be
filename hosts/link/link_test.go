package link_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"pgregory.net/rapid"

	"bourse/hosts/link"
	"bourse/hosts/remote"
	"bourse/hosts/wire"
)

// A market is a fake market. It enrols hosts that know its secret, and answers each Sync with
// preset orders.
type market struct {
	mu    sync.Mutex
	hosts map[string]string // names of hosts, by pin
	told  map[string]*remote.Told
	logs  []remote.Log
}

func (m *market) Enrol(_ context.Context, e link.Enrolment) (host, name string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hosts[e.Pin] == "" && e.Secret != "right" {
		return "", "", link.ErrToken
	}
	m.hosts[e.Pin] = e.Name + "-" + e.Offer.Kind
	return m.hosts[e.Pin], "lab", nil
}

func (m *market) Host(pin string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hosts[pin] == "" {
		return "", fmt.Errorf("host with pin %s: %w", pin, link.ErrUnknown)
	}
	return m.hosts[pin], nil
}

func (m *market) Sync(_ context.Context, host string, t *remote.Told) (*remote.Orders, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.Seq == 0 {
		return nil, errors.New("the disk is full")
	}
	m.told[host] = t
	return &remote.Orders{Session: t.Session, Ack: t.Seq}, nil
}

func (m *market) Blob(_ context.Context, _, sha string) ([]byte, error) {
	switch sha {
	case "there":
		return make([]byte, 10<<20), nil
	case "largest":
		return make([]byte, 64<<20), nil
	}
	return nil, fmt.Errorf("blob %s: %w", sha, link.ErrUnknown)
}

func (m *market) PutCheckpoint(context.Context, string, *remote.Checkpoint) error { return nil }

func (m *market) PutLog(_ context.Context, _ string, l *remote.Log) error {
	m.logs = append(m.logs, *l)
	return nil
}

// identity returns a new certificate.
func identity(t *testing.T, name string) tls.Certificate {
	t.Helper()
	c, err := link.Identity(filepath.Join(t.TempDir(), name+".pem"), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serving serves m on this machine, and returns its address and its pin.
func serving(t *testing.T, m link.Market) (address, pin string) {
	t.Helper()
	own := identity(t, "market")
	l, err := tls.Listen("tcp", "127.0.0.1:0", link.ServerTLS(own))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(link.Handler(m))
	s := &http.Server{Handler: mux}
	s.ErrorLog = log.New(io.Discard, "", 0)
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String(), link.Pin(own.Leaf.Raw)
}

// TestLink checks that the market receives a host's calls under the host's name, that only
// enrolled hosts are accepted, and that the client receives each refusal as the original error.
func TestLink(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := &market{hosts: map[string]string{}, told: map[string]*remote.Told{}}
	address, pin := serving(t, m)
	own := identity(t, "h00")
	c := link.Dial(address, link.NewPins(pin, nil), own)
	defer c.Close()
	if _, err := c.Sync(ctx, "h00", &remote.Told{Seq: 1}); !errors.Is(err, link.ErrUnknown) || !strings.Contains(err.Error(), link.Pin(own.Leaf.Raw)) {
		t.Errorf("who has not enrolled: %v", err)
	}
	if _, _, err := c.Enrol(ctx, link.Enrolment{Secret: "wrong"}); !errors.Is(err, link.ErrToken) {
		t.Errorf("with a wrong secret: %v", err)
	}
	for range 2 { // the host repeats the call if the answer was lost
		if host, market, err := c.Enrol(ctx, link.Enrolment{Secret: "right", Name: "h00", Offer: remote.Offer{Kind: "signals"}}); err != nil || host != "h00-signals" || market != "lab" {
			t.Errorf("enrolled as %q of %q, %v", host, market, err)
		}
	}
	o, err := c.Sync(ctx, "another's", &remote.Told{Session: 3, Seq: 7, Spans: []remote.Span{{Deal: 1, Length: 1, Used: []remote.Used{{Name: 1, Seconds: 1}}}}})
	if err != nil || o.Session != 3 || o.Ack != 7 {
		t.Errorf("%+v, %v", o, err)
	}
	if told := m.told["h00-signals"]; told == nil || len(told.Spans) != 1 {
		t.Errorf("told %+v", m.told)
	}
	if _, err := c.Sync(ctx, "", &remote.Told{}); err == nil || !strings.Contains(err.Error(), "the disk is full") || errors.Is(err, link.ErrUnknown) {
		t.Errorf("a fault of the market: %v", err)
	}
	if b, err := c.Blob(ctx, "", "there"); err != nil || len(b) != 10<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := c.Blob(ctx, "", "largest"); err != nil || len(b) != 64<<20 {
		t.Errorf("the largest that a market takes: %d bytes, %v", len(b), err)
	}
	if _, err := c.Blob(ctx, "", "not"); !errors.Is(err, link.ErrUnknown) {
		t.Errorf("what nobody has put: %v", err)
	}
	if err := c.PutLog(ctx, "", &remote.Log{Name: 1, Text: make([]byte, 256<<10)}); err != nil || len(m.logs) != 1 {
		t.Errorf("%d logs, %v", len(m.logs), err)
	}
	other := link.Dial(address, link.NewPins(link.Pin(own.Leaf.Raw), nil), own)
	if _, err := other.Sync(ctx, "", &remote.Told{Seq: 1}); err == nil || !strings.Contains(err.Error(), "a different certificate") {
		t.Errorf("a market with another certificate: %v", err)
	}
}

// raw returns a client with its own TLS connection and any certificate, for invalid calls.
func raw(address string, certificates ...tls.Certificate) wire.LinkClient {
	return wire.NewLinkClient(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates}}}, "https://"+address)
}

// TestRefused checks that the market refuses callers without a certificate, with other protocol
// versions or with a TLS version before 1.3. The error about a protocol version states the
// versions of both sides.
func TestRefused(t *testing.T) {
	t.Parallel()
	m := &market{hosts: map[string]string{}, told: map[string]*remote.Told{}}
	address, _ := serving(t, m)
	spoken := &wire.Versions{Oldest: 1, Newest: 1}
	if _, err := raw(address).Sync(t.Context(), &wire.SyncRequest{Versions: spoken, Seq: 1}); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a certificate: %v", err)
	}
	_, err := raw(address, identity(t, "h")).Enrol(t.Context(), &wire.EnrolRequest{Versions: &wire.Versions{Oldest: 7, Newest: 9}, Secret: "right"})
	if connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "7 to 9") || !strings.Contains(err.Error(), "1 to 1") {
		t.Errorf("another version: %v", err)
	}
	if _, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		t.Error("TLS 1.2 is spoken")
	}
	if len(m.told)+len(m.hosts) > 0 {
		t.Errorf("told %v, hosts %v", m.told, m.hosts)
	}
}

// TestIdentity checks that Identity creates a certificate once and reads the same one later,
// and that only the owner can read the file.
func TestIdentity(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "host.pem")
	first, err := link.Identity(path, "h00")
	if err != nil {
		t.Fatal(err)
	}
	second, err := link.Identity(path, "h01")
	if err != nil || link.Pin(first.Leaf.Raw) != link.Pin(second.Leaf.Raw) {
		t.Errorf("another certificate: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

// TestToken checks that a token parses back to itself, and that a truncated, changed or foreign
// text is rejected.
func TestToken(t *testing.T) {
	t.Parallel()
	pin := link.Pin([]byte("certificate"))
	want := link.NewToken(net.JoinHostPort("::1", "8421"), pin)
	if got, err := link.ParseToken(want.String() + "\n"); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if link.NewToken("a:1", pin).Secret == want.Secret {
		t.Error("two tokens have the same secret")
	}
	text := want.String()
	rapid.Check(t, func(r *rapid.T) {
		cut := text[:rapid.IntRange(0, len(text)-1).Draw(r, "length")]
		if _, err := link.ParseToken(cut); err == nil {
			r.Fatalf("%q is read", cut)
		}
	})
	for _, bad := range []string{"", "a:1", "a:1/x/y", "a/" + want.Secret + "/" + pin, text + "/x", strings.Replace(text, want.Secret, want.Secret[1:]+"!", 1)} {
		if _, err := link.ParseToken(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
