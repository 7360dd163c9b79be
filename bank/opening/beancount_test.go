package opening

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/export"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// TestBeancount checks the statements of the package comment about beancount.
func TestBeancount(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"balances": "option \"title\" \"x\"\n2026-01-01 open Assets:User:Ann USD ; hers\n2026-01-01 balance Assets:User:Ann 69.5 USD\n" +
			"2026-01-01 balance Assets:User:B-cob 26.30 ~ 0.01 USD\n2026-01-01 balance Assets:User:Cyd 0 USD\n",
		"transactions": "; opening\n2026-01-01 * \"Opening; \\\"all\\\"\"\n  id: \"7\"\n  Assets:User:Ann   100.00 USD\n  Equity:Opening\n\n" +
			"2026-01-02 txn \"a\" \"b\" #tag\n\tAssets:User:Ann   -30.5 USD ; rent\n\tAssets:User:B-cob  30.5 USD\n2026-01-02 balance Assets:User:Ann 100 USD\n" +
			"2026-01-03 ! \"\"\n  Assets:User:B-cob  -4.2 USD\n  Equity:Fees  4.2 USD\n2026-01-04 balance Assets:User:B-cob 26.31 ~ 0.01 USD\n2026-01-04 balance Assets:User:Cyd 0 USD\n",
	} {
		e, sum, err := Read(strings.NewReader(text), name)
		want := []bank.Move{{From: "mint", To: "user:ann", Amount: bank.Micros(69_500_000)}, {From: "mint", To: "user:Bob", Amount: bank.Micros(26_300_000)}}
		if err != nil || fmt.Sprint(e.Moves) != fmt.Sprint(want) || sum != bank.Micros(95_800_000) {
			t.Errorf("%s: %v, sum %v, %v", name, e.Moves, sum, err)
		}
	}
}

// TestBadBeancount checks that every violation of the grammar or of a sum is an error with the
// place, the text found and the form wanted.
func TestBadBeancount(t *testing.T) {
	t.Parallel()
	const open = "2026-01-01 open Assets:User:Ann USD\n"
	for text, want := range map[string]string{
		"pad Assets:User:Ann Equity:Mint\n":                                         `f:2: found "pad", want open,`,
		"balance Assets:User:Ann 1 EUR\n":                                           "f:2: found balance",
		"balance Assets:User:Ann USD\n":                                             "f:2: found balance",
		"balance Assets:User:Ann 1e3 USD\n":                                         `f:2: amount "1e3"`,
		"balance Assets:User:Ann -1 USD\n":                                          "f:2: found -1.000000 for user:ann, want at least 0",
		"balance Income:Job 1 USD\n":                                                `f:2: found account "Income:Job", want an account such as Assets:User:Ann`,
		"balance Assets:Us-xr 1 USD\n":                                              "f:2: found account",
		"balance Assets:Escrow:7 1 USD\n":                                           "f:2: found escrow:7",
		"* \"a\"\n  Assets:User:Ann 1 USD\n":                                        "f:2: found postings that sum to 1.000000 in the transaction of line 2, want 0",
		"* \"a\"\n  Assets:User:Ann 1 USD\n2026-01-01 open x":                       "f:4: found postings that sum to 1.000000",
		"* \"a\"\n  Assets:User:Ann\n  Equity:Mint\n":                               "f:4: found a second posting without an amount (Equity:Mint)",
		"* \"a\"\n  Assets:User:Ann 1 USD @ 2 EUR\n":                                "f:3: found",
		"balance Assets:User:Ann 1 USD\n2026-01-01 balance Assets:User:Ann 1 USD\n": "f:3: found Assets:User:Ann, which is also on line 2",
		"balance Assets:User:Ann 1 USD\n2026-01-01 * \"a\"\n":                       "f:3: found a transaction after a balance",
		"* \"a\"\n  Assets:User:Ann 1 USD\n  Equity:Mint\n2026-01-02 balance Assets:User:Ann 1.000001 USD\n":  "f:5: found balance 1.000001 of Assets:User:Ann, want 1.000000",
		"* \"a\"\n  Assets:User:Ann 1 USD\n  Equity:Mint\n2025-01-02 balance Assets:User:Ann 1.000001 USD\n":  "f:5: found 2025-01-02 after 2026-01-01",
		"* \"a\"\n  Assets:User:Ann 1 USD\n  Equity:Mint\nuser:bob 1\n":                                       `f:5: found "user:bob 1"`,
		"* \"a\"\n  Assets:User:Ann 1 USD\n  Assets:user:ann 1 USD\n  Equity:Mint\n":                          "f:4: found user:ann, which is also on line 3",
		"balance Assets:User:Ann 9000000000000 USD\n2026-01-01 balance Assets:User:Bob 9000000000000.1 USD\n": "f:3:",
	} {
		line, _, _ := strings.Cut(text, "\n")
		if _, _, err := Read(strings.NewReader(open+"2026-01-01 "+text), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	small, err := os.Open("../export/testdata/small.beancount")
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if _, _, err := Read(small, "small"); err == nil || !strings.Contains(err.Error(), "found escrow:19, want a personal account") {
		t.Errorf("money in escrow: %v", err)
	}
}

// TestExported checks that a ledger exported for beancount, with all kinds of names, is read
// back with the same balances.
func TestExported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,6}(:[A-Za-z0-9][A-Za-z0-9._-]{0,6}){1,2}`).Filter(func(s string) bool {
			return bank.CheckName(s) == nil && s != "mint" && !bank.IsEscrow(s)
		}), 2, 9, rapid.ID[string]).Draw(t, "names")
		l := bank.New(nil)
		var entries []bank.Entry
		for n := range rapid.IntRange(1, 20).Draw(t, "entries") {
			e := bank.Entry{Time: float64(n) * 40_000, Kind: bank.Issue, Contract: bank.NoContract, ID: fmt.Sprint("r", n), Note: []byte(`a "note"; of 2`)}
			m := bank.Move{From: "mint", To: rapid.SampledFrom(names).Draw(t, "to"), Amount: bank.Micros(rapid.Int64Range(1, 1e9).Draw(t, "amount"))}
			if from := rapid.SampledFrom(names).Draw(t, "from"); n%2 == 1 && from != m.To {
				e.Kind, m.From = bank.Transfer, from
			}
			e.Moves = []bank.Move{m}
			if l.Book(&e) == nil {
				entries = append(entries, e)
			}
		}
		var text strings.Builder
		if err := export.Write(&text, "beancount", each(entries), export.Options{}); err != nil {
			t.Fatal(err)
		}
		want := maps.Collect(l.Balances())
		maps.DeleteFunc(want, func(name string, a bank.Amount) bool { return name == "mint" || a.Sign() == 0 })
		e, _, err := Read(strings.NewReader(text.String()), "f")
		if err != nil {
			t.Fatalf("%v in\n%s", err, &text)
		}
		got := make(map[string]bank.Amount)
		for _, m := range e.Moves {
			got[m.To] = m.Amount
		}
		if !maps.Equal(got, want) {
			t.Fatalf("read %v, want %v, from\n%s", got, want, &text)
		}
	})
}

// each yields entries with empty hashes, because an export for beancount does not contain
// hashes.
func each(entries []bank.Entry) iter.Seq2[*bank.Entry, tlog.Hash] {
	return func(yield func(*bank.Entry, tlog.Hash) bool) {
		for i := range entries {
			if !yield(&entries[i], tlog.Hash{}) {
				return
			}
		}
	}
}
