// Package certificate creates self-signed certificates, and TLS configurations that identify
// servers by their certificates. Trust is based on a pin, not on a name.
//
// The package is independent of the form of pins and of the parties that communicate.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"time"
)

// New returns a self-signed certificate and its P-256 key, as PEM, for servers and clients. The
// certificate never expires; it is valid while its pin is in use. The name is shown only to
// people.
func New(chance io.Reader, name string) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), chance)
	if err != nil {
		return nil, err
	}
	var serial [15]byte
	if _, err := io.ReadFull(chance, serial[:]); err != nil {
		return nil, err
	}
	like := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:]), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(chance, like, like, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	both := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(both, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}

// Client returns a TLS 1.3 configuration for a client. The client accepts a server only if
// accept returns no error for the server's certificate. The argument own is the client's
// certificate; without it, the client is anonymous.
func Client(own []tls.Certificate, accept func(*x509.Certificate) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: own,
		InsecureSkipVerify: true, // the function accept verifies the certificate instead
		VerifyConnection:   func(s tls.ConnectionState) error { return accept(s.PeerCertificates[0]) },
	}
}
