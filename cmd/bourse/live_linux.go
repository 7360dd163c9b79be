package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/bank/owners"
	"bourse/bank/peers"
	"bourse/bank/place"
	bankservice "bourse/bank/service"
	"bourse/bank/store"
	"bourse/bank/whole"
	"bourse/experiments/live"
	"bourse/experiments/live/client"
	"bourse/experiments/live/lab"
	"bourse/experiments/live/metrics"
	"bourse/experiments/live/page"
	"bourse/experiments/live/service"
	"bourse/hosts/agent"
	"bourse/hosts/link"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

var liveStartCommand = command(`start [DIR]
run a market that sells this machine

The first start creates an owned bank, and an account with a key and $100. It also creates the
market's rules in market.yaml, unless DIR already contains this file. The command then runs the
bank, the market and an agent that sells this machine, until it is interrupted. To run a program,
use 'bourse job submit' in another terminal.

   bourse live start
   bourse job submit --work 60 --deadline 120 --budget 0.50 --class cac --wait -- ./render frame7

As root, or in a unit to which systemd delegates the cpu controller, the agent enforces shares with
cgroups and isolates users. Otherwise it enforces shares by stopping and continuing processes, and
runs only programs of this account. If the command is interrupted or killed, running tasks continue
for 20 seconds and are then paused. They resume when the market is started again.

For tests and demonstrations, you can offer the machine as several hosts, each with an equal part of
the processors:

   bourse live start --hosts 4 many`, liveAction)

type liveStartOptions struct {
	Name        string  `default:"lab" doc:"call a new market {NAME}"`
	Listen      string  `doc:"listen on {ADDRESS} of this machine (default: the address in market.yaml)"`
	Kind        string  `doc:"enforce shares with {KIND}: cgroup2, cgroup1, signals or none (default: the first that works); signals is inexact on a busy machine"`
	CPUs        float64 `doc:"sell {N} processors (default: all but one; all but half a processor on machines with fewer than four)"`
	heldOptions `yaml:",inline"`
	Hosts       int `default:"1" doc:"sell this machine as {N} hosts; only for a new market"`
	homeOption  `yaml:",inline"`
	logOption   `yaml:",inline"`
	quietOption `yaml:",inline"`
}

var liveCheckCommand = command(`check [DIR]
repeat a market's decisions from the log

The command passes the log to a new broker. It compares each decision, placement, charge and
settlement byte for byte. If the ledger is in the same folder, the command also compares its entries
with the requests in the log. The log covers the days set by 'keep' in market.yaml (default: 30; 0
means all). The log never begins before the last upgrade. Before an upgrade, check the log with the
old version. The market must not be running. The exit status is 3 if anything differs.

   bourse live check`, func(c *cli.Context, o *liveCheckOptions) error {
	dir, err := labDir(c)
	if err != nil {
		return err
	}
	found, err := checkLab(dir)
	if err != nil {
		return err
	}
	if o.JSON {
		err = printJSON(c, *found)
	} else if len(found.Differences) == 0 {
		since := ""
		if found.First > 1 {
			since = fmt.Sprintf(" from %d on", found.First)
		}
		_, err = fmt.Fprintf(c.App.Writer, "clean: %s%s, %s, %d calls to the bank\n", count(int(found.Records-found.First+1), "record"), since, count(found.Contracts, "contract"), found.Calls)
		for _, line := range found.Unsettled {
			fmt.Fprintf(c.App.Writer, "unsettled: %s\n", line)
		}
	} else {
		_, err = fmt.Fprintln(c.App.Writer, strings.Join(found.Differences, "\n"))
	}
	if err == nil && len(found.Differences) > 0 {
		err = errAudit
	}
	return err
})

type liveCheckOptions struct {
	homeOption                `yaml:",inline"`
	json2Option[live.Checked] `yaml:",inline"`
}

