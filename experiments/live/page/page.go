// Package page shows a live market in a browser: prices, hosts, contracts with the numbers
// behind each decision, and the ledger. It is read-only. The tables also work without scripts.
// With scripts, they are updated, and charts show their contents.
//
// # What is public
//
// Anyone who can connect to a market may read the page, and may also use the commands 'bourse
// job top', 'price' and 'status'. The page shows the same information as these commands, in
// the same words and digits. It covers hosts and their tasks, prices, and contracts by number
// with account, terms, decision, hosts, money and receipts. The page does not show jobs, files
// or program output, because only their owner may read these. It shows the head of the ledger
// and the receipts of contracts. Access to other entries and to balances requires rights, so
// the page omits them.
//
// The package is independent of how decisions are made.
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

// A Market is the source of the page's data, such as a [live.Market].
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

// A Config describes the content of the page.
type Config struct {
	Market  Market
	Rules   live.Config
	Ledger  string // id
	Version string // version of this program
	Address string // address announced to others, as HOST or HOST:PORT; empty if the market serves only this machine

	Now  func() float64                        // instant
	Head func(context.Context) (string, error) // function that returns the head of the ledger
}

//go:embed static
var static embed.FS

//go:embed templates
var templates embed.FS

// policy is the content security policy: a browser may load content only from this server and
// must not run inline scripts.
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

// New returns the HTTP handler that serves browsers.
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
		http.Error(w, "found a request for another host, want the IP address or the host name of the market", http.StatusMisdirectedRequest)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// calls reports whether host is a name of this market: an IP address, localhost or the
// announced name. If the request has any other name, another site may have directed the
// browser here (DNS rebinding) and could then read the page.
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
