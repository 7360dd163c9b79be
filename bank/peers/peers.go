// Package peers serves HTTP to peers that may be hostile. A peer that sends or reads slowly, or
// opens many connections, does not keep other peers from an answer and takes little memory.
// Every wait has a time limit. Connections, calls and large bodies are limited in total and per
// address. When a limit is reached, the connection that has waited longest for its peer is closed
// in favour of the new one, so honest peers behind the same address still get answers. A
// connection whose call is being answered is never closed.
package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	// Patience is how long a handshake, a request's header and body, or 64 KiB of an answer
	// may take; what is longer has a second for each further 128 KiB.
	Patience = 5 * time.Second
	pace     = 1 << 17 // bytes a second
	part     = 1 << 16 // bytes of an answer that are written at once

	idle       = 2 * time.Minute // between two calls
	leaving    = 20 * time.Second
	headers    = 1 << 14 // bytes of a header
	streams    = 64      // calls at once of one connection
	mostBodies = 64      // larger than small that are arriving, at once
	mostFiles  = 8       // bodies larger than large likewise
	mostTurns  = 4       // calls of connections that come one after the other, at once
	rest       = 100 * time.Millisecond

	// Connections is how many there may be at once unless a server is told otherwise.
	Connections = 4096
)

// A Server answers at a listener.
type Server struct {
	Handler     http.Handler
	TLS         *tls.Config                 // nil speaks plain HTTP
	Base        context.Context             // of calls; nil lets them end when the server is told to
	Bytes       func(r *http.Request) int64 // of its body, at most
	Connections int                         // at once, and as many calls, half of them of one address; 0 is [Connections]
	Patience    time.Duration               // 0 is [Patience]

	// Dropped is told why a connection or call was ended or refused: there are too many
	// "connections", "calls", "bodies" or "files", or it is a "slow body". Nil tells nobody.
	Dropped func(why string)
}

// Serve answers until ctx ends, then what was begun, for up to 20 s.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Connections == 0 {
		s.Connections = Connections
	}
	if s.Patience == 0 {
		s.Patience = Patience
	}
	if s.Dropped == nil {
		s.Dropped = func(string) {}
	}
	all := &room{most: [kinds]int{s.Connections, s.Connections, mostBodies, mostFiles}, turns: make(chan struct{}, mostTurns), peers: make(map[string]*peer), dropped: s.Dropped}
	h := &http.Server{
		Handler:           s.answer(all),
		ReadHeaderTimeout: s.Patience, // and of a handshake
		IdleTimeout:       idle,
		MaxHeaderBytes:    headers,
		Protocols:         new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streams, MaxReadFrameSize: 1 << 14, MaxReceiveBufferPerConnection: 1 << 18, MaxReceiveBufferPerStream: 1 << 18,
			SendPingTimeout: idle / 4, PingTimeout: s.Patience, WriteByteTimeout: s.Patience,
		},
		ErrorLog: log.New(io.Discard, "", 0), // anybody could fill it
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if t, ok := c.(*tls.Conn); ok {
				c = t.NetConn()
			}
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	if s.Base != nil {
		h.BaseContext = func(net.Listener) context.Context { return s.Base }
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(s.TLS != nil)
	h.Protocols.SetUnencryptedHTTP2(s.TLS == nil)
	l = &listener{l, all, s.TLS == nil}
	failed := make(chan error, 1)
	go func() {
		if s.TLS == nil {
			failed <- h.Serve(l)
			return
		}
		h.TLSConfig = s.TLS.Clone()
		failed <- h.ServeTLS(l, "", "")
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	if err := h.Shutdown(end); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return h.Close()
}

type connKey struct{}

// answer returns what has h answer calls whose bodies are here, and write in time.
func (s *Server) answer(all *room) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connKey{}).(*conn)
		refuse := func(kind, code int, text string) {
			s.Dropped(reasons[kind])
			w.Header().Set("Connection", "close")
			http.Error(w, text, code)
		}
		control := http.NewResponseController(w)
		last := func() { control.SetWriteDeadline(time.Now().Add(s.Patience)) } //nolint:errcheck // all connections have deadlines
		if r.ProtoMajor == 1 {
			last() // that of the call before may have passed
		}
		if !all.take(c, calls) {
			last()
			refuse(calls, http.StatusServiceUnavailable, "too many calls at once: ask again later")
			return
		}
		defer last() // for what is not written yet
		defer all.leave(c, calls)
		done, ok := all.turn(c, r, s.Patience)
		if !ok {
			last()
			refuse(calls, http.StatusServiceUnavailable, "too many calls at once: ask again later")
			return
		}
		defer done()
		body, err := s.receive(all, c, control, r)
		switch {
		case errors.Is(err, errHeld):
			refuse(bodies, http.StatusServiceUnavailable, "too many large bodies at once: ask again later")
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(slow, http.StatusRequestTimeout, "found a body that does not arrive in time: want it within "+s.Patience.String()+", or 128 KiB a second")
			return
		case err != nil:
			http.Error(w, "found no whole body: "+err.Error(), http.StatusBadRequest)
			return
		}
		defer body.Close()
		r.Body = body
		a := &answering{ResponseWriter: w, control: control, patience: s.Patience, begun: func() { all.answers(c, -1) }}
		all.answers(c, 1)
		defer a.begin()
		s.Handler.ServeHTTP(a, r)
	})
}

// An answering is a response writer that gives the peer a time limit for each part.
type answering struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	begun    func() // is called when the answer begins; nil has been
}

// begin says that the answer begins: from now on the connection waits for its peer.
func (a *answering) begin() {
	if a.begun != nil {
		a.begun()
		a.begun = nil
	}
}

// timed does what must be done in time.
func (a *answering) timed(do func() error) error {
	a.begin()
	a.control.SetWriteDeadline(time.Now().Add(a.patience)) //nolint:errcheck // all connections have deadlines
	err := do()
	a.control.SetWriteDeadline(time.Time{}) //nolint:errcheck // likewise
	return err
}

func (a *answering) Write(b []byte) (n int, err error) {
	for {
		next := b[n:min(len(b), n+part)]
		err = a.timed(func() error {
			k, err := a.ResponseWriter.Write(next)
			n += k
			return err
		})
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// FlushError is what [http.ResponseController] looks for.
func (a *answering) FlushError() error { return a.timed(a.control.Flush) }

// Flush implements [http.Flusher].
func (a *answering) Flush() { a.FlushError() } //nolint:errcheck // the next write says so

// Unwrap is what [http.ResponseController] looks for.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
