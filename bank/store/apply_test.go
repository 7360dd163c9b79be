package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func apply(t *testing.T, s *Sequencer, in string, parallel int) map[string]Outcome {
	t.Helper()
	var out bytes.Buffer
	if err := Apply(context.Background(), s.Do, strings.NewReader(in), &out, parallel, func() float64 { return 1 }); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]Outcome)
	for line := range strings.Lines(out.String()) {
		var o Outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		got[o.ID] = o
	}
	return got
}

// TestApply checks that every order has an outcome: a receipt if it was booked, the same
// receipt if it was booked before, and an error if it is refused.
func TestApply(t *testing.T) {
	t.Parallel()
	s := newSequencer(t, vfs.NewMem())
	var in strings.Builder
	in.WriteString(`{"id":"m","from":"mint","to":"user:a","amount":"100"}` + "\n")
	first := apply(t, s, in.String(), 1)["m"]
	if first.Seq != 1 || first.Error != "" {
		t.Fatalf("mint: %+v", first)
	}
	for i := range 200 {
		fmt.Fprintf(&in, "{\"id\":\"t%d\",\"from\":\"user:a\",\"to\":\"user:b\",\"amount\":1.25}\n", i)
	}
	in.WriteString(`{"id":"m","from":"mint","to":"user:a","amount":"100.0"}` + "\n\n")
	got := apply(t, s, in.String(), 16)
	won := 0
	for _, o := range got {
		if o.Error == "" && o.Seq > 1 {
			won++
		}
	}
	if len(got) != 201 || won != 80 || got["m"] != first {
		t.Errorf("%d outcomes, %d transfers won, mint again %+v; want 201, 80, %+v", len(got), won, got["m"], first)
	}
	for line, want := range map[string]string{
		`{"id":"x","from":"user:a","to":"user:b","amount":1e3}`:             "decimals",
		`{"id":"x","from":"user:a","to":"user:b","amount":-1}`:              "not positive",
		`{"id":"x","from":"user:a","to":"user:b"}`:                          "amount",
		`{"id":"x","from":"user:a","to":"escrow:1","amount":1}`:             "reserved for contracts",
		`{"id":"x","from":"user:b","to":"../b","amount":1}`:                 "lower-case",
		`{"id":"x y","from":"user:b","to":"user:a","amount":1}`:             "id",
		`{"id":"x","from":"user:b","to":"user:a","amount":1,"memo":"1"}`:    "line 1: found unknown field \"memo\"",
		`{"from":"user:b","to":"user:a","amount":1}`:                        "line 1: id is missing",
		`{"id":"","from":"user:b","to":"user:a","amount":1}`:                "line 1: id is missing",
		`{"id":null,"from":"user:b","to":"user:a","amount":1}`:              "line 1: id: found null, want a string",
		`{"id":7,"from":"user:b","to":"user:a","amount":1}`:                 "line 1: id: found 7, want a string",
		`{"id":"x","to":"user:a","amount":1}`:                               "line 1: from is missing",
		`{"id":"x","from":"user:b","amount":1}`:                             "line 1: to is missing",
		`{"id":"x","from":"user:b","to":"user:a","To":"user:c","amount":1}`: `line 1: found field "To", want "to"`,
		`{"id":"x","from":"user:b","to":"user:a","AMOUNT":1}`:               `line 1: found field "AMOUNT", want "amount"`,
		`{"id":"x","id":"y","from":"user:b","to":"user:a","amount":1}`:      `line 1: found field "id" twice`,
		`{"id":"x","from":"user:b","to":"user:a","amount":1}{}`:             "line 1: found text after the object",
		`{"id":"x","from":"user:b","to":"user:a","amount":"1`:               "line 1: found",
		`{"id":"x","from":"user:b","to":"user:a","amount":""1""}`:           "line 1: found",
		`{"id":"x","from":"user:b","to":"user:a","amount":"\u0031"}`:        "decimals",
		`{"id":"x","from":"user:b","to":"user:a","amount":null}`:            "decimals",
		`{"id":"x","from":"user:b","to":"user:a","amount":[1]}`:             "decimals",
		`["id","x"]`: "want a JSON object",
		"{\"id\":\"x\",\"from\":\"user:b\xff\",\"to\":\"user:a\",\"amount\":1}": "not UTF-8",
		"\n\n \n{": "line 4: found",
		`{"id":"m","from":"mint","to":"user:a","amount":101}`: "another request",
		`[`: "want a JSON object",
	} {
		for _, o := range apply(t, s, line, 1) {
			if !strings.Contains(o.Error, want) || o.Seq != 0 {
				t.Errorf("%s: %+v, want an error with %q", line, o, want)
			}
		}
	}
	if err := Apply(context.Background(), s.Do, strings.NewReader("\n"+strings.Repeat("x", 1<<20)), &bytes.Buffer{}, 1, func() float64 { return 1 }); err == nil || !strings.Contains(err.Error(), "line 2: found more than 4096 bytes") {
		t.Errorf("a line of a megabyte: %v", err)
	}
	closeSequencer(t, s)
	if err := Apply(context.Background(), s.Do, strings.NewReader(in.String()), &bytes.Buffer{}, 4, func() float64 { return 1 }); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed bank: %v", err)
	}
}

