// Package keys creates and stores the ed25519 keys that sign checkpoints and orders. Keys are
// text in the format of [golang.org/x/mod/sumdb/note].
//
// The package is independent of the texts that are signed and of the owners of keys.
package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"filippo.io/edwards25519"
	"golang.org/x/mod/sumdb/note"
)

// Public returns the public key in text, without surrounding space such as a line feed. An
// error means that text is not a public key exactly as written by [New].
func Public(text string) (string, error) {
	key := strings.TrimSpace(text)
	v, err := note.NewVerifier(key)
	if err != nil {
		return "", errKey
	}
	in := Bytes(key)
	if key != fmt.Sprintf("%s+%08x+%s", v.Name(), v.KeyHash(), base64.StdEncoding.EncodeToString(append([]byte{1}, in...))) {
		return "", errKey
	}
	if !isKey(in) {
		return "", errors.New("the key is a weak point of the curve, for which anyone could sign")
	}
	return key, nil
}

// isKey reports whether key is a point that ed25519 generates: a nonzero multiple of the base
// point, in canonical form. For some other points, anyone can create valid signatures.
func isKey(key ed25519.PublicKey) bool {
	p, err := new(edwards25519.Point).SetBytes(key)
	if err != nil || !bytes.Equal(p.Bytes(), key) || p.Equal(edwards25519.NewIdentityPoint()) == 1 {
		return false
	}
	// Let L be the order of the base point. L times any multiple of the base point is zero.
	// Therefore L-1 times the multiple is its negative.
	one := append([]byte{1}, make([]byte, 31)...)
	minusOne, err := edwards25519.NewScalar().SetCanonicalBytes(one)
	if err != nil {
		return false
	}
	minusOne.Negate(minusOne)
	times := new(edwards25519.Point).VarTimeMultiScalarMult([]*edwards25519.Scalar{minusOne}, []*edwards25519.Point{p})
	return times.Equal(new(edwards25519.Point).Negate(p)) == 1
}

var errKey = errors.New("not a public key as printed by 'bourse bank key'")

// Bytes returns the raw key in a public key, or nil if public is not a key.
func Bytes(public string) ed25519.PublicKey {
	_, rest, _ := strings.Cut(public, "+")
	_, in64, _ := strings.Cut(rest, "+")
	b, err := base64.StdEncoding.DecodeString(in64)
	if err != nil || len(b) != 1+ed25519.PublicKeySize {
		return nil
	}
	return b[1:]
}

// New returns a new key pair with the given name, as text. The argument chance should be
// crypto/rand.Reader.
func New(chance io.Reader, name string) (private, public string, err error) {
	private, public, err = note.GenerateKey(chance, name)
	if err != nil {
		return "", "", fmt.Errorf("key %q: %w", name, err)
	}
	return private, public, nil
}

// Write writes a private key to a new file that only its owner may read.
func Write(file, private string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, private+"\n")
	return errors.Join(err, f.Close())
}

// Keep returns the private key in a file. If there is no file, it creates one with a new key
// of the given name.
func Keep(chance io.Reader, file, name string) (private string, err error) {
	if private, err = Read(file); !errors.Is(err, fs.ErrNotExist) {
		return private, err
	}
	if private, _, err = New(chance, name); err != nil {
		return "", err
	}
	return private, Write(file, private)
}

// Read reads a private key. It rejects a file that other users may read or write.
func Read(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("key %s: readable by other users (mode %#o): run chmod 600 %s, or make a new key", file, mode, file)
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<12))
	return strings.TrimSpace(string(b)), err
}

// Of returns the public key of a private key.
func Of(private string) (string, error) {
	name, key, err := Pair(private)
	if err != nil {
		return "", err
	}
	return note.NewEd25519VerifierKey(name, key.Public().(ed25519.PublicKey))
}

// Pair returns the name and the raw key of a private key.
func Pair(private string) (name string, key ed25519.PrivateKey, err error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return "", nil, errPrivate
	}
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(private, "+", 5)[4])
	if err != nil {
		return "", nil, errPrivate
	}
	return signer.Name(), ed25519.NewKeyFromSeed(seed[1:]), nil
}

var errPrivate = errors.New("not a private key as written by 'bourse bank key'")

// Derive returns the private key with the given name that is derived from a secret text. It is
// deterministic.
func Derive(name, secret string) (private string, err error) {
	seed := sha256.Sum256([]byte("bourse " + name + "\n" + secret))
	public, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
	if err != nil {
		return "", err
	}
	hash := strings.Split(public, "+")[1]
	return fmt.Sprintf("PRIVATE+KEY+%s+%s+%s", name, hash, base64.StdEncoding.EncodeToString(append([]byte{1}, seed[:]...))), nil
}
