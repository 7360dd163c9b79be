package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"bourse/bank/keys"
	"bourse/bank/place"
	"bourse/bank/proof"
	"bourse/bank/service"
	"bourse/bank/store"

	"github.com/urfave/cli/v2"
)

var serveCommand = command(`serve DIR
serve a bank over a network

The server accepts Connect, gRPC and plain JSON (for example from curl) at
https://ADDRESS/bank.v1.Bank/CALL, over TLS 1.3. The paths /healthz and /metrics report the state of
the server. The first start creates a certificate, and a key that signs receipts, in --secrets. The
command prints the public key and the certificate's pin, by which clients identify the server:

   bourse bank serve books --listen 127.0.0.1:8424
   bourse bank transfer https://127.0.0.1:8424 user:ann user:bob 12.50 --id rent-1 \
      --key ann --pin sha256:5f7c…

In an owned bank, every order must be signed. An account can read its own entries. With the right
read or audit, it can read all entries. Anyone who can reach the address of an open bank can use it.
If all clients are on this machine, you can use plain HTTP:

   bourse bank serve books --plain
   curl -d '{}' -H 'Content-Type: application/json' http://127.0.0.1:8424/bank.v1.Bank/Head

If two servers serve one ledger in a database, only one writes. The other server waits, and
takes over within seconds if the first one fails. Give clients both addresses, separated by a
comma. Give both servers the same files in --secrets, so that clients need only one pin and one
key.

If you replace tls.pem, the server uses the new certificate and key for new connections. If the
new certificate or key is not valid, the server continues to use the old ones and logs the
reason.

On SIGTERM, the server answers the open requests and then exits.`, serveAction)

type serveOptions struct {
	Listen      string  `default:"127.0.0.1:8424" doc:"answer at {ADDRESS}"`
	Secrets     string  `shown:"DIR.secrets" doc:"store the certificate and the key in {FOLDER}, readable only by its owner"`
	Plain       bool    `doc:"use plain HTTP, on this machine only"`
	Rate        float64 `default:"1000" doc:"accept up to {N} orders per second from each account"`
	Connections int     `default:"4096" doc:"accept up to {N} connections, at most half of them from one address"`
	logOption   `yaml:",inline"`
}

// The names of files in the folder of secrets.
const (
	certificateFile = "tls.pem"
	receiptFile     = "receipts"
)

