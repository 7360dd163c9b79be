package lab_test

import (
	"context"
	"crypto/rand"
	"os"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/keys"
	"bourse/bank/place"
	"bourse/bank/store"
	"bourse/experiments/live/lab"
)

// TestMake checks that a lab's bank has owners and money and passes the audit. An
// interrupted creation must be continued without issuing money twice.
func TestMake(t *testing.T) {
	t.Parallel()
	_, public, err := keys.New(rand.Reader, "me")
	if err != nil {
		t.Fatal(err)
	}
	p := lab.Plan{Dir: t.TempDir(), Market: "lab", Rules: []byte("name: lab\n"), Account: "user:me", Public: public, Money: bank.Micros(100e6)}
	for again := range 3 {
		if err := lab.Make(context.Background(), p, float64(1000+again)); err != nil {
			t.Fatal(err)
		}
		if made, err := lab.Made(p.Dir); !made || err != nil {
			t.Errorf("made %v, %v", made, err)
		}
		if err := os.Remove(lab.File(p.Dir, "market.yaml")); err != nil { // as if it had been interrupted
			t.Fatal(err)
		}
	}
	if made, err := lab.Made(p.Dir); made || err != nil {
		t.Errorf("broken off: made %v, %v", made, err)
	}
	books := place.At(lab.File(p.Dir, "books"))
	r, err := books.Audit(audit.Options{})
	if err != nil || len(r.Findings) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	s, err := books.Writer(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if has, err := s.Balance(context.Background(), "user:me"); err != nil || has != p.Money {
		t.Errorf("user:me has %v, %v", has, err)
	}
}

// TestRulesOfUser checks that a folder with only the rules of a user is no lab, that Make completes it
// and retains the rules, and that a lost key of the market is an error instead of a second key.
func TestRulesOfUser(t *testing.T) {
	t.Parallel()
	_, public, err := keys.New(rand.Reader, "me")
	if err != nil {
		t.Fatal(err)
	}
	p := lab.Plan{Dir: t.TempDir(), Market: "mine", Number: 3, Rules: []byte("name: mine\nnumber: 3\n"), Account: "user:me", Public: public, Money: bank.Micros(100e6)}
	made := func(want bool) {
		t.Helper()
		if got, err := lab.Made(p.Dir); got != want || err != nil {
			t.Errorf("Made = %v, %v, want %v", got, err, want)
		}
	}
	if err := os.WriteFile(lab.File(p.Dir, "market.yaml"), p.Rules, 0o600); err != nil {
		t.Fatal(err)
	}
	made(false)
	if err := lab.Make(t.Context(), p, 1000); err != nil {
		t.Fatal(err)
	}
	made(true)
	if text, err := os.ReadFile(lab.File(p.Dir, "market.yaml")); string(text) != string(p.Rules) || err != nil {
		t.Errorf("rules %q, %v, want %q", text, err, p.Rules)
	}
	if err := os.WriteFile(lab.File(p.Dir, "making"), nil, 0o600); err != nil { // as if it had been interrupted
		t.Fatal(err)
	}
	made(false)
	if err := os.Remove(lab.File(p.Dir, "making")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(lab.File(p.Dir, "keys", "market")); err != nil {
		t.Fatal(err)
	}
	if got, err := lab.Made(p.Dir); got || err == nil {
		t.Errorf("without the key: Made = %v, %v, want an error", got, err)
	}
}
