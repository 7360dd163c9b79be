package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/experiments/papers"

	"github.com/goccy/go-yaml"
)

var allPresets = flag.Bool("presets", false, "hold the results of all presets to their hashes, not of some of each paper")

// alike lists the presets that take longest, or that vary another preset of the same paper.
// They are checked only with -presets.
var alike = []string{
	"librarisk-figure2", "librarisk-figure3", "librasla-figure3", "librasla-figure4",
	"negotiation",
	"reservations-e10", "reservations-e2", "reservations-e3", "reservations-e4", "reservations-e5", "reservations-e6", "reservations-e7", "reservations-e8",
	"volunteers-models", "volunteers-models-pps", "volunteers-models-promises", "volunteers-options", "volunteers-pps", "volunteers-promises",
}

// TestResults compares the output of presets with the hashes in testdata/results.txt. The
// presets run one replication in the middle of their sweeps. The output consists of tables, the
// numbers of figures, and the heads of ledgers, which represent all of their bytes. The test
// therefore detects a change to the code that changes results unintentionally. To change a
// hash, use -presets -update and give the reason in the commit message.
func TestResults(t *testing.T) {
	t.Parallel()
	const file = "testdata/results.txt"
	held, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, presets := t.TempDir(), papers.Presets()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		if !*allPresets && slices.Contains(alike, name) {
			continue
		}
		out := filepath.Join(dir, name)
		args := append([]string{"bourse", "run", "--preset", name, "--replications", "1", "--quiet", "--out", out}, middle(t, name, presets[name])...)
		var errs bytes.Buffer
		if status := run(t.Context(), args, nil, io.Discard, &errs); status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, &errs)
		}
		got := hashes(t, name, out)
		all = append(all, got...)
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		want := lines(string(held), name)
		if !*update && !slices.Equal(got, want) {
			t.Errorf("%s, want, in %s,\n%s", strings.Join(got, "\n"), file, strings.Join(want, "\n"))
		}
	}
	if *update && *allPresets {
		if err := os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lines returns the lines of text that begin with the word name.
func lines(text, name string) (found []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+" ") {
			found = append(found, strings.TrimSuffix(line, "\n"))
		}
	}
	return found
}

// middle returns flags that make a preset run in the middle of each of its axes.
func middle(t *testing.T, name string, preset []byte) (flags []string) {
	var s struct {
		Sweep []struct{ Values []any }
	}
	if err := yaml.Unmarshal(preset, &s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, axis := range s.Sweep {
		value, err := yaml.MarshalWithOptions(axis.Values[len(axis.Values)/2], yaml.Flow(true))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		flags = append(flags, "--set", fmt.Sprintf("sweep.%d.values=[%s]", i, bytes.TrimSpace(value)))
	}
	return flags
}

// hashes returns one line per kind of results file in dir: preset, kind, sha256.
func hashes(t *testing.T, name, dir string) (rows []string) {
	sums := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		inside = filepath.ToSlash(inside)
		kind, _, deep := strings.Cut(inside, "/")
		head := d.Name() == "HEAD"
		if !head && filepath.Ext(inside) != ".csv" || deep && kind != "ledger" && kind != "figures" {
			return nil
		}
		data, err := os.ReadFile(path)
		if head {
			data = data[:bytes.Index(data, []byte("\nfile "))] // keep only the head of the log, because the store may divide its files in another way
		}
		sums[kind] = fmt.Appendf(sums[kind], "%s %x\n", inside, sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sums) < 3 {
		t.Fatalf("%s: only %d kinds of results", name, len(sums))
	}
	for _, kind := range slices.Sorted(maps.Keys(sums)) {
		rows = append(rows, fmt.Sprintf("%s %s %x", name, kind, sha256.Sum256(sums[kind])))
	}
	return rows
}