// checkLab checks the log of the lab in a folder and, if the folder contains the ledger, the
// ledger.
func checkLab(dir string) (*live.Checked, error) {
	r, err := store.OpenReader(lab.File(dir, "books"), store.Options{})
	if errors.Is(err, store.ErrNone) {
		return live.Check(lab.File(dir, "log"), nil, nil)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	found, err := live.Check(lab.File(dir, "log"), nil, func(yield func(*bank.Entry) bool) {
		for e := range r.Entries() {
			if !yield(e) {
				return
			}
		}
	})
	return found, errors.Join(err, r.Err())
}

func liveAction(c *cli.Context, o *liveStartOptions) error {
	home, err := userHome(c)
	if err != nil {
		return err
	}
	dir, err := labDir(c)
	if err != nil {
		return err
	}
	devices, err := o.devices()
	if err != nil {
		return err
	}
	sells := agent.Settings{Devices: devices, Memory: int64(o.RAM), Disk: int64(o.Storage), Bandwidth: int64(o.Bandwidth)}
	if devices == nil && o.Hosts == 1 {
		devices = agent.DetectDevices()
	}
	private, err := makeLab(c, devices, dir, home)
	if err != nil {
		return err
	}
	l, err := openLab(c, dir)
	if err != nil {
		return err
	}
	return errors.Join(l.live(c, sells, home, private), l.close())
}

// makeLab creates the market in dir unless it exists. If dir contains the file market.yaml, the
// rules are in this file. If it does not, the default rules apply, and memory and the given
// devices have a price. It returns the private key of the market's user.
func makeLab(c *cli.Context, devices agent.Devices, dir string, home client.Home) (private string, err error) {
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		return "", err
	}
	if private, err = keys.Keep(rand.Reader, home.KeyFile(), "me"); err != nil {
		return "", err
	}
	made, err := lab.Made(dir)
	if err != nil || made {
		return private, err
	}
	public, err := keys.Of(private)
	if err != nil {
		return "", err
	}
	file := lab.File(dir, "market.yaml")
	rules, err := whole.Read(file, mostText)
	from := file
	if errors.Is(err, fs.ErrNotExist) {
		priced := strings.Join(append([]string{"memory"}, slices.Sorted(maps.Keys(devices))...), ", ")
		rules, from = []byte("# The rules of a market: 'bourse live start --help'.\nname: "+c.String("name")+"\nmarket: {resources: ["+priced+"]}\n"), "--name"
	} else if err != nil {
		return "", err
	}
	conf, err := live.Parse(from, rules)
	switch {
	case err != nil:
		return "", usagef("%w", err)
	case c.IsSet("name") && c.String("name") != conf.Name:
		return "", usagef("--name: found %s, want %s, as in %s", c.String("name"), conf.Name, file)
	case conf.Bank != live.Default().Bank:
		return "", usagef("%s: found no key of the market; with a bank elsewhere (%s), create the key with 'bourse bank key %[1]s --name market' and enrol it at the bank, as 'bourse live serve --help' shows", lab.File(dir, "keys", "market"), place.WithoutPasswords(conf.Bank))
	}
	return private, lab.Make(c.Context, lab.Plan{
		Dir: dir, Market: conf.Name, Number: conf.Number, Rules: rules, Account: keeper, Public: public, Money: bank.Micros(100e6),
	}, wall())
}

// A labBank is the bank of a lab, either in its folder or elsewhere.
type labBank interface {
	bankservice.Ledger
	KeyOf(ctx context.Context, account string) (string, error)
	Payee(ctx context.Context, account, market string) (bool, error)
	Reads(ctx context.Context, account string) (bool, error)
	Head(ctx context.Context) (store.Head, error)
	Close() error
}

// A remoteBank is a bank that another process serves.
type remoteBank struct{ *bankservice.Client }

func (b remoteBank) Close() error {
	b.Client.Close()
	return nil
}

