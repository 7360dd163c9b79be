package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/catalog"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
)

const galleryHead = `# Presets

` + "`bourse scenario list`" + ` prints this table, and ` + "`bourse run --preset NAME`" + ` runs a preset. If NAME is a paper, the command
runs all of the paper's presets. The time is the processor time of all replications, which can run on several workers.
The memory is for one worker. Time and memory were measured once, on one machine, so use them only to compare
presets. Each run writes figures to the folder ` + "`figures`" + ` of its results, and shows them in ` + "`report.html`" + ` with their numbers.

| preset | what | replications | time | memory |
| --- | --- | --- | --- | --- |
`

const galleryFigures = `
## Figures

This section shows one figure of each preset, for its first metric, with the command that draws it. Without ` + "`--set`" + `, the
command also draws the other metrics. A figure with n = 1 comes from a preset that runs too long to repeat, so it shows
only the shape of the curves, without intervals. Tests draw fast figures at every commit and all figures every night,
and compare them byte for byte.
`

// A galleryRun is the run that draws the figure of a preset in the gallery.
type galleryRun struct {
	catalog.Preset
	title string   // description of the run and its figure
	n     int      // number of replications
	sets  []string // overrides of the scenario
	file  string   // file of the figure in the results
}

const (
	drawnAlways = 1.5 // maximum seconds of a preset whose figure every commit draws
	drawnWhole  = 4   // maximum seconds of a preset of which all replications are drawn
)

// galleryRuns returns the runs that draw the figures of all presets, without papers' names.
func galleryRuns(t *testing.T) (runs []galleryRun) {
	t.Helper()
	all, err := catalog.Presets()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		data, one := papers.Presets()[p.Name]
		if !one {
			continue
		}
		e, err := scenario.Parse("preset "+p.Name, data, experiments.Known())
		if err != nil {
			t.Fatal(err)
		}
		r := galleryRun{Preset: p, title: p.Title + ". The figure shows efficiency against alpha", n: 1, file: "figure2.svg"}
		if p.Seconds <= drawnWhole {
			r.n = p.Replications
		}
		if e.Figure != nil {
			metric := e.Figure.Metrics[0]
			r.title = p.Title + ". The figure shows the metric " + metric
			r.sets, r.file = []string{"figure.metrics=[" + metric + "]"}, p.Name+".svg"
		}
		if e.Generated() != nil {
			r.title += ", for generated jobs"
		}
		if e.DrawsHosts() {
			r.title += ", for hosts drawn from a model"
		}
		runs = append(runs, r)
	}
	return runs
}

// arguments returns the arguments of bourse, with out as the folder of results.
func (r galleryRun) arguments(out string) []string {
	args := []string{"run", "--preset", r.Name}
	if r.n != r.Replications {
		args = append(args, "--replications", strconv.Itoa(r.n))
	}
	for _, set := range r.sets {
		args = append(args, "--set", set)
	}
	return append(args, "--out", out)
}

// words returns the arguments quoted for a shell.
func (r galleryRun) words() string {
	words := strings.Join(r.arguments(r.Name), " ")
	for _, set := range r.sets {
		words = strings.Replace(words, set, "'"+set+"'", 1)
	}
	return words
}

// gallery returns the page with the presets.
func gallery(t *testing.T) string {
	all, err := catalog.Presets()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString(galleryHead)
	for _, p := range all {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %v | %.0f MB |\n", p.Name, cell(p.Title), p.Replications, took(p.Seconds), p.Megabytes)
	}
	b.WriteString(galleryFigures)
	for _, r := range galleryRuns(t) {
		fmt.Fprintf(&b, "\n### %s\n\n![%s](gallery/%s.svg)\n\n*%s (n = %d).*\n\n`bourse %s` → `figures/%s`\n",
			r.Name, r.title, r.Name, r.title, r.n, r.words(), r.file)
	}
	return b.String()
}

// TestGallery checks that each figure in the gallery equals the output of the command next to
// it. With -rewrite, it draws the figures. Figures that take longer are drawn only in the
// nightly run, with BOURSE_CI=1.
func TestGallery(t *testing.T) {
	t.Parallel()
	want := []string{}
	for _, r := range galleryRuns(t) {
		want = append(want, r.Name+".svg")
		t.Run(r.Name, func(t *testing.T) {
			if r.Seconds > drawnAlways && os.Getenv("BOURSE_CI") == "" {
				t.Skip("it takes long: BOURSE_CI=1 runs it")
			}
			drawn, kept := r.draw(t), filepath.Join("docs", "gallery", r.Name+".svg")
			if *rewrite {
				if err := os.WriteFile(kept, drawn, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(kept); err != nil || !bytes.Equal(got, drawn) {
				t.Errorf("%s is not as bourse %s draws it, %v: -rewrite draws it", kept, r.words(), err)
			}
		})
	}
	files, err := filepath.Glob("docs/gallery/*")
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	if slices.Sort(want); err != nil || !slices.Equal(files, want) {
		t.Errorf("docs/gallery has %q, %v, want %q", files, err, want)
	}
}

// draw runs the preset and returns its figure.
func (r galleryRun) draw(t *testing.T) []byte {
	out := filepath.Join(t.TempDir(), "r")
	run := exec.CommandContext(t.Context(), "bourse", append(r.arguments(out), "--workers", "1", "--quiet")...)
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	svg, err := os.ReadFile(filepath.Join(out, "figures", r.file))
	if err != nil {
		t.Fatal(err)
	}
	return svg
}
