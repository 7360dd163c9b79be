package service

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"

	"bourse/bank/certificate"
	"bourse/bank/whole"
)

// Certificate returns the certificate in a file, which is made if there is none, for its
// owner alone, and the pin by which clients know it.
func Certificate(file string) (c tls.Certificate, pin string, err error) {
	both, err := whole.Secret(file, func() ([]byte, error) { return certificate.New(rand.Reader, "bourse bank") })
	if err == nil {
		c, err = tls.X509KeyPair(both, both)
	}
	if err != nil {
		return c, "", fmt.Errorf("certificate %s: %w", file, err)
	}
	return c, pinOf(c.Leaf), nil
}

const pinStart = "sha256:"

// errPin means that a server is not the one that is wanted.
var errPin = errors.New("the server has another pin")

// pinOf returns the pin of a certificate: "sha256:" and the hash of its public key.
func pinOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return pinStart + hex.EncodeToString(sum[:])
}

// pinned is how clients dial who take the server with a pin, and no other.
func pinned(pin string) *tls.Config {
	return certificate.Client(nil, func(c *x509.Certificate) error {
		if is := pinOf(c); is != pin {
			return fmt.Errorf("%w, want %s: found %s", errPin, pin, is)
		}
		return nil
	})
}
