package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/bank/whole"
	"bourse/experiments/live"
	"bourse/experiments/live/client"
	"bourse/experiments/live/lab"
	"bourse/experiments/live/service"
	"bourse/hosts/link"

	"github.com/urfave/cli/v2"
)

// keeper is whose a market is that is made here.
const keeper = "user:me"

// A serving says where the market of a folder is served, for who keeps it.
type serving struct {
	client.Membership
	Secret string `json:"secret"`
}

// servingFile holds a serving, for its owner alone.
const servingFile = "serving.json"

func (s *serving) save(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return whole.Private(lab.File(dir, servingFile), append(text, '\n'))
}

func dirFlag() cli.Flag {
	return &cli.StringFlag{Name: "dir", Usage: "the market's folder is `DIR` (default: that of 'bourse live')"}
}

// defaultLab returns dir, or the folder of 'bourse live' if that is empty.
func defaultLab(c *cli.Context, dir string) (string, error) {
	home, err := userHome(c)
	return cmp.Or(dir, filepath.Join(string(home), "lab")), err
}

// labDir returns the folder of the lab that c names.
func labDir(c *cli.Context) (string, error) {
	dir, err := defaultLab(c, c.Args().First())
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// keeping returns the folder of the market that c keeps, and where it is served.
func keeping(c *cli.Context) (dir string, s serving, err error) {
	if dir, err = defaultLab(c, c.String("dir")); err != nil {
		return "", s, err
	}
	text, err := whole.Read(lab.File(dir, servingFile), mostText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", s, usagef("%s is not the folder of a market that has been served: 'bourse live' or 'bourse market serve' does", dir)
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return dir, s, err
}

// withKeeper calls f with a caller of the market that c keeps.
func withKeeper(c *cli.Context, f func(dir string, s *serving, m *service.Caller) error) error {
	dir, s, err := keeping(c)
	if err != nil {
		return err
	}
	m := s.Dial(nil)
	defer m.Close()
	return f(dir, &s, m)
}

func hostCommand() *cli.Command {
	return &cli.Command{
		Name:  "host",
		Usage: "the hosts of a market that is kept here",
		Subcommands: []*cli.Command{
			{
				Name: "invite", Usage: "print a token by which a machine joins, once and within an hour", ArgsUsage: "NAME",
				Description: `On the machine 'bourse agent --join TOKEN' uses it. What its users pay goes to --owner,
who has to be a payee of the market.

   bourse host invite h01 --owner user:me`,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "owner", Value: keeper, Usage: "pay `ACCOUNT`"},
					dirFlag(), homeFlag(),
				},
				Action: func(c *cli.Context) error {
					if err := bank.CheckName(c.String("owner")); err != nil {
						return usagef("--owner: %w", err)
					}
					return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
						token, err := m.InviteHost(c.Context, s.Secret, c.Args().First(), c.String("owner"))
						if err == nil {
							_, err = fmt.Fprintln(c.App.Writer, token)
						}
						return err
					})
				},
			},
			{
				Name: "list", Usage: "print the hosts",
				Description: `   bourse host list --json`,
				Flags:       []cli.Flag{dirFlag(), homeFlag(), jsonFlag[hostsShown]()},
				Action: func(c *cli.Context) error {
					return withKeeper(c, func(_ string, _ *serving, m *service.Caller) error {
						all, err := m.Hosts(c.Context)
						if err != nil {
							return err
						}
						if c.Bool("json") {
							return printJSON(c, hostsShown{all})
						}
						_, err = fmt.Fprint(c.App.Writer, client.HostTable(all))
						return err
					})
				},
			},
			{
				Name: "drain", Usage: "let a host take no more tasks, and leave when what runs there is done", ArgsUsage: "NAME",
				Description: `It is draining, and removed once its agent has left. With --now it is removed at once, as
by 'bourse host remove', and what runs there is lost.

   bourse host drain h01
   bourse host drain h01 --undo`,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "now", Usage: "do not wait for what runs"},
					&cli.BoolFlag{Name: "when-done", Usage: "wait for what runs, as it does if nothing is said"},
					&cli.BoolFlag{Name: "undo", Usage: "let it take tasks again, unless it is removed"},
					dirFlag(), homeFlag(),
				},
				Action: drainHostAction,
			},
			{
				Name: "remove", Usage: "give a host up: what runs there is lost", ArgsUsage: "NAME",
				Description: `To let what runs there end first, 'bourse host drain'.

   bourse host remove h01`,
				Flags: []cli.Flag{dirFlag(), homeFlag()},
				Action: func(c *cli.Context) error {
					return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
						return m.RemoveHost(c.Context, s.Secret, c.Args().First())
					})
				},
			},
		},
	}
}

