package report

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/vg"
)

// TestPDF checks with pdffonts that every font of a PDF figure is embedded as a subset, and
// that text, including Greek letters, can be extracted from the file.
func TestPDF(t *testing.T) {
	t.Parallel()
	f := small()
	f.Panels[0].X = "α"
	pdf, err := f.pdf()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Contains(pdf, []byte(pdfFont)) || len(pdf) > 50_000 {
		t.Errorf("%d bytes that begin with %q; the font's name must be that of a subset", len(pdf), pdf[:8])
	}
	run := func(name string, args ...string) string {
		t.Helper()
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%v: apt install poppler-utils", err)
		}
		c := exec.Command(name, args...)
		c.Stdin = bytes.NewReader(pdf)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	fonts := strings.Split(strings.TrimSpace(run("pdffonts", "-")), "\n")[2:]
	for _, font := range fonts {
		if !strings.HasPrefix(font, "BOURSE+LiberationSans ") || !strings.Contains(font, " yes yes yes ") {
			t.Errorf("found %s, want a font that is embedded, a subset, and in Unicode", font)
		}
	}
	if len(fonts) != 1 {
		t.Errorf("%d fonts, want 1", len(fonts))
	}
	if text := run("pdftotext", "-", "-"); !strings.Contains(text, "α") || !strings.Contains(text, "Deadlines met") || strings.Contains(text, f.Title) {
		t.Errorf("found %q, want the labels without the title", text)
	}
}

// TestNoWidth checks that a line without width, such as a grid line, is not drawn.
func TestNoWidth(t *testing.T) {
	t.Parallel()
	drawn := func(width vg.Length, stroke bool) string {
		doc := fpdf.New("P", "pt", "A4", "")
		doc.SetCompression(false)
		doc.SetCreationDate(time.Unix(0, 0))
		doc.SetModificationDate(time.Unix(0, 0))
		doc.AddPage()
		c := &pdfCanvas{doc: doc, height: 100}
		c.SetLineWidth(width)
		if stroke {
			c.Stroke(vg.Path{{Type: vg.MoveComp}, {Type: vg.LineComp, Pos: vg.Point{X: 9, Y: 9}}})
		}
		var b bytes.Buffer
		if err := doc.Output(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if drawn(0, true) != drawn(0, false) {
		t.Error("a line of width 0 is drawn")
	}
	if drawn(1, true) == drawn(1, false) {
		t.Error("a line of width 1 is not drawn")
	}
}

// TestResolution checks that a PNG file states 300 dots per inch.
func TestResolution(t *testing.T) {
	t.Parallel()
	png, err := small().png()
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(png, []byte("pHYs"))
	if at < 0 {
		t.Fatal("it states no resolution")
	}
	if x := binary.BigEndian.Uint32(png[at+4:]); x != 11811 || png[at+12] != 1 {
		t.Errorf("%d dots per unit %d, want 11811 per metre", x, png[at+12])
	}
	if wide := binary.BigEndian.Uint32(png[16:]); wide != 2100 {
		t.Errorf("it is %d dots wide, want 7 inches of 300", wide)
	}
}

// TestBraille checks that charts consist of braille characters on a terminal that supports
// them, and of ASCII characters on other terminals.
func TestBraille(t *testing.T) {
	t.Parallel()
	f := small()
	f.Panels = f.Panels[:1]
	for _, c := range []struct {
		t       Terminal
		braille bool
		most    rune
	}{{Terminal{UTF8: true, Braille: true}, true, 0x28FF}, {Terminal{UTF8: true}, false, '┼'}, {Terminal{}, false, 126}} {
		text := f.Text(c.t)
		if strings.ContainsFunc(text, func(r rune) bool { return 0x2800 < r && r <= 0x28FF }) != c.braille {
			t.Errorf("%+v: found\n%s", c.t, text)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r > c.most }) {
			t.Errorf("%+v: found characters that it does not have in\n%s", c.t, text)
		}
	}
}

// TestOnePanel checks that a single panel has no letter and that points keep their
// positions on the axis.
func TestOnePanel(t *testing.T) {
	t.Parallel()
	f := small()
	f.Letters = true
	if got := f.drawn(1).letter; got != "(b) " {
		t.Errorf("found %q before the second of two panels, want (b)", got)
	}
	f.Panels = f.Panels[:1]
	svg, targets, err := f.svg()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(svg, []byte("(a)")) {
		t.Error("a single panel has a letter")
	}
	at := make(map[string][]float64)
	for _, target := range targets {
		_, place, _ := strings.Cut(target.text, "Load (%) ")
		place, _, _ = strings.Cut(place, ":")
		at[place] = append(at[place], (target.at.Min.X + target.at.Max.X).Points())
	}
	if x := at["10"]; len(x) != 2 || x[0] != x[1] {
		t.Errorf("the points at 10 are at %v, want one place", x)
	}
}
