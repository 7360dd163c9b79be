package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"bourse/bank/keys"
	"bourse/bank/store"

	"golang.org/x/mod/sumdb/note"
)

// A Checkpoint states the head of the ledger called Origin. If a signed checkpoint is stored
// elsewhere, an audit can detect whether the ledger was later truncated, rewritten or forked.
type Checkpoint struct {
	Origin string // name without spaces, such as a host and a path
	Head   store.Head
}

// text returns three lines: origin, size and root.
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%v\n", c.Origin, c.Head.Size, c.Head.Root)
}

// CheckOrigin returns an error if a checkpoint with that origin could not be parsed.
func CheckOrigin(origin string) error {
	if origin == "" || len(origin) > 128 || strings.ContainsFunc(origin, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("checkpoint of %.128q: want 1 to 128 printable characters without space", origin)
	}
	return nil
}

// Sign returns c signed with a private key made by [keys.New].
func (c Checkpoint) Sign(key string) ([]byte, error) {
	if err := CheckOrigin(c.Origin); err != nil {
		return nil, err
	}
	signer, err := note.NewSigner(strings.TrimSpace(key))
	if err != nil {
		return nil, fmt.Errorf("checkpoint of %s: not a private key", c.Origin)
	}
	return note.Sign(&note.Note{Text: c.text()}, signer)
}

const maxCheckpoint = 1 << 16 // bytes

// Open parses a checkpoint and verifies that the owner of the public key signed it.
func Open(signed []byte, public string) (Checkpoint, error) {
	key, err := keys.Public(public)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	n, err := openNote(signed, verifier)
	if err != nil {
		return Checkpoint{}, err
	}
	return parseCheckpoint(signed, n.Text, n.Sigs)
}

// Read parses a checkpoint without verifying its signatures. Trust the result only if it was
// stored in a trusted place.
func Read(signed []byte) (Checkpoint, error) {
	_, err := openNote(signed)
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return Checkpoint{}, err
	}
	return parseCheckpoint(signed, unverified.Note.Text, unverified.Note.UnverifiedSigs)
}

func openNote(signed []byte, known ...note.Verifier) (*note.Note, error) {
	if len(signed) > maxCheckpoint {
		return nil, fmt.Errorf("checkpoint of %d bytes: at most %d", len(signed), maxCheckpoint)
	}
	n, err := note.Open(signed, note.VerifierList(known...))
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return n, nil
}

// parseCheckpoint returns the checkpoint with the given text and signatures if signed has the
// form that [Checkpoint.Sign] writes.
func parseCheckpoint(signed []byte, text string, sigs []note.Signature) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 {
		return Checkpoint{}, errCheckpoint
	}
	c := Checkpoint{Origin: lines[0]}
	var err error
	if c.Head, err = store.ParseHead(lines[1] + ":" + lines[2]); err != nil || c.text() != text || CheckOrigin(c.Origin) != nil {
		return Checkpoint{}, errCheckpoint
	}
	if len(sigs) != 1 {
		return Checkpoint{}, errSignature
	}
	sig, err := base64.StdEncoding.DecodeString(sigs[0].Base64)
	if err != nil || string(signed) != fmt.Sprintf("%s\n— %s %s\n", text, sigs[0].Name, base64.StdEncoding.EncodeToString(sig)) {
		return Checkpoint{}, errSignature
	}
	return c, nil
}

var (
	errCheckpoint = errors.New("checkpoint: want three lines: origin, size and root")
	errSignature  = errors.New("checkpoint: want exactly one signature, as written by 'ledger checkpoint'")
)
