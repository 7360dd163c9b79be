package order

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/keys"

	"golang.org/x/mod/sumdb/note"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const ledger = "ledger 5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6\n"

// examples are orders of all kinds.
func examples(t testing.TB) []string {
	t.Helper()
	_, key, err := keys.New(rand.NewChaCha8([32]byte{1}), "ann")
	check(t, err)
	_, other, err := keys.New(rand.NewChaCha8([32]byte{2}), "safe")
	check(t, err)
	begin := func(kind, account string) string {
		return "bourse " + kind + " 1\n" + ledger + "id 01KAN3V0Q4XW6Z7M1C9GQ2T5RB\naccount " + account + "\n"
	}
	market := func(kind, rest string) string {
		return strings.Replace(begin(kind, "user:ann")+rest, "\nid ", "\nmarket lab\nid ", 1) + "expires 2026-11-22T15:10:00Z\n"
	}
	const end = "expires 2026-11-22T15:10:00Z\n"
	moves := "moves " + Digest([]bank.Move{{From: "escrow:7", To: "user:ann", Amount: bank.Micros(5)}}) + "\n"
	return []string{
		begin("transfer", "user:ann") + "to user:bob\namount 12.500000\n" + end,
		market("order", "class cac\nnodes 2\nwork 540\ndeadline 600\nbudget 1.500000\njob sha256:5f7c\n"),
		market("cancel", "contract 17\n"),
		market("read", "of the logs, all\n"),
		begin("mint", "bursar") + "to user:bob\namount 0.000001\n" + end,
		begin("settle", "market:lab") + "contract 7\n" + moves + end,
		begin("penalty", "market:lab") + "contract 0\n" + moves + end,
		begin("enrol", "operator") + "of user:ann\nkey " + key + "\n" + end,
		begin("invite", "operator") + "of user:ann\nkey " + key + "\n" + end,
		begin("rotate", "user:ann") + "key " + key + "\n" + end,
		begin("revoke", "operator") + "of user:ann\n" + end,
		begin("revoke", "operator") + "of user:ann\nright mint\n" + end,
		begin("revoke", "operator") + "of user:ann\nright payee\nmarket lab\n" + end,
		begin("recover", "recovery") + "of operator\nkey " + key + "\n" + end,
		begin("right", "operator") + "of bursar\nright mint\ncap 1000.000000\nperiod 604800\n" + end,
		begin("right", "operator") + "of bursar\nright mint\ncap 1000.000000\nperiod 604800\nwith user:bob\n" + end,
		begin("right", "operator") + "of bursar\nright mint\ncap 1000.000000\nperiod 604800\nwindow sliding\n" + end,
		begin("right", "operator") + "of bursar\nright mint\ncap 1000.000000\nperiod 604800\nwindow sliding\nwith user:bob\n" + end,
		begin("right", "operator") + "of market:lab\nright settle\nnumber 3\n" + end,
		begin("right", "operator") + "of user:ann\nright payee\nmarket lab\n" + end,
		begin("right", "operator") + "of user:ann\nright read\n" + end,
		begin("right", "operator") + "of user:ann\nright audit\n" + end,
		market("bid", "contract 17\nbudget 2.500000\n"),
		"bourse own 1\n" + ledger + "operator " + key + "\nrecovery " + other + "\n",
	}
}

// TestParse checks that an order of each kind is parsed and written again unchanged.
func TestParse(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, text := range examples(t) {
		o, err := Parse(text)
		if err != nil || o.String() != text {
			t.Errorf("%s\nis read as %v, %v", text, o, err)
			continue
		}
		seen[o.Kind] = true
		if again, err := New(o.Kind, o.fields...); err != nil || again.String() != text {
			t.Errorf("%s\nis made anew as %v, %v", text, again, err)
		}
	}
	if len(seen) != len(kinds) {
		t.Errorf("%d of %d kinds seen", len(seen), len(kinds))
	}
	o, err := Parse(examples(t)[0])
	check(t, err)
	if o.Request() != "user:ann/01KAN3V0Q4XW6Z7M1C9GQ2T5RB" || o.Money("amount") != bank.Micros(12_500_000) || o.Expires() != 848675400 || o.Value("key") != "" || o.Number("number") != 0 {
		t.Errorf("read as %s, %v, %v", o.Request(), o.Money("amount"), o.Expires())
	}
}

