package link_test

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// TestRotation checks a rotation with real handshakes. Hosts that call the market while it
// announces its next certificate accept the new one, and refuse the old one after their first
// call with the new one. A host that has not called in the meantime refuses the new certificate
// until it gets the new pin.
func TestRotation(t *testing.T) {
	t.Parallel()
	m := &market{hosts: map[string]string{}, told: map[string]*remote.Told{}}
	dir := t.TempDir()
	file := filepath.Join(dir, "tls")
	f, err := link.Open(file, "market", func(_ *tls.Certificate, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	first := link.Pin(f.Current().Leaf.Raw)
	next, err := link.Identity(file+".next", "market")
	if err != nil {
		t.Fatal(err)
	}
	second := link.Pin(next.Leaf.Raw)
	var pins atomic.Pointer[string]
	announce := func(text string) { pins.Store(&text) }
	announce(first)

	c := link.ServerTLS(tls.Certificate{})
	c.Certificates, c.GetCertificate = nil, f.Handshake
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(link.Handler(m))
	s := &http.Server{Handler: link.Announce(mux, func() string { return *pins.Load() }), ErrorLog: log.New(io.Discard, "", 0)}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })

	own := identity(t, "h00")
	var mu sync.Mutex
	known := first // pins that the host has stored
	host := func() *link.Client {
		mu.Lock()
		defer mu.Unlock()
		c := link.Dial(l.Addr().String(), link.NewPins(known, func(text string) {
			mu.Lock()
			known = text
			mu.Unlock()
		}), own)
		t.Cleanup(c.Close)
		return c
	}
	keeps := func(want string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if known != want {
			t.Errorf("the host keeps %q, want %q", known, want)
		}
	}
	call := func(c *link.Client, refused string) {
		t.Helper()
		_, err := c.Sync(t.Context(), "", &remote.Told{Seq: 1})
		if (err == nil) != (refused == "") || err != nil && !strings.Contains(err.Error(), refused) {
			t.Errorf("%v, want an error with %q", err, refused)
		}
	}
	a := host()
	if _, _, err := a.Enrol(t.Context(), link.Enrolment{Secret: "right", Name: "h00"}); err != nil {
		t.Fatal(err)
	}
	missed := host() // a host that does not call during the rotation
	const other = "a different certificate"
	announce("no pin")
	call(a, "")
	keeps(first)
	announce(first + "," + second)
	call(a, "")
	keeps(first + "," + second)
	if err := os.Rename(file+".next", file); err != nil {
		t.Fatal(err)
	}
	announce(second)
	call(host(), "") // a new connection
	keeps(second)
	call(a, "") // this connection was opened before the change
	call(missed, other)

	// From now on, new and old hosts refuse a server that has only the old certificate.
	imposter, err := tls.X509KeyPair(newPair(t, dir, "old"))
	if err != nil {
		t.Fatal(err)
	}
	old := link.ServerTLS(imposter)
	away, err := tls.Listen("tcp", "127.0.0.1:0", old)
	if err != nil {
		t.Fatal(err)
	}
	go (&http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}).Serve(away)
	t.Cleanup(func() { away.Close() })
	call(link.Dial(away.Addr().String(), link.NewPins(second, nil), own), other)
	call(link.Dial(l.Addr().String(), link.NewPins(first, nil), own), other)

	// A token that was created in the meantime has both pins.
	token, err := link.ParseToken(link.NewToken(l.Addr().String(), first+","+second).String())
	if err != nil {
		t.Fatal(err)
	}
	call(link.Dial(token.Address, link.NewPins(token.Pin, nil), own), "")
	if _, err := link.ParseToken(link.NewToken("192.0.2.1:1", first+",").String()); err == nil {
		t.Error("a token with a pin that is cut is read")
	}
}

// newPair creates a file with a certificate and its key. It returns the content of the file
// twice, once as the certificate and once as the key.
func newPair(t *testing.T, dir, name string) (_, _ []byte) {
	t.Helper()
	if _, err := link.Identity(filepath.Join(dir, name), name); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text, text
}
