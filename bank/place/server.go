package place

import (
	"errors"
	"fmt"
	"regexp"

	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
)

// A server is the URL of a place in PostgreSQL.
type server string

func (s server) String() string {
	if name, err := postgres.Name(string(s)); err == nil {
		return name
	}
	return "postgres://…"
}

func (s server) Base() (string, error) { return postgres.Ledger(string(s)) }

func (s server) Create(opts store.Options) (*store.Journal, error) {
	return postgres.Create(string(s), opts)
}

func (s server) Writer(opts store.Options) (*store.Sequencer, error) {
	return postgres.OpenSequencer(string(s), opts)
}

func (s server) Reader() (*store.Reader, error) { return postgres.OpenReader(string(s)) }

func (s server) Audit(opts audit.Options) (*audit.Report, error) {
	view := postgres.OpenView
	if opts.Unfinished {
		view = postgres.OpenUnfinished
	}
	v, err := view(string(s))
	if err != nil {
		return nil, err
	}
	defer v.Close()
	r, err := audit.From(v, v.Head(), opts)
	if errors.Is(err, store.ErrNone) { // the ledger existed when the list of ledgers was read
		return &audit.Report{Findings: []audit.Finding{{Found: "no such table in the ledger's schema", Want: "the tables of a ledger"}}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Name(), err)
	}
	return r, nil
}

// Sync does nothing, because other clients of a server see only durable data.
func (s server) Sync() error { return nil }

func (s server) part() (Place, error) {
	ledger, err := postgres.Ledger(string(s))
	if err != nil {
		return nil, err
	}
	v, err := postgres.OpenView(string(s))
	if err == nil {
		v.Close()
		return nil, fmt.Errorf("copy to %s: %w", s, store.ErrExists)
	}
	if !errors.Is(err, store.ErrNone) {
		return nil, err
	}
	part, err := postgres.WithLedger(string(s), ledger+".part")
	return server(part), err
}

func (s server) rename(to Place) error {
	at, _ := to.(server)
	return postgres.Rename(string(s), string(at))
}

func (s server) finish() error  { return postgres.Finish(string(s)) }
func (s server) discard() error { return postgres.Drop(string(s)) }

var password = regexp.MustCompile(`(postgres(?:ql)?://[^:@/\s]*):[^@\s]*@`)

// WithoutPasswords returns a message without the passwords in its URLs.
func WithoutPasswords(s string) string { return password.ReplaceAllString(s, "$1@") }
