package postgres

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// FuzzURL checks that this package and pgx interpret an address as the same ledger, database
// and server, and that the printable name of the address has the same meaning and contains no
// password.
func FuzzURL(f *testing.F) {
	f.Add("postgres://bank:geheim@db:5432/money?ledger=books")
	f.Add("postgresql:///?host=/tmp&ledger=a&ledger=b")
	f.Add("postgres://a,b:1,2/x?dbname=y&user=z")
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := parse(raw)
		if err != nil {
			return
		}
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		for key, values := range u.Query() {
			if len(values) != 1 {
				t.Errorf("%q is read, and has %s %d times", raw, key, len(values))
			}
		}
		q := u.Query()
		if want := q.Get("ledger"); p.schema != want && (q.Has("ledger") || p.schema != defaultLedger) {
			t.Errorf("%q is read as ledger %q", raw, p.schema)
		}
		q.Del("ledger")
		u.RawQuery = q.Encode()
		c, err := pgx.ParseConfig(text(u))
		if err != nil || c.Host != p.config.Host || c.Port != p.config.Port || c.Database != p.config.Database || c.User != p.config.User {
			t.Errorf("%q is read as %v, by pgx as %v, %v", raw, p.config, c, err)
		}
		again, err := parse(p.name)
		if err != nil || again.schema != p.schema || again.name != p.name {
			t.Errorf("%q is called %q, which is read as %q, %v", raw, p.name, again.name, err)
		} else if _, secret := u.User.Password(); secret && strings.Contains(p.name, ":"+p.config.Password+"@") {
			t.Errorf("%q is called %q", raw, p.name)
		}
	})
}
