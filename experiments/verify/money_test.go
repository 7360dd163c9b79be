package verify

import (
	"math"
	"testing"

	"bourse/bank/audit"
)

// TestParseMoney checks which amounts are accepted.
func TestParseMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]audit.Money{
		"0.000000": 0, "1.500000": 1500000, "007.000001": 7000001, "9223372036854.775807": math.MaxInt64, "0000000000000.000001": 1,
		"9223372036854.775808": none, "9999999999999.999999": none, "00000000000000.000001": none, "": none, ".000000": none, "000000": none, "1000000": none,
		"1.00000": none, "1.0000000": none, "1,000000": none, "1.2.345678": none, "1.00000a": none, "1.-00001": none, "-1.000000": none, "+1.000000": none, "1_0.000000": none, " 1.000000": none,
	} {
		got, err := parseMoney(text)
		if err != nil {
			got = none
		}
		if got != want {
			t.Errorf("parseMoney(%q) = %d, want %d", text, got, want)
		}
	}
}
