package owners_test

import (
	"bytes"
	"crypto/ed25519"
	crypto "crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/keys"
	"bourse/bank/order"
	. "bourse/bank/owners/ownerstest"

	"filippo.io/edwards25519"
	"golang.org/x/mod/sumdb/note"
)

// TestBatches checks that the audits of a ledger and of its log name an invalid signature of
// any signer, whether signatures are checked in parallel ahead of their entries or one by one.
func TestBatches(t *testing.T) {
	t.Parallel()
	const n, at = 150, 90
	pays := func(i int) bank.Entry {
		return Transfer(fmt.Sprint("b", i), fmt.Sprintf("user:%d", i%2), "user:9", 1)
	}
	var good []bank.Entry
	for i := range n {
		good = append(good, pays(i))
	}
	text := Note(nil, "transfer", "crooked", "user:0", "to", "user:9", "amount", "0.000001")
	for what, sign := range map[string]func(ed25519.PrivateKey, []byte) []byte{
		"":                    ed25519.Sign,
		"another's signature": func(_ ed25519.PrivateKey, text []byte) []byte { return ed25519.Sign(secret(t, "user:1"), text) },
		"a bit changed": func(key ed25519.PrivateKey, text []byte) []byte {
			sig := ed25519.Sign(key, text)
			sig[40] ^= 4
			return sig
		},
		"of another text":  func(key ed25519.PrivateKey, text []byte) []byte { return ed25519.Sign(key, text[1:]) },
		"a byte less":      func(key ed25519.PrivateKey, text []byte) []byte { return ed25519.Sign(key, text)[:63] },
		"with small order": func(key ed25519.PrivateKey, text []byte) []byte { return crooked(t, key, text) },
	} {
		public := Public("user:0")
		v, err := note.NewVerifier(public)
		check(t, err)
		sig := sign(secret(t, "user:0"), text)
		line := fmt.Sprintf("\n— %s %s\n", v.Name(), base64.StdEncoding.EncodeToString(append([]byte{byte(v.KeyHash() >> 24), byte(v.KeyHash() >> 16), byte(v.KeyHash() >> 8), byte(v.KeyHash())}, sig...)))
		e := Entry(bank.Transfer, append(bytes.Clone(text), line...), bank.NoContract, Move("user:0", "user:9", 1))
		after := append(good[:at:at], append([]bank.Entry{e}, good[at:]...)...)
		r := audited(t, ledger(t, after...), audit.Options{})
		all := append(history(), after...)
		for i := range all {
			all[i].Seq = int64(i + 1)
		}
		lines := log(t, all)
		alone, err := audit.Log(bytes.NewReader(lines), audit.Options{})
		check(t, err)
		ahead, err := audit.Log(bytes.NewReader(lines), audit.Options{Chance: crypto.Reader, Spread: func(n int, do func(int)) {
			for i := range n {
				do(n - 1 - i)
			}
		}})
		check(t, err)
		if !reflect.DeepEqual(alone, ahead) {
			t.Errorf("%s: log, checked ahead: %+v, want %+v", what, ahead, alone)
		}
		bad := int64(len(history()) + at + 1)
		for _, r := range []*audit.Report{r, alone} {
			if what == "" && !r.Clean() || what != "" && (r.Clean() || r.Findings[0].Seq != bad) {
				t.Errorf("%s: %v, want entry %d", what, r.Findings, bad)
			}
		}
	}
}

func secret(t testing.TB, name string) ed25519.PrivateKey {
	t.Helper()
	_, key, err := keys.Pair(Private(name))
	check(t, err)
	return key
}

// crooked makes a signature with a point of order 8, which only the owner of a key can make and
// which only some programs accept.
func crooked(t testing.TB, key ed25519.PrivateKey, text []byte) []byte {
	t.Helper()
	in, err := hex.DecodeString("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
	check(t, err)
	r, err := new(edwards25519.Point).SetBytes(in)
	check(t, err)
	sum := sha512.Sum512(key.Seed())
	a, err := edwards25519.NewScalar().SetBytesWithClamping(sum[:32])
	check(t, err)
	nonce, err := edwards25519.NewScalar().SetUniformBytes(sum[:])
	check(t, err)
	r.Add(r, new(edwards25519.Point).ScalarBaseMult(nonce))
	sum = sha512.Sum512(append(append(r.Bytes(), key.Public().(ed25519.PublicKey)...), text...))
	k, err := edwards25519.NewScalar().SetUniformBytes(sum[:])
	check(t, err)
	return append(r.Bytes(), k.MultiplyAdd(k, a, nonce).Bytes()...)
}

// TestSmallKeys checks that a key for which anybody can sign is rejected.
func TestSmallKeys(t *testing.T) {
	t.Parallel()
	key, err := note.NewEd25519VerifierKey("k-user:9", append([]byte{1}, make([]byte, 31)...))
	check(t, err)
	if _, err := keys.Public(key); err == nil {
		t.Error("it is a public key")
	}
	if o, err := order.For("enrol", Ledger, "x", "operator", 600, "of", "user:9", "key", key); err == nil {
		t.Errorf("enrolled by\n%s", o)
	}
}

// TestAgain checks that a request that was booked twice is found in a log by itself, both
// before and after the ledger became owned.
func TestAgain(t *testing.T) {
	t.Parallel()
	reject := func(id string, contract int64) bank.Entry {
		return bank.Entry{Kind: bank.Reject, Contract: contract, ID: id}
	}
	pays := Transfer("x", "user:0", "user:1", 1)
	for _, c := range []struct {
		what    string
		entries []bank.Entry
		bad     int
	}{
		{"each once", append([]bank.Entry{reject("a", 1), reject("b", 2), reject("", 3), reject("", 4)}, append(Begin(), pays)...), 0},
		{"one again", []bank.Entry{reject("a", 1), reject("b", 2), reject("a", 3)}, 3},
		{"the owners' own", append([]bank.Entry{reject("own", 1)}, Begin()...), 2},
		{"one as an order", append([]bank.Entry{reject("user:0/x", 1)}, append(Begin(), pays)...), 2 + len(Begin())},
		{"an order", append(Begin(), pays, pays), 2 + len(Begin())},
	} {
		for i := range c.entries {
			c.entries[i].Seq = int64(i + 1)
		}
		r, err := audit.Log(bytes.NewReader(log(t, c.entries)), audit.Options{})
		check(t, err)
		if c.bad == 0 && !r.Clean() || c.bad > 0 && (r.Clean() || r.Findings[0].Seq != int64(c.bad) || !strings.Contains(r.Findings[0].Found, "already")) {
			t.Errorf("%s: %v, want entry %d", c.what, r.Findings, c.bad)
		}
	}
}
