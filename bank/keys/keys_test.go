package keys

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/edwards25519"
	"golang.org/x/mod/sumdb/note"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestForms checks that a public key has only one text form, and that the private key yields
// this form.
func TestForms(t *testing.T) {
	t.Parallel()
	private, public, err := New(rand.NewChaCha8([32]byte{1}), "bank.example")
	check(t, err)
	for what, key := range map[string]string{
		"a line feed in it": public[:len(public)-9] + "\n" + public[len(public)-9:],
		"capitals":          strings.Replace(public, public[13:21], strings.ToUpper(public[13:21]), 1),
		"a private key":     private,
		"nothing":           "",
	} {
		if got, err := Public(key); err == nil {
			t.Errorf("%s: the key is read as %s", what, got)
		}
	}
	if got, err := Public(public + "\n"); err != nil || got != public {
		t.Errorf("%q, %v; want %q", got, err, public)
	}
	for n := range byte(20) { // some base64 texts contain a plus sign
		private, public, err := New(rand.NewChaCha8([32]byte{n}), "bank.example")
		check(t, err)
		if got, err := Of(private); err != nil || got != public {
			t.Errorf("the key of %s is %q, %v; want %q", private, got, err, public)
		}
	}
	for _, key := range []string{public, private + "A", ""} {
		if got, err := Of(key); err == nil {
			t.Errorf("%q is taken for a private key, of %s", key, got)
		}
	}
}

// FuzzKey checks that a public key is parsed as its name, hash and 33 bytes, in only one form.
func FuzzKey(f *testing.F) {
	_, public, err := New(rand.NewChaCha8([32]byte{1}), "bank.example")
	check(f, err)
	f.Add(public)
	f.Add("x+0+AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := Public(text)
		if err != nil {
			return
		}
		v, err := note.NewVerifier(key)
		check(t, err)
		parts := strings.SplitN(strings.TrimSpace(text), "+", 3)
		b, err := base64.StdEncoding.Strict().DecodeString(parts[2])
		sum := sha256.Sum256(append([]byte(parts[0]+"\n"), b...))
		if err != nil || len(b) != 33 || parts[1] != hex.EncodeToString(sum[:4]) || v.Name() != parts[0] || key != strings.TrimSpace(text) || strings.ContainsAny(key, "\r\n") {
			t.Errorf("%q is read as the key %q of %q", text, key, v.Name())
		}
	})
}

// TestKeyFile checks that other users cannot access a private key file and that it is not
// overwritten.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	check(t, Write(file, "secret"))
	if err := Write(file, "other"); err == nil {
		t.Error("a key is overwritten")
	}
	if got, err := Read(file); err != nil || got != "secret" {
		t.Errorf("%q, %v", got, err)
	}
	check(t, os.Chmod(file, 0o644))
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others may read: %v", err)
	}
}

// TestKeep checks that a key is created once, with its name, and then retained.
func TestKeep(t *testing.T) {
	t.Parallel()
	file, chance := filepath.Join(t.TempDir(), "key"), rand.NewChaCha8([32]byte{1})
	first, err := Keep(chance, file, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if name, _, err := Pair(first); err != nil || name != "ann" {
		t.Errorf("%q, %v", name, err)
	}
	if again, err := Keep(chance, file, "bob"); err != nil || again != first {
		t.Errorf("another key: %v", err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Keep(chance, file, "ann"); err == nil {
		t.Error("a key that others may use is kept")
	}
}

// TestIsKey checks that keys are rejected if others can sign for them, if verifiers disagree
// about their signatures, or if they are not in canonical form.
func TestIsKey(t *testing.T) {
	t.Parallel()
	in, err := hex.DecodeString("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
	check(t, err)
	of8, err := new(edwards25519.Point).SetBytes(in)
	check(t, err)
	good, err := new(edwards25519.Point).SetBytes(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey))
	check(t, err)
	small := edwards25519.NewIdentityPoint()
	for i := range 8 {
		if got := isKey(new(edwards25519.Point).Add(good, small).Bytes()); got != (i == 0) {
			t.Errorf("isKey of a key and %d eighths = %v", i, got)
		}
		if isKey(small.Bytes()) {
			t.Errorf("isKey of %d eighths = true", i)
		}
		small.Add(small, of8)
	}
	if small.Equal(edwards25519.NewIdentityPoint()) != 1 {
		t.Error("the point is not of order 8")
	}
	other := append([]byte{0xee}, make([]byte, 31)...) // zero in a non-canonical form
	for i := 1; i < 32; i++ {
		other[i] = 0xff
	}
	other[31] = 0x7f
	if _, err := new(edwards25519.Point).SetBytes(other); err != nil || isKey(other) {
		t.Errorf("isKey of another form = %v, which is read with %v", isKey(other), err)
	}
	if isKey(nil) || isKey(make([]byte, 31)) {
		t.Error("isKey of too few bytes = true")
	}
}
