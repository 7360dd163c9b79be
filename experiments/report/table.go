package report

import (
	"html"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table is a table for people. Every row must have as many cells as the header.
type Table struct {
	Title  string
	Header []string
	Left   int // number of leading columns with names; the other columns contain numbers
	Beside int // number of measured columns that must stay together with the paper's columns after them; 0 means 1
	Rows   [][]Cell
	Note   string // sentences below the table; may be empty
}

// A Cell is a text that may be emphasized.
type Cell struct {
	Text   string
	Strong bool // print in bold, or with an asterisk if bold is not available

	Row string // [Anchor] of the cell's numbers on the page; may be empty
	At  string // [Anchor] of this cell on the page; may be empty
}

// Text returns the table with its title and note, formatted for t. If a table is too wide,
// Text splits its columns into several tables. Each of these has all the columns with
// names. If the names and a single column are still too wide, Text wraps the cells.
func (tb Table) Text(t Terminal) string {
	var b strings.Builder
	if tb.Title != "" {
		b.WriteString(t.fold(t.text(clean(tb.Title))) + "\n")
	}
	width := tb.widths(t)
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
		w.SetColumnConfigs(tb.columns(cols, tb.squeezed(cols, width, t.Width)))
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
		b.WriteString(t.fold(t.text(clean(tb.Note))) + "\n")
	}
	return b.String()
}

// beside is the header of a column with the paper's values. Such a column belongs to the column
// before it.
const beside = "paper"

// bands divides the columns so that each band fits the width of t. A column and the paper's
// column after it stay in the same band.
func (tb Table) bands(t Terminal) [][]int {
	width := tb.widths(t)
	var names []int
	namesWidth := 0
	for i := range tb.Left {
		names = append(names, i)
		namesWidth += width[i]
	}
	band, used := slices.Clone(names), namesWidth
	var bands [][]int
	for i := tb.Left; i < len(tb.Header); {
		next := tb.together(i)
		needed := 0
		for k := i; k < next; k++ {
			needed += width[k]
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

// together returns the end of the group of columns that must stay with column i.
func (tb Table) together(i int) int {
	for k := i + 1; k <= i+max(1, tb.Beside) && k < len(tb.Header); k++ {
		if tb.Header[k] == beside {
			for k < len(tb.Header) && tb.Header[k] == beside {
				k++
			}
			return k
		}
	}
	return i + 1
}

// widths returns the widths of the columns, including the separators.
func (tb Table) widths(t Terminal) []int {
	width := make([]int, len(tb.Header))
	for i, h := range tb.Header {
		width[i] = text.StringWidth(t.text(h)) + 3
		for _, row := range tb.Rows {
			n := text.StringWidth(t.text(row[i].Text)) + 3
			if row[i].Strong {
				n++ // one more character for the asterisk
			}
			width[i] = max(width[i], n)
		}
	}
	return width
}

// squeezed returns reduced column widths with which a band fits. It reduces the widest column
// first, at most to the length of the column's longest word. It reduces columns further only
// if this is necessary.
func (tb Table) squeezed(cols, width []int, most int) map[int]int {
	cut := make(map[int]int)
	if most <= 0 {
		return cut
	}
	total := -1
	for _, c := range cols {
		total += width[c]
	}
	at := func(c int) int {
		if w, ok := cut[c]; ok {
			return w
		}
		return width[c] - 3
	}
	for _, least := range []func(column int) int{tb.longestWord, func(int) int { return 6 }} {
		for ; total > most; total-- {
			widest := -1
			for _, c := range cols {
				if at(c) > least(c) && (widest < 0 || at(c) > at(widest)) {
					widest = c
				}
			}
			if widest < 0 {
				break
			}
			cut[widest] = at(widest) - 1
		}
	}
	return cut
}

// longestWord returns the width of the longest word in a column.
func (tb Table) longestWord(column int) (most int) {
	cells := []string{tb.Header[column]}
	for _, row := range tb.Rows {
		cells = append(cells, row[column].Text)
	}
	for _, cell := range cells {
		for word := range strings.FieldsSeq(cell) {
			most = max(most, text.StringWidth(word))
		}
	}
	return most
}

// html returns the table as an HTML element, without the title and the note.
func (tb Table) html() string {
	w := tb.writer(tb.all(), func(c Cell) string {
		s := strings.ReplaceAll(html.EscapeString(clean(c.Text)), " ± ", "\u00a0±\u00a0") // no-break spaces, so that lines break only between other words
		if c.Strong {
			s = "<strong>" + s + "</strong>"
		}
		if c.Row != "" && s != "" {
			s = `<a href="#` + c.Row + `">` + s + "</a>"
		}
		if c.At != "" {
			s = `<span id="` + c.At + `">` + s + "</span>"
		}
		return s
	})
	w.Style().HTML = table.HTMLOptions{CSSClass: "table", EmptyColumn: "", Newline: " "} // safe, because the cells have already been escaped
	return w.RenderHTML() + "\n"
}

func (tb Table) all() []int {
	cols := make([]int, len(tb.Header))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

// writer returns a go-pretty table of the given columns. The function show formats each
// cell.
func (tb Table) writer(cols []int, show func(Cell) string) table.Writer {
	w := table.NewWriter()
	row := make(table.Row, len(cols))
	for i, c := range cols {
		row[i] = show(Cell{Text: tb.Header[c]})
	}
	w.AppendHeader(row)
	w.SetColumnConfigs(tb.columns(cols, nil))
	for _, cells := range tb.Rows {
		row := make(table.Row, len(cols))
		for i, c := range cols {
			row[i] = show(cells[c])
		}
		w.AppendRow(row)
	}
	return w
}

// columns returns the go-pretty settings for the given columns. The columns in cut have a
// maximum width.
func (tb Table) columns(cols []int, cut map[int]int) (configs []table.ColumnConfig) {
	for i, c := range cols {
		align := text.AlignRight
		if c < tb.Left {
			align = text.AlignLeft
		}
		config := table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
		if most, ok := cut[c]; ok {
			config.WidthMax, config.WidthMaxEnforcer = most, text.WrapSoft
		}
		configs = append(configs, config)
	}
	return configs
}

// Lines returns the rows of the table without column separators. It also returns the number of
// numeric columns that fit the width of t, and omits the other columns. A row with a single
// cell is a heading.
func (tb Table) Lines(t Terminal) (lines []string, columns int) {
	var width []int
	cell := func(c Cell) string {
		s := t.text(clean(c.Text))
		if c.Strong {
			s += "*"
		}
		return s
	}
	rows := slices.Clone(tb.Rows)
	head := make([]Cell, len(tb.Header))
	for i, h := range tb.Header {
		head[i].Text = h
	}
	rows = slices.Insert(rows, 0, head)
	for i := range tb.Header {
		width = append(width, 0)
		for _, row := range rows {
			if len(row) > 1 {
				width[i] = max(width[i], text.StringWidth(cell(row[i])))
			}
		}
	}
	used := 0
	for columns = 0; columns < len(width); columns++ {
		if used += width[columns] + 2; t.Width > 0 && used-2 > t.Width && columns > tb.Left {
			break
		}
	}
	for _, row := range rows {
		line := ""
		for i, c := range row[:min(len(row), columns)] {
			line += text.Pad(cell(c), width[i]+2, ' ')
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines, columns - tb.Left
}