// TestRefused checks that a text that is not a canonical order is rejected with its line and
// field, and that no line of an order can be omitted or duplicated.
func TestRefused(t *testing.T) {
	t.Parallel()
	transfer, right := examples(t)[0], examples(t)[14]
	for _, c := range []struct{ text, old, new, want string }{
		{transfer, "bourse transfer 1", "bourse transfer 2", `line 1: found "bourse transfer 2", want`},
		{transfer, "bourse transfer 1", "transfer", "line 1: "},
		{transfer, "transfer", "steal", "line 1: "},
		{transfer, "12.500000", "12.5", `line 6: amount: found "12.5", want dollars with six decimals`},
		{transfer, "12.500000", "012.500000", "line 6: amount"},
		{transfer, "12.500000", "0.000000", "line 6: amount"},
		{transfer, "12.500000", "-1.000000", "line 6: amount"},
		{transfer, "user:bob", "escrow:7", "line 5: to"},
		{transfer, "user:bob", "mint", "line 5: to"},
		{transfer, "account user:ann", "account  user:ann", "line 4: account"},
		{transfer, "amount ", "Amount ", `line 6: found field "Amount", want one of ledger`},
		{transfer, "amount ", "budget ", "line 6: found budget, want amount"},
		{transfer, "T15:10:00Z", "T15:10:00+00:00", "line 7: expires"},
		{transfer, "T15:10:00Z", "T15:10:00.0Z", "line 7: expires"},
		{transfer, "2026-", "1999-", "line 7: expires"},
		{transfer, "5f7c", "5F7C", "line 2: ledger"},
		{transfer, "5f7c", "", "line 2: ledger"},
		{transfer, "01KAN", "01 KAN", "line 3: id"},
		{transfer, "01KAN", strings.Repeat("x", 40), "want at most 64"},
		{transfer, "\nexpires", "\nclass cac\nexpires", `line 7: found field "class"`},
		{transfer, "\nto user:bob\namount 12.500000", "\namount 12.500000\nto user:bob", "line 5: found amount, want to"},
		{transfer, "00Z\n", "00Z", "want a line feed"},
		{transfer, "00Z\n", "00Z\n\n", "line 8: "},
		{transfer, "00Z\n", "00Z\nwith user:bob\n", "line 8: found with, want the end"},
		{transfer, "\n", "\r\n", "line 1: "},
		{right, "period 604800\n", "", "line 8: found expires, want period"},
		{right, "604800", "0604800", "line 8: period"},
		{right, "604800", "0", "line 8: period"},
		{right, "right mint", "right settle", "found right settle with"},
		{right, "right mint", "right all", "line 6: right"},
		{right, "cap 1000.000000\nperiod 604800\n", "", `found right mint with ""`},
		{examples(t)[1], "budget 1.500000\n", "", "budget is missing"},
		{examples(t)[1], "class cac", "market cac", "line 6: found market twice"},
		{examples(t)[1], "class cac", "class cac ", "line 6: class"},
		{examples(t)[1], "class cac", "class", "line 6: class"},
		{examples(t)[1], "class cac", "class cac\nclass cac", "line 7: found class twice"},
		{examples(t)[1], "class cac", "x " + strings.Repeat("x", 1000), "want at most 1024"},
		{examples(t)[12], "market lab\n", "", "want both or neither"},
	} {
		text := strings.Replace(c.text, c.old, c.new, 1)
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), c.want) || text == c.text {
			t.Errorf("%s\n%v, want %s", text, err, c.want)
		}
	}
	for _, text := range examples(t) {
		lines := strings.SplitAfter(text, "\n")
		for i := range len(lines) - 1 {
			without := strings.Join(append(append([]string(nil), lines[:i]...), lines[i+1:]...), "")
			if o, err := Parse(without); err == nil && o.Kind != "read" && o.Kind != "cancel" && o.Kind != "bid" && o.Kind != "order" && o.Value("right") == "" && o.Kind != "revoke" && o.Value("with") == "" {
				t.Errorf("%s\nis read without %s", text, lines[i])
			}
			doubled := strings.Join(append(append([]string(nil), lines[:i+1]...), lines[i:]...), "")
			if _, err := Parse(doubled); err == nil {
				t.Errorf("%s\nis read with two of %s", text, lines[i])
			}
		}
	}
}

