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

// A Config says what a server serves, and how.
type Config struct {
	// Write opens the ledger to write it. The server opens it again whenever it was lost.
	Write func() (*store.Sequencer, error)

	// Waits has the server wait where the ledger cannot be opened the first time, too:
	// another may write it, or its database may be away. Else that is an error.
	Waits bool

	// Read opens the ledger to read its entries, in use or not.
	Read func() (*store.Reader, error)

	Key         string            // private, signs receipts
	Certificate *certificate.File // nil speaks plain HTTP, and is for tests and this machine alone
	Limits      Limits
	Now         func() float64    // tells the seconds since 2000-01-01 UTC
	Tell        func(what string) // is told what happens to the ledger; nil tells nobody

	// Ready is called once, when the ledger has been opened, or is waited for, and before
	// the first call is answered; nil calls nobody.
	Ready func() error
}

// A server answers for one ledger.
type server struct {
	Config
	signer  note.Signer
	public  string
	metrics *metrics
	buckets Buckets
	calls   chan struct{} // one in it for each call that is answered
	reading chan struct{} // one in it while entries are read

	ledger atomic.Pointer[store.Sequencer] // nil while this server does not write it
	again  chan struct{}                   // holds one: the ledger seems lost
}

// newServer returns a server.
func newServer(c Config) (*server, error) {
	signer, err := note.NewSigner(c.Key)
	if err != nil {
		return nil, errors.New("the key is not a private one, as 'bourse key new' writes it")
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

// handler returns what answers calls, and for health and metrics.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	path, calls := wire.NewBankHandler(s,
		connect.WithReadMaxBytes(s.Limits.Bytes),
		connect.WithCompressMinBytes(1<<14), // below, to compress costs more than to send
		connect.WithInterceptors(s.metrics.interceptor(), s.bound()))
	mux.Handle(path, noPages(calls))
	mux.HandleFunc("GET /healthz", s.health)
	mux.Handle("GET /metrics", s.metrics.handler())
	return mux
}

// noPages refuses calls that a page has a browser on this machine send.
func noPages(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			const refused = 403
			http.Error(w, "pages do not ask a bank", refused)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// bound gives each call its deadline, and refuses those that are too many. A call counts from
// when all of it has arrived, until its answer is known.
func (s *server) bound() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			select {
			case s.calls <- struct{}{}:
				defer func() { <-s.calls }()
			default:
				return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("too many calls at once: ask again later"))
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

// Serve answers at l until ctx ends, then answers those calls that it has begun, closes
// the ledger and returns.
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

// serve answers at l until ctx ends.
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

// How long to wait before the ledger is asked for again, and between two looks whether it
// is still there.
const (
	pause = 200 * time.Millisecond
	look  = 500 * time.Millisecond
)

// keep keeps the ledger open until ctx ends: l, nil while another writes it, and when it is
// lost, that which opens again.
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
				err = errors.New("waiting: another server writes the ledger")
			}
			tell(err.Error())
		}
	}
}

// watch returns when ctx has ended, or l is lost.
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

// wait waits, and tells whether ctx has not ended meanwhile.
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

// lost has the ledger looked at, if err says that it may be lost.
func (s *server) lost(err error) {
	if errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrClosed) {
		select {
		case s.again <- struct{}{}:
		default:
		}
	}
}
