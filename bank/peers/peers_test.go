package peers

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// served starts a server with limits of 8 connections in total and 4 per address. It replies to
// / at once and to /long in many parts. served returns the address and the number of dropped
// connections.
func served(t *testing.T, patience time.Duration) (at string, dropped *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dropped = new(atomic.Int64)
	s := Server{
		Connections: 8, Patience: patience, Bytes: func(*http.Request) int64 { return 4 << 20 }, Dropped: func(string) { dropped.Add(1) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprintln(w, n, err)
			if r.URL.Path == "/long" {
				w.Write(make([]byte, 64<<20))
			}
		}),
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil && err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return l.Addr().String(), dropped
}

// dial opens a connection from a local address and sends a text.
func dial(t *testing.T, from, at, text string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	io.WriteString(c, text) //nolint:errcheck // the connection may have ended by then
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	return c
}

const (
	get  = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	post = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
)

// answered reports whether a new connection gets a reply to a text.
func answered(t *testing.T, from, at, text, want string) bool {
	t.Helper()
	answer, _ := io.ReadAll(dial(t, from, at, text))
	return strings.Contains(string(answer), " 200 OK") && strings.Contains(string(answer), "\n"+want+" <nil>\n")
}

// TestCrowd checks that clients that open connections and wait, at any stage, do not block
// other clients, from the same address or another.
func TestCrowd(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"no header": "GET /", "no body": fmt.Sprintf(post, 100) + "{", "a large body": fmt.Sprintf(post, 100_000) + strings.Repeat(" ", 50_000),
		"a long answer": "GET /long HTTP/1.1\r\nHost: x\r\n\r\n", "an idle one": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			at, dropped := served(t, time.Minute)
			for n := range 24 {
				dial(t, fmt.Sprintf("127.0.0.%d", 1+n/6), at, text)
			}
			time.Sleep(100 * time.Millisecond)
			for n := range 6 {
				if from := fmt.Sprintf("127.0.0.%d", 1+n); !answered(t, from, at, get, "0") || !answered(t, from, at, fmt.Sprintf(post, 20_000)+strings.Repeat(" ", 20_000), "20000") {
					t.Errorf("a call from %s is not answered", from)
				}
			}
			if dropped.Load() == 0 {
				t.Error("nobody was dropped")
			}
		})
	}
}

// TestOneAddress checks that one address can use only half of the connections, so that it does
// not close connections of other addresses.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	at, _ := served(t, time.Minute)
	other := dial(t, "127.0.0.2", at, "GET / HTTP/1.1\r\nHost: x\r\n")
	for range 12 {
		dial(t, "127.0.0.1", at, "GET /")
	}
	time.Sleep(100 * time.Millisecond)
	io.WriteString(other, "Connection: close\r\n\r\n") //nolint:errcheck // a failed write has no answer
	if answer, err := io.ReadAll(other); err != nil || !strings.Contains(string(answer), " 200 OK") {
		t.Errorf("the other's call: %q %v", answer, err)
	}
}

// TestTimes checks that a body that arrives byte by byte, and a reply that nobody reads, end
// within the server's patience. Large but fast bodies and replies are complete.
func TestTimes(t *testing.T) {
	t.Parallel()
	at, _ := served(t, time.Second/2)
	begun := time.Now()
	slow, unread := dial(t, "127.0.0.1", at, fmt.Sprintf(post, 100)), dial(t, "127.0.0.1", at, "GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	ended := make(chan string)
	go func() {
		answer, _ := io.ReadAll(slow)
		ended <- string(answer)
	}()
	for over := false; !over && time.Since(begun) < 10*time.Second; {
		select {
		case answer := <-ended:
			if over = true; !strings.Contains(answer, " 408 ") {
				t.Errorf("a slow body is answered %q", answer)
			}
		case <-time.After(50 * time.Millisecond):
			slow.Write([]byte("x")) //nolint:errcheck // write until the connection ends
		}
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("a slow body had %v", took)
	}
	time.Sleep(time.Until(begun.Add(2 * time.Second)))
	if n, err := io.Copy(io.Discard, unread); err == nil && n >= 64<<20 {
		t.Errorf("an answer that nobody reads goes on: %d bytes", n)
	}
	if !answered(t, "127.0.0.1", at, fmt.Sprintf(post, 3<<20)+strings.Repeat(" ", 3<<20), fmt.Sprint(3<<20)) {
		t.Error("a large body does not arrive")
	}
	if c := dial(t, "127.0.0.1", at, fmt.Sprintf(post, 5<<20)+strings.Repeat(" ", 5<<20)); c != nil {
		answer, _ := io.ReadAll(c)
		if strings.Contains(string(answer), fmt.Sprint(5<<20)) {
			t.Errorf("a body that is too large: %q", answer)
		}
	}
}
