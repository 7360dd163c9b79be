package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/mod/sumdb/tlog"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open creates a ledger in memory, calls fill to add entries, and opens it for reading.
func open(t testing.TB, fill func(*bank.Ledger)) (*store.Reader, *bank.Ledger) {
	t.Helper()
	opts := store.Options{FS: vfs.NewMem()}
	j, err := store.Create("ledger", opts)
	check(t, err)
	l := bank.New(j)
	fill(l)
	check(t, j.Close())
	r, err := store.OpenReader("ledger", opts)
	check(t, err)
	t.Cleanup(func() { check(t, r.Close()) })
	return r, l
}

func account(t testing.TB, l *bank.Ledger, name string) bank.Account {
	t.Helper()
	a, err := l.Account(name)
	check(t, err)
	return a
}

// fillSmall adds every kind of entry over several days, an open contract, and names and notes
// that other programs could misinterpret.
func fillSmall(t testing.TB) func(l *bank.Ledger) {
	return func(l *bank.Ledger) {
		ann, host, provider := account(t, l, "user:Ann"), account(t, l, "host:h03.rack-2_b"), account(t, l, "provider")
		check(t, l.Mint(0, ann, bank.Micros(100e6)))
		check(t, l.Mint(0, provider, bank.Micros(5)))
		check(t, l.Hold(86399.5, 17, ann, bank.Micros(12.5e6), []byte(`{"price":0.25,"share":1}`)))
		check(t, l.Reject(86400, 18, []byte("=1+1; seq: 7, t: 8\n\x1b[31m\xff")))
		_, err := l.Settle(90000.125, 17, []bank.Payment{{To: host, Amount: bank.Micros(4.25e6)}}, []byte(`{"state":"violated"}`))
		check(t, err)
		_, err = l.Penalty(90000.125, 17, []bank.Debit{{From: provider, Most: bank.Micros(5)}}, ann, nil)
		check(t, err)
		check(t, l.Book(&bank.Entry{Time: 1e6, Kind: bank.Transfer, Contract: bank.NoContract, ID: "=req%1", Moves: []bank.Move{{From: "user:Ann", To: "user:ann", Amount: bank.Micros(1)}}}))
		check(t, l.Hold(1e6, 19, ann, bank.Micros(1e6), nil))
	}
}

// fillLarge adds many contracts with every outcome.
func fillLarge(t testing.TB) func(l *bank.Ledger) {
	return func(l *bank.Ledger) {
		src := rand.New(rand.NewPCG(5, 5))
		provider := account(t, l, "provider")
		check(t, l.Mint(0, provider, bank.Micros(1e9)))
		for c := range int64(300) {
			now := float64(c) * 700
			user, host := account(t, l, fmt.Sprintf("user:%d", src.IntN(9))), account(t, l, fmt.Sprintf("host:h%02d", src.IntN(9)))
			budget := bank.Micros(1 + src.Int64N(1e7))
			check(t, l.Mint(now, user, budget))
			if c%7 == 0 {
				check(t, l.Reject(now, c, []byte(`{"reason":"price"}`)))
				continue
			}
			check(t, l.Hold(now, c, user, budget, nil))
			if c%11 != 0 {
				_, err := l.Settle(now, c, []bank.Payment{{To: host, Amount: bank.Micros(src.Int64N(budget.Micros() + 1))}}, nil)
				check(t, err)
			}
			if c%5 == 0 {
				_, err := l.Penalty(now, c, []bank.Debit{{From: provider, Most: bank.Micros(1 + src.Int64N(1e6))}}, user, nil)
				check(t, err)
			}
		}
	}
}

func write(t testing.TB, r *store.Reader, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	check(t, export.Write(&b, format, r.Entries(), export.Options{}))
	check(t, r.Err())
	return b.Bytes()
}

