package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/bank/order"
	"bourse/bank/store"

	"github.com/urfave/cli/v2"
)

var ownCommand = command(`own DIR
turn an open bank into an owned bank, permanently

From then on, every entry needs a signed order. The paying account signs a transfer. An account with
the right mint signs an issue of money. The operator signs changes of keys and rights. Store the
recovery key offline. Its only use is to replace the operator's key. Accounts keep their money, and
can transfer it once they are enrolled.

   bourse bank key operator --name operator > operator.pub
   bourse bank key recovery --name recovery > recovery.pub
   bourse bank own books --operator operator.pub --recovery recovery.pub
   bourse bank enrol books user:ann --key ann.pub --operator operator

The administrator of the bank can still omit orders, or present an older copy of the ledger.
Receipts and checkpoints stored elsewhere reveal such a change. The command 'bank rights' prints
all keys and rights.`, ownAction)

type ownOptions struct {
	Operator                  string `doc:"set the operator's public key to {KEY}, given as text or as a file"`
	Recovery                  string `doc:"set the public recovery key to {KEY}, given as text or as a file"`
	pinOption                 `yaml:",inline"`
	jsonOption[store.Outcome] `yaml:",inline"`
}

func ownAction(c *cli.Context, _ *ownOptions) error {
	operator, err := publicKey(c, "operator")
	if err != nil {
		return err
	}
	recovery, err := publicKey(c, "recovery")
	if err != nil {
		return err
	}
	o, err := order.New("own", order.Field{Name: "ledger", Value: secret()}, order.Field{Name: "operator", Value: operator}, order.Field{Name: "recovery", Value: recovery})
	if err != nil {
		return usagef("%s: %w", commandName(c), err)
	}
	return withBank(c, func(b banked) error {
		if b.Ledger() != "" {
			return errors.New("the bank already has owners; 'bank rights' prints them")
		}
		e := bank.Entry{Kind: bank.Owner, Contract: bank.NoContract, ID: "own-" + o.Value("ledger"), Note: []byte(o.String()), Time: wall()}
		r, err := b.Do(c.Context, e)
		if err != nil {
			return err
		}
		return answer(c, b, e.ID, r)
	})
}

// secret returns 128 random bits as hexadecimal digits.
func secret() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// An ownerOptions contains the options of orders that an owner signs.
type ownerOptions struct {
	Key                       string `doc:"sign with the private key in {FILE}, created by 'bourse bank key'"`
	ID                        string `shown:"random" doc:"give the order the {ID}"`
	expiresOption             `yaml:",inline"`
	pinOption                 `yaml:",inline"`
	jsonOption[store.Outcome] `yaml:",inline"`
}

var enrolCommand = command(`enrol DIR ACCOUNT
give an account its first key

The operator signs the order, or the account's owner signs it with an invitation that 'bank invite'
printed for the account. An invitation is valid for one hour, and can be used only once.

   bourse bank enrol books user:ann --key ann.pub --operator operator
   bourse bank enrol books user:bob --key bob.pub --invitation invitation`, enrolAction)

type enrolOptions struct {
	Key                       string `doc:"set the account's public key to {KEY}, given as text or as a file"`
	Operator                  string `doc:"sign with the operator's key in {FILE}"`
	Invitation                string `doc:"sign with the invitation in {FILE}; - means standard input"`
	ID                        string `shown:"random" doc:"give the order the {ID}"`
	expiresOption             `yaml:",inline"`
	pinOption                 `yaml:",inline"`
	jsonOption[store.Outcome] `yaml:",inline"`
}

func enrolAction(c *cli.Context, _ *enrolOptions) error {
	account := c.Args().Get(1)
	key, err := publicKey(c, "key")
	if err != nil {
		return err
	}
	by, private := "operator", ""
	switch {
	case c.IsSet("operator") == c.IsSet("invitation"):
		return usagef("%s: want exactly one of --operator and --invitation", commandName(c))
	case c.IsSet("invitation"):
		by = account
		private, err = readInvitation(c)
	default:
		private, err = privateKey(c, "operator")
	}
	if err != nil {
		return err
	}
	return say(c, "enrol", by, private, "of", account, "key", key)
}

