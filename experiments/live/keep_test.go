package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"bourse/bank/owners/ownerstest"
	"bourse/contracts/memo"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// keeping is the configuration of a market that retains its log for a tenth of a day. The tests
// write a checkpoint in every step.
func keeping(t *testing.T) *town {
	w := newTown(t, file+"keep: 0.1\n", 1)
	w.every, w.market.every = 1, 1
	return w
}

// busy submits one contract to a market every given number of seconds. Each contract ends
// before the next one starts.
func (w *town) busy(contracts int, apart float64) {
	w.t.Helper()
	for range contracts {
		s := w.order(fmt.Sprintf("at%v", w.now), "user:0", "be", 1, 3, 20, 0.001)
		if r := w.turn(message{Submit: &s}); r[0].answer.Verdict != "accept" {
			w.t.Fatalf("%+v", r[0].answer)
		}
		w.pass(5)
		w.now += apart - 5
		w.talk()
	}
}

// table returns the numbers in a table of the log.
func (w *town) table(table byte) (all []int64) {
	w.t.Helper()
	var err error
	for n := range w.market.log.each(table, 0, &err) {
		all = append(all, n)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestKeep checks that a market retains exactly the log of the retention time, and that the
// market can be reopened and checked with this log.
func TestKeep(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	const contracts, apart = 60, 150
	w.busy(contracts, apart)
	if err := w.market.pruned(); err != nil {
		t.Fatal(err)
	}
	w.market.pruned = func() error { return nil }
	records := w.table(recordTable)
	if records[0] == 1 || records[len(records)-1] != w.market.log.seq || int64(len(records)) != w.market.log.seq-records[0]+1 {
		t.Errorf("records %d to %d of %d", records[0], records[len(records)-1], w.market.log.seq)
	}
	var err error
	r := new(record)
	for _, r = range w.market.log.records(records[0]+1, &err) {
		break
	}
	if err != nil || w.now-r.Now < 8640 || w.now-r.Now > 8640*(1+2.0/basesKept)+apart {
		t.Errorf("the log goes back %v s, %v", w.now-r.Now, err)
	}
	if n, bases := len(w.table(checkpointTable)), len(w.table(baseTable)); bases < basesKept || bases > basesKept+3 || n > bases+2 {
		t.Errorf("%d checkpoints, %d of them bases", n, bases)
	}
	ended := w.table(contractTable)
	if first := must(w.market.Status(ended[0])); first.Ended < r.Now || first.Ended > r.Now+2*apart || len(ended) < 50 {
		t.Errorf("%d contracts, the first ended at %v", len(ended), first.Ended)
	}
	for _, old := range []float64{100, r.Now - 200} {
		var a answered
		there, err := w.market.log.get([]byte(answerKey("user:0", fmt.Sprintf("at%v", old))), &a)
		if there || err != nil {
			t.Errorf("the answer of %v is kept: %v", old, err)
		}
	}
	w.check50()
	w.crash()
	w.busy(2, apart)
	w.check50()
	s := w.order("at100", "user:0", "be", 1, 3, 20, 0.001)
	if a := w.turn(message{Submit: &s})[0].answer; a.Verdict != "reject" || a.Why == "" {
		t.Errorf("an order that was used is %+v", a)
	}
}

// check50 checks the log, which must contain the given number of calls to the bank.
func (w *town) check50() {
	w.t.Helper()
	if c, first := w.check(50), w.table(recordTable)[0]+1; c.First != first || c.Records != w.market.log.seq {
		w.t.Errorf("records %d to %d were checked, want %d to %d", c.First, c.Records, first, w.market.log.seq)
	}
}

// TestOtherVersion checks a market whose checkpoints another version has written. It must
// resume from the state stored when no contract was open. If there is no such state, the error
// must say so.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	other := func(w *town, table byte) {
		for _, n := range w.table(table) {
			if err := w.market.log.db.Set(key(table, n), make([]byte, 100), pebble.Sync); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := newTown(t, file, 1)
	w.every, w.market.every = 1, 1
	w.busy(4, 100)
	other(w, checkpointTable)
	w.version = "next"
	w.crash()
	if rests := w.table(restTable); w.read != rests[len(rests)-1] {
		t.Errorf("it went on from %d, want %d", w.read, rests[len(rests)-1])
	}
	w.busy(2, 100)
	w.check(4)

	w = keeping(t)
	w.busy(60, 150)
	other(w, checkpointTable)
	w.version = "next"
	w.crash()
	if rests := w.table(restTable); w.read != rests[len(rests)-1] {
		t.Errorf("it went on from %d, want %d", w.read, rests[len(rests)-1])
	}
	w.busy(3, 100)
	if c := w.check(1); c.First <= w.read {
		t.Errorf("checked from %d, which another version wrote", c.First)
	}
	other(w, checkpointTable)
	other(w, restTable)
	_, err := w.market.log.recall(must(w.market.fresh()), w.market.fresh, 0)
	if err == nil || !strings.Contains(err.Error(), memo.ErrOther.Error()) || !strings.Contains(err.Error(), "no contract is open") {
		t.Errorf("checkpoints that cannot be read: %v", err)
	}
}

// TestOtherwise checks that a market does not open if its log contains another result for a
// record than this program computes. The error must name the record and the remedy.
func TestOtherwise(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 1)
	w.busy(2, 100)
	var last int64
	var o outcome
	for _, n := range w.table(outcomeTable) {
		var one outcome
		must(w.market.log.get(key(outcomeTable, n), &one))
		if len(one.Calls) > 0 {
			last, o = n, one
		}
	}
	o.Calls[0].Note += " "
	if err := w.market.log.set(map[string]any{string(key(outcomeTable, last)): o}); err != nil {
		t.Fatal(err)
	}
	_, err := Open("market", w.conf, World{
		Bank: w.bank, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: w, FS: w.disk.CrashClone(vfs.CrashCloneCfg{}),
	})
	for _, part := range []string{fmt.Sprintf("record %d: ", last), "decides differently from the version that wrote the log", "start and stop the version that wrote the log"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want it to say %q", err, part)
		}
	}
}

