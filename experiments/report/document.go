package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// A Document is the result of a command. It has text, values for programs, and a self-contained
// page that needs neither a network nor scripts. All its data depend only on the scenario and
// the seed, so the same scenario and seed give the same bytes.
type Document struct {
	Title    string
	Lead     string   // question that the document answers, in one or two sentences; may be empty
	Headline string   // main number as a sentence, for the top of the page; may be empty
	Findings []string // findings as sentences
	Command  []string // command that repeats the run
	Scenario string   // text of the scenario as it was run
	Tables   []Table
	Figures  []Figure
	Sections []Section // sections that only the page contains
	Ledgers  []Ledger
	Notes    []string
	Data     []File   // tables in the form of files, which are written next to the figures
	Formats  []string // file formats of the figures, as in [Figure.Files]

	// Values returns the values for programs, given the names of the files that were
	// written.
	Values func(files []string) any
}

// A Section is a part of a page that readers can open and close.
type Section struct {
	Name   string // name of the section's anchor on the page
	Title  string
	Lead   string // introduction in one or two sentences; may be empty
	Tables []Table
	Body   template.HTML // content after the tables
}

// Said returns a document that consists of plain text and values. The values do not contain the
// names of the files that are written.
func Said(text string, values any) Document {
	d := Document{Values: func([]string) any { return values }}
	if text != "" {
		d.Notes = []string{strings.TrimSuffix(text, "\n")}
	}
	return d
}

// A Ledger is a stored journal: its path within the results, and the head that it must have.
type Ledger struct{ Path, Head string }

// Text returns the tables, findings and notes formatted for t.
func (d Document) Text(t Terminal) string {
	var b strings.Builder
	for _, table := range d.Tables {
		b.WriteString(table.Text(t) + "\n")
	}
	for _, f := range d.Findings {
		b.WriteString(t.fold(t.text(clean(f))) + "\n")
	}
	if len(d.Findings) > 0 && len(d.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range d.Notes {
		if len(d.Tables) > 0 { // without tables, the notes are the whole text and keep their line breaks
			n = t.fold(n)
		}
		b.WriteString(n + "\n")
	}
	return b.String()
}

// Files returns the files of the document: the page, if it has a name, the figures in every
// format, and the data.
func (d Document) Files(page string) ([]File, error) {
	files := []File{}
	if page != "" {
		html, err := d.HTML()
		if err != nil {
			return nil, err
		}
		files = append(files, File{page, html})
	}
	drawn := make([][]File, len(d.Figures))
	var draw errgroup.Group
	for i, f := range d.Figures {
		draw.Go(func() (err error) { drawn[i], err = f.Files(d.Formats...); return err })
	}
	if err := draw.Wait(); err != nil {
		return nil, err
	}
	return append(append(files, slices.Concat(drawn...)...), d.Data...), nil
}

// HTML returns the page.
func (d Document) HTML() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"shell":   Shell,
		"caption": Figure.Said,
		"place":   func(words ...string) string { return Anchor(words...) },
		"table":   func(t Table) template.HTML { return template.HTML(t.html()) },
		"figure": func(f Figure) (template.HTML, error) {
			html, err := f.parts()
			return template.HTML(html), err
		},
	}).Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("report page: %w", err)
	}
	sum := sha256.Sum256([]byte(pageScript))
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Document
		Style  template.CSS
		Script template.JS
		Policy string
	}{d, template.CSS(pageStyle), template.JS(pageScript),
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"})
	if err != nil {
		return nil, fmt.Errorf("report page: %w", err)
	}
	return b.Bytes(), nil
}

// parts returns the legend and the panels as elements of a page. If the page is narrow, they
// are below each other.
func (f Figure) parts() (string, error) {
	var b strings.Builder
	if _, whole := f.specification(); !whole {
		legend := vg.Length(len(f.legend(panelWidth)))*legendLine + margin
		svg, err := drawSVG(panelWidth, legend, "Legend.", func(c draw.Canvas) error { f.drawLegend(c); return nil })
		if err != nil {
			return "", err
		}
		b.WriteString(inline(svg, "Legend of "+f.Title, "legend", panelWidth))
	}
	b.WriteString(`<div class="panels">` + "\n")
	one := f
	one.Order, one.bare = f.names(), true
	for i := range f.Panels {
		one.Panels = []Panel{f.drawn(i)}
		svg, targets, err := one.svg()
		if err != nil {
			return "", err
		}
		width, height := one.size()
		class := "panel"
		if width > panelWidth {
			class = "wide"
		}
		b.WriteString(inline(linked(svg, targets, height), strings.TrimPrefix(f.Title+": "+f.Panels[i].Title, ": "), class, width))
	}
	return b.String() + "</div>\n", nil
}

// inline returns an SVG document as an element of a page. The element has a name for people who
// cannot see the image. The image may be enlarged up to 1.4 times.
func inline(svg []byte, name, class string, width vg.Length) string {
	_, s, _ := strings.Cut(string(svg), "<svg")
	return fmt.Sprintf(`<svg class="%s" role="group" aria-label="%s" style="max-width:%.0fpt"%s`, class, template.HTMLEscapeString(clean(name)), 1.4*width.Points(), s)
}

// Shell formats words as a command line for a POSIX shell.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+") != "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
