// Package page is a live market in a browser: prices, hosts, contracts with the numbers that
// decided them, and the ledger. It only shows; nobody can change anything by it. Without
// script its tables stand, and with it they follow the market, with charts of what is in
// them.
//
// # What is public
//
// Whoever reaches a market may look at it: that is so for 'bourse job top', 'price' and 'status',
// and the page shows what they print, in their words and digits. That is hosts with who is
// on them, prices, and contracts by number with account, terms, decision, places, money and
// receipts. It shows no job, no file and no output of a program, which are for their owner;
// of the ledger, it shows the head and the receipts of contracts, and no other entry and no
// balance, which are for those who may read there.
//
// It does not know how anything is decided.
package page

import (
	"context"
	"embed"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"bourse/experiments/live"
)

// A Market is what the page shows: a [live.Market].
type Market interface {
	Hosts() []live.Host
	Gauges() live.Gauges
	List(live.Filter) ([]live.Contract, error)
	Status(contract int64) (*live.Contract, error)
	Past(contract int64) []live.Mark
	Prices(host string, since float64) ([]live.Price, error)
	LastEvent() int64
	Events(ctx context.Context, after int64) ([]live.Event, error)
}

// A Config says what is shown.
type Config struct {
	Market  Market
	Rules   live.Config
	Ledger  string // id
	Version string // of this bourse
	Address string // that others are told, HOST or HOST:PORT; empty if the market answers this machine alone

	Now  func() float64                        // instant
	Head func(context.Context) (string, error) // of the ledger
}

//go:embed static
var static embed.FS

//go:embed templates
var templates embed.FS

// policy lets a browser load nothing but what is served here, and run no script in a page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// server answers browsers.
type server struct {
	Config
	pages    *template.Template
	mux      *http.ServeMux
	watchers atomic.Int32
	encoded  encoded
	copies   copies
}

// New returns what answers browsers.
func New(c Config) http.Handler {
	s := &server{Config: c, mux: http.NewServeMux()}
	s.pages = template.Must(template.New("").Funcs(functions).ParseFS(templates, "templates/*.html"))
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic("page: " + err.Error())
	}
	s.mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(files)))
	s.mux.HandleFunc("GET /events", s.events)
	for path, view := range map[string]func(*http.Request) (*view, error){
		"/{$}": s.market, "/contracts/{contract}": s.contract, "/hosts/{host}": s.host, "/ledger": s.ledger, "/about": s.about,
	} {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, view) })
	}
	s.mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.show(w, r, func(*http.Request) (*view, error) { return nil, errNoPage })
	})
	return s
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	if !s.calls(r.Host) {
		http.Error(w, "found a request for another host, want one by address, or by the name that the market has", http.StatusMisdirectedRequest)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// calls tells whether host is what this market is called: an address, localhost, or the
// name that others are told. By any other name a page of somebody else may have led here,
// which would then read this one as its own.
func (s *server) calls(host string) bool {
	name := func(address string) string {
		if h, _, err := net.SplitHostPort(address); err == nil {
			address = h
		}
		return strings.ToLower(strings.Trim(address, "[]"))
	}
	called := name(host)
	_, err := netip.ParseAddr(called)
	return err == nil || called == "localhost" || s.Address != "" && called == name(s.Address)
}
