package peers

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// What a room is of.
const (
	connections = iota
	calls       // that are not answered to the end
	bodies      // larger than small, that are arriving
	files       // of bodies larger than large
	kinds
	slow = kinds
)

// reasons are why connections and calls end, or are refused: too many of what they hold, or
// a slow body.
var reasons = []string{"connections", "calls", "bodies", "files", "slow body"}

// A room bounds what peers hold: so many of each kind in all, half of them of one address.
type room struct {
	most    [kinds]int
	dropped func(why string)
	turns   chan struct{}

	mu    sync.Mutex
	has   [kinds]int
	peers map[string]*peer // by address
}

// A peer is an address.
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
	answers int       // calls that are being answered, whose answers have not begun
	known   bool      // there was one
	last    time.Time // it was opened, or a call came or was answered
	begun   time.Time // the last call of HTTP/1
}

// Close gives up what the connection holds.
func (c *conn) Close() error {
	c.room.mu.Lock()
	c.room.forget(c)
	c.room.mu.Unlock()
	return c.Conn.Close()
}

// take counts one more of a kind for a connection. At the limit it closes the connection that
// has waited longest for its peer; ok is false if there is none to close.
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
			t.SetLinger(0) //nolint:errcheck // it only keeps the system's memory
		}
		ended.Conn.Close()
	}
	return ok
}

// turn waits until a call may be answered. One on a connection that has rested may at once;
// of those that come one after the other, as from peers who ask without reading the answers,
// a few may at once, so that they do not keep others from a processor. One that goes on for
// longer than connections rest waits for something, and no more counts.
func (r *room) turn(c *conn, q *http.Request, patience time.Duration) (done func(), ok bool) {
	begun := c.begun
	if q.ProtoMajor == 1 { // one after the other
		c.begun = time.Now()
	}
	if q.ProtoMajor != 1 || c.begun.Sub(begun) > rest {
		return func() {}, true
	}
	select {
	case r.turns <- struct{}{}:
	default:
		t := time.NewTimer(patience)
		defer t.Stop()
		select {
		case r.turns <- struct{}{}:
		case <-q.Context().Done():
			return nil, false
		case <-t.C:
			return nil, false
		}
		c.begun = time.Now()
	}
	over := sync.OnceFunc(func() { <-r.turns })
	t := time.AfterFunc(rest/10, over)
	return func() { t.Stop(); over() }, true
}

// leave gives one back.
func (r *room) leave(c *conn, kind int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !c.gone {
		r.count(c, kind, -1)
		c.last = time.Now()
	}
}

// answers counts a call that is being answered, or no more.
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

// forget gives back all that a connection holds.
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

// largest returns the peer that has most of a kind.
func (r *room) largest(kind int) (most *peer) {
	for _, p := range r.peers {
		if most == nil || p.has[kind] > most.has[kind] {
			most = p
		}
	}
	return most
}

// longest returns the connection that holds one of a kind and has waited longest for its
// peer, those first on which no call has come: not this one, and none on which one is being
// answered.
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

// A listener accepts connections that there is room for.
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
			t.SetWriteBuffer(1 << 17) //nolint:errcheck // what is not read is not made: it only saves
		}
		c := &conn{Conn: in, room: l.room, address: addressOf(in), last: time.Now()}
		if l.room.take(c, connections) {
			return c, nil
		}
		l.room.dropped(reasons[connections])
		if l.plain {
			const text = "too many connections: ask again later\n"
			in.SetWriteDeadline(time.Now().Add(time.Second))                                                                                                    //nolint:errcheck // it is closed at once
			io.WriteString(in, "HTTP/1.1 503 "+http.StatusText(http.StatusServiceUnavailable)+"\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+text) //nolint:errcheck // likewise
		}
		in.Close()
	}
}

// addressOf returns whose a connection is: an address, and of IPv6 a network, all of which
// one peer may have.
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
