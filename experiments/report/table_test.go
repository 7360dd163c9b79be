package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func inventedTables() []Table {
	l, summary := inventedLabels(), invented()
	return append(RunTables(l, summary), PaperTable(l, summary, 5, inventedLimit), TTests(l, "Table 2. Paired t values of the difference in means", inventedTests(), 2.1318), Fits("Table 1. Goodness of fit, Kolmogorov-Smirnov", []Fit{
		{"HypWeib", "Trace IAT", new(0.9), new(0.897), new(0.05571), new(0.0557), new(0.1329), new(0.1337)},
		{"Trace IAT", "Trace IAT", new(0.95), new(0.948), new(0.0), new(0.0), nil, nil},
	}))
}

// TestTables checks every form of every table.
func TestTables(t *testing.T) {
	t.Parallel()
	forms := map[string]func(Table) string{
		"tables.txt":      func(tb Table) string { return tb.Text(Terminal{UTF8: true}) + "\n" },
		"tables-80.txt":   func(tb Table) string { return tb.Text(Terminal{UTF8: true, Width: 80}) + "\n" },
		"tables-pipe.txt": func(tb Table) string { return tb.Text(Terminal{}) + "\n" },
		"tables.ansi":     func(tb Table) string { return tb.Text(Terminal{UTF8: true, Color: true}) + "\n" },
		"tables.html":     Table.html,
	}
	for name, form := range forms {
		var b strings.Builder
		for _, tb := range inventedTables() {
			b.WriteString(form(tb))
		}
		golden(t, name, []byte(b.String()))
	}
}

// TestWidth checks that no line is wider than the terminal, from 60 columns on, that every
// column is shown, and that a printed number stays next to the measured one.
func TestWidth(t *testing.T) {
	t.Parallel()
	alone := regexp.MustCompile(`^ (metric|pair +│ metric|data +│ against|configuration +│ admission +│ metric) +│ +paper`)
	for width := 60; width < 140; width++ {
		for _, tb := range inventedTables() {
			out := tb.Text(Terminal{Width: width, UTF8: true})
			for line := range strings.Lines(out) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d characters on a line, want at most %d:\n%s", n, width, out)
					break
				}
				if alone.MatchString(line) {
					t.Errorf("the paper's numbers stand alone:\n%s", out)
				}
			}
			for _, h := range tb.Header {
				if !strings.Contains(out, strings.Fields(h)[0]) {
					t.Errorf("width %d: no column %s in\n%s", width, h, out)
				}
			}
			if !strings.HasPrefix(tb.Title, "Measured") {
				continue
			}
			for band := range strings.SplitSeq(out, "\n\n") {
				head, _, _ := strings.Cut(strings.TrimPrefix(band, tb.Title+"\n"), "\n")
				if strings.Contains(head, "paper") && !strings.Contains(head, "95 %") {
					t.Errorf("width %d: the interval and the paper's number are parted:\n%s", width, out)
				}
			}
		}
	}
}

// TestPlain checks that the output to a pipe is ASCII without escapes for any text, and that
// names in a table may contain characters that have a meaning in the table's format.
func TestPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.String().Draw(rt, "text")
		tb := Table{Title: s, Header: []string{s, s}, Left: 1, Rows: [][]Cell{{{Text: s}, {Text: s, Strong: true}}}, Note: s}
		for _, r := range tb.Text(Terminal{}) {
			if r > 126 || r < 32 && r != '\n' {
				rt.Fatalf("%q holds %q", tb.Text(Terminal{}), r)
			}
		}
	})
	evil := Table{Header: []string{"<b>", "=1"}, Left: 1, Rows: [][]Cell{{{Text: "a|b*\x1b[2J"}, {Text: "=cmd()", Strong: true}}, {{Text: "-a"}, {Text: "-1.5"}}}}
	for form, c := range map[string]struct {
		got       string
		has, lack []string
	}{
		"html": {evil.html(), []string{"&lt;b&gt;", "<strong>=cmd()</strong>"}, []string{"<b>", "\x1b"}},
		"text": {evil.Text(Terminal{UTF8: true}), []string{"a|b*\uFFFD[2J"}, []string{"\x1b"}},
	} {
		for _, s := range c.has {
			if !strings.Contains(c.got, s) {
				t.Errorf("%s has no %q:\n%s", form, s, c.got)
			}
		}
		for _, s := range c.lack {
			if strings.Contains(c.got, s) {
				t.Errorf("%s has %q:\n%s", form, s, c.got)
			}
		}
	}
}

// TestLabels checks the display names for names in tables. By default, a display name consists
// of the words of the name. Exceptions are names with their own label, and names that begin
// with a name whose label differs only in capitals.
func TestLabels(t *testing.T) {
	t.Parallel()
	l := Labels{"be": "BE", "librarisk": "LibraRisk", "q": "q", "p_a": "p_a", "utility": "Utility achieved"}
	for name, want := range map[string]string{
		"be": "BE", "be-all": "BE all", "librarisk": "LibraRisk", "pareto-high": "Pareto high", "demand_correlation": "Demand correlation",
		"p_a": "p_a", "q": "q", "q-low": "Q low", "utility": "Utility achieved", "utility-high": "Utility high", "better": "Better", "": "", "élan": "Élan",
	} {
		if got := l.Of(name); got != want {
			t.Errorf("label of %q is %q, want %q", name, got, want)
		}
	}
}

// TestHang checks that a paragraph is indented to the text before it, or slightly if it
// would be too narrow, and that no line breaks at a no-break space.
func TestHang(t *testing.T) {
	t.Parallel()
	const before, words = "  name          ", "one two three four five six seven 1.5\u00a0±\u00a00.2 eight nine ten eleven twelve"
	for width, want := range map[int]string{
		0:   "  name          one two three four five six seven 1.5 ± 0.2 eight nine ten eleven twelve",
		200: "  name          one two three four five six seven 1.5 ± 0.2 eight nine ten eleven twelve",
		70: "  name          one two three four five six seven 1.5 ± 0.2 eight nine\n" +
			"                ten eleven twelve",
		50: "  name          one two three four five six\n      seven 1.5 ± 0.2 eight nine ten eleven twelve",
		20: "  name\n      one two three\n      four five six\n      seven\n      1.5 ± 0.2\n      eight nine ten\n      eleven twelve",
	} {
		if got := (Terminal{Width: width, UTF8: true}).Hang(before, words); got != want {
			t.Errorf("at %d columns:\n%s\nwant:\n%s", width, got, want)
		}
	}
	if got, want := (Terminal{Width: 20}).Hang("– ", "½\u00a0± three four five"), "- ? +/- three\n    four five"; got != want {
		t.Errorf("in ASCII %q, want %q", got, want)
	}
}
