package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/guptarohit/asciigraph"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Text returns the figure formatted for t: a chart for each panel of lines, and a table for
// each panel of bars.
func (f Figure) Text(t Terminal) string {
	var b strings.Builder
	b.WriteString(t.text(clean(f.Title)) + "\n")
	index := make(map[string]int)
	for i, name := range f.names() {
		index[name] = i
	}
	for _, p := range f.Panels {
		b.WriteString("\n")
		if p.Groups != nil {
			b.WriteString(p.table().Text(t))
			continue
		}
		b.WriteString(t.text(clean(p.Title) + "\n" + p.logged().chart(t, index)))
	}
	return b.String()
}

// chartHeight is the number of lines of a chart without its axis.
const chartHeight = 10

// chart draws the panel's means with one letter per curve.
func (p Panel) chart(t Terminal, index map[string]int) string {
	width := 60
	if t.Width > 0 {
		width = max(20, min(100, t.Width-12))
	}
	xlo, xhi := p.xRange()
	ylo, yhi := p.yRange()
	marks := letters(p.Curves)
	var series [][]float64
	var chars []asciigraph.CharSet
	var colors []asciigraph.AnsiColor
	var legend []string
	for i, c := range p.Curves {
		if len(c.Points) == 0 {
			continue
		}
		series = append(series, sample(c.Points, xlo, xhi, width))
		chars = append(chars, asciigraph.CreateCharSet(marks[i]))
		ansi := terminalColor(index[c.Name])
		colors = append(colors, ansi)
		mark := marks[i]
		if t.Color {
			mark = ansi.String() + mark + asciigraph.Default.String()
		}
		legend = append(legend, mark+" "+clean(c.Name))
	}
	if len(series) == 0 {
		return "  no data\n"
	}
	takeTurns(series, ylo, yhi)
	options := []asciigraph.Option{
		asciigraph.Height(chartHeight), asciigraph.SeriesChars(chars...),
		asciigraph.LowerBound(ylo), asciigraph.UpperBound(yhi),
		asciigraph.YAxisValueFormatter(func(y float64) string { return fmt.Sprintf("%7s", scale(y, p.LogY)) }),
		asciigraph.XAxisRange(xlo, xhi), asciigraph.XAxisTickCount(5),
		asciigraph.XAxisValueFormatter(func(x float64) string { return scale(x, p.LogX) }),
	}
	if t.Color {
		options = append(options, asciigraph.SeriesColors(colors...))
	}
	axes := clean(p.X)
	if p.Y != "" {
		axes = clean(p.Y) + " against " + axes
	}
	return asciigraph.PlotMany(series, options...) + "\n" + indent + axes + "\n" + wrap(legend, t.Width) + "\n"
}

// scale formats a value of an axis.
func scale(x float64, logarithmic bool) string {
	if logarithmic {
		return power(x)
	}
	return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(unzero(x), 'g', 4, 64))
}

// indent is as wide as the numbers of the y axis.
const indent = "         "

// wrap joins the names of a legend into lines of at most width characters.
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

// takeTurns makes gaps in series that share a line of a chart, so that each of them is visible
// every few columns.
func takeTurns(series [][]float64, lo, hi float64) {
	const turn = 3 // columns
	line := func(y float64) float64 { return math.Round((y - lo) / (hi - lo) * chartHeight) }
	for x := range series[0] {
		lines := make(map[float64][]int)
		for i, ys := range series {
			if l := line(ys[x]); !math.IsNaN(l) {
				lines[l] = append(lines[l], i)
			}
		}
		for _, same := range lines {
			for k, i := range same {
				if k != x/turn%len(same) {
					series[i][x] = math.NaN()
				}
			}
		}
	}
}

// unzero returns 0 for values that are only rounding errors.
func unzero(x float64) float64 {
	if math.Abs(x) < 1e-12 {
		return 0
	}
	return x
}

// letters returns a letter for each curve: the first letter of its name that no earlier curve
// has, or else any free one.
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

// terminalColor returns the nearest of the 256 colours to that of the i-th style.
func terminalColor(i int) asciigraph.AnsiColor {
	near := []asciigraph.AnsiColor{
		asciigraph.DodgerBlue, asciigraph.OrangeRed, asciigraph.MediumSeaGreen, asciigraph.Orchid,
		asciigraph.Orange, asciigraph.SkyBlue, asciigraph.Default, asciigraph.Yellow,
	}
	return near[i%len(near)]
}

// sample returns the curve at n places from lo to hi, linearly interpolated. Places outside
// the curve are NaN, which leaves a gap. Every point appears at the nearest place.
func sample(points []Point, lo, hi float64, n int) []float64 {
	pts := slices.SortedStableFunc(slices.Values(points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	ys := make([]float64, n)
	for i := range ys {
		x := lo + (hi-lo)*float64(i)/float64(n-1)
		ys[i] = math.NaN()
		if k := sort.Search(len(pts), func(k int) bool { return pts[k].X >= x }); k > 0 && k < len(pts) {
			a, b := pts[k-1], pts[k]
			ys[i] = a.Mean + (b.Mean-a.Mean)*(x-a.X)/(b.X-a.X)
		}
	}
	for _, pt := range pts {
		ys[int(math.Round((pt.X-lo)/(hi-lo)*float64(n-1)))] = pt.Mean
	}
	return ys
}

// table returns the means of a bar panel, with one row per group and one column per curve.
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
