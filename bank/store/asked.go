package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bourse/bank"
	"bourse/bank/owners"
)

// Answer returns the entry that was booked for request id, and reports whether it exists. If no
// entry was booked for id, an entry with this id may still be booked later.
func (s *Sequencer) Answer(ctx context.Context, id string) (e bank.Entry, ok bool, err error) {
	var wrong error
	err = s.Look(ctx, func(*bank.Ledger) {
		var a answered
		if a, ok, wrong = s.journal.answer(id); ok && wrong == nil {
			e, wrong = s.journal.entry(a.Seq)
		}
	})
	if err == nil && wrong != nil {
		err = fmt.Errorf("request %s: %w", id, wrong)
	}
	return e, ok && err == nil, err
}

// Escrows returns the open escrows, sorted by name.
func (s *Sequencer) Escrows(ctx context.Context) (all []bank.Holding, err error) {
	err = s.Look(ctx, func(l *bank.Ledger) {
		for name, balance := range l.Balances() {
			if contract, err := bank.EscrowContract(name); err == nil {
				all = append(all, bank.Holding{Name: name, Balance: balance, Owner: l.EscrowOwner(contract)})
			}
		}
	})
	slices.SortFunc(all, func(a, b bank.Holding) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// Head returns the head of the log.
func (s *Sequencer) Head(ctx context.Context) (h Head, err error) {
	err = s.Look(ctx, func(*bank.Ledger) { h = s.journal.Head() })
	return h, err
}

// Read calls f with the ledger, as [Sequencer.Look] does, and with the part of the ledger that
// the signed order read permits its sender to see. In an open ledger, read may be empty. If
// the order permits nothing, Read returns an error wrapping [ErrRefused].
func (s *Sequencer) Read(ctx context.Context, read []byte, now float64, f func(*bank.Ledger, owners.Sight)) error {
	signed, _ := s.check(read)
	var refused error
	err := s.Look(ctx, func(l *bank.Ledger) {
		v, err := s.journal.owners.Sight(signed, now)
		if err != nil {
			refused = fmt.Errorf("%w: %w", ErrRefused, err)
			return
		}
		f(l, v)
	})
	return errors.Join(err, refused)
}

// entry returns booked entry seq.
func (j *Journal) entry(seq int64) (bank.Entry, error) {
	first := j.tree.size - int64(j.group.count) + 1
	if seq >= first {
		return entryIn(first, &decoder{b: j.group.entries}, seq)
	}
	// Most groups are small, so the group usually starts shortly before the entry.
	for _, near := range []int64{16, 512, GroupSize} {
		var value []byte
		var err error
		for key, v := range j.backend.Scan(seqKey(max(1, seq-near+1)), seqKey(seq+1), &err) {
			first, _ = keySeq(key)
			value = append(value[:0], v...)
		}
		if err != nil {
			return bank.Entry{}, plain(err)
		}
		if value == nil {
			continue
		}
		d := decoder{b: value}
		d.byte()
		d.int()
		return entryIn(first, &d, seq)
	}
	return bank.Entry{}, fmt.Errorf("entry %d: %w", seq, errEncoding)
}

// entryIn returns entry seq from d, whose first entry has the number first.
func entryIn(first int64, d *decoder, seq int64) (e bank.Entry, err error) {
	for n := first; n <= seq && d.err == nil; n++ {
		if (n-1)%LeafSize == 0 {
			d.take(leafStart)
		}
		b, _ := d.stored()
		if n == seq && d.err == nil {
			err = decodeEntry(b, &e)
		}
	}
	if err != nil || d.err != nil || e.Seq != seq {
		return e, fmt.Errorf("entry %d: %w", seq, errEncoding)
	}
	return e, nil
}
