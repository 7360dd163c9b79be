package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bourse/bank/store/postgres/pgtest"
)

var rewrite = flag.Bool("rewrite", false, "write what is generated anew: references, and what pages show that commands print")

// A block is a fenced block of a page. The first word states the language. For a console,
// the second word states where it is run; for other blocks, a word with a dot names the
// file that the block contains.
type block struct {
	at    int // number of the first line
	words []string
	lines []string
}

// is reports whether the first line of the block begins with the given words.
func (b block) is(words ...string) bool {
	return len(b.words) >= len(words) && slices.Equal(b.words[:len(words)], words)
}

// blocksIn returns the fenced blocks in a Markdown text.
func blocksIn(page string) (all []block) {
	inside := false
	for i, line := range strings.Split(page, "\n") {
		switch words, fence := strings.CutPrefix(line, "```"); {
		case fence && !inside:
			all = append(all, block{at: i + 2, words: strings.Fields(words)})
			inside = true
		case fence:
			inside = false
		case inside:
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
	}
	return all
}

// A shown is a command on a page with its output.
type shown struct {
	line    int
	command string
	output  []string // lines of the output; "..." stands for any lines
}

// commands returns the commands of a console. A command that ends with a backslash
// continues on the next line.
func (b block) commands() (all []shown) {
	goesOn := false
	for i, line := range b.lines {
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case goesOn:
			all[len(all)-1].command += "\n" + line
		case begins:
			all = append(all, shown{line: b.at + i, command: command})
		default:
			last := &all[len(all)-1]
			last.output = append(last.output, line)
			continue
		}
		goesOn = strings.HasSuffix(line, `\`)
	}
	return all
}

// consoles returns the commands of the page's consoles that begin with the given words.
func consoles(page string, words ...string) (all []shown) {
	for _, b := range blocksIn(page) {
		if b.is(words...) && len(b.words) == len(words) {
			all = append(all, b.commands()...)
		}
	}
	return all
}

// needs states, for each kind of console, which command must succeed before the console is
// run.
var needs = map[string]string{
	"nightly":  `test -n "$BOURSE_CI"`, // takes long
	"checkout": `test -n "$BOURSE_CI"`, // run in the source tree
	"duckdb":   `node -e 'require("@duckdb/node-api")'`,
	"python":   `python3 --version`,
	"pandas":   `python3 -c 'import pandas'`,
	"R":        `Rscript --version`,
	"go":       `go version`,
	"hledger":  `hledger --version`,
	"curl":     `curl --version`,
	"postgres": `test -n "$BANK"`,
	"slurm":    `test -n "$SLURM_CONF"`,
	"systemd":  `systemd-analyze --version`,
	"live":     `false`, // TestQuickStart runs them
	"programs": `false`, // TestPrograms runs them
	"policy":   `false`, // TestPlugged runs them
	"shown":    `false`, // not run, because no test has what it needs; its commands and flags are checked
}

// pages returns the README and the documentation pages, keyed by their paths from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[path.Join("cmd/bourse", filepath.ToSlash(name))] = string(text)
	}
	return all
}

// TestPages runs the consoles of every page. It runs the commands in order in a directory
// that contains only the files shown on the page. Each command must succeed and print the
// output shown. A block of kind K is run only if the requirement of K is met. In the
// nightly run, with BOURSE_CI=1, every requirement must be met.
func TestPages(t *testing.T) {
	t.Parallel()
	n := 0
	for name, text := range pages(t) {
		n += strings.Count(text, "\n$ ")
		t.Run(strings.TrimSuffix(path.Base(name), ".md"), func(t *testing.T) {
			t.Parallel()
			runPage(t, name, text)
		})
	}
	if n < 120 {
		t.Errorf("found %d commands", n)
	}
}

// runPage runs the consoles of one page.
func runPage(t *testing.T, name, text string) {
	dir := t.TempDir()
	env := append(os.Environ(), "LC_ALL=C.UTF-8", "BOURSE_HOME="+filepath.Join(dir, ".home"))
	if strings.Contains(text, "\n```console postgres\n") && pgtest.Found() {
		env = append(env, "BANK="+pgtest.URL(t))
	}
	if strings.Contains(text, "\n```console slurm\n") && hasSlurm() == nil {
		env = append(env, newSlurm(t, 4).conf())
	}
	sh := func(command string) (out string, err error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir, cmd.Env = dir, env
		var errs bytes.Buffer
		cmd.Stderr = &errs
		stdout, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, errs.Bytes())
		}
		return string(stdout), err
	}
	t.Cleanup(func() { // stop processes that a page leaves running if one of its commands fails
		if t.Failed() {
			exec.Command("sh", "-c", "cd "+dir+" && for f in *.pid; do kill $(cat $f); done").Run()
		}
	})
	lines := strings.Split(text, "\n")
	for _, b := range slices.Backward(runBlocks(t, name, text, sh)) { // in reverse order, so that the positions of earlier lines do not change
		lines = slices.Replace(lines, b.at-1, b.at-1+len(b.lines), b.printed...)
	}
	if *rewrite {
		if err := os.WriteFile(filepath.Join("..", "..", filepath.FromSlash(name)), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A ranBlock is a console with the actual output of its commands in place of the output
// that differs.
type ranBlock struct {
	block
	printed []string
}

// runBlocks runs the blocks of a page and returns the consoles among them.
func runBlocks(t *testing.T, name, text string, sh func(string) (string, error)) (ran []ranBlock) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocksIn(text) {
		if !b.is("console") {
			if len(b.words) > 1 && strings.Contains(b.words[1], ".") {
				if _, err := sh("cat > " + b.words[1] + " <<'END-OF-BLOCK'\n" + strings.Join(b.lines, "\n") + "\nEND-OF-BLOCK"); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		if len(b.words) > 1 {
			need, known := needs[b.words[1]]
			if !known {
				t.Errorf("%s:%d: found a console of kind %s", name, b.at-1, b.words[1])
			}
			if _, err := sh(need); err != nil {
				if os.Getenv("BOURSE_CI") != "" && need != "false" {
					t.Errorf("%s:%d: %s: %v", name, b.at, need, err)
				} else if need != "false" {
					t.Logf("%s:%d: not run, as %q fails", name, b.at, need)
				}
				continue
			}
		}
		r := ranBlock{block: b}
		for _, s := range b.commands() {
			r.printed = append(r.printed, strings.Split("$ "+s.command, "\n")...)
			if s.command == "go test ./..." { // this test would run itself
				r.printed = append(r.printed, s.output...)
				continue
			}
			command := strings.Replace(s.command, "go run ./cmd/bourse ", "bourse ", 1) // the program has already been built
			if b.is("console", "checkout") {
				command = "export GOBIN=$PWD; cd " + root + " && " + command
			}
			out, err := sh(command)
			if err != nil {
				t.Errorf("%s:%d: %s: %v", name, s.line, s.command, err)
				r.printed = append(r.printed, s.output...)
				continue
			}
			got := strings.Split(strings.TrimRight(out, "\n"), "\n")
			if out == "" {
				got = nil
			}
			missing, ok := follows(got, s.output)
			again := *rewrite && !slices.Contains(s.output, "...") // if the output is shortened, the writer must decide which lines to omit
			if !ok && !again {
				t.Errorf("%s:%d: %s: does not print %q where it is shown; it prints\n%s", name, s.line, s.command, missing, out)
			}
			if !ok && again {
				for _, line := range got {
					r.printed = append(r.printed, strings.TrimRight(line, " "))
				}
				continue
			}
			r.printed = append(r.printed, s.output...)
		}
		ran = append(ran, r)
	}
	return ran
}

// follows reports whether got matches want, ignoring trailing spaces. If not, it returns
// the missing line. In a line with varying words, … stands for these words.
func follows(got, want []string) (missing string, ok bool) {
	skip := false
	for _, w := range want {
		if w == "..." {
			skip = true
			continue
		}
		for skip && len(got) > 0 && !isLine(got[0], w) {
			got = got[1:]
		}
		if len(got) == 0 || !isLine(got[0], w) {
			return w, false
		}
		got, skip = got[1:], false
	}
	if len(got) > 0 && !skip {
		return got[0], false
	}
	return "", true
}

// isLine reports whether a line matches a line of the page.
func isLine(got, want string) bool {
	got = strings.TrimRight(got, " ")
	if got == want || !strings.Contains(want, "…") {
		return got == want
	}
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$").MatchString(got)
}

// TestFollows checks that a line that is not printed is reported.
func TestFollows(t *testing.T) {
	t.Parallel()
	got := []string{"a", "b ", "c 1 d"}
	for _, c := range []struct {
		want string
		ok   bool
	}{
		{"a|b|c 1 d", true}, {"a|...", true}, {"...|c 1 d", true}, {"...|b|...", true}, {"...", true}, {"a|b|c … d", true},
		{"a|c 1 d", false}, {"a|b", false}, {"...|d|...", false}, {"", false}, {"a|b|c … e", false},
	} {
		if _, ok := follows(got, strings.Split(c.want, "|")); ok != c.ok {
			t.Errorf("%q: %v, want %v", c.want, ok, c.ok)
		}
	}
}
