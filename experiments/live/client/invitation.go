package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// An Invitation permits its holder to become the owner of an account, once.
type Invitation struct {
	URL     string // address of the market
	Pin     string // pin of the market's certificate; empty if the market is on this machine
	Account string
	Secret  string // secret of the bank's invitation
}

// String returns the text form of the invitation, which [ParseInvitation] parses:
// URL/SECRET/PIN/ACCOUNT.
func (i Invitation) String() string {
	pin := i.Pin
	if pin == "" {
		pin = "-"
	}
	return i.URL + "/" + i.Secret + "/" + pin + "/" + i.Account
}

// ParseInvitation reads an invitation.
func ParseInvitation(text string) (i Invitation, err error) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(text), "://")
	f := strings.Split(rest, "/")
	if len(f) != 4 {
		return i, errors.New("want URL/SECRET/PIN/ACCOUNT, as printed by 'bourse live user invite'")
	}
	i = Invitation{URL: scheme + "://" + f[0], Secret: f[1], Pin: f[2], Account: f[3]}
	if i.Pin == "-" {
		i.Pin = ""
	}
	u, err := url.Parse(i.URL)
	switch {
	case err != nil:
		return i, err
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return i, fmt.Errorf("found %q, want an address such as https://192.0.2.7:8421", i.URL)
	case (u.Scheme == "https") != (i.Pin != ""):
		return i, fmt.Errorf("found pin %q with %s, want a pin only with https", i.Pin, u.Scheme)
	}
	return i, nil
}