func serveAction(c *cli.Context, o *serveOptions) error {
	steadyMemory()
	address := c.Args().First()
	at, err := netip.ParseAddrPort(o.Listen)
	if err != nil {
		return usagef("--listen: found %q, want an address and a port, such as 127.0.0.1:8424", o.Listen)
	}
	if o.Plain && !at.Addr().IsLoopback() {
		return usagef("--plain: found --listen %v, which other machines can reach; want a loopback address such as 127.0.0.1:8424", at)
	}
	if rate := o.Rate; !(rate >= 1) {
		return usagef("--rate: found %v, want 1 or more", rate)
	}
	if n := o.Connections; n < 2 {
		return usagef("--connections: found %d, want 2 or more", n)
	}
	log, err := newLog(c)
	if err != nil {
		return err
	}
	p := place.At(address)
	config := service.Config{
		Read:   p.Reader,
		Now:    wall,
		Limits: service.Limits{Rate: o.Rate, Connections: o.Connections},
		Tell:   func(what string) { log.Info(place.WithoutPasswords(what), "bank", p.String()) },
		Waits:  place.IsURL(address), // only a database can have a second server that writes to it
		Write: func() (*store.Sequencer, error) {
			s, err := p.Writer(store.Options{Now: wall})
			if err != nil {
				return nil, err
			}
			if s.Ledger() == "" {
				note(c, "%v is open: anyone who can connect to %v may read everything and transfer any money", p, at)
			} else {
				note(c, "%v is owned: ledger %s", p, s.Ledger())
			}
			return s, nil
		},
	}
	r, err := p.Reader() // fails if there is no ledger
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	folder, err := secretsFolder(c, p)
	if err != nil {
		return err
	}
	if config.Key, err = keys.Keep(rand.Reader, filepath.Join(folder, receiptFile), "bank"); err != nil {
		return err
	}
	public, err := keys.Of(config.Key)
	if err != nil {
		return err
	}
	pin, scheme := "", "http"
	if !o.Plain {
		certificate, is, err := service.Certificate(filepath.Join(folder, certificateFile), config.Tell)
		if err != nil {
			return err
		}
		config.Certificate, pin, scheme = certificate, is, "https"
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if pin != "" {
		pin = "pin " + pin + "\n"
	}
	config.Ready = func() error {
		_, err := fmt.Fprintf(c.App.Writer, "address %s://%v\n%skey %s\n", scheme, l.Addr(), pin, public)
		return err
	}
	return service.Serve(c.Context, l, config)
}

// secretsFolder returns the folder of the certificate and the key. It creates the folder if
// necessary.
func secretsFolder(c *cli.Context, p place.Place) (string, error) {
	folder := c.String("secrets")
	if folder == "" {
		folder = filepath.Clean(c.Args().First()) + ".secrets"
		if place.IsURL(c.Args().First()) {
			name, err := p.Base()
			if err != nil {
				return "", err
			}
			folder = name + ".secrets"
		}
	}
	return folder, os.MkdirAll(folder, 0o700)
}

var bankCertificateCommand = command(`certificate FILE
create a certificate of a bank server, and print its pin

The command writes the certificate and its private key to FILE, which only its owner may read. If
FILE exists, the command prints the pin of its certificate. If you replace tls.pem in the --secrets
folder of 'bank serve' with FILE, the server uses the new certificate for new connections. The page
'bourse docs certificates' describes the replacement without interruptions for clients.

   bourse bank certificate books.secrets/tls.next`, func(c *cli.Context, _ *none) error {
	_, pin, err := service.Certificate(c.Args().First(), func(string) {})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "pin %s\n", pin)
	return err
})

var receiptCommand = command(`receipt FILE
check a receipt signed by a bank

The command prints one line SEQ:HASH ID for each request in the receipt. If FILE is -, the
command reads standard input. To check that the ledger still contains the entry, use 'bank audit
--receipt SEQ:HASH'. The exit status is 3 if the receipt was not signed with the key.

   bourse bank receipt receipt --public bank+…`, func(c *cli.Context, o *receiptOptions) error {
	public, err := publicKey(c, "public")
	if err != nil {
		return err
	}
	name := c.Args().First()
	text, err := readText(c, name)
	if err != nil {
		return err
	}
	r, err := proof.OpenReceipts(text, public)
	if err != nil {
		return bad(c, name, err)
	}
	if o.JSON {
		return printJSON(c, receiptOf(r))
	}
	note(c, "%s: of ledger %s", name, r.Ledger)
	for _, b := range r.Booked {
		if _, err := fmt.Fprintln(c.App.Writer, strings.TrimSpace(b.String()+" "+b.ID)); err != nil {
			return err
		}
	}
	return nil
})

type receiptOptions struct {
	Public                    string `doc:"check with the bank's public {KEY} (from 'bank serve'), given as text or as a file"`
	jsonOption[signedReceipt] `yaml:",inline"`
}

// A signedReceipt is the JSON form of a receipt that a bank signed.
type signedReceipt struct {
	Ledger string          `json:"ledger" doc:"id of the ledger, or open for an open bank"`
	Booked []bookedRequest `json:"booked"`
}

type bookedRequest struct {
	ID   string `json:"id"`
	Seq  int64  `json:"seq" doc:"number of the entry that booked the request"`
	Hash string `json:"hash" doc:"hash of the entry, in base64"`
}

func receiptOf(r proof.Receipts) signedReceipt {
	s := signedReceipt{Ledger: r.Ledger, Booked: []bookedRequest{}}
	for _, b := range r.Booked {
		s.Booked = append(s.Booked, bookedRequest{b.ID, b.Seq, b.Hash.String()})
	}
	return s
}
