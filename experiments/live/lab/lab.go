// Package lab creates the files of a market on one machine: a bank with owners, accounts
// with keys, and a file with the market's rules.
//
// The package is independent of how a market runs.
//
// # Folder
//
//	market.yaml           the rules, which users may write themselves
//	making                exists while the other files are created
//	books/                the bank's ledger, unless the market has a bank elsewhere
//	keys/operator         private key of the operator, who enrols others and issues money
//	keys/recovery         private key that can replace the operator's key; store it elsewhere
//	keys/market           private key of the market's own account
package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/bank/order"
	"bourse/bank/owners"
	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/bank/whole"
)

// A Plan describes the market to create.
type Plan struct {
	Dir     string
	Market  string      // name of the market
	Number  int64       // number of the market
	Rules   []byte      // text of market.yaml
	Account string      // account of the creator, which also receives the charges of hosts on this machine
	Public  string      // public key of the user
	Money   bank.Amount // initial balance of the account
}

// amount that the operator may issue per period, and the length of this period in seconds, a
// week
const (
	weekly = "1000000.000000"
	week   = "604800"
)

// File returns the path of a file of the lab in dir.
func File(dir string, name ...string) string {
	return filepath.Join(append([]string{dir}, name...)...)
}

// Made reports whether dir contains a complete lab. It returns an error if the folder contains
// a bank but not the private key of its market.
func Made(dir string) (bool, error) {
	there := make(map[string]bool)
	for _, name := range []string{"market.yaml", "keys/market", "books", "making"} {
		var err error
		if there[name], err = exists(File(dir, name)); err != nil {
			return false, err
		}
	}
	if there["books"] && !there["keys/market"] && !there["making"] {
		return false, fmt.Errorf("%s: found the bank in books, but not the private key of its market; restore the key from a backup, or use another folder", File(dir, "keys", "market"))
	}
	return there["market.yaml"] && there["keys/market"] && !there["making"], nil
}

// exists reports whether there is a file or folder with the given path.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Make creates a lab. Make creates a lab at time now, in the bank's time format. If an earlier
// creation was interrupted, Make completes it.
func Make(ctx context.Context, p Plan, now float64) error {
	m := &maker{ctx: ctx, now: now, keys: make(map[string]string), public: make(map[string]string)}
	if err := os.MkdirAll(File(p.Dir, "keys"), 0o700); err != nil {
		return err
	}
	if err := whole.Write(File(p.Dir, "making"), nil); err != nil {
		return err
	}
	for _, name := range []string{"operator", "recovery", "market"} {
		if err := m.key(File(p.Dir, "keys", name), name); err != nil {
			return err
		}
	}
	books := place.At(File(p.Dir, "books"))
	there, err := exists(File(p.Dir, "books"))
	if !there && err == nil {
		var j *store.Journal
		if j, err = books.Create(store.Options{}); err == nil {
			err = j.Close()
		}
	}
	if err != nil {
		return err
	}
	if m.bank, err = books.Writer(store.Options{Now: func() float64 { return now }}); err != nil {
		return err
	}
	if err := errors.Join(m.make(&p), m.bank.Close()); err != nil {
		return err
	}
	if err := whole.Write(File(p.Dir, "market.yaml"), p.Rules); err != nil {
		return err
	}
	return os.Remove(File(p.Dir, "making"))
}

// A maker creates a lab.
type maker struct {
	ctx    context.Context
	now    float64
	bank   *store.Sequencer
	ledger string
	keys   map[string]string // private ones, by name
	public map[string]string
}

// key reads the key in a file. It creates the key if necessary.
func (m *maker) key(file, name string) error {
	private, err := keys.Keep(rand.Reader, file, name)
	if err == nil {
		m.keys[name] = private
		m.public[name], err = keys.Of(private)
	}
	return err
}

// make gives the bank its owners, its accounts and its money.
func (m *maker) make(p *Plan) error {
	if err := m.bank.Owners(m.ctx, func(o *owners.Owners, _ float64) { m.ledger = o.Ledger() }); err != nil {
		return err
	}
	if m.ledger == "" {
		if err := m.own(); err != nil {
			return err
		}
	}
	market := "market:" + p.Market
	for i, o := range [][]string{
		{"enrol", "of", market, "key", m.public["market"]},
		{"enrol", "of", p.Account, "key", p.Public},
		{"right", "of", market, "right", "settle", "number", strconv.FormatInt(p.Number, 10)},
		{"right", "of", p.Account, "right", "payee", "market", p.Market},
		{"right", "of", "operator", "right", "mint", "cap", weekly, "period", week, "window", "sliding"},
		{"mint", "to", p.Account, "amount", p.Money.String()},
	} {
		if err := m.book(fmt.Sprintf("lab-%d", i), o[0], o[1:]...); err != nil {
			return fmt.Errorf("%v: %w", o, err)
		}
	}
	return nil
}

// own turns the bank's ledger into an owned one.
func (m *maker) own() error {
	var id [16]byte
	rand.Read(id[:])
	m.ledger = hex.EncodeToString(id[:])
	o, err := order.New("own", order.Field{Name: "ledger", Value: m.ledger},
		order.Field{Name: "operator", Value: m.public["operator"]}, order.Field{Name: "recovery", Value: m.public["recovery"]})
	if err != nil {
		return err
	}
	_, err = m.bank.Do(m.ctx, bank.Entry{Kind: bank.Owner, Contract: bank.NoContract, ID: "own-" + m.ledger, Note: []byte(o.String()), Time: m.now})
	return err
}

const valid = 600 // validity of the orders for the creation, in seconds

// book books an order of the operator only once, even if it is called again.
func (m *maker) book(id, kind string, fields ...string) error {
	o, err := order.For(kind, m.ledger, id, "operator", m.now+valid, fields...)
	if err != nil {
		return err
	}
	signed, err := order.Sign([]byte(o.String()), m.keys["operator"])
	if err != nil {
		return err
	}
	e, err := owners.Entry(signed, m.now)
	if err != nil {
		return err
	}
	_, err = store.Once(m.ctx, m.bank, e)
	return err
}
