package main

import (
	"io"
	"net"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// A cable connects two processes of a cluster. It can be cut, silenced or slowed.
type cable struct {
	address string // address at which the cable listens
	to      string
	link    string // network device that the cable uses, if it has its own

	mu    sync.Mutex
	cut   bool          // whether the cable closes all connections
	deaf  bool          // whether the cable drops all data and keeps connections open
	delay time.Duration // delay of the data
	ends  map[net.Conn]bool
}

// newWire returns a cable to an address. The cable listens at another address of this
// machine.
func newWire(t *testing.T, at, to string) *cable {
	t.Helper()
	in, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		t.Fatal(err)
	}
	w := &cable{address: in.Addr().String(), to: to, ends: make(map[net.Conn]bool)}
	t.Cleanup(func() {
		in.Close()
		w.fail(true, false, 0)
	})
	go func() {
		for {
			client, err := in.Accept()
			if err != nil {
				return
			}
			go w.serve(client)
		}
	}()
	return w
}

// fail sets the failure of the cable from now on. If a cable has its own device, no data
// arrive on it after a failure that silences it.
func (w *cable) fail(cut, deaf bool, delay time.Duration) {
	if w.link != "" {
		state := "up"
		if deaf {
			state, deaf = "down", false
		}
		exec.Command("ip", "link", "set", w.link, state).Run()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.deaf, w.delay = cut, deaf, delay
	if cut {
		for c := range w.ends {
			c.Close()
		}
	}
}

// hold records one end of a connection. It reports false if the cable is cut.
func (w *cable) hold(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ends[c] = true
	return !w.cut
}

func (w *cable) drop(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, c)
	c.Close()
}

func (w *cable) serve(client net.Conn) {
	defer w.drop(client)
	if !w.hold(client) {
		return
	}
	server, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer w.drop(server)
	if !w.hold(server) {
		return
	}
	done := make(chan bool, 2)
	pass := func(to, from net.Conn) {
		defer func() { done <- true }()
		buf := make([]byte, 16<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				w.wait()
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil && err != io.EOF || n == 0 {
				return
			}
		}
	}
	go pass(server, client)
	go pass(client, server)
	<-done
}

// wait waits until the received data may be passed on.
func (w *cable) wait() {
	for {
		w.mu.Lock()
		deaf, delay := w.deaf && !w.cut, w.delay
		w.mu.Unlock()
		if !deaf {
			time.Sleep(delay)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
