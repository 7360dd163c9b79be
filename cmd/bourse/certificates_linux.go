package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"bourse/bank/certificate"
	"bourse/bank/whole"
	"bourse/experiments/live/lab"
	"bourse/hosts/link"

	"github.com/urfave/cli/v2"
)

// certificateNow and certificateNext return the paths of the current certificate with its key,
// and of the next certificate, in the folder of a market.
func certificateNow(dir string) string  { return lab.File(dir, "keys", "tls") }
func certificateNext(dir string) string { return lab.File(dir, "keys", "tls.next") }

const (
	announced  = 14 * 24 * time.Hour // delay after which a market starts to use its next certificate
	looksAfter = time.Second         // interval at which the files are checked
)

// A certificates contains the certificates of a served market: the current one and, during a
// rotation, the next one, which the market announces in its answers.
type certificates struct {
	dir   string
	log   *slog.Logger
	now   *certificate.File
	wrong string // error about the next certificate; empty if there is none
	pins  atomic.Pointer[string]

	announced time.Duration // time after which the next certificate is used
}

// openCertificates opens the certificates of the market in dir. It creates a certificate if
// there is none.
func openCertificates(dir string, log *slog.Logger) (*certificates, error) {
	s := &certificates{dir: dir, log: log, announced: announced}
	var err error
	s.now, err = link.Open(certificateNow(dir), "bourse market", func(c *tls.Certificate, err error) {
		if err != nil {
			log.Error("the old certificate remains in use: " + err.Error())
			return
		}
		log.Info("a new certificate is in use", "pin", link.Pin(c.Leaf.Raw))
	})
	if err != nil {
		return nil, err
	}
	s.look()
	return s, nil
}

// Pins returns the pin of the certificate and, if there is a next certificate, the pin of
// that one.
func (s *certificates) Pins() string { return *s.pins.Load() }

// server returns the TLS configuration of the market.
func (s *certificates) server() *tls.Config {
	c := link.ServerTLS(tls.Certificate{})
	c.Certificates, c.GetCertificate = nil, s.now.Handshake
	return c
}

// look reads the files of the certificates again, and reports whether the pins have changed.
func (s *certificates) look() bool {
	next, err := s.nextPin()
	wrong := ""
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if wrong = "no next certificate is announced: " + err.Error(); wrong != s.wrong {
			s.log.Error(wrong)
		}
	}
	s.wrong = wrong
	pins := link.Pin(s.now.Current().Leaf.Raw)
	if err == nil && next != pins {
		pins += "," + next
	}
	old := s.pins.Swap(&pins)
	changed := old != nil && *old != pins
	if changed && strings.Contains(pins, ",") {
		s.log.Info("a next certificate is announced", "pin", next)
	}
	return changed
}

// nextPin returns the pin of the next certificate. If the next certificate is old enough,
// nextPin replaces the current certificate with it.
func (s *certificates) nextPin() (string, error) {
	next := certificateNext(s.dir)
	text, err := whole.Existing(next)
	if err != nil {
		return "", err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", next, err)
	}
	info, err := os.Stat(next)
	if err != nil {
		return "", err
	}
	// The age counts from the time when the file appeared in the folder, not from the time
	// when it was written.
	if at, ok := info.Sys().(*syscall.Stat_t); ok && time.Since(time.Unix(at.Ctim.Unix())) > s.announced {
		err = os.Rename(next, certificateNow(s.dir))
	}
	return link.Pin(pair.Leaf.Raw), err
}

// watch checks the files until ctx is done. It calls changed whenever the pins have changed.
func (s *certificates) watch(ctx context.Context, changed func() error) error {
	tick := time.NewTicker(looksAfter)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if s.look() {
			if err := changed(); err != nil {
				s.log.Error(err.Error())
			}
		}
	}
}

var marketRotateCommand = command(`rotate DIR
replace the certificate of a market

Creates the next certificate of the market in DIR, unless DIR/keys/tls.next contains one, and
prints its pin. A running market announces it in every answer within a second. Agents and
users that call meanwhile accept both certificates. With --now, the next certificate replaces
the old one, which is refused from then on. Without --now, the market does that after 14 days.
No restart is needed. 'bourse docs certificates' describes the whole procedure.

   bourse live rotate lab
   bourse live rotate lab --now`, marketRotateAction)

type marketRotateOptions struct {
	Now bool `doc:"use the next certificate from now on"`
}

func marketRotateAction(c *cli.Context, o *marketRotateOptions) error {
	dir := c.Args().First()
	now, next := certificateNow(dir), certificateNext(dir)
	if _, err := os.Stat(now); err != nil {
		return usagef("%s: found no certificate, want the folder of a market that 'bourse live serve' started", dir)
	}
	if o.Now {
		if _, err := os.Stat(next); errors.Is(err, fs.ErrNotExist) {
			return usagef("--now: %s is missing: create it with 'bourse live rotate %s', so that the market announces it first", next, dir)
		}
	}
	pair, err := link.Identity(next, "bourse market")
	if err != nil {
		return err
	}
	state := "next"
	if o.Now {
		if err := os.Rename(next, now); err != nil {
			return err
		}
		state = "now"
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s  pin %s\n", state, link.Pin(pair.Leaf.Raw))
	return err
}
