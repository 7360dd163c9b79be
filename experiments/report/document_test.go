package report

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func inventedPage() Document {
	return Document{
		Title: "A market, invented", Lead: "Numbers are invented.",
		Command: []string{"bourse", "run", "a b.yaml", "--set", "x='1'"}, Scenario: "jobs: 50\nhosts: 15\n",
		Tables: inventedTables()[1:2], Figures: []Figure{small()},
		Ledgers: []Ledger{{"ledger/pareto-high/cac/0", "bourse 12 m6Yx=="}}, Notes: []string{"One note."},
	}
}

// TestPage checks the text of the page, and that the bytes of the page are always the same.
func TestPage(t *testing.T) {
	t.Parallel()
	got, err := inventedPage().HTML()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "page.html", got)
	again, err := inventedPage().HTML()
	if err != nil || !bytes.Equal(got, again) {
		t.Errorf("the page differs from one time to the next: %v", err)
	}
}

// TestPageAlone checks that the page needs no other files and runs only its own script, even if
// its texts contain markup.
func TestPageAlone(t *testing.T) {
	t.Parallel()
	const evil = "</code></svg><script src=\"http://evil\">\x1b'\"><img onerror=x>"
	f := small()
	f.Title, f.Caption = evil, evil
	for i := range f.Panels {
		p := &f.Panels[i]
		p.Title, p.X, p.Y = evil, evil, evil
		for k := range p.Curves {
			p.Curves[k].Name = evil
		}
		for k := range p.Groups {
			p.Groups[k] = evil
		}
	}
	p := Document{
		Title: evil, Lead: evil, Command: []string{evil}, Scenario: evil, Notes: []string{evil}, Findings: []string{evil}, Figures: []Figure{f},
		Sections: []Section{{Name: "a", Title: evil, Lead: evil, Tables: []Table{{Title: evil, Header: []string{evil}, Note: evil}}}},
		Tables:   []Table{{Title: evil, Header: []string{evil}, Rows: [][]Cell{{{Text: evil}}, {{Text: evil, Strong: true}}}, Note: evil}},
		Ledgers:  []Ledger{{evil, evil}},
	}
	b, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	got = strings.Replace(got, "<script>"+pageScript+"</script>", "", 1)
	got = strings.ReplaceAll(got, `href="#`, "")
	for _, bad := range []string{"<script", "<img", "<link", "<?xml", "src=\"", "href=", "url(", "@import"} {
		if strings.Contains(got, bad) {
			i := strings.Index(got, bad)
			t.Errorf("the page holds %q: %s", bad, got[max(0, i-80):min(len(got), i+80)])
		}
	}
	if n := strings.Count(got, "</svg>"); n != 3 {
		t.Errorf("%d drawings end, want a legend and two panels", n)
	}
}

// TestTargets checks that every point of a figure has a target with its value, interval and
// number of replications. Each target must lie on the figure and link to the row of the point.
func TestTargets(t *testing.T) {
	t.Parallel()
	f := small()
	_, targets, err := f.svg()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ text, row string }{
		{"Deadlines met, libra, Load (%) 10: 0.8, 95 % interval 0.7 to 0.9, n 5", "row/a"},
		{"Deadlines met, libra, Load (%) 20: 0.5", ""},
		{"Deadlines met, edf, Load (%) 10: -0.25, 95 % interval -0.5 to 0.1", ""},
		{"Jobs lost, low, libra: 0", ""},
		{"Jobs lost, high, edf: 12, 95 % interval 9.5 to 14.5, n 4", "row/b"},
	}
	if len(targets) != len(want) {
		t.Fatalf("%d targets, want %d", len(targets), len(want))
	}
	w, h := f.size()
	for i, got := range targets {
		if got.text != want[i].text || got.row != want[i].row {
			t.Errorf("%q to %q, want %q to %q", got.text, got.row, want[i].text, want[i].row)
		}
		if got.at.Min.X < 0 || got.at.Min.Y < 0 || got.at.Max.X > w || got.at.Max.Y > h || got.at.Max.X-got.at.Min.X < 5 || got.at.Max.Y-got.at.Min.Y < 4 {
			t.Errorf("%s: at %v of %v by %v", got.text, got.at, w, h)
		}
	}
	page, err := (Document{Figures: []Figure{f}}).HTML()
	if err != nil {
		t.Fatal(err)
	}
	if want := `<a href="#row/b" aria-label="` + want[4].text + `"><rect `; !strings.Contains(string(page), want) {
		t.Errorf("the page has no %s", want)
	}
}

// TestAnchor checks that different names have different anchors and that links can contain
// them.
func TestAnchor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SliceOfN(rapid.String(), 2, 2).Draw(rt, "one"), rapid.SliceOfN(rapid.String(), 2, 2).Draw(rt, "other")
		if Anchor(a...) == Anchor(b...) != slices.Equal(a, b) {
			rt.Errorf("%q is %s, and %q is %s", a, Anchor(a...), b, Anchor(b...))
		}
		if u, err := url.Parse("#" + Anchor(a...)); err != nil || u.Fragment != Anchor(a...) || strings.ContainsAny(u.Fragment, " \"'<>&%#") {
			rt.Errorf("%q: %v", Anchor(a...), err)
		}
	})
}

// TestShell checks that the command can be pasted into a shell.
func TestShell(t *testing.T) {
	t.Parallel()
	got := Shell([]string{"bourse", "run", "--out", "a b", "it's", "", "$HOME"})
	if want := `bourse run --out 'a b' 'it'\''s' '' '$HOME'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
