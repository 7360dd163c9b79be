// Package order parses and formats the requests of account owners to a bank. An order is a
// text of several lines, signed as a note of [golang.org/x/mod/sumdb/note].
//
// The package is independent of the owners of keys and of the rights of accounts.
//
// # Format
//
// An order is at most 1 KiB of lines. Each line except the first is "name value". Each line of
// the kind must occur exactly once, in the order given below:
//
//	bourse transfer 1
//	ledger 5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6
//	id rent-11
//	account user:ann
//	to user:bob
//	amount 12.500000
//	expires 2026-11-22T15:10:00Z
//
// The first line names the kind. Every order starts with ledger, id and account, and ends with
// expires:
//
//	order     market, then the writer's own lines, budget among them
//	cancel    market, then the writer's own lines
//	bid       market, then the writer's own lines, contract and budget among them
//	read      market, then the writer's own lines
//	transfer  to, amount
//	mint      to, amount
//	settle    contract, moves
//	penalty   contract, moves
//	enrol     of, key
//	invite    of, key
//	rotate    key
//	revoke    of; or of, right; or of, right payee, market; or of, right spend, for
//	recover   of, key
//	right     of, right, and the fields of the right: for mint cap, period, window and, if
//	          two must sign, with; window is sliding, and the cap then applies to every span
//	          of one period's length; without window, to the periods counted from 2000-01-01;
//	          for settle number; for payee market; for spend for, most and refunds, which is
//	          credited; without refunds, a contract counts with its whole budget; for read and
//	          audit nothing
//	own       operator, recovery; it has no id, account, expires or signature
//
// In an order of kind bid, cancel, read or order, the line market is between ledger and id.
// The writer's own lines have names of lower-case letters, digits and underscores, and values
// of printable ASCII without a space at either end. contracts/order reads them.
//
// Numbers are canonical: dollars have six decimals, and integers have no leading zeros. A
// ledger's id is 32 hexadecimal digits. The value of moves is the result of [Digest]. Times
// are in UTC, to the second. The account and the id, separated by a slash, form the id of the
// request to the bank. Together they have at most 64 bytes.
//
// A signed order is followed by an empty line and one or two signatures, "— name base64". In
// an entry of the ledger, the bytes after the signatures are not signed. A market may write
// such bytes in its entries, and the ledger writes them when it records a refusal. No other
// entry may contain them. An order is identified by its signed text.
package order

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/bank"
	"bourse/bank/keys"
)

// maxText is the maximum number of bytes of an order without its signatures.
const maxText = 1 << 10

// A Field is a line of an order after the first.
type Field struct{ Name, Value string }

// An Order is a well-formed order: it has exactly the fields that its kind requires.
type Order struct {
	Kind   string
	fields []Field
}

// kinds lists the fields of each kind, in order. Fields in brackets are optional. If the first
// of several adjacent optional fields is present, the others must be present, too. Dots
// represent the writer's own lines.
var kinds = map[string]string{
	"order":    "ledger market id account ... expires",
	"cancel":   "ledger market id account ... expires",
	"bid":      "ledger market id account ... expires",
	"read":     "ledger market id account ... expires",
	"transfer": "ledger id account to amount expires",
	"mint":     "ledger id account to amount expires",
	"settle":   "ledger id account contract moves expires",
	"penalty":  "ledger id account contract moves expires",
	"enrol":    "ledger id account of key expires",
	"invite":   "ledger id account of key expires",
	"rotate":   "ledger id account key expires",
	"revoke":   "ledger id account of [right] [market] [for] expires",
	"recover":  "ledger id account of key expires",
	"right":    "ledger id account of right [cap period] [window] [with] [number] [market] [for] [most] [refunds] expires",
	"own":      "ledger operator recovery",
}

// rights lists the additional fields for each right in an order of kind right.
var rights = map[string][]string{
	"mint":   {"cap period window", "cap period window with", "cap period", "cap period with"},
	"settle": {"number"},
	"payee":  {"market"},
	"spend":  {"for most refunds", "for most"},
	"read":   {""},
	"audit":  {""},
}

// New returns an order of the given kind with the given fields, or an error if they are not
// well formed.
func New(kind string, fields ...Field) (*Order, error) {
	return Parse((&Order{kind, fields}).String())
}

// For returns an order of an account that expires at the given time, in seconds since
// [bank.Epoch]. The other fields of the kind follow in order, as pairs of names and values.
func For(kind, ledger, id, account string, expires float64, fields ...string) (*Order, error) {
	all := []Field{{"ledger", ledger}, {"id", id}, {"account", account}}
	for f := range slices.Chunk(fields, 2) {
		all = append(all, Field{f[0], f[1]})
	}
	return New(kind, append(all, Expiry(expires))...)
}

// Repeats reports whether o requests the same as p under the same id, so that the two differ
// at most in their expiry.
func (o *Order) Repeats(p *Order) bool {
	same := func(a, b Field) bool { return a == b || a.Name == "expires" && b.Name == "expires" }
	return o.Kind == p.Kind && slices.EqualFunc(o.fields, p.fields, same)
}

