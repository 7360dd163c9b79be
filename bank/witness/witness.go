// Package witness checks that the operators of logs are honest. A witness cosigns the
// checkpoint of a log only if it extends the last checkpoint that the witness cosigned. A
// client that verifies the cosignature therefore has the same log as all other clients
// (c2sp.org/tlog-witness, c2sp.org/tlog-cosignature).
//
// A witness identifies a log by its origin and keys. It stores one checkpoint per log, in a
// small file. The package is independent of the contents of logs.
package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"bourse/bank/whole"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	maxBody  = 1 << 16 // maximum size of a request in bytes
	maxProof = 63      // maximum number of lines of a proof
	unsigned = 403     // HTTP status: the checkpoint is not signed with a known key
)

// A witness handles requests to cosign checkpoints.
type witness struct {
	dir    string // directory with one file per log
	signer note.Signer
	logs   map[string][]note.Verifier // verifier keys of each log, by origin

	mu sync.Mutex // serializes requests, so that the last size cannot change during a request
}

// New returns a witness that stores its state in dir, which must not contain any other files.
// The map logs contains the verifier keys of the known logs, by origin.
func New(dir string, signer note.Signer, logs map[string][]note.Verifier) (http.Handler, error) {
	if len(logs) == 0 {
		return nil, errors.New("found no log to witness")
	}
	return &witness{dir: dir, signer: signer, logs: logs}, os.MkdirAll(dir, 0o700)
}

// A refusal is the reply of a witness that does not sign.
type refusal struct {
	status int
	text   string
	size   int64 // last size of the log, if the requested size conflicts with it
}

func (r *refusal) Error() string { return r.text }

// ServeHTTP implements [http.Handler].
func (w *witness) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	if in.URL.Path != "/add-checkpoint" {
		http.NotFound(out, in)
		return
	}
	if in.Method != http.MethodPost {
		out.Header().Set("Allow", http.MethodPost)
		http.Error(out, "want POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, in.Body, maxBody))
	if err != nil {
		http.Error(out, "request is too long", http.StatusBadRequest)
		return
	}
	lines, err := w.sign(body)
	var no *refusal
	switch {
	case errors.As(err, &no) && no.status == http.StatusConflict:
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(no.status)
		fmt.Fprintf(out, "%d\n", no.size)
	case errors.As(err, &no):
		http.Error(out, no.text, no.status)
	case err != nil:
		http.Error(out, err.Error(), http.StatusInternalServerError)
	default:
		_, _ = out.Write(lines) // if the client has disconnected, it can ask again
	}
}

// sign returns the cosignature lines for the checkpoint in the request body.
func (w *witness) sign(body []byte) ([]byte, error) {
	old, proof, signed, err := parse(body)
	if err != nil {
		return nil, err
	}
	origin, _, _ := strings.Cut(string(signed), "\n")
	known, ok := w.logs[origin]
	if !ok {
		return nil, &refusal{status: http.StatusNotFound, text: "unknown log"}
	}
	n, err := note.Open(signed, note.VerifierList(known...))
	if err != nil {
		return nil, &refusal{status: unsigned, text: "no valid signature of the log"}
	}
	c, err := torchwood.ParseCheckpoint(n.Text)
	if err != nil || c.Origin != origin {
		return nil, bad("malformed checkpoint")
	}
	if old > c.N {
		return nil, bad("the old size is larger than the checkpoint's")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.last(origin)
	if err != nil {
		return nil, err
	}
	if last.N != old || old == c.N && old > 0 && last.Hash != c.Hash {
		return nil, &refusal{status: http.StatusConflict, text: "another size", size: last.N}
	}
	switch {
	case old == 0 || old == c.N:
		if len(proof) > 0 {
			return nil, bad("found a proof, want none")
		}
	case tlog.CheckTree(proof, c.N, c.Hash, old, last.Hash) != nil:
		return nil, &refusal{status: http.StatusUnprocessableEntity, text: "the checkpoint does not extend the last one"}
	}
	both, err := note.Sign(&note.Note{Text: n.Text}, w.signer)
	if err != nil {
		return nil, err
	}
	if err := w.keep(origin, n.Text); err != nil {
		return nil, err
	}
	return both[len(n.Text)+1:], nil
}

func bad(text string) error { return &refusal{status: http.StatusBadRequest, text: text} }

// parse returns the parts of a request: old size, consistency proof and signed checkpoint.
func parse(body []byte) (old int64, proof tlog.TreeProof, signed []byte, err error) {
	head, signed, ok := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	size, is := strings.CutPrefix(lines[0], "old ")
	old, err = strconv.ParseInt(size, 10, 64)
	if !ok || !is || err != nil || old < 0 || strconv.FormatInt(old, 10) != size {
		return 0, nil, nil, bad(`want "old SIZE", one hash per line, an empty line and a checkpoint`)
	}
	if len(lines)-1 > maxProof {
		return 0, nil, nil, bad("the proof has too many lines")
	}
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil || h.String() != line {
			return 0, nil, nil, bad("a line of the proof is not a hash")
		}
		proof = append(proof, h)
	}
	return old, proof, signed, nil
}

// last returns the last signed checkpoint of a log, or the checkpoint of an empty tree.
func (w *witness) last(origin string) (torchwood.Checkpoint, error) {
	text, err := whole.Read(w.file(origin), maxBody)
	if errors.Is(err, fs.ErrNotExist) {
		return torchwood.Checkpoint{Origin: origin}, nil
	}
	if err != nil {
		return torchwood.Checkpoint{}, err
	}
	c, err := torchwood.ParseCheckpoint(string(text))
	if err != nil || c.Origin != origin {
		return torchwood.Checkpoint{}, fmt.Errorf("%s: want the last checkpoint of %s; the witness signs nothing without it", w.file(origin), origin)
	}
	return c, nil
}

// keep records that the checkpoint with the given text was signed. sign calls keep before the
// reply is sent.
func (w *witness) keep(origin, text string) error {
	if err := whole.Write(w.file(origin), []byte(text)); err != nil {
		return err
	}
	d, err := os.Open(w.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (w *witness) file(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(w.dir, hex.EncodeToString(sum[:]))
}
