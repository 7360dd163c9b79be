package certificate

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// A File is a certificate and its key in one PEM file. The file may be replaced while
// connections are made: the next handshake uses the new pair. The methods are safe for
// concurrent use.
type File struct {
	name   string
	read   func() ([]byte, error)
	notify func(*tls.Certificate, error)

	mu   sync.Mutex
	last os.FileInfo // state of the file when it was last read; nil if there was no file
	pair *tls.Certificate
}

// OpenFile loads the pair in a file. The function read returns the content of the file. From
// then on, the File calls notify once for each change to the file. It passes the new pair, or
// the reason why the old pair remains in use.
func OpenFile(name string, read func() ([]byte, error), notify func(*tls.Certificate, error)) (*File, error) {
	f := &File{name: name, read: read, notify: notify}
	f.last, _ = os.Stat(name)
	var err error
	f.pair, err = f.load()
	return f, err
}

// load returns the pair in the file, which must be valid at present.
func (f *File) load() (*tls.Certificate, error) {
	text, err := f.read()
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	now := time.Now()
	if c := pair.Leaf; now.Before(c.NotBefore) || now.After(c.NotAfter) {
		return nil, fmt.Errorf("%s: the certificate is valid from %s to %s", f.name, c.NotBefore.UTC().Format(time.DateTime), c.NotAfter.UTC().Format(time.DateTime))
	}
	return &pair, nil
}

// Current returns the pair in use, after checking whether the file has changed.
func (f *File) Current() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, _ := os.Stat(f.name)
	if now == f.last || now != nil && f.last != nil && os.SameFile(now, f.last) && now.ModTime().Equal(f.last.ModTime()) && now.Size() == f.last.Size() && now.Mode() == f.last.Mode() {
		return f.pair
	}
	f.last = now
	pair, err := f.load()
	if err == nil {
		f.pair = pair
	}
	f.notify(pair, err)
	return f.pair
}

// Handshake returns the current pair. It can be used as [tls.Config.GetCertificate].
func (f *File) Handshake(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.Current(), nil }
