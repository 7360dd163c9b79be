// Package peers serves HTTP to peers that may be malicious. A peer that sends or reads slowly,
// or opens many connections, does not prevent other peers from receiving answers, and uses
// little memory. Every wait has a time limit. Connections, calls and large bodies are limited
// in total and per address. When a limit is reached, the connection that has waited longest
// for its peer is closed, and a new one takes its place. Honest peers behind the same address
// therefore still receive answers. A connection whose call is being answered is never closed.
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
	// Patience is the time limit for a handshake, for a request's header or body, and for
	// sending 64 KiB of a reply. For a larger body, the limit is one second longer per 128
	// KiB.
	Patience = 5 * time.Second
	pace     = 1 << 17 // bytes per second
	part     = 1 << 16 // number of bytes of a reply that are written at once

	idle       = 2 * time.Minute // maximum time between two calls
	leaving    = 20 * time.Second
	headers    = 1 << 14                // maximum size of a header, in bytes
	streams    = 64                     // maximum number of concurrent calls per connection
	mostBodies = 64                     // maximum number of bodies larger than small that are arriving at the same time
	mostFiles  = 8                      // maximum number of bodies larger than large that are arriving at the same time
	mostTurns  = 2                      // maximum number of concurrent calls that arrive together with the end of the last reply
	crowd      = 16                     // number of waiting calls above which turns are held longer
	rest       = 10 * time.Millisecond  // minimum time between a reply and a call that is not pipelined
	longest    = 100 * time.Millisecond // maximum time for which a call counts
	interval   = 20 * time.Millisecond  // time between two bodies that displace other bodies

	// Connections is the default limit of concurrent connections.
	Connections = 4096
)

// A Server serves HTTP on a listener.
type Server struct {
	Handler     http.Handler
	TLS         *tls.Config                 // nil means plain HTTP
	Base        context.Context             // base context of calls; nil means a context that ends at shutdown
	Bytes       func(r *http.Request) int64 // function that returns the maximum size of a request's body
	Connections int                         // limit of concurrent connections and calls, of which one address can use half; 0 means [Connections]
	Patience    time.Duration               // 0 means [Patience]

	// Dropped is called with the reason why a connection or call was closed or refused: too
	// many "connections", "calls", "bodies" or "files", or a "slow body". It may be nil.
	Dropped func(why string)
}

// Serve serves calls until ctx is done. It then waits up to 20 s for the calls in progress.
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
	all := &room{most: [kinds]int{s.Connections, s.Connections, mostBodies, mostFiles}, turns: make(chan struct{}, mostTurns), queue: make(chan struct{}, 1), peers: make(map[string]*peer), dropped: s.Dropped}
	h := &http.Server{
		Handler:           s.answer(all),
		ReadHeaderTimeout: s.Patience, // time limit for headers, and for a handshake
		IdleTimeout:       idle,
		MaxHeaderBytes:    headers,
		Protocols:         new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streams, MaxReadFrameSize: 1 << 14, MaxReceiveBufferPerConnection: 1 << 18, MaxReceiveBufferPerStream: 1 << 18,
			SendPingTimeout: idle / 4, PingTimeout: s.Patience, WriteByteTimeout: s.Patience,
		},
		ErrorLog: log.New(io.Discard, "", 0), // any peer could fill the log
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

// answer returns a handler that calls s.Handler when the body has arrived, and limits the time
// for writing.
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
			last() // the deadline of the previous call may have passed
		}
		if !all.take(c, calls) {
			last()
			refuse(calls, http.StatusServiceUnavailable, "too many calls at the same time: try again later")
			return
		}
		defer last() // This sets the deadline for data that have not been written yet.
		defer all.leave(c, calls)
		done, ok := all.turn(c, r, s.Patience)
		if !ok {
			last()
			refuse(calls, http.StatusServiceUnavailable, "too many calls at the same time: try again later")
			return
		}
		defer done()
		body, err := s.receive(all, c, control, r)
		switch {
		case errors.Is(err, errHeld):
			refuse(bodies, http.StatusServiceUnavailable, "too many large bodies at the same time: try again later")
			return
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(slow, http.StatusRequestTimeout, "found a body that arrives too slowly, want it within "+s.Patience.String()+", or at least 128 KiB/s")
			return
		case err != nil:
			http.Error(w, "found an incomplete body: "+err.Error(), http.StatusBadRequest)
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

// An answering is a response writer with a time limit for each part of the reply.
type answering struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	begun    func() // called when the reply starts; nil afterwards
}

// begin marks the start of the reply. From then on, the connection waits for its peer.
func (a *answering) begin() {
	if a.begun != nil {
		a.begun()
		a.begun = nil
	}
}

// timed calls do with a deadline for writing.
func (a *answering) timed(do func() error) error {
	a.begin()
	a.control.SetWriteDeadline(time.Now().Add(a.patience)) //nolint:errcheck // all connections have deadlines
	err := do()
	a.control.SetWriteDeadline(time.Time{}) //nolint:errcheck // all connections have deadlines
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

// FlushError implements the interface that [http.ResponseController] uses.
func (a *answering) FlushError() error { return a.timed(a.control.Flush) }

// Flush implements [http.Flusher].
func (a *answering) Flush() { a.FlushError() } //nolint:errcheck // the next write returns the error

// Unwrap returns the underlying writer, for [http.ResponseController].
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
