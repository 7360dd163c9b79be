package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bourse/experiments/contrast"
	"bourse/experiments/metrics"
	"bourse/experiments/publication"
	"bourse/experiments/results"
)

// mechanismFindings contains the comparisons at the beginning of docs/mechanisms.md. For each preset,
// it contains the dimension, the metrics and the pairs in the order of the page.
var mechanismFindings = []struct {
	preset, across string
	metrics        []string
	pairs          [][2]string
}{
	{"posted-or-auction", contrast.Configurations, []string{"welfare", "revenue", "violations"}, [][2]string{{"fixed", "be"}, {"threshold", "be"}, {"threshold", "fixed"}}},
	{"call-or-continuous", contrast.Configurations, []string{"welfare", "wait", "violations"}, [][2]string{{"call-60", "be"}, {"call-300", "be"}, {"call-900", "be"}}},
	{"spot-or-ondemand", contrast.Policies, []string{"deadlines_fulfilled", "revenue", "interruptions"}, [][2]string{{"value", "ondemand"}, {"progress", "ondemand"}}},
	{"bundles", contrast.Configurations, []string{"welfare", "efficiency_1", "rejections"}, [][2]string{{"vcg", "easy"}, {"greedy", "easy"}, {"vcg", "greedy"}}},
	{"windows-by-load", contrast.Policies, []string{"rejections", "welfare", "wait"}, [][2]string{{"by-load", "fixed"}, {"off-peak", "fixed"}}},
	{"fairness", contrast.Policies, []string{"jain", "wait", "welfare"}, [][2]string{{"fairshare", "easy"}, {"drf", "easy"}, {"karma", "easy"}, {"slices", "easy"}}},
}

// TestMechanisms checks that docs/mechanisms.md begins with the verdicts of the presets that compare
// mechanisms. It also checks that the presets pass an audit. With -rewrite, it writes the verdicts.
func TestMechanisms(t *testing.T) {
	t.Parallel()
	const file = "docs/mechanisms.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- findings -->\n", "<!-- end of findings -->\n"
	head, rest, ok := strings.Cut(string(page), from)
	held, tail, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatalf("%s: found no %q with %q after it", file, from, to)
	}
	var b strings.Builder
	b.WriteString("\n| preset | metric | finding | difference | 95 %, simultaneous |\n| --- | --- | --- | --- | --- |\n")
	dir, l := t.TempDir(), publication.Labels()
	for _, f := range mechanismFindings {
		out := filepath.Join(dir, f.preset)
		for _, args := range [][]string{{"bourse", "run", "--preset", f.preset, "--quiet", "--out", out}, {"bourse", "ledger", "audit", out}} {
			var errs bytes.Buffer
			if status := run(t.Context(), args, nil, io.Discard, &errs); status != 0 {
				t.Fatalf("%q: status %d: %s", args, status, &errs)
			}
		}
		d, err := results.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := contrast.Compare([]*results.Dir{d}, contrast.Ask{Metrics: f.metrics, Across: f.across, Pairs: f.pairs, Ends: metrics.Ends(), Unsized: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			interval := "–"
			if r.Lo95 != nil {
				interval = four(r.Lo95) + " to " + four(r.Hi95)
			}
			finding := fmt.Sprintf("%s under `%s` than under `%s`", r.Verdict, r.First, r.Second)
			if !r.Decided() {
				finding = fmt.Sprintf("%s between `%s` and `%s`", r.Verdict, r.First, r.Second)
			}
			if f.across == contrast.Policies && r.Within != f.preset {
				finding += ", " + r.Within
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.preset, l.Of(r.Metric), finding, four(r.Difference), interval)
		}
	}
	if b.WriteString("\n"); *rewrite {
		if err := os.WriteFile(file, []byte(head+from+b.String()+to+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if held != b.String() {
		t.Errorf("%s: the findings are\n%s\nwant\n%s", file, held, b.String())
	}
}

// four formats x with four significant digits.
func four(x *float64) string {
	if x == nil {
		return "–"
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}
