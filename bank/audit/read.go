package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"

	"github.com/cockroachdb/pebble/v2"
)

// readPebble reads the groups in order through Pebble. It stops at a bad group or at the end.
// An error comes from Pebble.
func (a *auditor) readPebble() (err error) {
	defer func() {
		if p, ok := recover().(broken); ok {
			err = fmt.Errorf("%s", p)
		}
	}()
	db, err := pebble.Open(a.dir, &pebble.Options{
		FS:                 unlocked{a.opts.FS},
		ReadOnly:           true,
		ErrorIfNotExists:   true,
		DisableTableStats:  true, // these statistics would be read from every table
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             silent{},
		EventListener:      &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	})
	if err != nil {
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	return a.read(pebbleValues{db})
}

// read reads the groups in order. It stops at a bad group or at the end. An error comes from v.
// At the entry to which the stored balances belong, read compares the balances with the
// entries.
func (a *auditor) read(v Values) (err error) {
	kept, err := readKept(v)
	if err != nil {
		return err
	}
	r := &requests{values: v, kept: kept.size, later: make(map[string]bool), secret: a.secret()}
	a.requests = r
	defer func() {
		a.requests = nil
		a.doubt = r.doubt || r.secret != nil && r.seen.n > 0 && (err != nil || a.bad != nil)
	}()
	if kept.size == 0 {
		a.checkKept(v, kept)
	}
	for key, value := range a.ahead(v.Scan([]byte{'G'}, []byte{'G' + 1}, &err)) {
		a.group(key, value)
		if a.bad == nil && a.chain.size == kept.size {
			a.checkKept(v, kept)
		}
		if a.bad != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if a.bad == nil && a.chain.size < kept.size {
		a.fail(a.chain.size+1, fmt.Sprintf("a ledger of %d entries", a.chain.size), fmt.Sprintf("%d, by its balances", kept.size))
	}
	return nil
}

// A kept is the state of the log that is stored together with the balances.
type kept struct {
	size int64
	time float64
	tree []byte
}

func readKept(v Values) (kept, error) {
	b, err := v.Get([]byte{'S'})
	if b == nil || err != nil {
		return kept{}, err
	}
	in := input{b: b}
	return kept{in.int(), in.float(), in.b}, nil
}

// checkKept compares the stored balances, owners and requests with the state that the entries
// imply. It is called at the entry to which the stored state belongs.
func (a *auditor) checkKept(v Values, k kept) {
	differ := func(what, found, want string) {
		a.files = append(a.files, Finding{Found: what + " stored as " + found, Want: fmt.Sprintf("%s, as of entry %d", want, k.size)})
	}
	if k.size > 0 && (!bytes.Equal(k.tree, a.chain.tree()) || k.time != a.books.time) {
		differ("tree or time of the balances", "different values", "the values of the entries")
	}
	var err error
	balances := a.books.holdings()
	for k, v := range v.Scan([]byte{'B'}, []byte{'C' + 1}, &err) {
		key, value := string(k), string(v)
		if want, ok := balances[key]; !ok || want != value {
			differ(fmt.Sprintf("%q", key), fmt.Sprintf("%x", value), fmt.Sprintf("%x", want))
		}
		delete(balances, key)
	}
	if err != nil {
		a.fileFinding(fileOf(err, "balances"), err.Error(), "readable balances")
		return
	}
	rows := a.authority.rows()
	for k, v := range v.Scan([]byte{'S', 0}, []byte{'S' + 1}, &err) {
		name, row := string(k[1:]), string(v)
		if want, ok := rows[name]; !ok || want != row {
			differ(fmt.Sprintf("owner %q", name), fmt.Sprintf("%q", row), fmt.Sprintf("%q", want))
		}
		delete(rows, name)
	}
	if err != nil {
		a.fileFinding(fileOf(err, "owners"), err.Error(), "readable owners")
		return
	}
	for name, want := range rows {
		differ(fmt.Sprintf("owner %q", name), "nothing", fmt.Sprintf("%q", want))
	}
	r := a.requests
	switch t, err := r.count(); {
	case r.secret != nil:
		r.doubt = err != nil || t.n != r.seen.n || t.sum != r.seen.sum
	case err != nil || t.n != r.seen.n:
		differ("number of requests answered", fmt.Sprint(t.n), fmt.Sprint(r.seen.n))
	}
	for key, want := range balances {
		differ(fmt.Sprintf("%q", key), "nothing", fmt.Sprintf("%x", want))
	}
}

// holdings returns the values that a ledger must have stored for these accounts, by key.
func (b *books) holdings() map[string]string {
	kept := make(map[string]string)
	for name, a := range b.accounts {
		if a.holds != 0 || name != "mint" {
			kept["B"+name] = string(append(binary.AppendVarint(nil, int64(a.holds)), 0))
		}
	}
	for contract, e := range b.escrows {
		v := binary.AppendVarint(nil, int64(e.holds))
		v = binary.AppendUvarint(v, uint64(len(e.owner)))
		kept[fmt.Sprintf("Bescrow:%d", contract)] = string(append(v, e.owner...))
	}
	for at, page := range b.admitted {
		var v []byte
		for _, word := range page {
			v = binary.LittleEndian.AppendUint64(v, word)
		}
		kept[string(binary.BigEndian.AppendUint64([]byte{'C'}, uint64(at)))] = string(v)
	}
	return kept
}

// A silent is a logger that prints nothing and panics instead of ending the program.
type silent struct{}

type broken string

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(broken(fmt.Sprintf(format, args...)))
}

// fileOf returns the file in which err occurred, or the given name if err does not name a file.
func fileOf(err error, what string) string {
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		return path.Base(info.Path)
	}
	return what
}
