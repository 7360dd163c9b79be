package order

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Signed is an order with its signatures, which [Signed.By] checks.
type Signed struct {
	*Order
	Rest []byte // bytes after the signatures

	text string
	sigs []signature
	by   []signer // cached results of By
}

// A signer is a cached result of [Signed.By].
type signer struct {
	key    string
	signed bool
}

// A signature is a signature line after an order.
type signature struct {
	name string
	hash uint32
	sig  []byte
}

const (
	sigStart = "— "
	mostSigs = 2
)

// Open parses a signed order and the bytes that follow it. It checks only the form, not the
// signatures.
func Open(b []byte) (*Signed, error) {
	end := bytes.Index(b, []byte("\n\n"+sigStart))
	if end < 0 {
		return nil, errors.New("found no signature, want an order, an empty line and signatures")
	}
	s := &Signed{text: string(b[:end+1]), Rest: b[end+2:]}
	for bytes.HasPrefix(s.Rest, []byte(sigStart)) {
		line, rest, ended := bytes.Cut(s.Rest, []byte("\n"))
		sig, ok := parseSignature(string(line[len(sigStart):]))
		if !ok || !ended || len(s.sigs) == mostSigs {
			return nil, fmt.Errorf("found %.60q, want one or two signatures as written by 'bank sign'", line)
		}
		if slices.ContainsFunc(s.sigs, func(o signature) bool { return o.name == sig.name && o.hash == sig.hash }) {
			return nil, fmt.Errorf("found two signatures by %s, want one per key", sig.name)
		}
		s.sigs, s.Rest = append(s.sigs, sig), rest
	}
	var err error
	s.Order, err = Parse(s.text)
	return s, err
}

// parseSignature parses "name base64" in its canonical form.
func parseSignature(line string) (signature, bool) {
	name, in64, _ := strings.Cut(line, " ")
	b, err := base64.StdEncoding.Strict().DecodeString(in64)
	if err != nil || len(b) < 5 || base64.StdEncoding.EncodeToString(b) != in64 || checkOwn(name) != "" || strings.Contains(name, "+") {
		return signature{}, false
	}
	return signature{name, binary.BigEndian.Uint32(b), b[4:]}, true
}

// By reports whether the owner of a public key signed s. It caches the result.
func (s *Signed) By(key string) bool {
	for _, by := range s.by {
		if by.key == key {
			return by.signed
		}
	}
	v, err := note.NewVerifier(key)
	if err != nil {
		return false
	}
	sig := s.of(v)
	signed := sig != nil && v.Verify([]byte(s.text), sig)
	s.by = append(s.by, signer{key, signed})
	return signed
}

// of returns the signature that claims to be made with v's key, or nil if there is none.
func (s *Signed) of(v note.Verifier) []byte {
	for _, sig := range s.sigs {
		if sig.name == v.Name() && sig.hash == v.KeyHash() {
			return sig.sig
		}
	}
	return nil
}

// Text returns the signed text, which identifies s. The signatures do not identify s, because
// they can be in any order.
func (s *Signed) Text() string { return s.text }

// SameAs reports whether s and o are the same order with the same signatures, in any order.
func (s *Signed) SameAs(o *Signed) bool {
	in := func(all []signature, sig signature) bool {
		return slices.ContainsFunc(all, func(o signature) bool {
			return o.name == sig.name && o.hash == sig.hash && bytes.Equal(o.sig, sig.sig)
		})
	}
	for _, sig := range s.sigs {
		if !in(o.sigs, sig) {
			return false
		}
	}
	return s.text == o.text && len(s.sigs) == len(o.sigs)
}

// Signatures returns the number of signatures.
func (s *Signed) Signatures() int { return len(s.sigs) }

// Sign adds the signature of a private key to an order, which may already have signatures.
func Sign(b []byte, key string) ([]byte, error) {
	signer, err := note.NewSigner(key)
	if err != nil {
		return nil, errors.New("not a private key as written by 'bourse bank key'")
	}
	text, out := string(b), []byte(nil)
	if s, err := Open(b); err == nil {
		if len(s.Rest) > 0 {
			return nil, fmt.Errorf("found %.60q after the signatures, want the end", s.Rest)
		}
		text, out = s.text, slices.Clone(b)
	} else if _, wrong := Parse(text); wrong != nil {
		if bytes.Contains(b, []byte("\n\n")) {
			return nil, err
		}
		return nil, wrong
	} else {
		out = append(slices.Clone(b), '\n')
	}
	sig, err := signer.Sign([]byte(text))
	if err != nil {
		return nil, err
	}
	sig = append(binary.BigEndian.AppendUint32(nil, signer.KeyHash()), sig...)
	out = fmt.Appendf(out, "%s%s %s\n", sigStart, signer.Name(), base64.StdEncoding.EncodeToString(sig))
	_, err = Open(out)
	return out, err
}