// TestSign checks that a signature has the format of a note's signature, is valid only for its
// text and key, and has only one form.
func TestSign(t *testing.T) {
	t.Parallel()
	private, public, err := keys.New(rand.NewChaCha8([32]byte{1}), "ann")
	check(t, err)
	second, stranger, err := keys.New(rand.NewChaCha8([32]byte{2}), "bob")
	check(t, err)
	text := examples(t)[0]
	signed, err := Sign([]byte(text), private)
	check(t, err)
	v, err := note.NewVerifier(public)
	check(t, err)
	n, err := note.Open(signed, note.VerifierList(v))
	if err != nil || n.Text != text {
		t.Errorf("as a note: %v, %v", n, err)
	}
	s, err := Open(append(signed[:len(signed):len(signed)], `{"decision":"admitted"}`...))
	check(t, err)
	if !s.By(public) || s.By(stranger) || s.By("") || s.Signatures() != 1 || string(s.Rest) != `{"decision":"admitted"}` || s.String() != text {
		t.Errorf("opened as %v", s)
	}
	both, err := Sign(signed, second)
	check(t, err)
	if s, err := Open(both); err != nil || !s.By(public) || !s.By(stranger) || s.Signatures() != 2 {
		t.Errorf("signed by two: %v, %v", s, err)
	}
	for what, b := range map[string][]byte{
		"signed by one twice":     append(bytes.Clone(signed), signed[len(text)+1:]...),
		"signed by three":         append(bytes.Clone(both), "— cyd AAAAAAAA\n"...),
		"without a signature":     []byte(text),
		"without end":             signed[:len(signed)-1],
		"signed in another form":  bytes.Replace(signed, []byte("— ann "), []byte("— ann  "), 1),
		"signed with spare bits":  bytes.Replace(signed, []byte("=\n"), []byte("\n"), 1),
		"signed with a return":    bytes.Replace(signed, []byte("=\n"), []byte("\r=\n"), 1),
		"without an empty line":   bytes.Replace(signed, []byte("\n\n"), []byte("\n"), 1),
		"signed as another order": bytes.Replace(signed, []byte("amount"), []byte("Amount"), 1),
	} {
		if s, err := Open(b); err == nil {
			t.Errorf("%s: opened as %v", what, s)
		}
	}
	for i := range len(signed) - 1 {
		harmed := bytes.Clone(signed)
		harmed[i] ^= 1
		if s, err := Open(harmed); err == nil && s.By(public) {
			t.Errorf("byte %d changed: it is signed", i)
		}
	}
	for _, b := range []string{"", "bourse transfer 1\n", string(signed) + "x"} {
		if got, err := Sign([]byte(b), second); err == nil {
			t.Errorf("%q is signed: %q", b, got)
		}
	}
}

// FuzzOrder checks that an order has only one form, has no duplicate lines, and that its
// signatures are those that a simple note parser finds.
func FuzzOrder(f *testing.F) {
	private, _, err := keys.New(rand.NewChaCha8([32]byte{1}), "ann")
	check(f, err)
	for _, text := range examples(f) {
		f.Add([]byte(text))
		f.Add([]byte(text + "\n— + 00000000\n"))
		if signed, err := Sign([]byte(text), private); err == nil {
			f.Add(signed)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := Parse(string(b)); err == nil {
			lines := make(map[string]bool)
			for line := range strings.Lines(string(b)) {
				name, _, _ := strings.Cut(line, " ")
				if lines[name] {
					t.Errorf("%q is read with two of %s", b, name)
				}
				lines[name] = true
			}
			if o.String() != string(b) || len(b) > maxText {
				t.Errorf("%q is read, and written as %q", b, o)
			}
		}
		s, err := Open(b)
		if err != nil || len(s.Rest) > 0 {
			return
		}
		_, err = note.Open(b, note.VerifierList())
		var unverified *note.UnverifiedNoteError
		if !errors.As(err, &unverified) || unverified.Note.Text != s.String() || len(unverified.Note.UnverifiedSigs) != s.Signatures() {
			t.Errorf("%q is read as %q with %d signatures, and as a note: %v", b, s, s.Signatures(), err)
		}
	})
}

func Example() {
	private, public, _ := keys.New(rand.NewChaCha8([32]byte{1}), "ann")
	o, err := New("transfer", Field{"ledger", "5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6"}, Field{"id", "rent-11"}, Field{"account", "user:ann"},
		Field{"to", "user:bob"}, Field{"amount", "12.500000"}, Field{"expires", "2026-11-22T15:10:00Z"})
	fmt.Println(err)
	signed, _ := Sign([]byte(o.String()), private)
	s, _ := Open(signed)
	fmt.Println(s.Kind, s.Request(), s.By(public))
	// Output:
	// <nil>
	// transfer user:ann/rent-11 true
}
