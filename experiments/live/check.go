package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"bourse/bank/teller"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Checked is what came of a check.
type Checked struct {
	Records     int64    `json:"records"`
	Contracts   int      `json:"contracts" doc:"that have ended"`
	Calls       int      `json:"calls" doc:"of the bank: admissions, rejections, settlements and penalties"`
	Differences []string `json:"differences"`
}

// Check tells the log in dir to a new broker, and compares what comes of it with what was
// logged: each decision, placement, charge and settlement, to the byte. It asks no bank.
// Of the records after the first that comes out otherwise nothing can be said.
func Check(dir string, fs vfs.FS) (*Checked, error) {
	l, err := openLog(dir, fs, true)
	if err != nil {
		return nil, err
	}
	out := &Checked{Differences: []string{}}
	err = errors.Join(out.check(l), l.db.Close())
	return out, err
}

func (out *Checked) check(l *log) (err error) {
	var as made
	if there, err := l.get([]byte{madeTable}, &as); err != nil || !there {
		return errors.Join(err, errors.New("no market is there"))
	}
	conf, err := Parse("the market's file", []byte(as.Config))
	if err != nil {
		return err
	}
	k, err := newCore(&conf, as.Ledger, as.Number, teller.New(context.Background(), teller.Config{}))
	if err != nil {
		return err
	}
	for seq, text := range l.each(recordTable, 1, &err) {
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("record %d: %w", seq, err)
		}
		var o outcome
		known, err := l.get(key(outcomeTable, seq), &o)
		if err != nil {
			return fmt.Errorf("outcome %d: %w", seq, err)
		}
		if !known && seq == l.seq {
			break // it may not have been done
		}
		k.calls.known, k.calls.again = o.Calls, true
		results, err := k.turn(&r)
		if err == nil {
			err = same(&o, k.outcome(results))
		}
		if errors.Is(err, errOtherwise) {
			out.Differences = append(out.Differences, fmt.Sprintf("record %d: %v", seq, err))
			return nil
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", seq, err)
		}
		out.Records, out.Calls, out.Contracts = seq, out.Calls+len(o.Calls), out.Contracts+len(k.ended)
		for _, c := range k.ended {
			if err := out.contract(l, seq, c); err != nil {
				return err
			}
		}
	}
	return err
}

// contract compares what became of a contract.
func (out *Checked) contract(l *log, seq int64, c *Contract) error {
	is, err := encode(c)
	if err != nil {
		return err
	}
	var was json.RawMessage
	if _, err := l.get(key(contractTable, c.ID), &was); err != nil {
		return err
	}
	if string(was) != string(is) {
		out.Differences = append(out.Differences, fmt.Sprintf("record %d: contract %d comes to %s, and is kept as %s", seq, c.ID, is, was))
	}
	return nil
}
