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

// keeper is the account that owns a market created here.
const keeper = "user:me"

// A serving is the address and the operator's secret of a served market.
type serving struct {
	client.Membership
	Secret string `json:"secret"`
}

// servingFile contains a serving. Only its owner may read the file.
const servingFile = "serving.json"

func (s *serving) save(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return whole.Private(lab.File(dir, servingFile), append(text, '\n'))
}

type dirOption struct {
	Dir string `doc:"use the market in the folder {DIR} (default: the folder that 'bourse live start' uses)"`
}

// defaultLab returns dir or, if dir is empty, the folder of 'bourse live start'.
func defaultLab(c *cli.Context, dir string) (string, error) {
	home, err := userHome(c)
	return cmp.Or(dir, filepath.Join(string(home), "lab")), err
}

// labDir returns the lab folder named on the command line.
func labDir(c *cli.Context) (string, error) {
	dir, err := defaultLab(c, c.Args().First())
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// keeping returns the folder of the operator's market, with the address and secret at which
// it is served.
func keeping(c *cli.Context) (dir string, s serving, err error) {
	if dir, err = defaultLab(c, c.String("dir")); err != nil {
		return "", s, err
	}
	text, err := whole.Read(lab.File(dir, servingFile), mostText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", s, usagef("%s is not the folder of a market; want a folder that 'bourse live start' or 'bourse live serve' created", dir)
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return dir, s, err
}

// withKeeper calls f with a client of the operator's market.
func withKeeper(c *cli.Context, f func(dir string, s *serving, m *service.Caller) error) error {
	dir, s, err := keeping(c)
	if err != nil {
		return err
	}
	m := s.Dial(nil)
	defer m.Close()
	return f(dir, &s, m)
}

var hostCommand = group(`host
manage the hosts of a market`, hostInviteCommand, hostListCommand, hostDrainCommand, hostRemoveCommand)

var hostInviteCommand = command(`invite NAME
print a token with which a machine can join

Use the token on the machine with 'bourse live agent --join TOKEN'. The market pays the charges for
the use of the host to the account in --owner, which must be a payee of the market.

   bourse live host invite h01 --owner user:me`, func(c *cli.Context, o *hostInviteOptions) error {
	if err := bank.CheckName(o.Owner); err != nil {
		return usagef("--owner: %w", err)
	}
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		token, err := m.InviteHost(c.Context, s.Secret, c.Args().First(), o.Owner)
		if err == nil {
			_, err = fmt.Fprintln(c.App.Writer, token)
		}
		return err
	})
})

type hostInviteOptions struct {
	Owner      string `default:"user:me" doc:"pay {ACCOUNT}"`
	dirOption  `yaml:",inline"`
	homeOption `yaml:",inline"`
}

var hostListCommand = command(`list
print the hosts

   bourse live host list --json`, func(c *cli.Context, o *hostListOptions) error {
	return withKeeper(c, func(_ string, _ *serving, m *service.Caller) error {
		all, err := m.Hosts(c.Context)
		if err != nil {
			return err
		}
		if o.JSON {
			return printJSON(c, hostsShown{all})
		}
		_, err = fmt.Fprint(c.App.Writer, client.HostTable(all))
		return err
	})
})

type hostListOptions struct {
	dirOption              `yaml:",inline"`
	homeOption             `yaml:",inline"`
	jsonOption[hostsShown] `yaml:",inline"`
}

var hostDrainCommand = command(`drain NAME
let a host finish its tasks and leave

The host accepts no more tasks, and is removed once its agent has left. With --now, it
is removed at once, as with 'bourse live host remove', and its running tasks are lost.

   bourse live host drain h01
   bourse live host drain h01 --undo`, drainHostAction)

type hostDrainOptions struct {
	Now        bool `doc:"remove the host now; its running tasks are lost"`
	WhenDone   bool `yaml:"when-done" doc:"wait for running tasks (the default)"`
	Undo       bool `doc:"accept tasks again, unless the host has already been removed"`
	dirOption  `yaml:",inline"`
	homeOption `yaml:",inline"`
}

var hostRemoveCommand = command(`remove NAME
remove a host and end its tasks

To let the host finish its tasks first, use 'bourse live host drain'.

   bourse live host remove h01`, func(c *cli.Context, _ *hostRemoveOptions) error {
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		return m.RemoveHost(c.Context, s.Secret, c.Args().First())
	})
})

type hostRemoveOptions struct {
	dirOption  `yaml:",inline"`
	homeOption `yaml:",inline"`
}

func drainHostAction(c *cli.Context, o *hostDrainOptions) error {
	now, undo := o.Now, o.Undo
	if now && (o.WhenDone || undo) || undo && o.WhenDone {
		return usagef("host drain: found several of --now, --when-done and --undo, want only one")
	}
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		if now {
			return m.RemoveHost(c.Context, s.Secret, c.Args().First())
		}
		return m.DrainHost(c.Context, s.Secret, c.Args().First(), undo)
	})
}

// hostsShown is the JSON form of hosts.
type hostsShown struct {
	Hosts []live.Host `json:"hosts"`
}

