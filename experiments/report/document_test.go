package report

import (
	"bytes"
	"strings"
	"testing"
)

func inventedPage() Document {
	return Document{
		Title: "A market, invented", Lead: "Numbers are invented.",
		Command: []string{"bourse", "run", "a b.yaml", "--set", "x='1'"}, Scenario: "jobs: 50\nhosts: 15\n",
		Tables: inventedTables()[1:2], Figures: []Figure{small()},
		Ledgers: []Ledger{{"ledger/pareto-high/cac/0", "bourse 12 m6Yx=="}}, Notes: []string{"One note."},
	}
}

// TestPage checks the page, and that its bytes are the same each time.
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

// TestPageAlone checks that the page needs nothing from elsewhere and runs
// nothing, whatever its texts say.
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
		Title: evil, Lead: evil, Command: []string{evil}, Scenario: evil, Notes: []string{evil}, Figures: []Figure{f},
		Tables:  []Table{{Title: evil, Header: []string{evil}, Rows: [][]Cell{{{Text: evil}}, {{evil, true}}}, Note: evil}},
		Ledgers: []Ledger{{evil, evil}},
	}
	b, err := p.HTML()
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	for _, bad := range []string{"<script", "<img", "<link", "<?xml", "src=\"", "href=", "url(", "@import"} {
		if strings.Contains(got, bad) {
			i := strings.Index(got, bad)
			t.Errorf("the page holds %q: %s", bad, got[max(0, i-80):min(len(got), i+80)])
		}
	}
	if n := strings.Count(got, "</svg>"); n != 1 {
		t.Errorf("%d figures end, want 1", n)
	}
}

// TestShell checks that the command can be pasted.
func TestShell(t *testing.T) {
	t.Parallel()
	got := Shell([]string{"bourse", "run", "--out", "a b", "it's", "", "$HOME"})
	if want := `bourse run --out 'a b' 'it'\''s' '' '$HOME'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
