package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var siegeWhole = flag.Bool("siege", false, "TestSiege opens 1, 100, 1,000 and 3,000 connections")

// A besieger states what a hostile peer does with a connection until it is closed.
type besieger struct {
	what  string
	proto string // protocol requested in the TLS handshake (ALPN); empty means no TLS
	does  func(c net.Conn, s *siegeServer)
}

var besiegers = []besieger{
	{"handshakes", "", func(c net.Conn, _ *siegeServer) {
		drip(c, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") // first bytes of a TLS hello
	}},
	{"headers", "http/1.1", func(c net.Conn, _ *siegeServer) {
		fmt.Fprint(c, "GET / HTTP/1.1\r\n")
		drip(c, "Host: x\r\nA: ")
	}},
	{"bodies", "http/1.1", func(c net.Conn, s *siegeServer) {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n", s.call)
		drip(c, "")
	}},
	{"large bodies", "http/1.1", func(c net.Conn, s *siegeServer) {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n", s.call)
		c.Write(bytes.Repeat([]byte(" "), 999_000)) //nolint:errcheck // ignore the error, because the server may refuse the data
		drip(c, "")
	}},
	{"readers", "http/1.1", func(c net.Conn, s *siegeServer) {
		for many := strings.Repeat("GET "+s.page+" HTTP/1.1\r\nHost: x\r\n\r\n", 300); ; {
			if _, err := io.WriteString(c, many); err != nil {
				return
			}
		}
	}},
	{"streams", "http/1.1", func(c net.Conn, s *siegeServer) {
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", s.stream)
		io.Copy(io.Discard, c) //nolint:errcheck // wait until the server closes the connection
	}},
	{"idle HTTP/2", "h2", func(c net.Conn, _ *siegeServer) {
		fmt.Fprint(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		io.Copy(io.Discard, c) //nolint:errcheck // wait until the server closes the connection
	}},
}

// drip sends a text and then one byte at regular intervals.
func drip(c net.Conn, text string) {
	for b := []byte(text); ; b = []byte("x") {
		if _, err := c.Write(b); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// A siegeServer is a server of the program in its own process.
type siegeServer struct {
	name               string
	args               []string
	call, page, stream string // paths of a call, of a long response, and of a response that does not end, if there is one
	process            *exec.Cmd
	at                 string
}

// TestSiege opens connections to each server on which a hostile peer sends slowly or not at
// all. Meanwhile, the server must answer other calls from the same address and use little
// memory.
func TestSiege(t *testing.T) {
	for _, s := range []*siegeServer{
		{name: "bank", args: []string{"bank", "serve", "books", "--listen", "127.0.0.1:0"}, call: "/bank.v1.Bank/Head", page: "/metrics", stream: "/healthz"},
		{name: "market", args: []string{"market", "serve", "lab", "--listen", "127.0.0.1:0", "--home", "home"}, call: "/bourse.market.v1.Market/About", page: "/", stream: "/events"},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.start(t)
			if !*siegeWhole {
				s.siege(t, 30, 50, besiegers...)
				return
			}
			for _, b := range besiegers {
				t.Run(b.what, func(t *testing.T) {
					for _, n := range []int{1, 100, 1000, 3000} {
						s.siege(t, n, 200, b)
					}
				})
			}
		})
	}
}

// siege makes each besieger open n connections while other clients make calls.
func (s *siegeServer) siege(t *testing.T, n, calls int, all ...besieger) {
	t.Helper()
	os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.process.Process.Pid), []byte("5"), 0o600) //nolint:errcheck // the maximum memory is that of this siege, if it can be reset
	ctx, stop := context.WithCancel(t.Context())
	var siege sync.WaitGroup
	what := all[0].what
	if len(all) > 1 {
		what = "all of these"
	}
	for _, b := range all {
		for range n {
			siege.Go(func() { b.come(ctx, s) })
		}
	}
	time.Sleep(time.Second + time.Duration(n*len(all))*2*time.Millisecond) // wait until all connections are open
	took := s.calls(t, calls)
	stop()
	siege.Wait()
	limit := time.Second
	if !*siegeWhole {
		limit *= 5 // other tests run at the same time
	}
	in := slices.IndexFunc(took, func(d time.Duration) bool { return d >= limit })
	if in < 0 {
		in = calls
	}
	most := s.memory(t)
	t.Logf("%s, %d connections with slow %s: %d of %d calls within %v, half within %.1f ms, 99 %% within %.1f ms; %d MB",
		s.name, n*len(all), what, in, calls, limit, 1e3*took[calls/2].Seconds(), 1e3*took[calls*99/100-1].Seconds(), most>>20)
	if in < calls*99/100 || most > 300<<20 {
		t.Errorf("want 99 %% within %v, and less than 300 MB", limit)
	}
}

// start starts the server.
func (s *siegeServer) start(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if s.name == "bank" {
		out, err := exec.Command("bourse", "bank", "init", filepath.Join(dir, "books")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s.process = exec.Command("bourse", s.args...)
	s.process.Dir = dir
	var said bytes.Buffer
	s.process.Stderr = &said
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.process.Process.Kill() //nolint:errcheck // ignore the error, because the process may have ended
		s.process.Wait()         //nolint:errcheck // ignore this error, too
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if s.at = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line); s.at == "" {
		t.Fatalf("%s: %q %v: %s", s.name, line, err, &said)
	}
	for end := time.Now().Add(30 * time.Second); s.ask(newWay(false)) != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not answer: %s", s.name, &said)
		}
	}
}

// come acts as one hostile peer that reconnects until ctx ends.
func (b besieger) come(ctx context.Context, s *siegeServer) {
	for ctx.Err() == nil {
		in, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", s.at)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		c, over := in, context.AfterFunc(ctx, func() { in.Close() })
		if b.proto != "" {
			c = tls.Client(in, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{b.proto}})
		}
		b.does(c, s)
		over()
		in.Close()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second): // reconnect slowly
		}
	}
}

// newWay returns an HTTP client that reuses connections if reuse is set.
func newWay(kept bool) *http.Transport {
	return &http.Transport{DisableKeepAlives: !kept, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
}

// ask makes one call to which the server must respond.
func (s *siegeServer) ask(way *http.Transport) error {
	c := http.Client{Transport: way, Timeout: 10 * time.Second}
	r, err := c.Post("https://"+s.at+s.call, "application/json", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d %w", r.StatusCode, err)
	}
	return nil
}

// calls makes calls, alternately on an existing and on a new connection. It returns the
// duration of each, sorted; a call without an answer counts as one minute.
func (s *siegeServer) calls(t *testing.T, n int) []time.Duration {
	t.Helper()
	kept := newWay(true)
	defer kept.CloseIdleConnections()
	took := make([]time.Duration, n)
	var all sync.WaitGroup
	for i := range took {
		all.Go(func() {
			way := kept
			if i%2 == 0 {
				way = newWay(false)
			}
			begun := time.Now()
			err := s.ask(way)
			if took[i] = time.Since(begun); err != nil {
				took[i] = time.Minute
			}
		})
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// memory returns the maximum memory of the server so far, in bytes.
func (s *siegeServer) memory(t *testing.T) (bytes int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, most, _ := strings.Cut(string(text), "VmHWM:")
	fmt.Sscan(most, &bytes) //nolint:errcheck // if the text is invalid, bytes is 0, which the caller detects
	if bytes == 0 {
		t.Fatalf("%s has ended", s.name)
	}
	return bytes << 10
}
