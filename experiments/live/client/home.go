// Package client sends a user's requests to a market over the network. It stores the user's
// key and the market's address, signs orders, and sends each order until it is answered.
//
// # Files
//
// All files are in one folder, which only the user may read ([DefaultHome]):
//
//	key            the private key of the account, as 'bourse bank key' writes it
//	market.json    the market and its address: a [Membership]
//	sent/ID.order  a signed order without an answer, written before it is sent
//	sent/ID.job    the job of that order
//
// An order has an effect only once, however often it is sent. The market repeats its first
// answer.
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

// A Home is a user's folder.
type Home string

// DefaultHome returns $BOURSE_HOME, or bourse in the user's configuration folder.
func DefaultHome() (Home, error) {
	if dir := os.Getenv("BOURSE_HOME"); dir != "" {
		return Home(dir), nil
	}
	dir, err := os.UserConfigDir()
	return Home(filepath.Join(dir, "bourse")), err
}

// A Membership contains the address of the market and the name of the user's account.
type Membership struct {
	URL     string `json:"url"`           // address of the market
	Pin     string `json:"pin,omitempty"` // pin of the market's certificate, or two pins separated by a comma during a rotation; empty if the market is on this machine
	Market  string `json:"market"`        // name of the market
	Ledger  string `json:"ledger"`        // id of its bank's
	Account string `json:"account"`
}

func (h Home) path(name string) string { return filepath.Join(string(h), name) }

// KeyFile returns the name of the key file.
func (h Home) KeyFile() string { return h.path("key") }

// Key returns the account's private key.
func (h Home) Key() (string, error) { return keys.Read(h.KeyFile()) }

// Membership returns the user's market and account.
func (h Home) Membership() (m Membership, err error) {
	name := h.path("market.json")
	text, err := whole.Read(name, 1<<16)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, misuse.Errorf("%s is missing, so no market is known; create a market with 'bourse live start', or join one with 'bourse live user join TOKEN'", name)
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

// Save stores m as the user's market and private as the account's key.
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

// save stores m as the user's market.
func (h Home) save(m Membership) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return whole.Write(h.path("market.json"), append(text, '\n'))
}

// Leave forgets the market. The key stays.
func (h Home) Leave() error { return os.Remove(h.path("market.json")) }
