package link

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
)

// A Token invites one host to a market: within an hour, once.
type Token struct {
	Address string // of the market, host:port
	Secret  string // 128 bits
	Pin     string // of the market's certificate
}

// NewToken returns a token with a secret of its own.
func NewToken(address, pin string) Token {
	var secret [16]byte
	rand.Read(secret[:])
	return Token{address, base64.RawURLEncoding.EncodeToString(secret[:]), pin}
}

// String returns what [ParseToken] reads: ADDRESS/SECRET/PIN.
func (t Token) String() string { return t.Address + "/" + t.Secret + "/" + t.Pin }

// ParseToken reads a token.
func ParseToken(text string) (Token, error) {
	f := strings.Split(strings.TrimSpace(text), "/")
	if len(f) != 3 {
		return Token{}, fmt.Errorf("no token: want ADDRESS/SECRET/PIN, as the market printed it")
	}
	t := Token{f[0], f[1], f[2]}
	if _, port, err := net.SplitHostPort(t.Address); err != nil || port == "" {
		return Token{}, fmt.Errorf("token: address %q, want HOST:PORT", t.Address)
	}
	for _, part := range []struct {
		what, text string
		bytes      int
	}{{"secret", t.Secret, 16}, {"pin", t.Pin, 32}} {
		if b, err := base64.RawURLEncoding.Strict().DecodeString(part.text); err != nil || len(b) != part.bytes {
			return Token{}, fmt.Errorf("token: its %s is cut or changed: want %d bytes", part.what, part.bytes)
		}
	}
	return t, nil
}
