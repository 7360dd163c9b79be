package opening

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bourse/bank"

	"pgregory.net/rapid"
)

// TestRead checks the three forms of a line, and ignored lines.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"balances": "# opening\nuser:ann 69.500000\n\nuser:bob 26.3\nuser:cyd 0.000000\n",
		"csv":      "account,amount\r\nuser:ann,69.5\r\nuser:bob,26.30\r\n",
		"quoted":   "\"account\",\"balance\"\n\"user:ann\",\"69.500000 USD\"\n\"user:bob\",\"26.300000 USD\"\n",
		"hledger":  "      69.500000 USD  user:ann\n      26.300000 USD  user:bob\n",
		"currency": "; USD\nuser:ann 69.50 USD\nuser:bob 26.3 USD",
	} {
		e, sum, err := Read(strings.NewReader(text), name)
		want := []bank.Move{{From: "mint", To: "user:ann", Amount: bank.Micros(69_500_000)}, {From: "mint", To: "user:bob", Amount: bank.Micros(26_300_000)}}
		if err != nil || fmt.Sprint(e.Moves) != fmt.Sprint(want) || e.Kind != bank.Issue || sum != bank.Micros(95_800_000) {
			t.Errorf("%s: %v, sum %v, %v", name, e.Moves, sum, err)
		}
	}
}

// TestBad checks that every violation of the grammar is an error with the place and the
// problem, and that no part of the file is used.
func TestBad(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"user:ann 1\nuser:bob 1e3\n": `f:2: amount "1e3"`,
		"user:ann -1\n":              "f:1: found -1 for user:ann, want at least 0",
		"user:ann 1\nuser:ann 2\n":   "f:2: found user:ann, which is also on line 1",
		"escrow:7 1\n":               "f:1: found escrow:7",
		"mint 1\n":                   "f:1: found mint",
		"User 1\n":                   `f:1: account "User"`,
		"user:ann\n":                 `f:1: found "user:ann", want an account and an amount`,
		"user:ann 1 EUR\nx\ny z w\n": `f:1: found "user:ann 1 EUR", want an account and an amount (and 2 more lines)`,
		"user:ann,1,2\n":             `f:1: found "user:ann,1,2"`,
		"user:ann,\"1\nuser:bob,1\n": "f:1: found",
		"user:ann\u00a01\n":          `f:1: found "\u00a01", want text without this character`,
		"user:ann 1\vuser:bob 2\n":   "f:1: found",
		"user:ann 1\u2028\n":         "f:1: found",
		"\ufeffuser:ann 1\n":         "f:1: found",
		"user:ann 1\xff\n":           "f:1: found",
		"user:ann 0\n":               "f: found no account with a balance",
		"":                           "f: found no account",
		strings.Repeat("x", 70000):   "f: found a line of more than 65536 bytes",
		"user:a 9e9\n":               "f:1:",
		"user:a 9000000000000\nuser:b 9000000000000\n": "f:2:",
		"user:ann 1\naccount,amount\n":                 "f:2:",
	} {
		if _, _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	var b strings.Builder
	for n := range bank.MaxMoves + 1 {
		fmt.Fprintf(&b, "user:%d 1\n", n)
	}
	if _, _, err := Read(strings.NewReader(b.String()), "f"); err == nil || !strings.Contains(err.Error(), "65537 accounts") {
		t.Errorf("too many accounts: %v", err)
	}
}

// TestRoundTrip checks that the balances of a ledger, read and booked again, give a ledger
// with the same balances.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		want := rapid.MapOf(rapid.StringMatching(`(user|host):[A-Za-z0-9][a-z0-9._-]{0,8}`), rapid.Int64Range(1, 1<<50)).Draw(t, "balances")
		for name, micros := range want {
			fmt.Fprintln(&text, name, bank.Micros(micros))
		}
		e, _, err := Read(strings.NewReader(text.String()), "f")
		if len(want) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		l := bank.New(nil)
		if err := l.Book(&e); err != nil {
			t.Fatal(err)
		}
		for name, b := range l.Balances() {
			if name != "mint" && b.Micros() != want[name] {
				t.Fatalf("%s = %v, want %v", name, b, bank.Micros(want[name]))
			}
		}
	})
}

// plainRead is a simple reader of balances: each line contains one word that is an account and
// one word that is an amount. It reports whether it understood every line. plainRead does not
// support the beancount format.
func plainRead(text string) (held map[string]*big.Rat, ok, beancount bool) {
	words := regexp.MustCompile(`[^ \t,"]+`)
	name := regexp.MustCompile(`^[a-z]+(:[A-Za-z0-9][A-Za-z0-9._-]*)*$`)
	amount := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	held = make(map[string]*big.Rat)
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Trim(strings.TrimSuffix(line, "\r"), " \t")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		w := slices.DeleteFunc(words.FindAllString(line, -1), func(s string) bool { return s == "USD" })
		if len(held) == 0 && (strings.HasPrefix(line, "option") || len(w) > 0 && regexp.MustCompile(`^[0-9]{4}-`).MatchString(w[0])) {
			return nil, false, true
		}
		if len(held) == 0 && len(w) == 2 && strings.EqualFold(w[0], "account") && !strings.ContainsAny(w[1], "0123456789") {
			continue
		}
		if len(w) == 2 && amount.MatchString(w[0]) {
			w[0], w[1] = w[1], w[0]
		}
		if len(w) != 2 || !name.MatchString(w[0]) || !amount.MatchString(w[1]) || held[w[0]] != nil {
			return nil, false, false
		}
		held[w[0]], _ = new(big.Rat).SetString(w[1])
	}
	return held, true, false
}

// FuzzRead checks that no text yields an invalid entry or hangs, and that the result equals
// that of a simple parser.
func FuzzRead(f *testing.F) {
	f.Add("user:ann 1\n\"a\",\"2 USD\"\n 1 USD  host:h\n")
	f.Add("account,amount\r\nuser:ann,69.5\r\nuser:bob,26.30\r\n")
	f.Add("user:ann\u00a01\nuser:bob\u00852\n")
	f.Add("2026-01-01 open Assets:User:Ann USD\n2026-01-01 balance Assets:User:Ann 69.50 ~ 0 USD\n")
	f.Add("option \"title\" \"x\"\n2026-01-01 * \"a\"\n  id: \"7\"\n  Assets:User:A-c--nn 2 USD\n  Equity:Mint\n2026-01-02 balance Assets:User:A-c--nn 2 USD\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, sum, err := Read(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		l := bank.New(nil)
		if err := l.Book(&e); err != nil || l.Issued() != sum {
			t.Errorf("%q: issued %v, sum %v, %v", text, l.Issued(), sum, err)
		}
		held, ok, beancount := plainRead(text)
		if beancount {
			return
		}
		total := new(big.Rat)
		for _, a := range held {
			total.Add(total, a)
		}
		for _, m := range e.Moves {
			if a := held[m.To]; !ok || a == nil || a.Cmp(big.NewRat(m.Amount.Micros(), 1e6)) != 0 {
				t.Errorf("%q: %s holds %v, to a plain reader %v", text, m.To, m.Amount, a)
			}
		}
		if total.Cmp(big.NewRat(sum.Micros(), 1e6)) != 0 {
			t.Errorf("%q: sum %v, to a plain reader %v", text, sum, total)
		}
	})
}
