package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Text returns the figure formatted for t. Panels of lines become charts, and panels of
// bars become tables.
func (f Figure) Text(t Terminal) string {
	var b strings.Builder
	b.WriteString(t.text(clean(f.Title)) + "\n")
	index := make(map[string]int)
	for i, name := range f.names() {
		index[name] = i
	}
	for i := range f.Panels {
		p := f.drawn(i)
		b.WriteString("\n")
		if p.Groups != nil {
			p.Title = p.letter + p.Title
			b.WriteString(p.table().Text(t))
			continue
		}
		b.WriteString(t.text(clean(p.letter+p.Title)+"\n") + p.logged().chart(t, index))
	}
	return b.String()
}

// chartHeight is the number of lines in a chart, not counting the axis.
const chartHeight = 12

// A dots is one character of a chart.
type dots struct {
	braille rune  // offset of the dot pattern in the Unicode block
	curve   int   // index of the last curve in the character, which determines the colour
	marks   []int // curves that have a point in the character
}

// chart draws the means of the panel as lines of braille dots or full stops, with a letter
// at each point. If several curves have points at the same position, their letters
// alternate.
func (p Panel) chart(t Terminal, index map[string]int) string {
	width := 60
	if t.Width > 0 {
		width = max(20, min(100, t.Width-12))
	}
	xlo, xhi := p.xRange()
	ylo, yhi := p.yRange()
	across, down := 1, 1 // dots per character
	if t.Braille {
		across, down = 2, 4
	}
	grid := make([]dots, width*chartHeight)
	cell := func(x, y float64) (at *dots, bit rune) {
		col := int(math.Round((x - xlo) / (xhi - xlo) * float64(width*across-1)))
		row := int(math.Round((yhi - y) / (yhi - ylo) * float64(chartHeight*down-1)))
		// Bit values of the dots in a pattern: 1, 2, 4 and 64 from top to bottom on the
		// left; 8, 16, 32 and 128 on the right.
		bit = []rune{1, 2, 4, 64, 8, 16, 32, 128}[row%down+4*(col%across)]
		return &grid[row/down*width+col/across], bit
	}
	marks := letters(p.Curves)
	dye := func(curve int, s string) string {
		if !t.Color {
			return s
		}
		return fmt.Sprintf("\x1b[38;5;%dm%s\x1b[0m", terminalColor(index[p.Curves[curve].Name]), s)
	}
	var legend []string
	for i, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		legend = append(legend, dye(i, marks[i])+" "+t.text(clean(c.Name)))
		pts := slices.DeleteFunc(slices.Clone(c.Points), func(pt Point) bool { return !Maybe(pt.Mean).Exists() })
		slices.SortStableFunc(pts, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		for k, to := range pts {
			from := pts[max(0, k-1)]
			steps := float64(2 * max(width*across, chartHeight*down))
			for s := 0.0; s <= steps; s++ {
				at, bit := cell(from.X+(to.X-from.X)*s/steps, from.Mean+(to.Mean-from.Mean)*s/steps)
				at.braille, at.curve = at.braille|bit, i
			}
			if at, _ := cell(to.X, to.Mean); !slices.Contains(at.marks, i) {
				at.marks = append(at.marks, i)
			}
		}
	}
	if len(legend) == 0 {
		return "  no data\n"
	}
	var b strings.Builder
	labels := make([]string, chartHeight)
	for _, tick := range ticksOf(p.LogY).Ticks(ylo, yhi) {
		labels[int(math.Round((yhi-tick.Value)/(yhi-ylo)*(chartHeight-1)))] = scale(tick.Value, p.LogY)
	}
	for row, label := range labels {
		fmt.Fprintf(&b, "%8s %s", label, t.text(map[bool]string{true: "│", false: "┤"}[label == ""]))
		line := ""
		for col, at := range grid[row*width : (row+1)*width] {
			switch n := len(at.marks); {
			case n > 0:
				i := at.marks[col%n]
				line += dye(i, marks[i])
			case at.braille > 0 && t.Braille:
				line += dye(at.curve, string(0x2800+at.braille))
			case at.braille > 0:
				line += dye(at.curve, ".")
			default:
				line += " "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	axis, numbers := []rune(strings.Repeat("─", width)), ""
	for _, tick := range ticksOf(p.LogX).Ticks(xlo, xhi) {
		col, label := int(math.Round((tick.Value-xlo)/(xhi-xlo)*float64(width-1))), scale(tick.Value, p.LogX)
		axis[col] = '┬'
		if start := len(indent) + 1 + col - len(label)/2; start > len(numbers) || numbers == "" {
			numbers += strings.Repeat(" ", max(0, start-len(numbers))) + label
		}
	}
	axes := clean(p.X)
	if p.Y != "" {
		axes = clean(p.Y) + " against " + axes
	}
	b.WriteString(t.text(indent+"└"+string(axis)+"\n"+numbers+"\n"+indent+axes) + "\n" + wrap(legend, t.Width) + "\n")
	return b.String()
}

// scale formats a value on an axis.
func scale(x float64, logarithmic bool) string {
	if logarithmic {
		return power(x)
	}
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(unzero(x), 'g', 4, 64))
}

// indent is the width of the numbers on the y axis.
const indent = "         "

// wrap joins the names of a legend to lines with at most width characters.
func wrap(names []string, width int) string {
	var b strings.Builder
	used := 0
	for i, name := range names {
		w := text.StringWidthWithoutEscSequences(name) + 3
		if i == 0 || width > 0 && used+w > width {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(indent + name)
			used = len(indent) + w
			continue
		}
		b.WriteString("   " + name)
		used += w
	}
	return b.String()
}

// unzero returns 0 for a value that is only a rounding error.
func unzero(x float64) float64 {
	if math.Abs(x) < 1e-12 {
		return 0
	}
	return x
}

// letters returns a letter for each curve. It is the first letter in the curve's name that no
// earlier curve uses or, if there is none, any unused letter.
func letters(curves []Curve) []string {
	taken := make(map[rune]bool)
	marks := make([]string, len(curves))
	for i, c := range curves {
		for _, r := range strings.ToLower(c.Name) + "abcdefghijklmnopqrstuvwxyz0123456789" {
			if (r >= 'a' && r <= 'z' || r >= '0' && r <= '9') && !taken[r] {
				taken[r], marks[i] = true, string(r)
				break
			}
		}
		if marks[i] == "" {
			marks[i] = "*"
		}
	}
	return marks
}

// terminalColor returns the terminal colour, of 256, that is closest to the colour of the i-th
// style.
func terminalColor(i int) int {
	near := []int{33, 202, 35, 170, 214, 117, 250, 226}
	return near[i%len(near)]
}

// table returns the means of a bar panel as a table with one row per group and one column
// per curve.
func (p Panel) table() Table {
	t := Table{Title: p.Title, Header: []string{""}, Left: 1}
	for _, g := range p.Groups {
		t.Rows = append(t.Rows, []Cell{{Text: g}})
	}
	for _, c := range p.Curves {
		t.Header = append(t.Header, c.Name)
		column := make([]string, len(p.Groups))
		for _, pt := range c.Points {
			column[int(pt.X)] = number(&pt.Mean)
		}
		for i := range t.Rows {
			if column[i] == "" {
				column[i] = none
			}
			t.Rows[i] = append(t.Rows[i], Cell{Text: column[i]})
		}
	}
	return t
}
