package store

import (
	"encoding/base64"
	"math/big"
	"regexp"
	"testing"
)

// FuzzHead checks that heads and receipts have one text form, by comparison with a simple
// parser.
func FuzzHead(f *testing.F) {
	f.Add(NoEntries().String())
	f.Add("118:n1FAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	f.Add("9223372036854775808:n1FAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	form := regexp.MustCompile(`^(0|[1-9][0-9]*):([A-Za-z0-9+/]{43}=)$`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHead(text)
		m := form.FindStringSubmatch(text)
		good := m != nil
		var root []byte
		if good {
			var wrong error
			root, wrong = base64.StdEncoding.Strict().DecodeString(m[2])
			n, _ := new(big.Int).SetString(m[1], 10)
			good = wrong == nil && n.IsInt64()
		}
		if good != (err == nil) || good && (h.String() != text || string(h.Root[:]) != string(root)) {
			t.Errorf("%q is read as %v, %v", text, h, err)
		}
		if r, err := ParseReceipt(text); (err == nil) != (good && h.Size > 0) || err == nil && r.String() != text {
			t.Errorf("%q is read as receipt %v, %v", text, r, err)
		}
	})
}
