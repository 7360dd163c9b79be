package link

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"

	"bourse/bank/certificate"
	"bourse/bank/whole"
)

// Pin returns what a certificate is known by: the SHA-256 of it.
func Pin(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Identity returns the certificate in a file, with its key, and makes both if there is
// none: P-256, for name, for ever. Whoever has the file is who it says.
func Identity(path, name string) (tls.Certificate, error) {
	text, err := whole.Secret(path, func() ([]byte, error) { return certificate.New(rand.Reader, name) })
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := tls.X509KeyPair(text, text)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ServerTLS is how a market listens: it asks who calls for a certificate, and takes any, or
// none. [Handler] knows whose it is.
func ServerTLS(own tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own},
		ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"},
	}
}

// ClientTLS is how hosts and users dial: the market is whoever has the certificate of that
// pin. Who has none of his own is nobody in particular.
func ClientTLS(own []tls.Certificate, pin string) *tls.Config {
	return certificate.Client(own, func(c *x509.Certificate) error {
		if Pin(c.Raw) != pin {
			return errors.New("it is not the market of the token: its certificate is another")
		}
		return nil
	})
}
