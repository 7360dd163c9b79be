package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	ledgerParameter = "ledger"
	defaultLedger   = "bourse"
	maxURL          = 2048 // maximum length in bytes
	maxLedger       = 63   // bytes; PostgreSQL truncates longer names
)

// A place is the location of a ledger.
type place struct {
	config *pgx.ConnConfig
	schema string
	name   string // name for messages, without the password
}

// IsURL reports whether s names a ledger in a database rather than a directory.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// Name returns a URL in a printable form, without the password and connection settings. It
// returns an error if the URL cannot name a ledger.
func Name(raw string) (string, error) {
	p, err := parse(raw)
	if err != nil {
		return "", err
	}
	return p.name, nil
}

// WithLedger returns the URL of another ledger in the same database.
func WithLedger(raw, ledger string) (string, error) {
	if _, err := parse(raw); err != nil {
		return "", err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", ErrURL
	}
	q := u.Query()
	q.Set(ledgerParameter, ledger)
	u.RawQuery = q.Encode()
	s := text(u)
	_, err = parse(s)
	return s, err
}

// text formats a URL. It writes two slashes even if neither a host nor a path follows.
func text(u *url.URL) string {
	s := u.String()
	if !IsURL(s) {
		s = strings.Replace(s, ":", "://", 1)
	}
	return s
}

// Ledger returns the name of the ledger in a URL.
func Ledger(raw string) (string, error) {
	p, err := parse(raw)
	return p.schema, err
}

// ErrURL means that a URL does not name a ledger. The error does not contain the URL, which
// may contain a password.
var ErrURL = errors.New("not the URL of a ledger, postgres://USER@HOST:PORT/DATABASE?ledger=NAME")

// shown lists the parameters that may be printed, in the order of Encode.
var shown = [...]string{"dbname", "host", "port", "user"}

func parse(raw string) (place, error) {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxURL || !IsURL(raw) {
		return place{}, ErrURL
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return place{}, ErrURL
	}
	for _, values := range q {
		if len(values) > 1 { // some parsers use the first value and others the last
			return place{}, ErrURL
		}
	}
	p := place{schema: defaultLedger}
	if q.Has(ledgerParameter) {
		p.schema = q.Get(ledgerParameter)
	}
	if err := checkLedger(p.schema); err != nil {
		return place{}, err
	}
	q.Del(ledgerParameter)
	u.RawQuery = q.Encode()
	if p.config, err = pgx.ParseConfig(text(u)); err != nil {
		return place{}, ErrURL
	}
	if !q.Has("connect_timeout") && os.Getenv("PGCONNECT_TIMEOUT") == "" {
		p.config.ConnectTimeout = connectTimeout
	}
	p.config.RuntimeParams["search_path"] = pgx.Identifier{p.schema}.Sanitize()
	if p.config.RuntimeParams["application_name"] == "" {
		p.config.RuntimeParams["application_name"] = "bourse " + p.schema
	}

	said := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		said.User = url.User(name)
	}
	kept := url.Values{ledgerParameter: {p.schema}}
	for _, name := range shown {
		if q.Has(name) {
			kept.Set(name, q.Get(name))
		}
	}
	said.RawQuery = strings.ReplaceAll(kept.Encode(), "%2F", "/")
	p.name = text(&said)
	return p, nil
}

const connectTimeout = 5 * time.Second

// checkLedger returns an error if s is not a valid name of a ledger.
func checkLedger(s string) error {
	ok := s != "" && len(s) <= maxLedger && !reserved(s)
	for _, c := range []byte(s) {
		ok = ok && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_./", c) >= 0)
	}
	if !ok {
		return fmt.Errorf("%w: ledger %.80q: want up to %d letters, digits or - _ . /, and no name reserved by the server (information_schema, crdb_internal, pg_…)", ErrURL, s, maxLedger)
	}
	return nil
}

// reserved reports whether a schema belongs to the server. An administrator could write to
// some of these schemas.
func reserved(s string) bool {
	return s == "information_schema" || s == "crdb_internal" || strings.HasPrefix(s, "pg_")
}
