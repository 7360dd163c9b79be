package certificate_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bourse/bank/certificate"
)

// pair returns a new certificate and its key, as one text and as its two parts.
func pair(t *testing.T) (both, cert, key []byte) {
	t.Helper()
	both, err := certificate.New(rand.Reader, "server")
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(both, []byte("-----BEGIN PRIVATE"))
	return both, both[:i], both[i:]
}

// expired returns a pair whose certificate was valid until an hour ago.
func expired(t *testing.T) []byte {
	t.Helper()
	both, _, key := pair(t)
	c, err := tls.X509KeyPair(both, both)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{SerialNumber: big.NewInt(7), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, like, like, c.Leaf.PublicKey, c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key...)
}

// TestFile checks with real handshakes that a server uses a new pair, whether the file was
// renamed or overwritten. If the pair is broken, truncated, mismatched, expired or missing,
// the old one remains in use and the problem is reported once. Existing connections continue
// after a change.
func TestFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "tls")
	first, _, _ := pair(t)
	second, secondCert, secondKey := pair(t)
	third, thirdCert, _ := pair(t)
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	var taken, refused int
	f, err := certificate.OpenFile(name, func() ([]byte, error) { return os.ReadFile(name) }, func(c *tls.Certificate, err error) {
		if err != nil {
			refused++
			t.Log(err)
		} else {
			taken++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: f.Handshake})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func(c net.Conn) {
				defer c.Close()
				var b [1]byte
				for {
					if _, err := c.Read(b[:]); err != nil {
						return
					}
					if _, err := c.Write(b[:]); err != nil {
						return
					}
				}
			}(c)
		}
	}()
	says := func(c net.Conn) {
		t.Helper()
		var b [1]byte
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(b[:]); err != nil {
			t.Fatal(err)
		}
	}
	// dial connects to the server, which must have the pair in a text.
	dial := func(what string, want []byte) net.Conn {
		t.Helper()
		c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Cleanup(func() { c.Close() })
		block, _ := pem.Decode(want)
		if got := c.ConnectionState().PeerCertificates[0].Raw; !bytes.Equal(got, block.Bytes) {
			t.Errorf("%s: another certificate than the one wanted", what)
		}
		says(c)
		return c
	}
	old := dial("at first", first)
	next := name + ".next"
	if err := os.WriteFile(next, second, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, name); err != nil {
		t.Fatal(err)
	}
	dial("renamed", second)
	says(old)
	for what, text := range map[string][]byte{
		"broken":    []byte("no certificate\n"),
		"empty":     nil,
		"cut":       third[:len(third)-40],
		"no key":    thirdCert,
		"only key":  secondKey,
		"mismatch":  slices.Concat(thirdCert, secondKey),
		"mismatch2": slices.Concat(secondCert, first[bytes.Index(first, []byte("-----BEGIN PRIVATE")):]),
		"expired":   expired(t),
	} {
		was := refused
		write(text)
		dial(what, second)
		dial(what, second)
		if refused != was+1 {
			t.Errorf("%s: reported %d times, want once", what, refused-was)
		}
	}
	was := refused
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	dial("gone", second)
	dial("gone", second)
	if refused != was+1 {
		t.Errorf("gone: reported %d times, want once", refused-was)
	}
	write(third)
	dial("written", third)
	if taken != 2 {
		t.Errorf("%d new pairs were reported, want 2", taken)
	}
}
