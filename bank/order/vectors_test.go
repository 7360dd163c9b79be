package order

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bourse/bank/keys"
)

var rewrite = flag.Bool("rewrite", false, "write the vectors anew")

// vectors are signed orders of all kinds, each in a file, and two keys.
func vectors(t *testing.T) (signed map[string][]byte, public []string) {
	t.Helper()
	signed = make(map[string][]byte)
	for i, name := range []string{"ann", "bob"} {
		private, key, err := keys.New(rand.NewChaCha8([32]byte{byte(i + 1)}), name)
		check(t, err)
		public = append(public, key)
		for _, text := range examples(t)[:5] {
			o, err := Parse(text)
			check(t, err)
			b := signed[o.Kind]
			if b == nil {
				b = []byte(text)
			} else if o.Kind != "mint" {
				continue
			}
			if signed[o.Kind], err = Sign(b, private); err != nil {
				t.Fatal(err)
			}
		}
	}
	return signed, public
}

// TestVectors checks that signed orders equal those in testdata byte for byte, and that the
// ed25519 implementations of node and openssl accept them and reject changed ones.
func TestVectors(t *testing.T) {
	t.Parallel()
	signed, public := vectors(t)
	for kind, b := range signed {
		file := filepath.Join("testdata", kind+".signed")
		if *rewrite {
			check(t, os.WriteFile(file, b, 0o666))
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s is signed as\n%s\n%v, want\n%s", kind, b, err, want)
		}
		if kind != "transfer" && kind != "mint" {
			continue
		}
		changed := filepath.Join(t.TempDir(), "changed")
		check(t, os.WriteFile(changed, bytes.Replace(b, []byte("user:ann"), []byte("user:eve"), 1), 0o666))
		if kind == "mint" {
			check(t, os.WriteFile(changed, bytes.Replace(b, []byte("user:bob"), []byte("user:eve"), 1), 0o666))
		}
		by := public[:1]
		if kind == "mint" {
			by = public
		}
		text, _, _ := bytes.Cut(b, []byte("\n\n"))
		if node, err := exec.LookPath("node"); err != nil {
			t.Log("there is no node to check with")
		} else {
			out, err := exec.Command(node, append([]string{"testdata/verify.mjs", file}, by...)...).Output()
			if err != nil || string(out) != string(text)+"\n" {
				t.Errorf("node of %s: %v, %s", file, err, out)
			}
			if out, err := exec.Command(node, append([]string{"testdata/verify.mjs", changed}, by...)...).Output(); err == nil {
				t.Errorf("node takes %s, changed: %s", kind, out)
			}
		}
		if kind == "mint" {
			continue
		}
		if openssl, err := exec.LookPath("openssl"); err != nil {
			t.Log("there is no openssl to check with")
		} else if s, err := Open(b); err != nil || !opens(t, openssl, public[0], string(text)+"\n", s.sigs[0].sig) || opens(t, openssl, public[0], string(text), s.sigs[0].sig) || opens(t, openssl, public[1], string(text)+"\n", s.sigs[0].sig) {
			t.Errorf("openssl judges otherwise of %s", kind)
		}
	}
}

// opens reports whether openssl accepts a signature of a text.
func opens(t *testing.T, openssl, public, text string, sig []byte) bool {
	t.Helper()
	dir := t.TempDir()
	b, err := base64.StdEncoding.DecodeString(strings.SplitN(public, "+", 3)[2])
	check(t, err)
	spki := append([]byte("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"), b[1:]...)
	for name, b := range map[string][]byte{"key": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}), "text": []byte(text), "sig": sig} {
		check(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	cmd := exec.Command(openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key", "-sigfile", "sig", "-in", "text")
	cmd.Dir = dir
	return cmd.Run() == nil
}
