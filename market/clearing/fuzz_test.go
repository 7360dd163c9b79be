package clearing

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode"

	"bourse/workloadgen/csvtest"
)

// FuzzReadOrders checks that ReadOrders either rejects an input with a one-line error that
// names the file, or returns orders that can be cleared. A second reader must find the same
// orders, and writing and reading them again must not change them.
func FuzzReadOrders(f *testing.F) {
	for _, in := range []string{
		"ann,0.25\nbob,3\n", "bidder,rate\nann,1e9\n", "\"a\nb\",1", "a,1\na,1", "\uFEFFa,1", "\"\nbob\",\"2\n\"", "a,1\rb,2\r", "a,1\r\n\r\nb,2\r\r\n",
		"bidder,\"rate\n\"\na,1", "\"a,\"\"b\"\"\", 1 ", "a,\"1,5\"\nb,0x10\nc,1_0\nd,+1\ne,.5\nf,5.", "#a,1\n=b,2",
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		orders, err := ReadOrders("bids.csv", strings.NewReader(in))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "bids.csv:") || strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Errorf("error %q does not name the file on one line", err)
			}
			return
		}
		awards, err := Clear(orders, 1000)
		if err != nil || len(awards) != len(orders) {
			t.Errorf("%d awards for %d orders, %v", len(awards), len(orders), err)
		}
		got := lines(orders)
		if want, err := secondOrders(in); err != nil || got != want {
			t.Errorf("%q is\n%s, want\n%s, %v", in, got, want, err)
		}
		var text strings.Builder
		for _, o := range orders {
			fmt.Fprintf(&text, "\"%s\",%s\n", strings.ReplaceAll(o.Bidder, `"`, `""`), strings.TrimSuffix(strings.TrimRight(o.Rate.FloatString(maxNumber), "0"), "."))
		}
		again, err := ReadOrders("again.csv", strings.NewReader(text.String()))
		if err != nil || lines(again) != got {
			t.Errorf("%s is\n%s, %v, want\n%s", &text, lines(again), err, got)
		}
	})
}

// lines returns one line per order.
func lines(orders []Order) string {
	var b strings.Builder
	for _, o := range orders {
		fmt.Fprintf(&b, "%q %s\n", o.Bidder, o.Rate.RatString())
	}
	return b.String()
}

// secondOrders returns the lines that a second reader finds.
func secondOrders(in string) (string, error) {
	rows, err := csvtest.Rows(in, 0)
	if err != nil || len(rows) == 0 {
		return "", fmt.Errorf("%d rows, %w", len(rows), err)
	}
	var b strings.Builder
	seen := map[string]bool{}
	for i, row := range rows {
		if len(row) != 2 {
			return "", fmt.Errorf("row %d has %d cells", i+1, len(row))
		}
		name, rate := strings.TrimSpace(row[0]), strings.TrimSpace(row[1])
		if i == 0 && strings.ToLower(name) == "bidder" && strings.ToLower(rate) == "rate" {
			continue
		}
		_, number := csvtest.Number(rate)
		exact, ok := new(big.Rat).SetString(rate)
		if !number || !ok || name == "" || seen[name] {
			return "", fmt.Errorf("row %d is %q", i+1, row)
		}
		seen[name] = true
		fmt.Fprintf(&b, "%q %s\n", name, exact.RatString())
	}
	return b.String(), nil
}
