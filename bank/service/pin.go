package service

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bourse/bank/certificate"
	"bourse/bank/whole"
)

// Certificate opens the certificate in a file and returns it with the pin by which clients
// recognize it. If there is no file, it creates one that only its owner can read. After the
// file has changed, it calls tell with a message that names the certificate in use.
func Certificate(file string, tell func(what string)) (c *certificate.File, pin string, err error) {
	if _, err := whole.Secret(file, func() ([]byte, error) { return certificate.New(rand.Reader, "bourse bank") }); err != nil {
		return nil, "", fmt.Errorf("certificate %s: %w", file, err)
	}
	read := func() ([]byte, error) { return whole.Existing(file) }
	c, err = certificate.OpenFile(file, read, func(now *tls.Certificate, err error) {
		if err != nil {
			tell(fmt.Sprintf("the old certificate remains in use: %v", err))
		} else {
			tell("a new certificate is in use: pin " + pinOf(now.Leaf))
		}
	})
	if err != nil {
		return nil, "", fmt.Errorf("certificate: %w", err)
	}
	return c, pinOf(c.Current().Leaf), nil
}

const pinStart = "sha256:"

// errPin means that a server does not have the expected pin.
var errPin = errors.New("the server has a different pin")

// pinOf returns the pin of a certificate: "sha256:" and the hash of its public key.
func pinOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return pinStart + hex.EncodeToString(sum[:])
}

// pinned returns the TLS configuration of a client that accepts only servers with one of the
// pins.
func pinned(pins []string) *tls.Config {
	return certificate.Client(nil, func(c *x509.Certificate) error {
		if is := pinOf(c); !slices.Contains(pins, is) {
			return fmt.Errorf("%w: found %s, want %s", errPin, is, strings.Join(pins, " or "))
		}
		return nil
	})
}