func drainHostAction(c *cli.Context) error {
	now, undo := c.Bool("now"), c.Bool("undo")
	if now && (c.Bool("when-done") || undo) || undo && c.Bool("when-done") {
		return usagef("host drain: found two of --now, --when-done and --undo, want one")
	}
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		if now {
			return m.RemoveHost(c.Context, s.Secret, c.Args().First())
		}
		return m.DrainHost(c.Context, s.Secret, c.Args().First(), undo)
	})
}

// hostsShown is what programs read of hosts.
type hostsShown struct {
	Hosts []live.Host `json:"hosts"`
}

func userCommand() *cli.Command {
	return &cli.Command{
		Name:  "user",
		Usage: "the users of a market that is kept here",
		Subcommands: []*cli.Command{
			{
				Name: "invite", Usage: "print a token by which a user joins, once and within an hour", ArgsUsage: "ACCOUNT",
				Description: `Signs with the operator's key, in the market's folder, and gives the account money if asked.

   bourse user invite user:bob --money 20`,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "money", Usage: "issue `DOLLARS` to the account"},
					dirFlag(), homeFlag(),
				},
				Action: inviteUserAction,
			},
			{
				Name: "list", Usage: "print the accounts that may ask, with their keys and money",
				Description: `Those that have a key; where the bank is elsewhere, of those that have asked this market.

   bourse user list --json`,
				Flags:  []cli.Flag{dirFlag(), homeFlag(), jsonFlag[usersShown]()},
				Action: listUsersAction,
			},
			{
				Name: "remove", Usage: "revoke the key of an account: it can sign nothing any more", ArgsUsage: "ACCOUNT",
				Description: `Signs with the operator's key, in the market's folder. Contracts that are open go on, and
what the account has stays its own: who is invited again under the name has it.

   bourse user remove user:bob`,
				Flags:  []cli.Flag{dirFlag(), homeFlag()},
				Action: removeUserAction,
			},
		},
	}
}

func inviteUserAction(c *cli.Context) error {
	user := c.Args().First()
	if err := checkParty("ACCOUNT", user); err != nil {
		return err
	}
	var money bank.Amount
	if c.IsSet("money") {
		var err error
		if money, err = bank.Parse(c.String("money")); err != nil || money.Sign() <= 0 {
			return usagef("--money: found %q, want dollars above 0", c.String("money"))
		}
	}
	return withKeeper(c, func(dir string, s *serving, m *service.Caller) error {
		operator, err := keys.Read(lab.File(dir, "keys", "operator"))
		if err != nil {
			return err
		}
		invitation := secret()
		private, err := invitationKey(invitation)
		if err != nil {
			return err
		}
		public, err := keys.Of(private)
		if err != nil {
			return err
		}
		if err := passOrder(c, m, s.Ledger, "invite", "operator", operator, "of", user, "key", public); err != nil {
			return err
		}
		if money.Sign() > 0 {
			if err := passOrder(c, m, s.Ledger, "mint", "operator", operator, "to", user, "amount", money.String()); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintln(c.App.Writer, client.Invitation{URL: s.URL, Pin: s.Pin, Account: user, Secret: invitation})
		return err
	})
}

// usersShown is what programs read of users.
type usersShown struct {
	Users []service.User `json:"users"`
}

func listUsersAction(c *cli.Context) error {
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		all, err := m.Users(c.Context, s.Secret)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return printJSON(c, usersShown{append([]service.User{}, all...)})
		}
		w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, " account\tbalance\topen\tkey")
		for _, u := range all {
			fmt.Fprintf(w, " %s\t%s\t%d\t%s\n", u.Account, cmp.Or(u.Balance, "?"), u.Open, u.Key)
		}
		return w.Flush()
	})
}

func removeUserAction(c *cli.Context) error {
	user := c.Args().First()
	if err := checkParty("ACCOUNT", user); err != nil {
		return err
	}
	return withKeeper(c, func(dir string, s *serving, m *service.Caller) error {
		operator, err := keys.Read(lab.File(dir, "keys", "operator"))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the bank of this market has its operator elsewhere, who revokes the key of %s by 'bourse bank revoke'", user)
		}
		if err != nil {
			return err
		}
		return passOrder(c, m, s.Ledger, "revoke", "operator", operator, "of", user)
	})
}