// readInvitation returns the private key given by --invitation, which is a file or the
// invitation itself.
func readInvitation(c *cli.Context) (string, error) {
	text := c.String("invitation")
	if isInvitation(text) {
		return invitationKey(text)
	}
	in, err := readText(c, text)
	if err != nil {
		return "", fmt.Errorf("--invitation: found neither an invitation of 32 hexadecimal digits nor a file: %w", err)
	}
	return invitationKey(strings.TrimSpace(string(in)))
}

func isInvitation(text string) bool {
	b, err := hex.DecodeString(strings.ToLower(text))
	return err == nil && len(b) == 16
}

// invitationKey returns the private key derived from an invitation.
func invitationKey(text string) (string, error) {
	if !isInvitation(text) {
		return "", usagef("--invitation: found %.40q, want 32 hexadecimal digits, as printed by 'bank invite'", text)
	}
	return keys.Derive("invitation", strings.ToLower(text))
}

var inviteCommand = command(`invite DIR ACCOUNT
print an invitation with which an account gets its key

An invitation is a secret of 128 bits. Give it only to the owner of the account. The ledger stores
only a hash of the invitation, which does not reveal the invitation. A new invitation for the same
account replaces the previous one.

   bourse bank invite books user:bob --key operator`, func(c *cli.Context, _ *inviteOptions) error {
	token := secret()
	invitation, err := invitationKey(token)
	if err != nil {
		return err
	}
	public, err := keys.Of(invitation)
	if err != nil {
		return err
	}
	private, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	return withBank(c, func(b banked) error {
		if _, _, err := book(c, b, "invite", "operator", []string{private}, "of", c.Args().Get(1), "key", public); err != nil {
			return err
		}
		_, err := fmt.Fprintln(c.App.Writer, token)
		return err
	})
})

type inviteOptions struct {
	Key           string `doc:"sign with the operator's key in {FILE}"`
	ID            string `shown:"random" doc:"give the order the {ID}"`
	expiresOption `yaml:",inline"`
	pinOption     `yaml:",inline"`
}

var rotateCommand = command(`rotate DIR ACCOUNT
replace an account's key, signed with the old key

   bourse bank rotate books user:ann --to new.pub --key ann`, func(c *cli.Context, _ *rotateOptions) error {
	key, err := publicKey(c, "to")
	if err != nil {
		return err
	}
	return saySigned(c, "rotate", c.Args().Get(1), "key", key)
})

type rotateOptions struct {
	To           string `doc:"set the new public key to {KEY}, given as text or as a file"`
	ownerOptions `yaml:",inline"`
}

var recoverCommand = command(`recover DIR ACCOUNT
replace a lost or stolen key

Use this command if someone lost or stole a key. The ledger records the recovery, so everyone who
reads the ledger can see it.

   bourse bank recover books user:ann --to new.pub --key operator
   bourse bank recover books operator --to new.pub --key recovery`, func(c *cli.Context, _ *recoverOptions) error {
	key, err := publicKey(c, "to")
	if err != nil {
		return err
	}
	by := "operator"
	if c.Args().Get(1) == by {
		by = "recovery"
	}
	return saySigned(c, "recover", by, "of", c.Args().Get(1), "key", key)
})

type recoverOptions struct {
	To           string `doc:"set the new public key to {KEY}, given as text or as a file"`
	ownerOptions `yaml:",inline"`
}

var revokeCommand = command(`revoke DIR ACCOUNT
revoke an account's key or a right

The operator signs. An account may also revoke its own key, with an order signed by that key.
The account then cannot transfer money until the operator gives it a new key with 'bank
recover'.

   bourse bank revoke books user:ann --key ann
   bourse bank revoke books user:ann --key operator
   bourse bank revoke books bursar --right mint --key operator`, revokeAction)

type revokeOptions struct {
	Right        string `shown:"none: the key" doc:"revoke the right {NAME}: mint, settle, payee, spend, read or audit"`
	Market       string `doc:"for the right payee: name the market {NAME}"`
	For          string `doc:"for the right spend: name the {ACCOUNT} that may no longer spend"`
	ownerOptions `yaml:",inline"`
}

