package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"bourse/bank/certificate"
)

// pinsHeader is the header of answers in which a market announces the pins that it may have.
const pinsHeader = "Bourse-Pins"

// Announce adds to every answer of h the pins that the market has now and will have next, with
// a comma between them: who reads them, over a connection to a certificate that it trusts,
// trusts both from then on.
func Announce(h http.Handler, pins func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(pinsHeader, pins())
		h.ServeHTTP(w, r)
	})
}

// Pins are the certificates that a client accepts of a market: one, and during a rotation the
// next one, too. Its methods may be called at once.
type Pins struct {
	changed func(pins string)
	mu      sync.Mutex
	text    string
}

// NewPins returns the pins in a text, with commas between them. Changed is called, unless it is
// nil, with the text that the market has announced in place of it.
func NewPins(text string, changed func(pins string)) *Pins {
	return &Pins{changed: changed, text: text}
}

// accepts returns nil if a certificate is one of these.
func (p *Pins) accepts(c *x509.Certificate) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(strings.Split(p.text, ","), Pin(c.Raw)) {
		return errors.New("it is not the market of the token: its certificate is another")
	}
	return nil
}

// learn takes the pins that the market has announced.
func (p *Pins) learn(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text == text || text == "" || CheckPins(text) != nil {
		return
	}
	p.text = text
	if p.changed != nil {
		p.changed(text)
	}
}

// Transport returns a way to a market that has one of the pins, for who has own. Who has no
// certificate of his own is nobody in particular.
func (p *Pins) Transport(own []tls.Certificate, t *http.Transport) http.RoundTripper {
	t.TLSClientConfig = certificate.Client(own, p.accepts)
	return &learning{t, p}
}

// learning is a transport that learns pins from answers.
type learning struct {
	*http.Transport // closes idle connections
	pins            *Pins
}

// RoundTrip implements [http.RoundTripper].
func (l *learning) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.Transport.RoundTrip(r)
	if err == nil && answer.TLS != nil {
		l.pins.learn(answer.Header.Get(pinsHeader))
	}
	return answer, err
}
