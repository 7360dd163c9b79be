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

// Open opens the certificate in a file, which is made as by [Identity] if there is none and
// may be replaced later. Notify is called for each change: see [certificate.OpenFile].
func Open(path, name string, notify func(*tls.Certificate, error)) (*certificate.File, error) {
	if _, err := Identity(path, name); err != nil {
		return nil, err
	}
	return certificate.OpenFile(path, func() ([]byte, error) { return whole.Existing(path) }, notify)
}
