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

// pinsHeader is the header of answers in which a market announces its current and next pins.
const pinsHeader = "Bourse-Pins"

// Announce adds the market's current and next pins, separated by a comma, to each answer of h.
// A client that receives both over a trusted connection trusts both from then on.
func Announce(h http.Handler, pins func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(pinsHeader, pins())
		h.ServeHTTP(w, r)
	})
}

// Pins contains the pins of a market that a client accepts: one, or two while the market
// changes its certificate. The methods of Pins are safe for concurrent use.
type Pins struct {
	changed func(pins string)
	mu      sync.Mutex
	text    string
}

// NewPins parses pins separated by commas. Whenever the market announces other pins, Pins calls
// changed with their text, unless changed is nil.
func NewPins(text string, changed func(pins string)) *Pins {
	return &Pins{changed: changed, text: text}
}

// accepts returns nil if the certificate matches one of the pins.
func (p *Pins) accepts(c *x509.Certificate) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(strings.Split(p.text, ","), Pin(c.Raw)) {
		return errors.New("it is not the market of the token: it has a different certificate")
	}
	return nil
}

// learn stores the pins that the market announced.
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

// Transport returns a transport to a market with one of the pins. The client authenticates
// itself with own; without a certificate it is anonymous.
func (p *Pins) Transport(own []tls.Certificate, t *http.Transport) http.RoundTripper {
	t.TLSClientConfig = certificate.Client(own, p.accepts)
	return &learning{t, p}
}

// A learning is a transport that stores the pins announced in answers.
type learning struct {
	*http.Transport // provides CloseIdleConnections
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
