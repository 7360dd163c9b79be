package live

import (
	"encoding/binary"
	"errors"
	"fmt"

	"bourse/contracts/broker"
	"bourse/contracts/memo"

	"github.com/cockroachdb/pebble/v2"
)

// A checkpoint is all that a core knows. From it a market goes on without its records
// before: it need not be there, and one that another version has written is not read.
type checkpoint struct {
	broker *broker.Memo
	state  state
	names  []string // of accounts, by number
}

func (k *core) checkpoint() *checkpoint {
	return &checkpoint{k.broker.Memo(), k.state, k.calls.bank.Names()}
}

// recall makes k, in which nothing has happened, what it was.
func (k *core) recall(c *checkpoint) {
	for _, name := range c.names {
		k.calls.bank.Account(name)
	}
	k.state = c.state
	conf := k.config
	for _, h := range k.hosts {
		conf.Fleet, conf.Owners = append(conf.Fleet, h.machine), append(conf.Owners, k.calls.bank.Account(h.Owner))
	}
	k.broker.Recall(conf, c.broker)
	k.broker.Phase(0)
}

// How often a checkpoint is written: after so many records, or so many seconds with any.
const (
	perRecords = 100_000
	perSeconds = 300
)

// save writes a checkpoint, and keeps the one before it.
func (m *Market) save() error {
	like, err := m.fresh()
	if err != nil {
		return err
	}
	b, err := memo.Encode(m.core.checkpoint(), like.checkpoint())
	if err != nil {
		return err
	}
	if err := m.log.db.Set(key(checkpointTable, m.log.seq), b, pebble.Sync); err != nil {
		return err
	}
	old := m.saved.before
	m.saved.before, m.saved.seq, m.saved.at = m.saved.seq, m.log.seq, m.core.now
	if old > 0 && old != m.saved.before {
		return m.log.db.Delete(key(checkpointTable, old), pebble.NoSync)
	}
	return nil
}

// saved are the last checkpoints.
type saved struct {
	before, seq int64   // numbers of records, 0 if there is none
	read        int64   // of the one that the market went on from
	at          float64 // instant
}

// load makes the core what the last checkpoint says that can be read, and returns the
// number of its record: 0 if there is none.
func (m *Market) load() (int64, error) {
	it, err := m.log.db.NewIter(&pebble.IterOptions{LowerBound: []byte{checkpointTable}, UpperBound: []byte{checkpointTable + 1}})
	if err != nil {
		return 0, err
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		seq := int64(binary.BigEndian.Uint64(it.Key()[1:]))
		if m.saved.seq == 0 {
			m.saved.seq = seq
		} else if m.saved.before == 0 {
			m.saved.before = seq
		}
		like, err := m.fresh()
		if err != nil {
			return 0, errors.Join(err, it.Close())
		}
		c, err := memo.Decode(it.Value(), like.checkpoint())
		if errors.Is(err, memo.ErrOther) {
			continue
		}
		if err != nil {
			return 0, errors.Join(fmt.Errorf("checkpoint of record %d: %w", seq, err), it.Close())
		}
		m.core.recall(c)
		m.saved.at, m.saved.read = m.core.now, seq
		return seq, it.Close()
	}
	return 0, errors.Join(it.Error(), it.Close())
}