func revokeAction(c *cli.Context, _ *revokeOptions) error {
	private, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	public, err := keys.Of(private)
	if err != nil {
		return err
	}
	account, by := c.Args().Get(1), "operator"
	fields := []string{"of", account}
	for _, name := range []string{"right", "market", "for"} {
		if c.IsSet(name) {
			fields = append(fields, name, c.String(name))
		}
	}
	return withBank(c, func(b banked) error {
		all, err := b.Having(c.Context, public)
		if err != nil {
			return err
		}
		if slices.Contains(all, account) && !c.IsSet("right") {
			by = account
		}
		return sayTo(c, b, "revoke", by, private, fields...)
	})
}

var rightCommand = command(`right DIR ACCOUNT RIGHT
give an account a right

   mint      issue money, up to --cap in any --period of seconds; with --with, another
             account signs each mint, too
   settle    for a market, such as market:lab: settle the contracts that it admits, whose
             numbers begin at --number times 4294967296, to their owners and its payees
   payee     be paid by the --market, such as lab
   spend     let the account --for pay the budgets of its contracts from this account, up to
             --most together; of a settled contract, only the payments to others count
   read      read all accounts; services check this right, but anyone who can read DIR needs none
   audit     read everything and write nothing; the same applies

   bourse bank right books bursar mint --cap 1000 --period 604800 --key operator
   bourse bank right books market:lab settle --number 1 --key operator
   bourse bank right books host:h1 payee --market lab --key operator
   bourse bank right books project:film spend --for user:ann --most 100 --key operator`, func(c *cli.Context, _ *rightOptions) error {
	fields := []string{"of", c.Args().Get(1), "right", c.Args().Get(2)}
	for _, name := range []string{"cap", "period", "with", "number", "market", "for", "most"} {
		value := c.String(name)
		if (name == "cap" || name == "most") && c.IsSet(name) {
			a, err := bank.Parse(value)
			if err != nil {
				return usagef("--%s: %w", name, err)
			}
			value = a.String()
		}
		if c.IsSet(name) {
			fields = append(fields, name, value)
		}
		switch right := c.Args().Get(2); {
		case name == "period" && right == "mint":
			fields = append(fields, "window", "sliding")
		case name == "most" && right == "spend":
			fields = append(fields, "refunds", "credited")
		}
	}
	return saySigned(c, "right", "operator", fields...)
})

type rightOptions struct {
	Cap          string `doc:"for the right mint: allow at most {AMOUNT} dollars per period"`
	Period       string `doc:"for the right mint: set the period to {SECONDS}"`
	With         string `doc:"for the right mint: require a second signature by {ACCOUNT}"`
	Number       string `doc:"for the right settle: set the market's unique number to {K}"`
	Market       string `doc:"for the right payee: name the market {NAME}"`
	For          string `doc:"for the right spend: name the {ACCOUNT} that may spend"`
	Most         string `doc:"for the right spend: limit the sum of the spender's budgets to {DOLLARS}"`
	ownerOptions `yaml:",inline"`
}

// saySigned sends an order as say does, but signs it with the key that --key names.
func saySigned(c *cli.Context, kind, by string, fields ...string) error {
	private, err := privateKey(c, "key")
	if err != nil {
		return err
	}
	return say(c, kind, by, private, fields...)
}

// say books an order of the given kind by an account, signed with a private key, and prints
// the receipt.
func say(c *cli.Context, kind, by, private string, fields ...string) error {
	return withBank(c, func(b banked) error {
		return sayTo(c, b, kind, by, private, fields...)
	})
}

func sayTo(c *cli.Context, b banked, kind, by, private string, fields ...string) error {
	id, r, err := book(c, b, kind, by, []string{private}, fields...)
	if err != nil {
		return err
	}
	return answer(c, b, id, r)
}

// book books an order of the given kind by an account, signed with private keys.
func book(c *cli.Context, b banked, kind, by string, private []string, fields ...string) (id string, r store.Receipt, err error) {
	if id = c.String("id"); id == "" {
		id = rand.Text()
	}
	note, err := signOrder(c, b, kind, id, by, private, fields...)
	if err != nil {
		return "", r, err
	}
	return ask(c, b, note)
}