// TestGolden compares each format with its golden file.
func TestGolden(t *testing.T) {
	t.Parallel()
	r, _ := open(t, fillSmall(t))
	for _, format := range export.Formats() {
		name := filepath.Join("testdata", "small."+format)
		got := write(t, r, format)
		if *rewrite {
			check(t, os.WriteFile(name, got, 0o666))
		}
		want, err := os.ReadFile(name)
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

// tool runs a program on an export, and skips the test if the program is not installed.
func tool(t *testing.T, file string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(args[0])
	if err != nil {
		t.Skipf("%s is not installed", args[0])
	}
	cmd := exec.Command(path, append(args[1:], file)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("%v: %v\n%s%s", args, err, &errs, &out)
	}
	return out.String()
}

// agree compares the balances that a program printed, as lines of an amount and a name, with
// the ledger's balances.
func agree(t *testing.T, l *bank.Ledger, printed map[string]string, rename func(string) string) {
	t.Helper()
	n := 0
	for name, b := range l.Balances() {
		if b.Sign() == 0 {
			continue
		}
		n++
		if got := printed[rename(name)]; got != b.String() {
			t.Errorf("%s = %q, want %v", rename(name), got, b)
		}
	}
	if n == 0 {
		t.Error("no balances")
	}
}

func same(name string) string { return name }

// amountThenName matches lines of "AMOUNT USD NAME".
var amountThenName = regexp.MustCompile(`(?m)^\s*(-?[0-9.]+) USD\s+(\S+)$`)

func printed(out string) map[string]string {
	m := make(map[string]string)
	for _, f := range amountThenName.FindAllStringSubmatch(out, -1) {
		m[f[2]] = f[1]
	}
	return m
}

var fills = map[string]func(testing.TB) func(*bank.Ledger){"small": fillSmall, "large": fillLarge}

// exported writes a ledger in a format to a file.
func exported(t *testing.T, fill func(testing.TB) func(*bank.Ledger), format, ext string) (string, *bank.Ledger) {
	t.Helper()
	r, l := open(t, fill(t))
	file := filepath.Join(t.TempDir(), "ledger."+ext)
	check(t, os.WriteFile(file, write(t, r, format), 0o666))
	return file, l
}

// TestHledger checks that hledger accepts an export in strict mode, with ordered dates, and
// computes the ledger's balances.
func TestHledger(t *testing.T) {
	t.Parallel()
	for name, fill := range fills {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, l := exported(t, fill, "hledger", "journal")
			tool(t, file, "hledger", "check", "--strict", "ordereddates", "-f")
			out := tool(t, file, "hledger", "bal", "--flat", "-N", "-f")
			agree(t, l, printed(out), same)
		})
	}
}

// TestLedger checks that ledger, which reports problems on standard error, accepts an export in
// strict mode and computes the ledger's balances.
func TestLedger(t *testing.T) {
	t.Parallel()
	for name, fill := range fills {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, l := exported(t, fill, "ledger", "journal")
			out := tool(t, file, "ledger", "--strict", "--pedantic", "--flat", "--no-total", "bal", "-f")
			agree(t, l, printed(out), same)
		})
	}
}

// TestBeancount checks that beancount accepts an export, including its balance assertions, and
// that the assertions state the ledger's balances.
func TestBeancount(t *testing.T) {
	t.Parallel()
	for name, fill := range fills {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, l := exported(t, fill, "beancount", "beancount")
			if out := tool(t, file, "bean-check"); strings.TrimSpace(out) != "" {
				t.Error(out)
			}
			text, err := os.ReadFile(file)
			check(t, err)
			balances := make(map[string]string)
			for _, f := range regexp.MustCompile(`(?m)^\S+ balance (\S+)\s+(\S+) ~ 0 USD$`).FindAllSubmatch(text, -1) {
				balances[string(f[1])] = string(f[2])
			}
			agree(t, l, balances, export.BeanAccount)
		})
	}
}

// TestAssertions checks that each program rejects an export with one changed amount, so that
// the assertions are effective.
func TestAssertions(t *testing.T) {
	t.Parallel()
	for format, args := range map[string][]string{
		"hledger":   {"hledger", "check", "-f"},
		"ledger":    {"ledger", "bal", "-f"},
		"beancount": {"bean-check"},
	} {
		file, _ := exported(t, fillSmall, format, format)
		text, err := os.ReadFile(file)
		check(t, err)
		changed := strings.NewReplacer("4.250000 USD", "4.250001 USD", "-12.500000 USD", "-12.500001 USD", " 12.500000 USD", " 12.500001 USD").Replace(string(text))
		check(t, os.WriteFile(file, []byte(changed), 0o666))
		path, err := exec.LookPath(args[0])
		if err != nil {
			t.Logf("%s is not installed", args[0])
			continue
		}
		if err := exec.Command(path, append(args[1:], file)...).Run(); err == nil {
			t.Errorf("%s accepts amounts that were changed", args[0])
		}
	}
}

