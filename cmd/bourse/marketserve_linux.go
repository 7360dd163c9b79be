package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"bourse/hosts/link"

	"github.com/urfave/cli/v2"
)

var marketServeCommand = command(`serve DIR
run a market that sells other machines

Creates in DIR what 'bourse live start' creates, and runs the bank and the market,
without a host on this machine. Users and hosts connect by TLS 1.3 and identify the
market by the certificate in their tokens. Hosts only connect out.

   bourse live serve lab --listen 0.0.0.0:8421 --address 192.0.2.7:8421
   bourse live host invite h01 --dir lab       # then 'bourse live agent --join TOKEN' on that machine
   bourse live user invite user:bob --dir lab  # then 'bourse live user join TOKEN' by that user

With a bank elsewhere, DIR contains the rules and the market's key. The bank's operator
grants three rights: the market may settle, the owners of hosts may be paid, and the
operator may issue money. With the operator's key in keys/operator, 'bourse live user
invite' works, too ('bourse docs install' shows all of this):

   bourse bank right books operator mint --cap 1000 --period 604800 --key operator
   mkdir -p lab/keys && bourse bank key lab/keys/market --name market > market.pub
   bourse bank enrol https://192.0.2.1:8424 market:lab --key market.pub --operator operator --pin sha256:5f…
   bourse bank right https://192.0.2.1:8424 market:lab settle --number 1 --key operator --pin sha256:5f…
   bourse bank right https://192.0.2.1:8424 user:me payee --market lab --key operator --pin sha256:5f…
   printf 'name: lab\nnumber: 1\nbank: https://192.0.2.1:8424\nbank_pin: sha256:5f…\n' > lab/market.yaml
   cp operator lab/keys/operator`, marketServeAction)

type marketServeOptions struct {
	Name        string `default:"lab" doc:"call a new market {NAME}"`
	Listen      string `doc:"listen at {ADDRESS} (default: the address in market.yaml)"`
	Address     string `doc:"announce {ADDRESS} to hosts and users (default: the address in --listen)"`
	homeOption  `yaml:",inline"`
	logOption   `yaml:",inline"`
	quietOption `yaml:",inline"`
}

func marketServeAction(c *cli.Context, _ *marketServeOptions) error {
	home, err := userHome(c)
	if err != nil {
		return err
	}
	dir := c.Args().First()
	private, err := makeLab(c, nil, dir, home)
	if err != nil {
		return err
	}
	l, err := openLab(c, dir)
	if err != nil {
		return err
	}
	if l.tls, err = openCertificates(dir, l.log); err != nil {
		return errors.Join(err, l.close())
	}
	save := func(url string) error {
		if _, local := l.bank.(here); !local {
			return nil // the balances of a remote bank are not visible to this program
		}
		return home.Save(l.membership(url), private)
	}
	return errors.Join(l.serve(c, save), l.close())
}

// serve runs the market for other machines.
func (l *runningLab) serve(c *cli.Context, save func(url string) error) error {
	listener, err := net.Listen("tcp", l.conf.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	l.address = cmp.Or(c.String("address"), listener.Addr().String())
	url := "https://" + l.address
	if err := save(url); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "market %s  %s  pin %s\n", l.conf.Name, url, l.tls.Pins())
	mux := http.NewServeMux()
	mux.Handle("/", l.server.Handler())
	mux.Handle(link.Handler(l.server))
	return l.run(c.Context, l.membership(url),
		func(ctx context.Context) error {
			return l.answer(ctx, listener, link.Announce(mux, l.tls.Pins), l.tls.server())
		},
		func(ctx context.Context) error {
			return l.tls.watch(ctx, func() error { return errors.Join(l.told(l.membership(url)), save(url)) })
		})
}
