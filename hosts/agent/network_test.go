//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/link"
)

// A served is an office that agents reach over the network.
type served struct {
	*office
	secret string
	pin    string // name of the host after its enrolment
}

func (s *served) Enrol(_ context.Context, e link.Enrolment) (host, market string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Secret != s.secret || s.pin != "" && s.pin != e.Pin {
		return "", "", link.ErrToken
	}
	s.pin = e.Pin
	return "h00", "lab", nil
}

func (s *served) Host(pin string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pin != s.pin {
		return "", link.ErrUnknown
	}
	return "h00", nil
}

// listen serves s on the loopback interface through a proxy, and returns a token for s. The
// proxy cuts each connection after a while at an arbitrary byte.
func (s *served) listen(t *testing.T, rng *rand.Rand, calm chan struct{}) link.Token {
	own, err := link.Identity(filepath.Join(t.TempDir(), "market.pem"), "market")
	if err != nil {
		t.Fatal(err)
	}
	inner, err := tls.Listen("tcp", "127.0.0.1:0", link.ServerTLS(own))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(link.Handler(s))
	server := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go server.Serve(inner)
	outer, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { outer.Close(); server.Close() })
	var mu sync.Mutex
	go func() {
		for {
			a, err := outer.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", inner.Addr().String())
			if err != nil {
				a.Close()
				continue
			}
			mu.Lock()
			left := time.Duration(rng.Int64N(int64(300 * time.Millisecond)))
			mu.Unlock()
			timer := time.AfterFunc(left, func() {
				select {
				case <-calm:
				default:
					a.Close()
					b.Close()
				}
			})
			relay := func(to, from net.Conn) {
				io.Copy(to, from)
				to.Close()
				from.Close()
				timer.Stop()
			}
			go relay(a, b)
			go relay(b, a)
		}
	}()
	token := link.NewToken(outer.Addr().String(), link.Pin(own.Leaf.Raw))
	s.secret = token.Secret
	return token
}

// TestNetwork checks, over TLS connections that break at arbitrary times, that a host enrols
// once with its token, that each wanted task is started once, and that all usage of ended tasks
// is read.
func TestNetwork(t *testing.T) {
	t.Parallel()
	calm := make(chan struct{})
	s, b := &served{office: newOffice()}, newBox(t)
	token := s.listen(t, rand.New(rand.NewPCG(1, 1)), calm)
	own, err := link.Identity(filepath.Join(b.dir, "host.pem"), "h00")
	if err != nil {
		t.Fatal(err)
	}
	c := link.Dial(token.Address, link.NewPins(token.Pin, nil), own)
	defer c.Close()
	for end := time.Now().Add(20 * time.Second); ; {
		if host, _, err := c.Enrol(t.Context(), link.Enrolment{Secret: token.Secret}); err == nil && host == "h00" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("enrolled as %q, %v", host, err)
		}
	}
	kill, _ := b.agent(c)
	truth := map[int64]float64{}
	for i := range 8 {
		s.start(0)
		time.Sleep(100 * time.Millisecond)
		if i == 4 {
			kill()
			kill, _ = b.agent(c)
		}
	}
	close(calm)
	eventually(t, "all run", func() bool { return b.runs() == 8 })
	b.mu.Lock()
	for name := range b.supervisors {
		if n := named(name); n.Name > 2 {
			truth[n.Name] = b.exit(name, hosts.Exited)
		}
	}
	b.mu.Unlock()
	eventually(t, "what ended is known", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.ended) == 6
	})
	kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, used := range truth {
		if r := s.ended[key]; r.Why != hosts.Exited || math.Abs(r.Done-used) > 1e-6 {
			t.Errorf("task %d used %v: %+v", key, used, r)
		}
	}
}
