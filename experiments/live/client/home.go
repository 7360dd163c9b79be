// Package client asks a market over the network for a user: it keeps the user's key and
// which market it is of, signs orders, and sends each until it is answered.
//
// # Files
//
// All stand in one folder, that of the user alone ([DefaultHome]):
//
//	key            the private key of the account, as 'bourse bank key' writes it
//	market.json    which market, and where: a [Membership]
//	sent/ID.order  an order that was signed and not yet answered, written before it is sent
//	sent/ID.job    what it is to run
//
// An order is one however often it is sent: the market gives the first answer again.
package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bourse/bank/keys"
	"bourse/bank/whole"
	"bourse/experiments/misuse"
)

// A Home is the folder of a user.
type Home string

// DefaultHome returns $BOURSE_HOME, or bourse in the folder of the user's configuration.
func DefaultHome() (Home, error) {
	if dir := os.Getenv("BOURSE_HOME"); dir != "" {
		return Home(dir), nil
	}
	dir, err := os.UserConfigDir()
	return Home(filepath.Join(dir, "bourse")), err
}

// A Membership says where an account is, and under which name.
type Membership struct {
	URL     string `json:"url"`           // of the market
	Pin     string `json:"pin,omitempty"` // of its certificate, during a rotation two with a comma between; none if the market is on this machine
	Market  string `json:"market"`        // its name
	Ledger  string `json:"ledger"`        // id of its bank's
	Account string `json:"account"`
}

func (h Home) path(name string) string { return filepath.Join(string(h), name) }

// KeyFile returns the name of the file of the key.
func (h Home) KeyFile() string { return h.path("key") }

// Key returns the private key of the account.
func (h Home) Key() (string, error) { return keys.Read(h.KeyFile()) }

// Membership returns where the user's account is.
func (h Home) Membership() (m Membership, err error) {
	name := h.path("market.json")
	text, err := whole.Read(name, 1<<16)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, misuse.Errorf("%s is missing: no market is known; 'bourse live start' makes one, and 'bourse live user join TOKEN' joins one", name)
	case err != nil:
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", name, err)
	}
	if m.URL == "" || m.Market == "" || m.Account == "" {
		return m, fmt.Errorf("%s: found no url, market or account", name)
	}
	return m, nil
}

// Save makes m the market of the user, and private the key of the account.
func (h Home) Save(m Membership, private string) error {
	if err := os.MkdirAll(string(h), 0o700); err != nil {
		return err
	}
	if has, err := h.Key(); err != nil || has != private {
		if err := keys.Write(h.KeyFile(), private); err != nil {
			return err
		}
	}
	return h.save(m)
}

// save makes m the market of the user.
func (h Home) save(m Membership) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return whole.Write(h.path("market.json"), append(text, '\n'))
}

// Leave forgets the market. The key stays.
func (h Home) Leave() error { return os.Remove(h.path("market.json")) }
