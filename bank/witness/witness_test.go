package witness

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bourse/bank/proof"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A keeper has a log of lines and signs the checkpoints that it publishes.
type keeper struct {
	t      testing.TB
	origin string
	signer note.Signer
	public note.Verifier
	key    string // verifier key of the log
	lines  []string
}

func newKeeper(t testing.TB, origin string) *keeper {
	private, public, err := note.GenerateKey(nil, origin)
	check(t, err)
	k := &keeper{t: t, origin: origin, key: public}
	k.signer, err = note.NewSigner(private)
	check(t, err)
	k.public, err = note.NewVerifier(public)
	check(t, err)
	return k
}

// fork returns a keeper with the same key whose log ends differently.
func (k *keeper) fork(from int, lines ...string) *keeper {
	f := *k
	f.lines = append(append([]string{}, k.lines[:from]...), lines...)
	return &f
}

func (k *keeper) hashes() (h proof.Hashes) {
	for i, line := range k.lines {
		more, err := tlog.StoredHashes(int64(i), []byte(line), h)
		check(k.t, err)
		h = append(h, more...)
	}
	return h
}

// shows returns the signed checkpoint of the first n lines.
func (k *keeper) shows(n int) []byte {
	root, err := tlog.TreeHash(int64(n), k.hashes())
	check(k.t, err)
	signed, err := note.Sign(&note.Note{Text: torchwood.Checkpoint{Origin: k.origin, Tree: tlog.Tree{N: int64(n), Hash: root}, Extension: "ledger 1:x\n"}.String()}, k.signer)
	check(k.t, err)
	return signed
}

// proof returns the proof that the first n lines extend a smaller number of lines.
func (k *keeper) proof(n int) func(int64) (tlog.TreeProof, error) {
	return func(from int64) (tlog.TreeProof, error) {
		if from == 0 || from == int64(n) {
			return nil, nil
		}
		return tlog.ProveTree(int64(n), from, k.hashes())
	}
}

// watch starts a witness of these logs.
func watch(t testing.TB, dir string, keepers ...*keeper) (url string, key *torchwood.CosignatureVerifier) {
	signer, err := torchwood.NewCosignatureSigner("w.example", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	check(t, err)
	logs := map[string][]note.Verifier{}
	for _, k := range keepers {
		logs[k.origin] = append(logs[k.origin], k.public)
	}
	w, err := New(dir, signer, logs)
	check(t, err)
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	return server.URL, signer.Verifier()
}

// request returns the body of a request.
func request(old int64, proof tlog.TreeProof, signed []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", old)
	for _, h := range proof {
		fmt.Fprintln(&b, h)
	}
	return b.String() + "\n" + string(signed)
}

// post sends a request to a witness and returns its reply.
func post(t testing.TB, url, body string) (status int, kind, answer string) {
	r, err := http.Post(url+"/add-checkpoint", "", strings.NewReader(body))
	check(t, err)
	defer r.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r.Body)
	check(t, err)
	return r.StatusCode, r.Header.Get("Content-Type"), b.String()
}

// TestAnswers checks each reply specified by c2sp.org/tlog-witness.
func TestAnswers(t *testing.T) {
	t.Parallel()
	lab, other := newKeeper(t, "lab"), newKeeper(t, "other")
	lab.lines = strings.Fields("a b c d e f g h i j k")
	other.lines = lab.lines
	url, _ := watch(t, t.TempDir(), lab)
	must := func(p tlog.TreeProof, err error) tlog.TreeProof { check(t, err); return p }
	fork := lab.fork(5, "x", "y", "z")
	forged := other.fork(0, lab.lines...)
	forged.origin = "lab"
	for _, c := range []struct {
		what, body string
		status     int
		answer     string
	}{
		{"the first", request(0, nil, lab.shows(4)), 200, ""},
		{"it again", request(4, nil, lab.shows(4)), 200, ""},
		{"as if it were the first", request(0, nil, lab.shows(4)), 409, "4\n"},
		{"another size", request(3, must(lab.proof(7)(3)), lab.shows(7)), 409, "4\n"},
		{"without proof", request(4, nil, lab.shows(7)), 422, ""},
		{"with a proof of another size", request(4, must(lab.proof(8)(4)), lab.shows(7)), 422, ""},
		{"what extends it", request(4, must(lab.proof(7)(4)), lab.shows(7)), 200, ""},
		{"a fork", request(7, must(fork.proof(8)(7)), fork.shows(8)), 422, ""},
		{"a fork of the same size", request(7, nil, fork.shows(7)), 409, "7\n"},
		{"less", request(7, nil, lab.shows(5)), 400, ""},
		{"a proof of nothing", request(7, must(lab.proof(7)(4)), lab.shows(7)), 400, ""},
		{"another log", request(0, nil, other.shows(4)), 404, ""},
		{"another's signature", request(7, must(lab.proof(9)(7)), forged.shows(9)), 403, ""},
		{"no signature", request(7, must(lab.proof(9)(7)), bytes.Split(lab.shows(9), []byte("\n\n"))[0]), 403, ""},
		{"no request", "hello", 400, ""},
		{"no size", "old x\n\n" + string(lab.shows(9)), 400, ""},
		{"another way to write a size", "old 07\n\n" + string(lab.shows(9)), 400, ""},
		{"no hash", "old 7\nabc\n\n" + string(lab.shows(9)), 400, ""},
		{"too many hashes", request(7, make(tlog.TreeProof, 64), lab.shows(9)), 400, ""},
		{"too long", strings.Repeat("old 7\n", 20_000), 400, ""},
		{"what extends it still", request(7, must(lab.proof(11)(7)), lab.shows(11)), 200, ""},
	} {
		status, kind, answer := post(t, url, c.body)
		if status != c.status || c.answer != "" && (answer != c.answer || kind != "text/x.tlog.size") {
			t.Errorf("%s: %d %q of %s, want %d %q", c.what, status, answer, kind, c.status, c.answer)
		}
	}
	if r, err := http.Get(url + "/add-checkpoint"); err != nil || r.StatusCode != 405 {
		t.Errorf("GET: %v, %v", r, err)
	}
}