// passOrder signs an order that says all there is to book, and has the market pass it to
// its bank.
func passOrder(c *cli.Context, m *service.Caller, ledger, kind, by, private string, fields ...string) error {
	note, err := orderNow(c, []string{private}, ledger, kind, rand.Text(), by, fields...)
	if err != nil {
		return err
	}
	_, err = m.Pass(c.Context, note)
	return err
}

func joinCommand() *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "become a user of a market, by the token of 'bourse user invite'",
		ArgsUsage: "[TOKEN]",
		Description: `Makes a key, which the account has from then on, and remembers the market for 'bourse
submit' and the like. TOKEN is a file that holds the token, or - for standard input; the token
itself is seen by all who list processes.

   bourse join bob.token

With --pin and without TOKEN it remembers another certificate of the market that it has joined
already, for a user who called nothing while the market announced it. The market's operator
tells the pin:

   bourse join --pin n1Fc…`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "pin", Usage: "accept the market's certificate `PIN` in place of the one known"},
			homeFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.IsSet("pin") {
				return joinAgain(c)
			}
			text := c.Args().First()
			if text == "" {
				return usagef("join: TOKEN is missing; see '%s --help'", c.Command.HelpName)
			}
			if !strings.Contains(text, "://") {
				in, err := readText(c, text)
				if err != nil {
					return usagef("TOKEN: want URL/SECRET/PIN/ACCOUNT, as 'bourse user invite' prints it, or a file that holds it: %w", err)
				}
				text = string(in)
			}
			i, err := client.ParseInvitation(text)
			if err != nil {
				return usagef("TOKEN: %w", err)
			}
			home, err := userHome(c)
			if err != nil {
				return err
			}
			old, err := home.Membership()
			if err == nil {
				return fmt.Errorf("this is %s of market %s already: give another --home", old.Account, old.Market)
			}
			private, err := home.Key()
			if errors.Is(err, fs.ErrNotExist) {
				private, _, err = keys.New(rand.Reader, strings.TrimPrefix(i.Account, "user:"))
			}
			if err != nil {
				return err
			}
			public, err := keys.Of(private)
			if err != nil {
				return err
			}
			by, err := invitationKey(i.Secret)
			if err != nil {
				return err
			}
			m := client.Membership{URL: i.URL, Pin: i.Pin, Account: i.Account}
			caller := m.Dial(nil)
			defer caller.Close()
			about, err := caller.About(c.Context)
			if err != nil {
				return err
			}
			m.Market, m.Ledger = about.Market, about.Ledger
			if err := home.Save(m, private); err != nil { // before the account has it
				return err
			}
			if err := passOrder(c, caller, m.Ledger, "enrol", i.Account, by, "of", i.Account, "key", public); err != nil {
				return errors.Join(err, home.Leave())
			}
			_, err = fmt.Fprintf(c.App.Writer, "market %s  %s\naccount %s  key %s\n", m.Market, m.URL, m.Account, home.KeyFile())
			return err
		},
	}
}

// joinAgain has the user accept another certificate of the market.
func joinAgain(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("join: found --pin and TOKEN, want one of them")
	}
	pin := c.String("pin")
	if err := link.CheckPins(pin); err != nil {
		return usagef("--pin: %w", err)
	}
	home, err := userHome(c)
	if err != nil {
		return err
	}
	m, err := home.Membership()
	if err != nil {
		return err
	}
	if m.Pin == "" {
		return fmt.Errorf("--pin: market %s is at %s, on this machine: it has no certificate", m.Market, m.URL)
	}
	private, err := home.Key()
	if err != nil {
		return err
	}
	m.Pin = pin
	caller := m.Dial(nil)
	defer caller.Close()
	about, err := caller.About(c.Context)
	if err != nil {
		return err
	}
	if about.Market != m.Market || about.Ledger != m.Ledger {
		return fmt.Errorf("--pin: the server at %s is market %s with ledger %s, want market %s with ledger %s", m.URL, about.Market, about.Ledger, m.Market, m.Ledger)
	}
	if err := home.Save(m, private); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "market %s  %s  pin %s\n", m.Market, m.URL, m.Pin)
	return err
}
