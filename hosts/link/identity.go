package link

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"fmt"

	"bourse/bank/certificate"
	"bourse/bank/whole"
)

// Pin returns the pin of a certificate, which is its SHA-256.
func Pin(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Identity reads a certificate and its key from a file. If the file does not exist, Identity
// creates it, with a P-256 key and a certificate for the given name that does not expire.
// Anyone who has the file can act under this identity.
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

// ServerTLS returns the TLS configuration of a market. It requests a client certificate and
// accepts any certificate, or none. [Handler] checks to which host the certificate belongs.
func ServerTLS(own tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own},
		ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"},
	}
}

// Open opens the certificate in a file. If the file does not exist, Open creates it as
// [Identity] does. The file may be replaced later. Open calls notify after each change; see
// [certificate.OpenFile].
func Open(path, name string, notify func(*tls.Certificate, error)) (*certificate.File, error) {
	if _, err := Identity(path, name); err != nil {
		return nil, err
	}
	return certificate.OpenFile(path, func() ([]byte, error) { return whole.Existing(path) }, notify)
}
