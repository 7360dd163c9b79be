package postgres_test

import (
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPebble runs the suite of all stores on a directory in memory.
func TestPebble(t *testing.T) {
	t.Parallel()
	suite(t, func(testing.TB) Place { return &inMemory{vfs.NewCrashableMem()} })
}

type inMemory struct{ fs *vfs.MemFS }

func (m *inMemory) options(o store.Options) store.Options {
	o.FS = m.fs
	return o
}

func (m *inMemory) Create(o store.Options) (*store.Journal, error) {
	return store.Create("bank", m.options(o))
}

func (m *inMemory) Open(o store.Options) (*store.Journal, *bank.Ledger, error) {
	return store.Open("bank", m.options(o))
}

func (m *inMemory) Reader() (*store.Reader, error) {
	return store.OpenReader("bank", m.options(store.Options{}))
}

func (m *inMemory) Audit(o audit.Options) (*audit.Report, error) {
	o.FS = m.fs
	return audit.Audit("bank", o)
}

func (m *inMemory) Lose() error {
	m.fs = m.fs.CrashClone(vfs.CrashCloneCfg{})
	return nil
}
