package link

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
)

// A Token invites one host to a market. It can be used only once, within an hour.
type Token struct {
	Address string // address of the market, host:port
	Secret  string // 128 random bits
	Pin     string // pin of the market's certificate, or two pins separated by a comma during a rotation
}

// NewToken returns a token with a new secret.
func NewToken(address, pin string) Token {
	var secret [16]byte
	rand.Read(secret[:])
	return Token{address, base64.RawURLEncoding.EncodeToString(secret[:]), pin}
}

// String returns the token as ADDRESS/SECRET/PIN, which [ParseToken] parses.
func (t Token) String() string { return t.Address + "/" + t.Secret + "/" + t.Pin }

// ParseToken parses a token.
func ParseToken(text string) (Token, error) {
	f := strings.Split(strings.TrimSpace(text), "/")
	if len(f) != 3 {
		return Token{}, fmt.Errorf("no token: want ADDRESS/SECRET/PIN, as the market printed it")
	}
	t := Token{f[0], f[1], f[2]}
	if _, port, err := net.SplitHostPort(t.Address); err != nil || port == "" {
		return Token{}, fmt.Errorf("token: address %q, want HOST:PORT", t.Address)
	}
	if !isBytes(t.Secret, 16) {
		return Token{}, fmt.Errorf("token: its secret is cut or changed: want 16 bytes")
	}
	if err := CheckPins(t.Pin); err != nil {
		return Token{}, fmt.Errorf("token: %w", err)
	}
	return t, nil
}

// CheckPins returns an error unless text is a pin, or several separated by commas.
func CheckPins(text string) error {
	for pin := range strings.SplitSeq(text, ",") {
		if !isBytes(pin, 32) {
			return fmt.Errorf("its pin is cut or changed: want 32 bytes")
		}
	}
	return nil
}

// isBytes reports whether text encodes the given number of bytes.
func isBytes(text string, bytes int) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) == bytes
}
