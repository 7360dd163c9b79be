package pgtest

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Proxy relays between a bank and its server. It can fail after any number of bytes.
type Proxy struct {
	URL string // URL of the ledger, through the proxy

	to string // path of the server's socket

	mu     sync.Mutex
	left   int64 // number of bytes to relay; negative means no limit
	silent bool  // whether to stop responding, instead of disconnecting, at the failure
	conns  []net.Conn

	text string // text at which to disconnect; empty means none
	take bool   // whether to drop the reply to the text rather than the text itself
	deaf bool   // whether text was relayed
}

// NewProxy returns a proxy for the ledger at a URL, whose server must have a socket.
func NewProxy(t testing.TB, ledgerURL string) *Proxy {
	t.Helper()
	u, err := url.Parse(ledgerURL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if !strings.HasPrefix(q.Get("host"), "/") {
		t.Skip("the server does not listen on a socket")
	}
	port := q.Get("port")
	if port == "" {
		port = "5432"
	}
	name := ".s.PGSQL." + port
	dir, err := os.MkdirTemp("", "bourse-px")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{to: filepath.Join(q.Get("host"), name), left: -1}
	in, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		p.hangUp()
		os.RemoveAll(dir)
	})
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	p.URL = u.String()
	go func() {
		for {
			client, err := in.Accept()
			if err != nil {
				return
			}
			p.serve(client)
		}
	}()
	return p
}

// Fail relays n more bytes, counted in both directions together. It then disconnects or, if
// silent is set, stops responding. A negative n removes the limit.
func (p *Proxy) Fail(n int64, silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.silent = n, silent
}

// Lose disconnects when data containing text is sent to the server. It does so before the
// server receives the data or, if answered is set, after the server has replied but before the
// reply is relayed.
func (p *Proxy) Lose(text string, answered bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.take, p.deaf = text, answered, false
}

// lost reports whether to disconnect because of data sent in one direction.
func (p *Proxy) lost(sent []byte, toServer bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case toServer && p.text != "" && bytes.Contains(sent, []byte(p.text)):
		p.text, p.deaf = "", p.take
		return !p.deaf
	case !toServer && p.deaf:
		p.deaf = false
		return true
	}
	return false
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("unix", p.to)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	go p.pass(server, client, true)
	go p.pass(client, server, false)
}

// pass copies data in one direction as long as this is permitted.
func (p *Proxy) pass(to, from net.Conn, toServer bool) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if p.lost(buf[:n], toServer) {
			to.Close()
			from.Close()
			return
		}
		n, whole := p.allow(n)
		if n > 0 {
			to.Write(buf[:n])
		}
		if whole && err == nil {
			continue
		}
		p.mu.Lock()
		silent := !whole && p.silent
		p.mu.Unlock()
		if silent { // until either side disconnects
			io.Copy(io.Discard, from)
		}
		to.Close()
		from.Close()
		return
	}
}

// allow returns how many of n bytes may be relayed, and reports whether all may be.
func (p *Proxy) allow(n int) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	may := n
	if p.left >= 0 {
		may = int(min(int64(n), p.left))
		p.left -= int64(may)
	}
	return may, may == n
}

func (p *Proxy) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}
