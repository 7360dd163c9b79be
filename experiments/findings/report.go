package findings

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"bourse/experiments/report"
)

// method says how all of it is told.
const method = "Replications are what is independent; differences are paired by replication (Student's t), shares that were promised have the score interval of clustered trials, ratios Fieller's. " +
	"The intervals of one finding hold at once with 95 % (Bonferroni over its comparisons), not those of all ten."

// Text returns the findings as sentences, in lines that can be read.
func (p *Page) Text() string {
	var b strings.Builder
	for i := range p.Findings {
		f := &p.Findings[i]
		fmt.Fprintf(&b, "%d. %s\n", i+1, f.Question)
		for _, s := range f.Sentences {
			wrap(&b, s, "   ", "     ")
		}
		b.WriteString("\n")
	}
	wrap(&b, method, "", "")
	return b.String()
}

// wrap writes a sentence in lines of a hundred letters, which begin with indent, those after
// the first with hanging.
func wrap(b *strings.Builder, sentence, indent, hanging string) {
	line := indent
	for i, word := range strings.Fields(sentence) {
		switch {
		case i == 0:
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 100:
			fmt.Fprintln(b, line)
			line = hanging
		default:
			line += " "
		}
		line += word
	}
	fmt.Fprintln(b, line)
}

// Document returns the page: the findings, and the comparisons of each with a figure.
func (p *Page) Document(labels report.Labels, command []string) report.Document {
	d := report.Document{
		Title: "Findings", Lead: "Ten questions about the market, and what a fixed study says of each.", Command: command,
		Notes:  []string{method},
		Values: func([]string) any { return *p },
	}
	all := report.Table{Title: "What was found", Header: []string{"question", "finding"}, Left: 2}
	for i := range p.Findings {
		f := &p.Findings[i]
		all.Rows = append(all.Rows, []report.Cell{{Text: f.Question, Strong: true}, {Text: strings.Join(f.Sentences, " ")}})
	}
	d.Tables = append(d.Tables, all)
	for i := range p.Findings {
		f := &p.Findings[i]
		d.Tables = append(d.Tables, f.table(labels))
		d.Figures = append(d.Figures, f.figure(labels))
	}
	return d
}

func (f *Finding) table(labels report.Labels) report.Table {
	t := report.Table{Title: f.Question, Left: 4, Header: []string{"metric", "in", "first", "second", "n", "first", "second", "difference", "at once, 95 %", "n for 80 %", "the first is"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	for i := range f.Comparisons {
		c := &f.Comparisons[i]
		between, needed := "–", "–"
		if c.Lo != nil {
			between = "[" + number(*c.Lo) + ", " + number(*c.Hi) + "]"
		}
		if c.Needed != nil {
			needed = strconv.Itoa(*c.Needed)
		}
		words := []string{
			labels.Of(c.Metric), labels.Of(c.Within), c.First, c.Second, strconv.Itoa(c.N),
			number(c.FirstMean), number(c.SecondMean), number(c.Difference), between, needed, c.Verdict,
		}
		cells := make([]report.Cell, len(words))
		for k, w := range words {
			cells[k].Text = w
		}
		cells[len(cells)-1].Strong = c.Verdict == higher || c.Verdict == lower
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// figure returns the differences of f, a panel for each metric and what they have in common.
func (f *Finding) figure(labels report.Labels) report.Figure {
	fig := report.Figure{Name: "finding-" + f.Name, Title: f.Question, Caption: "Differences, with intervals that hold at once (95 %)."}
	at := make(map[string]int)
	for i := range f.Comparisons {
		c := &f.Comparisons[i]
		title := labels.Of(c.Metric) + ": " + labels.Of(c.Within)
		n, ok := at[title]
		if !ok {
			n = len(fig.Panels)
			at[title] = n
			fig.Panels = append(fig.Panels, report.Panel{Title: title, Forest: true, Curves: []report.Curve{{Name: "difference"}}})
		}
		p := &fig.Panels[n]
		pt := report.Point{X: float64(len(p.Groups)), Mean: c.Difference, Lo: c.Difference, Hi: c.Difference}
		if c.Lo != nil {
			pt.Lo, pt.Hi = *c.Lo, *c.Hi
		}
		p.Curves[0].Points = append(p.Curves[0].Points, pt)
		p.Groups = append(p.Groups, c.First+" − "+c.Second)
	}
	return fig
}