// TestBeanAccount checks that different accounts have different names in beancount.
func TestBeanAccount(t *testing.T) {
	t.Parallel()
	names := []string{"user:Ann", "user:ann", "user:A-c", "user:A.", "user:A-d", "user:a-u", "user:a_", "user:A-cnn", "user:7", "user:a:b", "user:a-b", "mint", "escrow:7"}
	seen := make(map[string]string)
	for _, name := range names {
		b := export.BeanAccount(name)
		if other, ok := seen[b]; ok {
			t.Errorf("%s and %s are both %s", name, other, b)
		}
		seen[b] = name
		if !regexp.MustCompile(`^(Assets|Equity)(:[A-Z0-9][A-Za-z0-9-]*)+$`).MatchString(b) {
			t.Errorf("%s is %s, which beancount does not read", name, b)
		}
	}
}

// TestLines checks that JSON and CSV contain the data of the entries, and that no CSV cell
// starts like a formula.
func TestLines(t *testing.T) {
	t.Parallel()
	r, l := open(t, fillLarge(t))
	sums := make(map[string]int64)
	dec := json.NewDecoder(bytes.NewReader(write(t, r, "json")))
	lines := 0
	for ; dec.More(); lines++ {
		var line export.Line
		check(t, dec.Decode(&line))
		if line.Micros != 0 {
			sums[line.From] -= line.Micros
			sums[line.To] += line.Micros
		}
	}
	for name, b := range l.Balances() {
		if sums[name] != b.Micros() {
			t.Errorf("%s = %d by its JSON lines, want %d", name, sums[name], b.Micros())
		}
	}
	small, _ := open(t, fillSmall(t))
	for _, r := range []*store.Reader{r, small} {
		rows, err := csv.NewReader(bytes.NewReader(write(t, r, "csv"))).ReadAll()
		check(t, err)
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.Contains("=+-@\t\r", cell[:1]) {
					t.Errorf("cell %q begins as a formula does", cell)
				}
			}
		}
		if len(row(rows)) != 10 {
			t.Errorf("%d columns, want 10", len(row(rows)))
		}
	}
	if lines == 0 {
		t.Error("no lines")
	}
}

func row(rows [][]string) []string { return rows[len(rows)-1] }

// TestFilter checks the selections of ledger show.
func TestFilter(t *testing.T) {
	t.Parallel()
	r, _ := open(t, fillSmall(t))
	contract := int64(17)
	for name, c := range map[string]struct {
		filter export.Filter
		want   string
	}{
		"all":      {export.Filter{}, "[1 2 3 4 5 6 7 8]"},
		"account":  {export.Filter{Account: "user:Ann"}, "[1 3 5 6 7 8]"},
		"contract": {export.Filter{Contract: &contract}, "[3 5 6]"},
		"both":     {export.Filter{Contract: &contract, Account: "provider"}, "[6]"},
		"nothing":  {export.Filter{Account: "user:bob"}, "[]"},
	} {
		got := []int64{}
		for e := range c.filter.Select(r.Entries()) {
			got = append(got, e.Seq)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: entries %v, want %s", name, got, c.want)
		}
	}
}

// TestDates checks that a time without a date and an unknown format are errors.
func TestDates(t *testing.T) {
	t.Parallel()
	one := func(at float64) export.Entries {
		return func(yield func(*bank.Entry, tlog.Hash) bool) {
			yield(&bank.Entry{Seq: 1, Time: at, Kind: bank.Reject}, tlog.Hash{})
		}
	}
	var b bytes.Buffer
	if err := export.Write(&b, "hledger", one(1e300), export.Options{}); err == nil {
		t.Errorf("second 1e300: %s", &b)
	}
	b.Reset()
	check(t, export.Write(&b, "hledger", one(2.5e11), export.Options{}))
	if !strings.Contains(b.String(), "\n9922-") {
		t.Errorf("second 2.5e11: %s", &b)
	}
	if err := export.Write(&b, "excel", one(0), export.Options{}); err == nil || !strings.Contains(err.Error(), "hledger") {
		t.Errorf("format excel: %v", err)
	}
}
