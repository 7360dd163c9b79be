package export_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"bourse/bank"
	"bourse/bank/export"
)

// TestDaily checks that daily summaries have the ledger's balances and fewer entries, and that
// hledger, ledger and beancount accept them in strict mode, including running balances.
func TestDaily(t *testing.T) {
	t.Parallel()
	r, l := open(t, fillLarge(t))
	sums := make(map[string]int64)
	all, summed := 0, 0
	for range r.Entries() {
		all++
	}
	for e := range export.Daily(r.Entries()) {
		summed++
		for _, m := range e.Moves {
			sums[m.From] -= m.Amount.Micros()
			sums[m.To] += m.Amount.Micros()
		}
	}
	for name, b := range l.Balances() {
		if bank.IsEscrow(name) {
			sums["escrow"] -= b.Micros()
		} else if sums[name] != b.Micros() {
			t.Errorf("%s = %d, want %d", name, sums[name], b.Micros())
		}
	}
	if sums["escrow"] != 0 || summed != 3*5 {
		t.Errorf("%d in escrow too many; %d entries of %d, want 15", sums["escrow"], summed, all)
	}
	file := filepath.Join(t.TempDir(), "daily.journal")
	var b bytes.Buffer
	check(t, export.Write(&b, "hledger", export.Daily(r.Entries()), export.Options{}))
	check(t, os.WriteFile(file, b.Bytes(), 0o666))
	t.Run("hledger", func(t *testing.T) { tool(t, file, "hledger", "check", "--strict", "ordereddates", "-f") })
	beans := filepath.Join(t.TempDir(), "daily.beancount")
	b = bytes.Buffer{}
	check(t, export.Write(&b, "beancount", export.Daily(r.Entries()), export.Options{}))
	check(t, os.WriteFile(beans, b.Bytes(), 0o666))
	t.Run("beancount", func(t *testing.T) { tool(t, beans, "bean-check") })
	t.Run("ledger", func(t *testing.T) { tool(t, file, "ledger", "--strict", "--pedantic", "bal", "-f") })
}
