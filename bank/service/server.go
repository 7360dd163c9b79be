package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"bourse/bank/certificate"
	"bourse/bank/keys"
	"bourse/bank/peers"
	"bourse/bank/store"
	"bourse/bank/wire"

	"connectrpc.com/connect"
	"golang.org/x/mod/sumdb/note"
)

// A Config configures a server.
type Config struct {
	// Write opens the ledger for writing. The server calls it again each time it has lost the
	// ledger.
	Write func() (*store.Sequencer, error)

	// Waits makes the server wait if the ledger cannot be opened the first time, because
	// another server writes it or its database is unavailable. If Waits is false, Serve returns
	// an error in these cases.
	Waits bool

	// Read opens the ledger for reading its entries, even while it is in use.
	Read func() (*store.Reader, error)

	Key         string            // private key that signs receipts
	Certificate *certificate.File // nil means plain HTTP, which is permitted only in tests and on the loopback interface
	Limits      Limits
	Now         func() float64    // function that returns the seconds since 2000-01-01 UTC
	Tell        func(what string) // called with events of the ledger; may be nil

	// Ready is called once, when the ledger has been opened or the server waits for it. The
	// server calls it before it answers the first call. Ready may be nil.
	Ready func() error
}

// A server serves one ledger.
type server struct {
	Config
	signer  note.Signer
	public  string
	metrics *metrics
	buckets Buckets
	calls   chan struct{} // contains one element per call in progress
	reading chan struct{} // contains one element while entries are read

	ledger atomic.Pointer[store.Sequencer] // nil while this server does not write the ledger
	again  chan struct{}                   // buffers one signal that the ledger may be lost
}

// newServer returns a server with the given configuration.
func newServer(c Config) (*server, error) {
	signer, err := note.NewSigner(c.Key)
	if err != nil {
		return nil, errors.New("not a private key as written by 'bourse bank key'")
	}
	public, err := keys.Of(c.Key)
	if err != nil {
		return nil, err
	}
	c.Limits = c.Limits.defaults()
	s := &server{Config: c, signer: signer, public: public, again: make(chan struct{}, 1)}
	s.metrics = newMetrics(&s.ledger)
	s.buckets.Rate = c.Limits.Rate
	s.calls = make(chan struct{}, c.Limits.Calls)
	s.reading = make(chan struct{}, 1)
	return s, nil
}

// handler returns the handler of calls, health checks and metrics.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	path, calls := wire.NewBankHandler(s,
		connect.WithReadMaxBytes(s.Limits.Bytes),
		connect.WithCompressMinBytes(1<<14), // compressing smaller replies costs more than sending them
		connect.WithInterceptors(s.metrics.interceptor(), s.bound()))
	mux.Handle(path, noPages(calls))
	mux.HandleFunc("GET /healthz", s.health)
	mux.Handle("GET /metrics", s.metrics.handler())
	return mux
}

// noPages rejects calls that web pages in a browser on this machine send.
func noPages(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			const refused = 403
			http.Error(w, "calls from web pages are not allowed", refused)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// bound gives each call a deadline and refuses calls over the limit. A call counts from its
// complete arrival until its reply is known.
func (s *server) bound() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			select {
			case s.calls <- struct{}{}:
				defer func() { <-s.calls }()
			default:
				return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("too many calls at the same time: try again later"))
			}
			ctx, cancel := context.WithTimeout(ctx, s.Limits.Deadline)
			defer cancel()
			return next(ctx, r)
		}
	})
}

func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.ledger.Load() == nil {
		fmt.Fprintln(w, "waiting")
		return
	}
	fmt.Fprintln(w, "writing")
}

// Serve serves calls on l until ctx is done. Afterwards it completes the calls in progress,
// closes the ledger and returns.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	s, err := newServer(c)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return s.run(ctx, l)
}

func (s *server) run(ctx context.Context, l net.Listener) error {
	first, err := s.Write()
	if err != nil && !s.Waits {
		return errors.Join(err, l.Close())
	}
	if s.Ready != nil {
		if err := s.Ready(); err != nil {
			if first != nil {
				err = errors.Join(err, first.Close())
			}
			return errors.Join(err, l.Close())
		}
	}
	s.ledger.Store(first)
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var kept sync.WaitGroup
	var closed error
	kept.Go(func() { closed = s.keep(keeping, first) })
	err = s.serve(ctx, l)
	stop()
	kept.Wait()
	return errors.Join(err, closed)
}

// serve serves calls on l until ctx ends.
func (s *server) serve(ctx context.Context, l net.Listener) error {
	p := &peers.Server{
		Handler: s.handler(), Connections: s.Limits.Connections, Patience: min(peers.Patience, s.Limits.Deadline), Dropped: s.metrics.drop,
		Bytes: func(*http.Request) int64 { return int64(s.Limits.Bytes) + 1<<10 },
	}
	if s.Certificate != nil {
		p.TLS = &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: s.Certificate.Handshake}
	}
	return p.Serve(ctx, l)
}

// pause is the time between two attempts to open the ledger, and look is the time between two
// checks that the ledger is still available.
const (
	pause = 200 * time.Millisecond
	look  = 500 * time.Millisecond
)

// keep keeps the ledger open until ctx is done. The argument l is the open ledger, or nil
// while another server writes it. If the ledger is lost, keep opens it again.
func (s *server) keep(ctx context.Context, l *store.Sequencer) error {
	said := ""
	tell := func(what string) {
		if s.Tell != nil && what != said {
			s.Tell(what)
		}
		said = what
	}
	for {
		if l != nil {
			tell("writing")
			s.ledger.Store(l)
			s.watch(ctx, l)
			s.ledger.Store(nil)
			err := l.Close()
			if ctx.Err() != nil {
				return err
			}
			tell(fmt.Sprintf("lost the ledger: %v", err))
		}
		if !wait(ctx, pause) {
			return nil
		}
		var err error
		if l, err = s.Write(); err != nil {
			l = nil
			if errors.Is(err, store.ErrLocked) {
				err = errors.New("on standby: another server writes the ledger")
			}
			tell(err.Error())
		}
	}
}

// watch returns when ctx is done or l has been lost.
func (s *server) watch(ctx context.Context, l *store.Sequencer) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		case <-tick.C:
		}
		if _, err := l.Head(ctx); errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrClosed) {
			return
		}
	}
}

// wait waits for d. It reports whether ctx is not done afterwards.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// lost triggers a check of the ledger if err means that it may be lost.
func (s *server) lost(err error) {
	if errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrClosed) {
		select {
		case s.again <- struct{}{}:
		default:
		}
	}
}
