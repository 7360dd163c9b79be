package report

import (
	"html"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table is a table for people. Every row has as many cells as the header.
type Table struct {
	Title  string
	Header []string
	Left   int // so many leading columns are names, the others are figures
	Rows   [][]Cell
	Note   string // a sentence below; may be empty
}

// A Cell is text, strong where the reader is to look.
type Cell struct {
	Text   string
	Strong bool // bold, or followed by an asterisk where there is no bold

	Row string // place on the page that has its numbers, an [Anchor]; may be empty
}

// Text returns the table as t can show it, with its title and note. Where it is
// too wide its columns are divided over several, each with all the names.
func (tb Table) Text(t Terminal) string {
	var b strings.Builder
	if tb.Title != "" {
		b.WriteString(t.text(clean(tb.Title)) + "\n")
	}
	for i, cols := range tb.bands(t) {
		if i > 0 {
			b.WriteString("\n")
		}
		w := tb.writer(cols, func(c Cell) string {
			switch s := t.text(clean(c.Text)); {
			case c.Strong && t.Color:
				return "\x1b[1m" + s + "\x1b[0m"
			case c.Strong:
				return s + "*"
			default:
				return s
			}
		})
		style := table.StyleDefault
		if t.UTF8 {
			style = table.StyleLight
		}
		style.Format.Header = text.FormatDefault
		style.Options.DrawBorder = false
		w.SetStyle(style)
		for line := range strings.Lines(w.Render() + "\n") {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
	}
	if tb.Note != "" {
		b.WriteString(t.text(clean(tb.Note)) + "\n")
	}
	return b.String()
}

// beside heads a column that belongs to the one before it: what the paper prints.
const beside = "paper"

// bands divides the columns so that each band fits the width of t. A column and
// what is beside it stay together.
func (tb Table) bands(t Terminal) [][]int {
	width := make([]int, len(tb.Header))
	for i, h := range tb.Header {
		width[i] = text.StringWidth(t.text(h)) + 3
		for _, row := range tb.Rows {
			width[i] = max(width[i], text.StringWidth(t.text(row[i].Text))+4) // 4: a strong cell's asterisk
		}
	}
	var names []int
	namesWidth := 0
	for i := range tb.Left {
		names = append(names, i)
		namesWidth += width[i]
	}
	band, used := slices.Clone(names), namesWidth
	var bands [][]int
	for i := tb.Left; i < len(tb.Header); {
		next, needed := i+1, width[i]
		for next < len(tb.Header) && tb.Header[next] == beside {
			needed += width[next]
			next++
		}
		if t.Width > 0 && used+needed > t.Width && len(band) > len(names) {
			bands = append(bands, band)
			band, used = slices.Clone(names), namesWidth
		}
		for ; i < next; i++ {
			band = append(band, i)
		}
		used += needed
	}
	return append(bands, band)
}

// html returns the table as an element, without title and note.
func (tb Table) html() string {
	w := tb.writer(tb.all(), func(c Cell) string {
		s := html.EscapeString(clean(c.Text))
		if c.Strong {
			s = "<strong>" + s + "</strong>"
		}
		if c.Row != "" && s != "" {
			s = `<a href="#` + c.Row + `">` + s + "</a>"
		}
		return s
	})
	w.Style().HTML = table.HTMLOptions{CSSClass: "table", EmptyColumn: "", Newline: " "} // the cells are escaped
	return w.RenderHTML() + "\n"
}

func (tb Table) all() []int {
	cols := make([]int, len(tb.Header))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

// writer returns go-pretty's model of the given columns, each cell as show has it.
func (tb Table) writer(cols []int, show func(Cell) string) table.Writer {
	w := table.NewWriter()
	row := make(table.Row, len(cols))
	var configs []table.ColumnConfig
	for i, c := range cols {
		row[i] = show(Cell{Text: tb.Header[c]})
		align := text.AlignRight
		if c < tb.Left {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	w.AppendHeader(row)
	w.SetColumnConfigs(configs)
	for _, cells := range tb.Rows {
		row := make(table.Row, len(cols))
		for i, c := range cols {
			row[i] = show(cells[c])
		}
		w.AppendRow(row)
	}
	return w
}