// openBank opens the bank named in the rules. The account of the market must have the given
// public key there.
func (l *runningLab) openBank(c *cli.Context, key string) error {
	address := l.conf.Bank
	if !isServed(address) {
		if !place.IsURL(address) {
			address = filepath.Join(l.dir, address)
		}
		s, err := place.At(address).Writer(store.Options{Now: l.clock.Now})
		if err == nil {
			l.bank, l.ledger = here{s}, s.Ledger()
			// The ledger uses the market's clock, which never moves backward.
			err = s.Look(c.Context, func(b *bank.Ledger) { l.clock.Reach(b.Now()) })
		}
		return err
	}
	own := "market:" + l.conf.Name
	b, err := bankservice.NewClient(bankservice.Dial{Addresses: strings.Split(address, ","), Pin: l.conf.BankPin, Account: own, Key: key, Now: l.clock.Now})
	if err != nil {
		return usagef("bank: %w", err)
	}
	public, err := keys.Of(key)
	if err != nil {
		return err
	}
	away := time.AfterFunc(2*time.Second, func() { l.log.Warn("waiting for the bank", "address", address) })
	id, having, err := b.Ledger(c.Context, public)
	away.Stop()
	if err == nil && !slices.Contains(having, own) {
		err = fmt.Errorf("the bank at %s does not know the key in keys/market as the key of %s: use 'bourse bank enrol' and 'bourse bank right'", address, own)
	}
	if err != nil {
		b.Close()
		return err
	}
	l.bank, l.ledger = remoteBank{b}, id
	return nil
}

// A runningLab is a market, its bank and a host in one process.
type runningLab struct {
	dir      string
	conf     live.Config
	bank     labBank
	ledger   string // id of the ledger
	market   *live.Market
	server   *service.Server
	measured *metrics.Metrics
	clock    *live.BootClock
	secret   string // secret of the operator
	log      *slog.Logger
	acts     io.Closer // log of operator actions

	address string        // address announced to others
	tls     *certificates // nil means plain HTTP
}

// openLab opens the market in dir.
func openLab(c *cli.Context, dir string) (l *runningLab, err error) {
	steadyMemory()
	l = &runningLab{dir: dir, clock: live.NewBootClock()}
	file := lab.File(dir, "market.yaml")
	text, err := whole.Read(file, mostText)
	if err != nil {
		return nil, err
	}
	if l.conf, err = live.Parse(file, text); err != nil {
		return nil, usagef("%w", err)
	}
	if l.log, err = newLog(c); err != nil {
		return nil, err
	}
	l.conf.Listen = cmp.Or(c.String("listen"), l.conf.Listen)
	key, err := keys.Read(lab.File(dir, "keys", "market"))
	if err != nil {
		return nil, err
	}
	if err = l.openBank(c, key); err != nil {
		return nil, err
	}
	if err = l.open(c, key); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *runningLab) open(c *cli.Context, key string) (err error) {
	l.secret = rand.Text()
	l.measured = metrics.New()
	w := live.World{
		Bank: l.bank, Ledger: l.ledger, Number: l.conf.Number, Key: key, Clock: l.clock, Meter: l.measured, Version: version(),
		Failed: func(err error) { l.log.Warn("the policy failed, so a request was rejected", "error", err) },
		KeyOf: func(ctx context.Context, account string) (string, error) {
			return soon(ctx, func(ctx context.Context) (string, error) { return l.bank.KeyOf(ctx, account) })
		},
		Payee: func(ctx context.Context, account string) (bool, error) {
			return soon(ctx, func(ctx context.Context) (bool, error) { return l.bank.Payee(ctx, account, l.conf.Name) })
		},
		Reads: func(ctx context.Context, account string) (bool, error) {
			return soon(ctx, func(ctx context.Context) (bool, error) { return l.bank.Reads(ctx, account) })
		},
	}
	if l.market, err = live.Open(lab.File(l.dir, "log"), l.conf, w); err != nil {
		return err
	}
	head := func(ctx context.Context) (string, error) {
		h, err := soon(ctx, l.bank.Head)
		if errors.Is(err, live.ErrAway) {
			return "away", nil
		}
		return h.String(), err
	}
	actions, acts, err := openActions(lab.File(l.dir, "audit.log"))
	if err != nil {
		return err
	}
	l.acts = acts
	l.server, err = service.New(service.Config{
		Actions: actions,
		Market:  l.market, Dir: l.dir, Name: l.conf.Name, Ledger: w.Ledger, Version: version(),
		Rate: float64(l.conf.Limits.Orders), Files: l.conf.Limits.Files, Now: l.clock.Now, Bank: l.bank, Admin: l.secret, Token: l.token, Users: l.users,
		Head: head, Metrics: l.measured.Of(metrics.State{Market: l.market, Offset: l.clock.Offset, Head: l.bank.Head}),
		Page: page.New(page.Config{
			Market: l.market, Rules: l.conf, Ledger: w.Ledger, Version: version(), Address: c.String("address"), Now: l.clock.Now, Head: head,
		}),
	})
	return err
}

