package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"bourse/bank/store"

	"golang.org/x/mod/sumdb/note"
)

// A Checkpoint says what head the ledger called Origin had. Signed and kept
// elsewhere it tells, in an audit, whether that ledger was cut, made anew or
// forked since.
type Checkpoint struct {
	Origin string // a name without spaces: a host and path, say
	Head   store.Head
}

// text is three lines: origin, size, root.
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%v\n", c.Origin, c.Head.Size, c.Head.Root)
}

// check refuses what cannot be signed.
func (c Checkpoint) check() error {
	if c.Origin == "" || len(c.Origin) > 128 || strings.ContainsFunc(c.Origin, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("checkpoint of %.128q: want 1 to 128 printable characters without space", c.Origin)
	}
	return nil
}

// Sign returns c signed with a key of [NewKey].
func (c Checkpoint) Sign(key string) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	signer, err := note.NewSigner(strings.TrimSpace(key))
	if err != nil {
		return nil, fmt.Errorf("checkpoint of %s: the key is not a private one", c.Origin)
	}
	return note.Sign(&note.Note{Text: c.text()}, signer)
}

const maxCheckpoint = 1 << 16 // bytes

// Open returns the checkpoint in signed, which the owner of the key to public
// signed.
func Open(signed []byte, public string) (Checkpoint, error) {
	key, err := PublicKey(public)
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

// Read returns the checkpoint in signed, whoever signed it: it is worth what the
// place is where it was kept.
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

// parseCheckpoint returns the checkpoint in a text with these signatures if signed is
// what [Checkpoint.Sign] writes.
func parseCheckpoint(signed []byte, text string, sigs []note.Signature) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 {
		return Checkpoint{}, errCheckpoint
	}
	c := Checkpoint{Origin: lines[0]}
	var err error
	if c.Head, err = store.ParseHead(lines[1] + ":" + lines[2]); err != nil || c.text() != text || c.check() != nil {
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
	errCheckpoint = errors.New("checkpoint: want three lines, of origin, size and root")
	errSignature  = errors.New("checkpoint: want one signature, as 'ledger checkpoint' writes it, and nothing else")
)

// PublicKey returns the public key in text, which [NewKey] made; space around it, such
// as the end of a line, means nothing. An error means that it is none, or not written
// as it was made.
func PublicKey(text string) (string, error) {
	key := strings.TrimSpace(text)
	v, err := note.NewVerifier(key)
	if err != nil {
		return "", errKey
	}
	_, rest, _ := strings.Cut(key, "+")
	_, in64, _ := strings.Cut(rest, "+")
	bytes, err := base64.StdEncoding.DecodeString(in64)
	if err != nil || key != fmt.Sprintf("%s+%08x+%s", v.Name(), v.KeyHash(), base64.StdEncoding.EncodeToString(bytes)) {
		return "", errKey
	}
	return key, nil
}

var errKey = errors.New("the key is not a public one, as 'bourse key new' prints it")

// NewKey makes a pair of keys called name, as text, from chance, which should be
// crypto/rand.Reader.
func NewKey(chance io.Reader, name string) (private, public string, err error) {
	private, public, err = note.GenerateKey(chance, name)
	if err != nil {
		return "", "", fmt.Errorf("key %q: %w", name, err)
	}
	return private, public, nil
}

// WriteKey writes a private key to a new file that only its owner may read.
func WriteKey(file, private string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, private+"\n")
	return errors.Join(err, f.Close())
}

// ReadKey reads a private key. It refuses a file that others may read or write.
func ReadKey(file string) (string, error) {
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
		return "", fmt.Errorf("key %s: others may use it (mode %#o): chmod 600 %s, or make a new one", file, mode, file)
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<12))
	return strings.TrimSpace(string(b)), err
}
