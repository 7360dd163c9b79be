package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// FuzzCheckpoint checks that a key opens what it signed and no other text, not even
// another form of it, and that one whose signature is not checked is read as a plain
// reader of five lines does.
func FuzzCheckpoint(f *testing.F) {
	signed, err := os.ReadFile("../canonical/testdata/checkpoint")
	check(f, err)
	public, err := os.ReadFile("../canonical/testdata/key.pub")
	check(f, err)
	f.Add(signed)
	f.Add(bytes.Replace(signed, []byte("\n—"), []byte("\n— other AAAAAAAA\n—"), 1))
	form := regexp.MustCompile(`^([!-~]{1,128})\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n\n— [^ \n+]+ ([A-Za-z0-9+/]+=*)\n$`)
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Open(text, string(public)); (err == nil) != bytes.Equal(text, signed) {
			t.Errorf("%q: %v", text, err)
		}
		c, err := Read(text)
		if err != nil {
			return
		}
		if m := form.FindSubmatch(text); m == nil || c.Origin != string(m[1]) || c.Head.String() != string(m[2])+":"+string(m[3]) {
			t.Errorf("%q is read as %v", text, c)
		}
	})
}

// FuzzKey checks that a public key is read as its parts say, name, hash and 33 bytes,
// and in one form.
func FuzzKey(f *testing.F) {
	_, public, err := NewKey(rand.NewChaCha8([32]byte{1}), "bank.example")
	check(f, err)
	f.Add(public)
	f.Add("x+0+AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := PublicKey(text)
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
