package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"bourse/bank"

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
		`{"id":"x","from":"user:a","to":"user:b","amount":1e3}`:          "decimals",
		`{"id":"x","from":"user:a","to":"user:b","amount":-1}`:           "not positive",
		`{"id":"x","from":"user:a","to":"user:b"}`:                       "amount",
		`{"id":"x","from":"user:a","to":"escrow:1","amount":1}`:          "kept for contracts",
		`{"id":"x","from":"user:b","to":"../b","amount":1}`:              "lower-case",
		`{"id":"x y","from":"user:b","to":"user:a","amount":1}`:          "id",
		`{"id":"x","from":"user:b","to":"user:a","amount":1,"memo":"1"}`: "unknown field",
		`{"id":"m","from":"mint","to":"user:a","amount":101}`:            "another request",
		`[`: "unexpected end",
	} {
		for _, o := range apply(t, s, line, 1) {
			if !strings.Contains(o.Error, want) || o.Seq != 0 {
				t.Errorf("%s: %+v, want an error with %q", line, o, want)
			}
		}
	}
	if err := s.Apply(context.Background(), strings.NewReader(strings.Repeat("x", 1<<20)), &bytes.Buffer{}, 1, func() float64 { return 1 }); err == nil {
		t.Error("a line of a megabyte is taken")
	}
	closeSequencer(t, s)
	if err := s.Apply(context.Background(), strings.NewReader(in.String()), &bytes.Buffer{}, 4, func() float64 { return 1 }); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed bank: %v", err)
	}
}

// FuzzOrder checks that no line makes an order of an amount that is no money.
func FuzzOrder(f *testing.F) {
	f.Add(`{"id":"x","from":"user:a","to":"user:b","amount":"1.5"}`)
	f.Add(`{"amount":1e1000000000}`)
	f.Fuzz(func(t *testing.T, line string) {
		var o Order
		if json.Unmarshal([]byte(line), &o) == nil {
			if _, err := bank.Parse(o.Amount.String()); err != nil {
				t.Error(err)
			}
		}
	})
}
