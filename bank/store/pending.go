package store

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"bourse/bank"
)

// A pending accumulates the changes of entries since the balances were last written. An escrow
// that was opened and settled since then leaves no change to write.
type pending struct {
	accounts map[string]int32 // index into changes
	changes  []change
	free     []int32 // free indexes, which belonged to settled escrows
	admitted []int64
	requests map[string]answered
}

type change struct {
	micros int64
	owner  string // set if the escrow was opened
}

func (s *pending) init() {
	s.accounts = make(map[string]int32)
	s.changes, s.free, s.admitted = s.changes[:0], s.free[:0], s.admitted[:0]
	s.requests = make(map[string]answered)
}

// change returns the change to an account, valid until the next call.
func (s *pending) change(name string) *change {
	at, ok := s.accounts[name]
	if !ok {
		if n := len(s.free); n > 0 {
			at, s.free = s.free[n-1], s.free[:n-1]
			s.changes[at] = change{}
		} else {
			at = int32(len(s.changes))
			s.changes = append(s.changes, change{})
		}
		s.accounts[name] = at
	}
	return &s.changes[at]
}

// add records the changes made by e, the last entry of t.
func (s *pending) add(e *bank.Entry, t *tree) {
	if e.ID != "" {
		s.requests[e.ID] = answered{Receipt{e.Seq, t.last()}, digest(e)}
	}
	for _, m := range e.Moves {
		from := s.change(m.From)
		if from.micros -= m.Amount.Micros(); from.micros == 0 && from.owner != "" {
			s.free = append(s.free, s.accounts[m.From])
			delete(s.accounts, m.From)
		}
		to := s.change(m.To)
		to.micros += m.Amount.Micros()
		if e.Kind == bank.Admit {
			to.owner = m.From
		}
	}
	if e.Kind == bank.Admit {
		s.admitted = append(s.admitted, e.Contract)
	}
}

// write adds the changes to the stored values in the batch, in order of key.
func (s *pending) write(batch Batch, j *Journal) error {
	slices.Sort(s.admitted)
	if j.fetch != nil {
		j.fetch(s.keys())
	}
	for _, name := range slices.Sorted(maps.Keys(s.accounts)) {
		c := s.changes[s.accounts[name]]
		old, err := readHolding(j.backend, name)
		if err != nil {
			return err
		}
		micros := old.Balance.Micros() + c.micros
		if c.owner == "" {
			c.owner = old.Owner
		}
		key := append([]byte{balanceTable}, name...)
		if micros == 0 && bank.IsEscrow(name) {
			err = batch.Delete(key)
		} else {
			value := binary.AppendVarint(nil, micros)
			err = batch.Set(key, appendString(value, c.owner))
		}
		if err != nil {
			return err
		}
	}
	if err := s.writeAdmitted(batch, j.backend); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(s.requests)) {
		if err := batch.Set(requestKey(id), s.requests[id].encode()); err != nil {
			return err
		}
	}
	for name, row := range j.owners.Rows() {
		key := append([]byte{stateTable}, name...)
		err := batch.Set(key, []byte(row))
		if row == "" {
			err = batch.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	value := binary.AppendUvarint(nil, uint64(j.tree.size))
	value = binary.BigEndian.AppendUint64(value, math.Float64bits(j.time))
	return batch.Set([]byte{stateTable}, appendTree(value, &j.tree))
}

// keys returns the keys that write reads. The slice admitted must be sorted.
func (s *pending) keys() (keys [][]byte) {
	for name := range s.accounts {
		keys = append(keys, append([]byte{balanceTable}, name...))
	}
	for i, n := range s.admitted {
		if at := n / pageBits; i == 0 || s.admitted[i-1]/pageBits != at {
			keys = append(keys, pageKey(at))
		}
	}
	return keys
}

func pageKey(at int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{contractTable}, uint64(at))
}

const (
	pageBits  = 512
	pageBytes = pageBits / 8
)

func (s *pending) writeAdmitted(batch Batch, values Values) error {
	for len(s.admitted) > 0 {
		at := s.admitted[0] / pageBits
		key := pageKey(at)
		page := make([]byte, pageBytes)
		old, err := values.Get(key)
		if err != nil {
			return err
		}
		copy(page, old)
		for len(s.admitted) > 0 && s.admitted[0]/pageBits == at {
			n := s.admitted[0] % pageBits
			page[n/8] |= 1 << (n % 8)
			s.admitted = s.admitted[1:]
		}
		if err := batch.Set(key, page); err != nil {
			return err
		}
	}
	return nil
}

func readHolding(values Values, name string) (bank.Holding, error) {
	v, err := values.Get(append([]byte{balanceTable}, name...))
	if v == nil || err != nil {
		return bank.Holding{Name: name}, err
	}
	return decodeHolding(name, v)
}

func decodeHolding(name string, v []byte) (bank.Holding, error) {
	micros, n := binary.Varint(v)
	if n <= 0 {
		return bank.Holding{}, fmt.Errorf("balance of %q: %w", name, errEncoding)
	}
	d := decoder{b: v[n:]}
	owner := string(d.bytes(1 << 10))
	if d.err != nil || len(d.b) > 0 {
		return bank.Holding{}, fmt.Errorf("balance of %q: %w", name, errEncoding)
	}
	return bank.Holding{Name: name, Balance: bank.Micros(micros), Owner: owner}, nil
}
