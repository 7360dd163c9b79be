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

	"github.com/cockroachdb/pebble/v2/vfs"
)

func apply(t *testing.T, s *Sequencer, in string, parallel int) map[string]Outcome {
	t.Helper()
	var out bytes.Buffer
	if err := s.Apply(context.Background(), strings.NewReader(in), &out, parallel, func() float64 { return 1 }); err != nil {
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

// TestApply checks that every order has its outcome: a receipt for what was booked,
// the same for what was booked before, and a sentence for what is refused.
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
		`{"id":"x","from":"user:a","to":"escrow:1","amount":1}`:             "kept for contracts",
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
		`{"id":"x","from":"user:b","to":"user:a","amount":1}{}`:             "line 1: found something after the object",
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
	if err := s.Apply(context.Background(), strings.NewReader("\n"+strings.Repeat("x", 1<<20)), &bytes.Buffer{}, 1, func() float64 { return 1 }); err == nil || !strings.Contains(err.Error(), "line 2: found more than 4096 bytes") {
		t.Errorf("a line of a megabyte: %v", err)
	}
	closeSequencer(t, s)
	if err := s.Apply(context.Background(), strings.NewReader(in.String()), &bytes.Buffer{}, 4, func() float64 { return 1 }); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed bank: %v", err)
	}
}

// FuzzOrder checks that an order is what encoding/json reads too, by keys in their case
// and in any, and that its amount is what math/big reads.
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