// soon sends the bank a request that must be answered before any entry is booked. If the bank
// does not answer within two seconds, soon returns [live.ErrAway].
func soon[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	brief, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	answer, err := ask(brief)
	if err != nil && brief.Err() != nil && ctx.Err() == nil {
		err = live.ErrAway
	}
	return answer, err
}

// users returns the accounts that have keys. If the bank is elsewhere, it returns only the
// accounts that have called this market.
func (l *runningLab) users(ctx context.Context) (all []service.User, err error) {
	var names []string
	if b, ok := l.bank.(here); ok {
		err = b.Owners(ctx, func(o *owners.Owners, now float64) {
			for _, a := range o.Accounts(now) {
				if strings.HasPrefix(a.Account, "user:") {
					names = append(names, a.Account)
				}
			}
		})
	} else {
		var asked []live.Contract
		asked, err = l.market.List(live.Filter{Ended: true})
		for i := range asked {
			names = append(names, asked[i].Account)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	for _, name := range names {
		key, wrong := l.bank.KeyOf(ctx, name)
		if err = errors.Join(err, wrong); key == "" {
			continue // the key was revoked
		}
		u := service.User{Account: name, Key: key}
		if has, err := l.bank.Balance(ctx, name); err == nil { // a remote bank answers only the owners of an account
			u.Balance = has.String()
		}
		all = append(all, u)
	}
	return all, err
}

func (l *runningLab) close() error {
	var err error
	if l.market != nil {
		err = l.market.Close()
	}
	if l.acts != nil {
		err = errors.Join(err, l.acts.Close())
	}
	return errors.Join(err, l.bank.Close())
}

// loopback reports whether an address is reachable only from this machine.
func loopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback()
}

// token returns the token with which a host joins. It returns false if the market serves
// only this machine.
func (l *runningLab) token() (t link.Token, ok bool) {
	if l.tls == nil {
		return t, false
	}
	return link.NewToken(l.address, l.tls.Pins()), true
}

// live runs the lab with a host on this machine.
func (l *runningLab) live(c *cli.Context, sells agent.Settings, home client.Home, private string) error {
	if !loopback(l.conf.Listen) {
		return usagef("--listen: found %s, want a loopback address, such as 127.0.0.1:8421; to serve other machines, use 'bourse live serve'", l.conf.Listen)
	}
	listener, err := net.Listen("tcp", l.conf.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--listen: another program, perhaps another market, uses %s; --listen 127.0.0.1:0 selects a free port", l.conf.Listen)
	}
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	agents, err := openAgents(c, sells, l.dir, &l.conf.Limits, l.market.Hosts())
	defer func() {
		for _, a := range agents {
			a.Close()
		}
	}()
	if err != nil {
		return err
	}
	m := l.membership("http://" + listener.Addr().String())
	has, err := l.bank.Balance(c.Context, keeper)
	if err = errors.Join(err, home.Save(m, private)); err != nil {
		return err
	}
	offer, each, apart := agents[0].Offer, "", ""
	if len(agents) > 1 {
		each = " each"
	}
	if !offer.Apart {
		apart = " (users are not isolated, so it runs only programs of " + strings.Join(offer.Trust, ", ") + ")"
	}
	fmt.Fprintf(c.App.Writer, "market %s  %s  %s, %.4g processors%s, shares by %s%s\n", l.conf.Name, m.URL, count(len(agents), "host"), offer.CPUs, each, offer.Kind, apart)
	fmt.Fprintf(c.App.Writer, "account %s  $%v  key %s\n", keeper, has, home.KeyFile())
	return l.run(c.Context, m,
		func(ctx context.Context) error { return l.answer(ctx, listener, l.server.Handler(), nil) },
		func(ctx context.Context) error { return l.hosts(ctx, c, agents) })
}

// hosts adds the agents' hosts to the market in order and runs the agents.
func (l *runningLab) hosts(ctx context.Context, c *cli.Context, agents []*agent.Program) error {
	for i, a := range agents {
		spec, err := l.market.Spec(hostName(i), &a.Offer)
		if err == nil {
			err = l.market.Join(ctx, spec, keeper, "")
		}
		if err != nil {
			return err
		}
	}
	all, ctx := errgroup.WithContext(ctx)
	for i, a := range agents {
		all.Go(func() error {
			err := a.Serve(ctx, l.server, hostName(i), func(what string) { l.log.Warn(what, "host", hostName(i)) })
			if errors.Is(err, agent.ErrDrained) { // the market continues without this host
				l.log.Info(err.Error(), "host", hostName(i))
				<-ctx.Done()
				err = nil
			}
			return err
		})
	}
	return all.Wait()
}

// membership returns the operator's membership in the market at url.
func (l *runningLab) membership(url string) client.Membership {
	m := client.Membership{URL: url, Market: l.conf.Name, Ledger: l.ledger, Account: keeper}
	if l.tls != nil {
		m.Pin = l.tls.Pins()
	}
	return m
}

// run runs the market and its services until ctx is done or one of them fails.
func (l *runningLab) run(ctx context.Context, m client.Membership, parts ...func(context.Context) error) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := l.told(m); err != nil {
		return err
	}
	ended := make(chan error)
	parts = append(parts, l.market.Run, l.server.Tidy, l.watchBank)
	for _, part := range parts {
		go func() { ended <- part(ctx) }()
	}
	for range parts {
		err = errors.Join(err, <-ended)
		stop()
	}
	return err
}

// watchBank logs when the bank stops responding and when it responds again.
func (l *runningLab) watchBank(ctx context.Context) error {
	const looks = 2 * time.Second
	tick := time.NewTicker(looks)
	defer tick.Stop()
	away := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		is := l.market.Gauges().Away > looks.Seconds()
		switch {
		case is && !away:
			l.log.Warn("the bank does not respond; orders wait, and running tasks continue", "bank", place.WithoutPasswords(l.conf.Bank))
		case away && !is:
			l.log.Info("the bank responds again")
		}
		away = is
	}
}

// told writes the file with the address and the secret of the served market, for the market's
// operator.
func (l *runningLab) told(m client.Membership) error {
	return (&serving{m, l.secret}).save(l.dir)
}

// answer serves requests from a listener until ctx is done. Then it immediately answers the
// callers that are waiting for events.
func (l *runningLab) answer(ctx context.Context, listener net.Listener, h http.Handler, c *tls.Config) error {
	p := peers.Server{Handler: h, TLS: c, Base: ctx, Connections: l.conf.Limits.Connections, Bytes: service.MostBytes, Dropped: l.measured.Drop}
	return p.Serve(ctx, listener)
}
