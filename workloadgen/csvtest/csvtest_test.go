package csvtest

import (
	"math"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestRows checks valid and invalid tables.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want [][]string // nil: refused
	}{
		{"a,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"\ufeffa,b\r\n\r\n#x\r\n\"1\",\"2,\"\"3\"", [][]string{{"a", "b"}, {"1", `2,"3`}}},
		{"a\rb", [][]string{{"a"}, {"b"}}},
		{"a,\n,", [][]string{{"a", ""}, {"", ""}}},
		{"a,b\n1\n", nil},
		{"a\"b\n", nil},
		{"\"a\nb\"", nil},
		{"\"a\"b", nil},
	} {
		got, err := Rows(c.text, '#')
		if (err != nil) != (c.want == nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
}

// TestNumber checks that every finite float64 is read as it is printed, and that all other
// texts are rejected.
func TestNumber(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "+", "-", ".", "e1", "1e", "1e+", "1e+-1", "0x10", "1_000", "1,5", "inf", "NaN", "1e400", "-1e400", "1e99999", "1.2.3", "--1", "1-", " 1", "١"} {
		if x, ok := Number(s); ok {
			t.Errorf("%q is %v", s, x)
		}
	}
	for s, want := range map[string]float64{"1e-400": 0, "1e-99999": 0, "0e99999": 0, "+.5": 0.5, "5.": 5, "007": 7, "1E3": 1000, "-0": 0, "1e003": 1000} {
		if x, ok := Number(s); !ok || x != want {
			t.Errorf("%q is %v, %v, want %v", s, x, ok, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		for _, format := range []byte("efg") {
			if got, ok := Number(strconv.FormatFloat(x, format, -1, 64)); (!ok || got != x) && !math.IsInf(x, 0) {
				t.Errorf("%v, printed by %c, is %v, %v", x, format, got, ok)
			}
		}
	})
}
