package witness

import (
	"bufio"
	"bytes"
	"flag"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
)

var independent = flag.Bool("independent", false, "build another implementation of witnesses, and hold this one to it")

// otherWitness builds the witness of .ci/witness.
func otherWitness(t *testing.T) string {
	t.Helper()
	if !*independent {
		t.Skip("needs other people's modules; -independent fetches them")
	}
	program := filepath.Join(t.TempDir(), "witness")
	build := exec.Command("go", "build", "-C", filepath.Join("..", "..", ".ci", "witness"), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestOtherWitness checks that a witness of another implementation cosigns a growing log at the
// request of [Ask], but does not cosign a fork of the log.
func TestOtherWitness(t *testing.T) {
	t.Parallel()
	program := otherWitness(t)
	lab := newKeeper(t, "lab")
	lab.lines = strings.Fields("a b c d e f g h")
	forked := lab.fork(5, "x", "y", "z")
	serve := exec.CommandContext(t.Context(), program, "serve", lab.key, "other.example")
	out, err := serve.StdoutPipe()
	check(t, err)
	check(t, serve.Start())
	t.Cleanup(func() { _ = serve.Wait() }) // the process is killed with the test
	said := bufio.NewScanner(out)
	said.Scan()
	key, err := torchwood.NewCosignatureVerifier(said.Text())
	check(t, err)
	said.Scan()
	url := said.Text()
	for _, n := range []int{1, 1, 4, 5, 7} {
		if _, err := Ask(t.Context(), url, key, lab.shows(n), 0, lab.proof(n)); err != nil {
			t.Errorf("%d lines: %v", n, err)
		}
	}
	for _, n := range []int{6, 7, 8} {
		if line, err := Ask(t.Context(), url, key, forked.shows(n), 7, forked.proof(n)); err == nil {
			t.Errorf("%d lines of a fork are cosigned: %s", n, line)
		}
	}
	if _, err := Ask(t.Context(), url, key, newKeeper(t, "lab").fork(0, "a").shows(1), 7, lab.proof(7)); err == nil {
		t.Error("a log that another key has signed is cosigned")
	}
	if _, err := Ask(t.Context(), url, key, lab.shows(8), 7, lab.proof(8)); err != nil {
		t.Errorf("after the fork: %v", err)
	}
}

// TestOtherFeeder checks that this witness cosigns a growing log for a client of another
// implementation, and that both interpret its refusals identically.
func TestOtherFeeder(t *testing.T) {
	t.Parallel()
	program := otherWitness(t)
	lab := newKeeper(t, "lab")
	lab.lines = strings.Fields("a b c d e f g h")
	forked := lab.fork(3, "v", "w", "x", "y", "z")
	stranger := newKeeper(t, "lab").fork(0, "a")
	url, key := watch(t, t.TempDir(), lab)
	for _, c := range []struct {
		of        *keeper
		from, n   int
		as, wrong string
	}{
		{of: lab, n: 3},
		{of: lab, from: 3, n: 5},
		{of: lab, from: 5, n: 5},
		{of: lab, from: 3, n: 8, wrong: "old size != current: 5"},
		{of: lab, from: 8, n: 5, wrong: "old size > current"},
		{of: forked, from: 5, n: 8, wrong: "consistency proof invalid"},
		{of: stranger, from: 5, n: 1, wrong: "no valid signatures"},
		{of: lab, from: 5, n: 8, as: "elsewhere", wrong: "unknown log"},
		{of: lab, from: 5, n: 8},
	} {
		k := *c.of
		if c.as != "" {
			k = *newKeeper(t, c.as)
			k.lines = c.of.lines
		}
		signed := k.shows(c.n)
		proof, err := k.proof(c.n)(int64(min(c.from, c.n)))
		check(t, err)
		_, body, _ := strings.Cut(request(int64(c.from), proof, signed), "\n")
		feed := exec.Command(program, "ask", url, strconv.Itoa(c.from))
		feed.Stdin = strings.NewReader(body)
		var line, why bytes.Buffer
		feed.Stdout, feed.Stderr = &line, &why
		err = feed.Run()
		switch {
		case c.wrong != "":
			if err == nil || strings.TrimSpace(why.String()) != c.wrong {
				t.Errorf("%+v: %q, %q; want %q", c, line.String(), why.String(), c.wrong)
			}
		case err != nil:
			t.Errorf("%d lines from %d: %v: %s", c.n, c.from, err, why.String())
		default:
			text, _, _ := strings.Cut(string(signed), "\n\n")
			if _, err := note.Open([]byte(text+"\n\n"+line.String()), note.VerifierList(key)); err != nil {
				t.Errorf("%d lines: %q: %v", c.n, line.String(), err)
			}
		}
	}
}
