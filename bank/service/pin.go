package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"time"
)

// Certificate returns the certificate in a file, which is made if there is none, for its
// owner alone, and the pin by which clients know it. It is one of a key on P-256 that signs
// itself: nobody vouches for it but who tells the pin.
func Certificate(file string) (c tls.Certificate, pin string, err error) {
	both, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		both, err = newCertificate()
		if err == nil {
			err = writeNew(file, both)
		}
	}
	if err != nil {
		return c, "", err
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		return c, "", errors.Join(err, fmt.Errorf("certificate %s: others may use its key: chmod 600 %s, or make a new one", file, file))
	}
	if c, err = tls.X509KeyPair(both, both); err != nil {
		return c, "", fmt.Errorf("certificate %s: %w", file, err)
	}
	return c, pinOf(c.Leaf), nil
}

// newCertificate returns a certificate and its key, as PEM.
func newCertificate() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	long := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	like := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "bourse bank"},
		NotBefore:    long,
		NotAfter:     long.AddDate(200, 0, 0), // it is known by its pin, and ends with that
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
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

// writeNew writes a file that only its owner may read.
func writeNew(file string, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

const pinStart = "sha256:"

// errPin means that a server is not the one that is wanted.
var errPin = errors.New("the server has another pin")

// pinOf returns the pin of a certificate: "sha256:" and the hash of its public key.
func pinOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return pinStart + hex.EncodeToString(sum[:])
}

// pinned returns what makes a client take the server with a pin, and no other.
func pinned(pin string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // nobody vouches for the certificate: its key is compared below
		VerifyConnection: func(s tls.ConnectionState) error {
			if is := pinOf(s.PeerCertificates[0]); is != pin {
				return fmt.Errorf("%w, want %s: found %s", errPin, pin, is)
			}
			return nil
		},
	}
}
