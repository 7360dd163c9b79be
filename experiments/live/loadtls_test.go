package live_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"bourse/experiments/live"
	"bourse/experiments/live/page"
	"bourse/experiments/live/service"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// BenchmarkLoad runs a market under load (see [live.Load]), both directly and over TLS,
// where each host has its own connection.
func BenchmarkLoad(b *testing.B) {
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			live.Load(b, live.Directly)
		}
	})
	b.Run("tls", func(b *testing.B) {
		for b.Loop() {
			live.Load(b, byTLS)
		}
	})
}

// A known is a market for the network in which the name of each host is known by its pin.
type known struct {
	*service.Server
	hosts map[string]string // names of hosts, by pin
}

// Host implements [link.Market].
func (k known) Host(pin string) (string, error) { return k.hosts[pin], nil }

// byTLS serves m like 'bourse live serve' and returns the ways in which hosts and clients
// reach it over the network.
func byTLS(b *testing.B, m *live.Market, w live.World, dir string) live.Ways {
	try := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	own, err := link.Identity(filepath.Join(dir, "tls"), "bourse market")
	try(err)
	head := func(context.Context) (string, error) { return "", nil }
	s, err := service.New(service.Config{
		Market: m, Dir: dir, Name: "lab", Ledger: w.Ledger, Rate: 1e6, Files: 1e9, Now: w.Clock.Now, Bank: w.Bank, Head: head, Metrics: http.NotFoundHandler(),
		Page: page.New(page.Config{Market: m, Ledger: w.Ledger, Now: w.Clock.Now, Head: head}),
	})
	try(err)
	hosts, pins := make(map[string]*link.Client), make(map[string]string)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	try(err)
	address, pin := l.Addr().String(), link.Pin(own.Certificate[0])
	for h := range live.LoadHosts {
		name := live.LoadHost(h)
		c, err := link.Identity(filepath.Join(dir, "tls-"+name), name)
		try(err)
		hosts[name], pins[link.Pin(c.Certificate[0])] = link.Dial(address, link.NewPins(pin, nil), c), name
	}
	mux := http.NewServeMux()
	mux.Handle("/", s.Handler())
	mux.Handle(link.Handler(known{s, pins}))
	server := &http.Server{Handler: mux}
	go server.Serve(tls.NewListener(l, link.ServerTLS(own)))
	b.Cleanup(func() { server.Close() })
	clients := &http.Client{Transport: link.NewPins(pin, nil).Transport(nil, &http.Transport{ForceAttemptHTTP2: true})}
	caller := service.Dial("https://"+address, clients)
	return live.Ways{
		Sync: func(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error) {
			return hosts[host].Sync(ctx, host, t)
		},
		Submit: caller.Submit,
		Prices: func(ctx context.Context, host string, since float64) error {
			_, err := caller.Prices(ctx, host, since)
			return err
		},
		Watch: func(ctx context.Context) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/events", nil)
			try(err)
			answer, err := clients.Do(r)
			if err != nil {
				return
			}
			defer answer.Body.Close()
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			}
		},
	}
}