// TestRules checks that a market may be reopened with another address, other limits or
// another retention time, but not with other rules.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, field string }{
		{file, ""},
		{"# A comment.\n" + file + "listen: 127.0.0.1:1\nkeep: 2\nlimits: {memory: 5}\nlink: {lease: 3}\n", ""},
		{strings.ReplaceAll(file, "cheapest", "{name: cheapest}"), ""},
		{file + "link: {patience: 6}", "link.patience 5"},
		{strings.ReplaceAll(file, "cheapest", "best-response"), "market.bidding cheapest"},
		{strings.ReplaceAll(file, "default: be", "default: cac"), "admission.default be"},
		{file + "leaving: {rule: lost}", "leaving.rule resubmit"},
	} {
		w := newTown(t, file, 1)
		m, err := Open("market", must(Parse("lab.yaml", []byte(c.text))), World{
			Bank: w.bank, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: w, FS: w.disk.CrashClone(vfs.CrashCloneCfg{}),
		})
		if err == nil {
			err = m.Close()
		}
		if (err == nil) != (c.field == "") || err != nil && !strings.Contains(err.Error(), "created with "+c.field+",") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestRepeats checks that the checkpoints of a running market, which a second core computes from
// the log, are the bytes of the market's own state, and that they are written after the step.
func TestRepeats(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 2)
	checked := 0
	for i := range 60 {
		s := w.order(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), []string{"be", "sac", "cac"}[i%3], 1+i%2, 5, float64(10+4*i), 0.05)
		w.market.every = 1 + int64(i)%7
		w.turn(message{Submit: &s})
		w.talk()
		w.now += 3
		if i == 20 {
			w.turn(message{Gone: "h01"})
		}
		begun, seq := w.market.writing != nil, w.market.log.seq
		if err := w.market.finish(); err != nil {
			t.Fatal(err)
		}
		if w.market.saved.seq != seq {
			continue
		}
		if !begun {
			t.Fatalf("the step of record %d has waited for its checkpoint", seq)
		}
		text, closer, err := w.market.log.db.Get(key(checkpointTable, seq))
		if err != nil {
			t.Fatal(err)
		}
		like := must(w.market.fresh())
		if own := must(memo.Encode(w.market.core.checkpoint(), like.checkpoint())); !bytes.Equal(text, own) {
			t.Fatalf("the checkpoint of record %d has %d bytes, which differ from the %d of the market's state", seq, len(text), len(own))
		}
		closer.Close()
		checked++
	}
	if checked < 15 {
		t.Errorf("%d checkpoints were compared, want 15 or more", checked)
	}
	w.pass(300)
	w.crash()
	w.check(60)
}
