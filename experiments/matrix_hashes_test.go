package experiments

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var matrixRewrite = flag.Bool("matrix.rewrite", false, "write the hashes of testdata/matrix-hashes.txt anew")

// matrixHashes is the number of draws whose hashes are stored.
const matrixHashes = 300

// hashOf returns the hash of everything that draw n publishes except the wall time: the
// rows of every table and the entries of every ledger, or "refused".
func hashOf(n uint64, dir string) (string, error) {
	g := draw(n)
	if err := g.write(dir); err != nil {
		return "", err
	}
	e, err := parse(dir)
	var no refused
	switch {
	case errors.As(err, &no):
		return "refused", nil
	case err != nil:
		return "", err
	}
	r, err := alone(e)
	if err != nil {
		return "", err
	}
	return r.hash, nil
}

// TestMatrixHashes checks that the first draws of the matrix publish the same results as when
// testdata/matrix-hashes.txt was written. The test shows whether a change to the program alters
// results. If it does so on purpose, rewrite the file and mention it in the commit:
//
//	go test ./experiments -run TestMatrixHashes -matrix.rewrite
func TestMatrixHashes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one draw after another: there is nothing to race")
	}
	const file = "testdata/matrix-hashes.txt"
	dir := t.TempDir()
	var now strings.Builder
	for n := range uint64(matrixHashes) {
		sum, err := hashOf(n, dir)
		if err != nil {
			t.Fatalf("draw %d: %v", n, err)
		}
		fmt.Fprintf(&now, "%d %s\n", n, sum)
	}
	if *matrixRewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	was, differ := bufio.NewScanner(kept), 0
	for line := range strings.Lines(now.String()) {
		if !was.Scan() || was.Text() != strings.TrimSpace(line) {
			if differ++; differ <= 10 {
				t.Errorf("%s was %s", strings.TrimSpace(line), was.Text())
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d draws publish something else than they did", differ, matrixHashes)
	}
}