// TestApplySigned checks that an owned ledger books lines with signed orders and refuses plain
// lines.
func TestApplySigned(t *testing.T) {
	t.Parallel()
	s := newSequencer(t, vfs.NewMem())
	if err := begin(s, true); err != nil {
		t.Fatal(err)
	}
	line := func(e bank.Entry, more string) string {
		b, err := json.Marshal(string(e.Note))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"order":%s%s}`, b, more)
	}
	contract := ownerstest.Contract(5)
	escrow := bank.EscrowName(contract)
	admit := ownerstest.Admit("a", "user:0", contract, 900, 900)
	settle := ownerstest.Market(bank.Settle, "s", contract, ownerstest.Move(escrow, "user:0", 900))
	transfer := ownerstest.Transfer("t", "user:0", "user:1", 5)
	for _, c := range []struct{ line, id, want string }{
		{line(transfer, ""), transfer.ID, ""},
		{line(transfer, ""), transfer.ID, ""}, // the same order again
		{line(ownerstest.Mint("m", "user:0", 5), ""), "bursar/m", ""},
		{line(ownerstest.Enrol("user:77"), ""), "operator/enrol-user:77", ""},
		{line(admit, fmt.Sprintf(`,"contract":%d,"moves":[{"from":"user:0","to":%q,"amount":"0.0009"}]`, contract, escrow)), admit.ID, ""},
		{line(ownerstest.Admit("r", "user:0", contract, 900, 900), fmt.Sprintf(`,"contract":%d`, contract+1)), "user:0/r", ""},
		{line(settle, fmt.Sprintf(`,"contract":%d,"moves":[{"from":%q,"to":"user:0","amount":"0.0009"}]`, contract, escrow)), settle.ID, ""},
		{`{"id":"x","from":"user:0","to":"user:1","amount":1}`, "x", "refused: the ledger is owned"},
		{line(ownerstest.Admit("n", "user:0", contract, 900, 900), ""), "user:0/n", "found an order of kind order, want one that states the whole entry"},
		{line(ownerstest.Transfer("n", "user:0", "user:1", 5), `,"contract":7,"moves":[]`), "user:0/n", "found an order of kind transfer with a contract"},
		{line(settle, `,"moves":[]`), "", "contract is missing"},
		{line(settle, `,"contract":7,"moves":[{"from":"a","to":"b"}]`), "", "want all three"},
		{line(settle, `,"contract":7,"moves":[{"from":"a","to":"b","amount":"1","amount":"2"}]`), "", "twice"},
		{line(settle, `,"contract":7,"memo":1`), "", "unknown field"},
		{`{"order":"bourse"}`, "", "found no signature"},
		{`{"order":7}`, "", "cannot unmarshal"},
	} {
		o, ok := apply(t, s, c.line, 1)[c.id]
		if !ok || (o.Error == "") != (c.want == "") || !strings.Contains(o.Error, c.want) {
			t.Errorf("%s\n%+v, want an error with %q", c.line, o, c.want)
		}
	}
	closeSequencer(t, s)
}

// FuzzOrder checks that encoding/json and math/big read the same fields and the same amount of
// an order, with exact and with case-insensitive keys.
func FuzzOrder(f *testing.F) {
	f.Add(`{"id":"x","from":"user:a","to":"user:b","amount":"1.5"}`)
	f.Add(`{"amount":1e1000000000}`)
	f.Add(`{"id":"x","from":"user:a","to":"user:b","TO":"user:c","amount":-0.000001}`)
	f.Fuzz(func(t *testing.T, line string) {
		var o Order
		if o.UnmarshalJSON([]byte(line)) != nil {
			return
		}
		var byKey map[string]any
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		var anyCase struct {
			ID, From, To string
			Amount       json.RawMessage
		}
		if err := errors.Join(dec.Decode(&byKey), json.Unmarshal([]byte(line), &anyCase)); err != nil {
			t.Fatal(err)
		}
		amount, ok := new(big.Rat).SetString(fmt.Sprint(byKey["amount"]))
		is := big.NewRat(o.Amount.Micros(), 1e6)
		if o.ID != byKey["id"] || o.From != byKey["from"] || o.To != byKey["to"] || !ok || amount.Cmp(is) != 0 || len(byKey) != 4 {
			t.Errorf("%s is read as %+v, by encoding/json as %v", line, o, byKey)
		}
		if amount, ok = amount.SetString(strings.Trim(string(anyCase.Amount), `"`)); o.ID != anyCase.ID || o.From != anyCase.From || o.To != anyCase.To || !ok || amount.Cmp(is) != 0 {
			t.Errorf("%s is read as %+v, by encoding/json as %+v", line, o, anyCase)
		}
	})
}
