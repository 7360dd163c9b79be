// Package certificate makes certificates that nobody signs, and takes servers by theirs:
// who tells a pin vouches for them, not a name.
//
// It does not know what a pin looks like, nor who talks to whom.
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

// New returns a certificate and its key, as PEM: of a key on P-256 that signs itself, for
// servers and clients alike, and for ever: it ends with its pin. Name is for who reads it.
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

// Client is how those dial, by TLS 1.3, who take the server that is accepts, and no other.
// Who has no certificate of his own is nobody in particular.
func Client(own []tls.Certificate, is func(*x509.Certificate) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: own,
		InsecureSkipVerify: true, // nobody vouches for it: it is compared
		VerifyConnection:   func(s tls.ConnectionState) error { return is(s.PeerCertificates[0]) },
	}
}
