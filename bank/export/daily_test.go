package export_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/export"
)

// TestDaily checks that entries summed up by day have the balances of the ledger,
// are fewer, and that hledger, ledger and beancount accept them in their strict
// modes, running balances and all.
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

// TestStatement checks what a user reads: the account's entries and those of its
// contracts, and the balance after each.
func TestStatement(t *testing.T) {
	t.Parallel()
	r, _ := open(t, fillSmall(t))
	var b bytes.Buffer
	check(t, export.Statement(&b, r.Entries(), "user:Ann"))
	want := `entry             seconds  kind                    amount              balance  note
1                   0.000  issue               100.000000           100.000000
3               86399.500  admit               -12.500000            87.500000  contract 17 {"price":0.25,"share":1}
5               90000.125  settle                8.250000            95.750000  contract 17 {"state":"violated"}
                                                 4.250000                       to host:h03.rack-2_b
6               90000.125  penalty               0.000005            95.750005  contract 17
7             1000000.000  transfer             -0.000001            95.750004
8             1000000.000  admit                -1.000000            94.750004  contract 19
                                                                     94.750004
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("control characters reach the terminal")
	}
}