// TestSignature checks a cosignature against c2sp.org/tlog-cosignature, using only ed25519:
// the name, the key hash, and the text and time that are signed.
func TestSignature(t *testing.T) {
	t.Parallel()
	lab := newKeeper(t, "lab")
	lab.lines = []string{"a", "b"}
	url, _ := watch(t, t.TempDir(), lab)
	signed := lab.shows(2)
	_, _, line := post(t, url, request(0, nil, signed))
	in64, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "— w.example ")
	sig, err := base64.StdEncoding.DecodeString(in64)
	if !ok || err != nil || len(sig) != 4+8+64 {
		t.Fatalf("line %q", line)
	}
	public := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)).Public().(ed25519.PublicKey)
	id := sha256.Sum256(append([]byte("w.example\n\x04"), public...))
	text, _, _ := strings.Cut(string(signed), "\n\n")
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s\n", binary.BigEndian.Uint64(sig[4:12]), text)
	if !bytes.Equal(sig[:4], id[:4]) || !ed25519.Verify(public, []byte(message), sig[12:]) {
		t.Errorf("%q does not sign %q", line, message)
	}
}

// TestForks checks that two of three witnesses never sign both sides of a forked log, whichever
// checkpoints each of them receives, even if witnesses are killed and restarted.
func TestForks(t *testing.T) {
	t.Parallel()
	honest := newKeeper(t, "lab")
	honest.lines = strings.Fields("a b c d e f g h")
	forked := honest.fork(5, "x", "y", "z")
	var dirs [3]string
	for i := range dirs {
		dirs[i] = filepath.Join(t.TempDir(), "w")
	}
	ask := func(k *keeper, n, witness int) error {
		url, key := watch(t, dirs[witness], k) // start the witness again
		_, err := Ask(t.Context(), url, key, k.shows(n), 0, k.proof(n))
		return err
	}
	for i := range dirs {
		check(t, ask(honest, 5, i))
	}
	url, key := watch(t, dirs[0], honest)
	shown := honest.shows(7)
	before := string(shown)
	_, err := Ask(t.Context(), url, key, shown, 0, honest.proof(7))
	check(t, err)
	if string(shown) != before {
		t.Error("what is shown was changed")
	}
	check(t, ask(forked, 8, 2))
	check(t, ask(honest, 8, 1))
	for i, k := range []*keeper{forked, forked, honest} {
		if err := ask(k, 8, i); err == nil || !strings.Contains(err.Error(), "is not part of this log") && !strings.Contains(err.Error(), "does not extend") {
			t.Errorf("witness %d signs both sides: %v", i, err)
		}
	}
}

// TestTogether checks that a witness signs only one side of a fork, even for many concurrent
// requests for both sides.
func TestTogether(t *testing.T) {
	t.Parallel()
	honest := newKeeper(t, "lab")
	honest.lines = strings.Fields("a b c d e f g h")
	forked := honest.fork(1, strings.Fields("t u v w x y z")...)
	url, key := watch(t, t.TempDir(), honest)
	check(t, ask1(t, url, key, honest, 1))
	var signed [2]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for n := 2; n <= 8; n++ {
		for side, k := range []*keeper{honest, forked} {
			all.Go(func() {
				if ask1(t, url, key, k, n) == nil {
					mu.Lock()
					defer mu.Unlock()
					signed[side]++
				}
			})
		}
	}
	all.Wait()
	if signed[0]*signed[1] != 0 || signed[0]+signed[1] == 0 {
		t.Errorf("%d of one side were signed, %d of the other", signed[0], signed[1])
	}
}

func ask1(t testing.TB, url string, key *torchwood.CosignatureVerifier, k *keeper, n int) error {
	_, err := Ask(t.Context(), url, key, k.shows(n), 1, k.proof(n))
	return err
}

// TestKept checks that a witness whose file was damaged signs nothing.
func TestKept(t *testing.T) {
	t.Parallel()
	lab := newKeeper(t, "lab")
	lab.lines = []string{"a", "b"}
	dir := t.TempDir()
	url, key := watch(t, dir, lab)
	if _, err := Ask(t.Context(), url, key, lab.shows(1), 0, lab.proof(1)); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Fatalf("kept: %v, %v", names, err)
	}
	check(t, os.WriteFile(filepath.Join(dir, names[0].Name()), []byte("lab\n1\n"), 0o600))
	if status, _, _ := post(t, url, request(0, nil, lab.shows(2))); status != 500 {
		t.Errorf("status %d", status)
	}
}

// FuzzRequest checks that no request causes an unspecified failure of a witness.
func FuzzRequest(f *testing.F) {
	lab := newKeeper(f, "lab")
	lab.lines = []string{"a", "b", "c"}
	signer, err := torchwood.NewCosignatureSigner("w", ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	check(f, err)
	w, err := New(f.TempDir(), signer, map[string][]note.Verifier{"lab": {lab.public}})
	check(f, err)
	f.Add([]byte(request(0, nil, lab.shows(3))))
	f.Add([]byte("old 0\n\nlab\n1\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		out := httptest.NewRecorder()
		w.ServeHTTP(out, httptest.NewRequest(http.MethodPost, "/add-checkpoint", bytes.NewReader(body)))
		if out.Code >= 500 {
			t.Errorf("%q: %d %s", body, out.Code, out.Body)
		}
	})
}
