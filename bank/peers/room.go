package peers

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// These are the kinds of resources that a room limits.
const (
	connections = iota
	calls       // calls that are not completely answered yet
	bodies      // bodies that are larger than small and still arriving
	files       // files for bodies larger than large
	kinds
	slow = kinds
)

// reasons contains the reasons for which connections and calls are closed or refused: one
// limit per kind, and a slow body.
var reasons = []string{"connections", "calls", "bodies", "files", "slow body"}

// A room limits the resources that peers use. There is a total for each kind, of which one
// address can use half.
type room struct {
	most    [kinds]int
	dropped func(why string)
	turns   chan struct{}
	waiting atomic.Int64  // number of calls that wait for a turn
	queue   chan struct{} // held by the body that waits for the next place, if the limit is reached

	mu    sync.Mutex
	has   [kinds]int
	peers map[string]*peer // peers by address
}

// A peer is an address with its connections.
type peer struct {
	has   [kinds]int
	conns map[*conn]bool
}

// A conn is a connection of a peer.
type conn struct {
	net.Conn
	room    *room
	address string
	gone    bool
	has     [kinds]int
	answers int       // number of calls in progress whose replies have not started
	known   bool      // whether the connection has had a call
	last    time.Time // time of the last call or reply or, before the first call, of the opening
}

// Close releases the resources of the connection.
func (c *conn) Close() error {
	c.room.mu.Lock()
	c.room.forget(c)
	c.room.mu.Unlock()
	return c.Conn.Close()
}

// take allocates one resource of a kind to a connection. If the limit is reached, take closes
// the connection that has waited longest for its peer. If there is no such connection, ok is
// false.
func (r *room) take(c *conn, kind int) (ok bool) {
	r.mu.Lock()
	p := r.peers[c.address]
	if p == nil {
		p = &peer{conns: make(map[*conn]bool)}
		r.peers[c.address] = p
	}
	var ended *conn
	ok = !c.gone
	switch {
	case !ok:
	case p.has[kind] >= (r.most[kind]+1)/2:
		ended = p.longest(kind, c)
		ok = ended != nil
	case r.has[kind] >= r.most[kind]:
		ended = r.largest(kind).longest(kind, c)
		ok = ended != nil
	}
	if ended != nil {
		r.forget(ended)
	}
	if ok {
		if kind == connections {
			r.peers[c.address], p.conns[c] = p, true
		}
		r.count(c, kind, 1)
	} else if len(p.conns) == 0 {
		delete(r.peers, c.address)
	}
	r.mu.Unlock()
	if ended != nil {
		r.dropped(reasons[kind])
		if t, ok := ended.Conn.(*net.TCPConn); ok {
			t.SetLinger(0) //nolint:errcheck // an error only delays the release of memory
		}
		ended.Conn.Close()
	}
	return ok
}

// turn waits until a call may be answered. A call that arrives some time after the last reply
// may be answered immediately. Calls that arrive together with the end of the last reply come
// from peers that send requests without reading the replies. Only a few of these calls may be
// answered at the same time, so that they do not use all processors. A call that takes a long
// time is probably waiting for another event, so it no longer counts.
func (r *room) turn(c *conn, q *http.Request, patience time.Duration) (done func(), ok bool) {
	if q.ProtoMajor != 1 || !r.pipelined(c) {
		return func() {}, true
	}
	select {
	case r.turns <- struct{}{}:
	default:
		r.waiting.Add(1)
		defer r.waiting.Add(-1)
		t := time.NewTimer(patience)
		defer t.Stop()
		select {
		case r.turns <- struct{}{}:
		case <-q.Context().Done():
			return nil, false
		case <-t.C:
			return nil, false
		}
	}
	over := sync.OnceFunc(func() { <-r.turns })
	start := time.Now()
	t := time.AfterFunc(longest, over)
	return func() {
		if t.Stop(); r.waiting.Load() < crowd {
			over()
			return
		}
		time.AfterFunc(3*time.Since(start), over) // this leaves most of the processors to other calls
	}, true
}

// pipelined reports whether a call arrives together with the end of the last reply.
func (r *room) pipelined(c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.known && time.Since(c.last) < rest
}

// place takes one place for a body. If the limit is reached, bodies wait in a queue, and one
// body per interval displaces another. Without the queue, peers that reconnect as soon as
// their connection is closed would use all processors for handshakes.
func (r *room) place(ctx context.Context, c *conn, kind int, patience time.Duration) (ok bool) {
	if !r.full(c, kind) {
		return r.take(c, kind)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case r.queue <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	time.AfterFunc(interval, func() { <-r.queue })
	return r.take(c, kind)
}

// full reports whether a connection can obtain a resource only by displacing another
// connection.
func (r *room) full(c *conn, kind int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[c.address]
	return r.has[kind] >= r.most[kind] || p != nil && p.has[kind] >= (r.most[kind]+1)/2
}

// leave releases one resource of a kind.
func (r *room) leave(c *conn, kind int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !c.gone {
		r.count(c, kind, -1)
		c.last = time.Now()
	}
}

// answers adds n to the number of calls in progress on c.
func (r *room) answers(c *conn, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.answers += n
	c.known = true
	c.last = time.Now()
}

func (r *room) count(c *conn, kind, n int) {
	c.has[kind] += n
	r.peers[c.address].has[kind] += n
	r.has[kind] += n
}

// forget releases all resources of a connection.
func (r *room) forget(c *conn) {
	if c.gone || c.has[connections] == 0 {
		return
	}
	c.gone = true
	for kind, n := range c.has {
		r.count(c, kind, -n)
	}
	p := r.peers[c.address]
	if delete(p.conns, c); len(p.conns) == 0 {
		delete(r.peers, c.address)
	}
}

// largest returns the peer with the most resources of a kind.
func (r *room) largest(kind int) (most *peer) {
	for _, p := range r.peers {
		if most == nil || p.has[kind] > most.has[kind] {
			most = p
		}
	}
	return most
}

// longest returns the connection that has a resource of the kind and has waited longest for its
// peer. Connections without any call come first. longest excludes the connection but, and
// connections with a call in progress.
func (p *peer) longest(kind int, but *conn) (is *conn) {
	for c := range p.conns {
		if c == but || c.has[kind] == 0 || c.answers > 0 {
			continue
		}
		if is == nil || c.known == is.known && c.last.Before(is.last) || !c.known && is.known {
			is = c
		}
	}
	return is
}

// A listener accepts connections within the limits of a room.
type listener struct {
	net.Listener
	room  *room
	plain bool
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		in, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if t, ok := in.(*net.TCPConn); ok {
			t.SetWriteBuffer(1 << 17) //nolint:errcheck // an error is harmless, because the limit only avoids work for replies that are not read
		}
		c := &conn{Conn: in, room: l.room, address: addressOf(in), last: time.Now()}
		if l.room.take(c, connections) {
			return c, nil
		}
		l.room.dropped(reasons[connections])
		if l.plain {
			const text = "too many connections: try again later\n"
			in.SetWriteDeadline(time.Now().Add(time.Second))                                                                                                    //nolint:errcheck // the connection is closed immediately afterwards
			io.WriteString(in, "HTTP/1.1 503 "+http.StatusText(http.StatusServiceUnavailable)+"\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+text) //nolint:errcheck // the connection is closed immediately afterwards
		}
		in.Close()
	}
}

// addressOf returns the address of a connection's peer. For IPv6 it is the /64 network,
// because one peer may use all addresses of such a network.
func addressOf(c net.Conn) string {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return ""
	}
	a := at.Addr().Unmap()
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