var userCommand = group(`user
manage the users of a market`, userInviteCommand, userListCommand, userRemoveCommand, joinCommand)

var userInviteCommand = command(`invite ACCOUNT
print a token with which a user can join

The command signs with the operator's key in the market's folder. With --money, it also
issues money to the account.

   bourse live user invite user:bob --money 20`, inviteUserAction)

type userInviteOptions struct {
	Money      string `doc:"issue {DOLLARS} to the account"`
	dirOption  `yaml:",inline"`
	homeOption `yaml:",inline"`
}

var userListCommand = command(`list
print the users, with their keys and balances

The command lists users with a key. If the bank is not in the market's folder, the command lists
only users who have sent requests to this market.

   bourse live user list --json`, listUsersAction)

type userListOptions struct {
	dirOption              `yaml:",inline"`
	homeOption             `yaml:",inline"`
	jsonOption[usersShown] `yaml:",inline"`
}

var userRemoveCommand = command(`remove ACCOUNT
revoke the key of an account

The command signs with the operator's key in the market's folder. Open contracts continue. The
account keeps its money, and can use it after a new invitation under the same name.

   bourse live user remove user:bob`, removeUserAction)

type userRemoveOptions struct {
	dirOption  `yaml:",inline"`
	homeOption `yaml:",inline"`
}

func inviteUserAction(c *cli.Context, o *userInviteOptions) error {
	user := c.Args().First()
	if err := checkParty("ACCOUNT", user); err != nil {
		return err
	}
	var money bank.Amount
	if c.IsSet("money") {
		var err error
		if money, err = bank.Parse(o.Money); err != nil || money.Sign() <= 0 {
			return usagef("--money: found %q, want dollars above 0", o.Money)
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

// usersShown is the JSON form of users.
type usersShown struct {
	Users []service.User `json:"users"`
}

func listUsersAction(c *cli.Context, o *userListOptions) error {
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		all, err := m.Users(c.Context, s.Secret)
		if err != nil {
			return err
		}
		if o.JSON {
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

func removeUserAction(c *cli.Context, _ *userRemoveOptions) error {
	user := c.Args().First()
	if err := checkParty("ACCOUNT", user); err != nil {
		return err
	}
	return withKeeper(c, func(dir string, s *serving, m *service.Caller) error {
		operator, err := keys.Read(lab.File(dir, "keys", "operator"))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the operator's key is not in the market's folder; to revoke the key of %s, use 'bourse bank revoke' where the operator's key is stored", user)
		}
		if err != nil {
			return err
		}
		return passOrder(c, m, s.Ledger, "revoke", "operator", operator, "of", user)
	})
}

// passOrder signs a complete order and sends it to the market, which forwards it to its bank.
func passOrder(c *cli.Context, m *service.Caller, ledger, kind, by, private string, fields ...string) error {
	note, err := orderNow(c, []string{private}, ledger, kind, rand.Text(), by, fields...)
	if err != nil {
		return err
	}
	_, err = m.Pass(c.Context, note)
	return err
}

var joinCommand = command(`join [TOKEN]
join a market as a user, with a token

Creates the key of the account, and stores the market's address for 'bourse job submit' and
similar commands. TOKEN is a file that contains the token, or - for standard input. A token on
the command line is visible to everyone who lists processes.

   bourse live user join bob.token

With --pin and without TOKEN, it stores another certificate of the market that it has
already joined, for a user who made no call while the market announced the certificate.
The market's operator sends the pin:

   bourse live user join --pin n1Fc…`, func(c *cli.Context, _ *joinOptions) error {
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
			return usagef("TOKEN: want URL/SECRET/PIN/ACCOUNT, as printed by 'bourse live user invite', or a file with such a token: %w", err)
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
		return fmt.Errorf("this folder is already used by %s in market %s; choose another folder with --home", old.Account, old.Market)
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
	if err := home.Save(m, private); err != nil { // the account does not have this key yet
		return err
	}
	if err := passOrder(c, caller, m.Ledger, "enrol", i.Account, by, "of", i.Account, "key", public); err != nil {
		return errors.Join(err, home.Leave())
	}
	_, err = fmt.Fprintf(c.App.Writer, "market %s  %s\naccount %s  key %s\n", m.Market, m.URL, m.Account, home.KeyFile())
	return err
})

type joinOptions struct {
	Pin        string `doc:"accept the market's certificate with this {PIN} instead of the known pin"`
	homeOption `yaml:",inline"`
}

// joinAgain makes the user's client accept the market's new certificate.
func joinAgain(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("join: found both --pin and TOKEN, want only one")
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
		return fmt.Errorf("--pin: market %s is at %s, on this machine, and has no certificate", m.Market, m.URL)
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
		return fmt.Errorf("--pin: at %s, found market %s with ledger %s, want market %s with ledger %s", m.URL, about.Market, about.Ledger, m.Market, m.Ledger)
	}
	if err := home.Save(m, private); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "market %s  %s  pin %s\n", m.Market, m.URL, m.Pin)
	return err
}