// String returns the text of the order that is signed.
func (o *Order) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bourse %s 1\n", o.Kind)
	for _, f := range o.fields {
		fmt.Fprintf(&b, "%s %s\n", f.Name, f.Value)
	}
	return b.String()
}

// Value returns the value of a field, or "" if there is none.
func (o *Order) Value(name string) string {
	for _, f := range o.fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Request returns the id of the request to the bank that o makes.
func (o *Order) Request() string { return o.Value("account") + "/" + o.Value("id") }

// Money returns the amount in a field, or zero if there is no such field.
func (o *Order) Money(name string) bank.Amount {
	a, _ := bank.Parse(o.Value(name))
	return a
}

// Number returns the integer in a field, or 0 if there is no such field.
func (o *Order) Number(name string) int64 {
	n, _ := strconv.ParseInt(o.Value(name), 10, 64)
	return n
}

// Expires returns the time until which o is valid, in seconds since [bank.Epoch].
func (o *Order) Expires() float64 {
	t, err := time.Parse(time.RFC3339, o.Value("expires"))
	if err != nil {
		return 0
	}
	return float64(t.Unix() - bank.Epoch.Unix())
}

// Expiry returns the field expires for the given time, rounded up to a full second.
func Expiry(at float64) Field {
	return Field{"expires", bank.Instant(math.Ceil(at))}
}

// Digest returns the value of the field moves: "sha256:" and the hexadecimal hash of one line
// "from to amount" per move.
func Digest(moves []bank.Move) string {
	h := sha256.New()
	for _, m := range moves {
		fmt.Fprintf(h, "%s %s %v\n", m.From, m.To, m.Amount)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Payer returns the account that pays the budget of an order of kind order: the account of the
// project in the order or, without a project, the account that signs.
func (o *Order) Payer() string {
	if project := o.Value("project"); project != "" {
		return "project:" + project
	}
	return o.Value("account")
}

// Parse parses an order without its signatures. An error names the line, the text found and
// the required form.
func Parse(text string) (*Order, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("found an order of %d bytes, want at most %d", len(text), maxText)
	}
	text, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return nil, errors.New("found an order whose last line is not terminated, want a line feed")
	}
	lines := strings.Split(text, "\n")
	kind, _ := strings.CutPrefix(lines[0], "bourse ")
	kind, _ = strings.CutSuffix(kind, " 1")
	if kinds[kind] == "" || lines[0] != "bourse "+kind+" 1" {
		return nil, fmt.Errorf("line 1: found %.60q, want a first line such as \"bourse transfer 1\"", lines[0])
	}
	o := &Order{Kind: kind}
	for i, line := range lines[1:] {
		name, value, _ := strings.Cut(line, " ")
		if err := o.add(Field{name, value}); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	return o, o.whole()
}

// add adds a line, which must be well formed and not a duplicate.
func (o *Order) add(f Field) error {
	check := checks[f.Name]
	if strings.Contains(kinds[o.Kind], "...") && !slices.Contains(fixed, f.Name) && f.Name != "budget" {
		check = checkOwn
	}
	switch {
	case !isWord(f.Name) || check == nil:
		return fmt.Errorf("found field %.40q, want one of %s", f.Name, kinds[o.Kind])
	case o.Value(f.Name) != "":
		return fmt.Errorf("found %s twice, want it once", f.Name)
	}
	if want := check(f.Value); want != "" {
		return fmt.Errorf("%s: found %.80q, want %s", f.Name, f.Value, want)
	}
	o.fields = append(o.fields, f)
	return nil
}

// whole returns an error if a field is missing or in the wrong position.
func (o *Order) whole() error {
	rest := o.fields
	next := func(name string) bool {
		if len(rest) == 0 || rest[0].Name != name {
			return false
		}
		rest = rest[1:]
		return true
	}
	at := func(want string) error {
		if len(rest) == 0 {
			return fmt.Errorf("line %d: found the end, want %s", len(o.fields)+2, want)
		}
		return fmt.Errorf("line %d: found %s, want %s", len(o.fields)-len(rest)+2, rest[0].Name, want)
	}
	optional := false
	for want := range strings.FieldsSeq(kinds[o.Kind]) {
		name := strings.Trim(want, "[]")
		begins := strings.HasPrefix(want, "[")
		switch {
		case want == "...":
			for len(rest) > 1 || len(rest) == 1 && rest[0].Name != "expires" {
				if slices.Contains(fixed, rest[0].Name) {
					return at("expires, and each field in its place")
				}
				rest = rest[1:]
			}
		case begins:
			optional = next(name)
		case strings.HasSuffix(want, "]"):
			if optional && !next(name) {
				return at(name)
			}
		case !next(name):
			return at(name)
		}
	}
	if len(rest) > 0 {
		return at("the end")
	}
	return o.together()
}

// fixed lists the fields with a fixed position in the kinds that have the writer's own lines.
var fixed = []string{"ledger", "market", "id", "account", "expires"}

// together returns an error if fields are inconsistent with each other.
func (o *Order) together() error {
	if (o.Kind == "order" || o.Kind == "bid") && o.Value("budget") == "" {
		return errors.New("budget is missing")
	}
	if r := o.Value("right"); o.Kind == "right" {
		var beside []string
		for _, f := range o.fields {
			if slices.Contains([]string{"cap", "period", "window", "with", "number", "market", "for", "most", "refunds"}, f.Name) {
				beside = append(beside, f.Name)
			}
		}
		if !slices.Contains(rights[r], strings.Join(beside, " ")) {
			return fmt.Errorf("found right %s with %q, want %q", r, strings.Join(beside, " "), rights[r])
		}
	} else if o.Kind == "revoke" && (r == "payee") != (o.Value("market") != "") {
		return errors.New("found only one of market and right payee, want both or neither")
	} else if o.Kind == "revoke" && (r == "spend") != (o.Value("for") != "") {
		return errors.New("found only one of for and right spend, want both or neither")
	}
	if o.Kind == "own" {
		if o.Value("operator") == o.Value("recovery") {
			return errors.New("found the same key twice, want a different key for recovery")
		}
	} else if id := o.Request(); len(id) > bank.MaxID {
		return fmt.Errorf("found %q: id and account have %d bytes, want at most %d", id, len(id), bank.MaxID)
	}
	return nil
}

// checks maps the name of each field to a function. If the value is not valid, the function
// returns a description of valid values. If it is valid, the function returns "".
var checks = map[string]func(string) string{
	"ledger":   checkLedger,
	"market":   checkMarket,
	"id":       checkID,
	"account":  checkAccount,
	"of":       checkAccount,
	"to":       checkAccount,
	"with":     checkAccount,
	"for":      checkAccount,
	"amount":   checkAmount,
	"budget":   checkAmount,
	"cap":      checkAmount,
	"most":     checkAmount,
	"contract": checkNumber(0, bank.MaxContract),
	"number":   checkNumber(0, bank.MaxContract>>32-1),
	"period":   checkNumber(1, 1<<32),
	"moves":    checkMoves,
	"window":   checkWord("sliding", "window"),
	"refunds":  checkWord("credited", "refunds"),
	"key":      checkKey,
	"operator": checkKey,
	"recovery": checkKey,
	"right":    checkRight,
	"expires":  checkExpires,
}

func checkLedger(s string) string {
	if b, err := hex.DecodeString(s); err != nil || len(b) != 16 || strings.ToLower(s) != s {
		return "32 hexadecimal digits"
	}
	return ""
}

func checkMarket(s string) string {
	if strings.Contains(s, ":") || bank.CheckName("market:"+s) != nil {
		return "a market's name, such as lab"
	}
	return ""
}

func checkID(s string) string {
	if s == "" || bank.CheckID(s) != nil {
		return "1 to 64 printable characters without space or quotes"
	}
	return ""
}

func checkAccount(s string) string {
	if bank.CheckName(s) != nil || bank.IsEscrow(s) || s == "mint" {
		return "a personal account such as user:7"
	}
	return ""
}

func checkAmount(s string) string {
	if a, err := bank.Parse(s); err != nil || a.Sign() <= 0 || a.String() != s {
		return "dollars with six decimals, such as 12.500000"
	}
	return ""
}

func checkNumber(least, most int64) func(string) string {
	return func(s string) string {
		if n, err := strconv.ParseInt(s, 10, 64); err != nil || n < least || n > most || strconv.FormatInt(n, 10) != s {
			return fmt.Sprintf("a whole number from %d to %d", least, most)
		}
		return ""
	}
}

func checkMoves(s string) string {
	sum, ok := strings.CutPrefix(s, "sha256:")
	if b, err := hex.DecodeString(sum); !ok || err != nil || len(b) != sha256.Size || strings.ToLower(sum) != sum {
		return "sha256: and 64 hexadecimal digits"
	}
	return ""
}

func checkKey(s string) string {
	if key, err := keys.Public(s); err != nil || key != s || checkOwn(s) != "" {
		return "a public key as printed by 'bourse bank key'"
	}
	return ""
}

func checkRight(s string) string {
	if rights[s] == nil {
		return "one of mint, settle, payee, spend, read, audit"
	}
	return ""
}

func checkWord(word, name string) func(string) string {
	return func(s string) string {
		if s != word {
			return word + ", or no " + name
		}
		return ""
	}
}

func checkExpires(s string) string {
	if t, err := time.Parse(time.RFC3339, s); err != nil || t.UTC().Format(time.RFC3339) != s || t.Before(bank.Epoch) || t.Year() > 9999 {
		return "a time such as 2026-11-22T15:10:00Z"
	}
	return ""
}

// checkOwn checks the value of a field that is the writer's own.
func checkOwn(s string) string {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "printable characters, with no space before or after"
	}
	return ""
}

// isWord reports whether s is a valid name of a field.
func isWord(s string) bool {
	return s != "" && len(s) <= 32 && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' })
}
