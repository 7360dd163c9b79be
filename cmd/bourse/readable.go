package main

import (
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

var (
	pageLink = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)]*)\)`)
	ofPage   = regexp.MustCompile(`^([a-z-]+)\.md(#.*)?$`)
	rule     = regexp.MustCompile(`^\|[ :|-]*\|$`)
)

// readable formats a Markdown page for a terminal of the given width; 0 means 80 columns.
// It replaces links by page names, indents blocks and wraps paragraphs. If a table is too
// wide, each of its rows becomes a paragraph.
func readable(page string, width int) string {
	if width <= 0 {
		width = 80
	}
	var out, paragraph, table []string
	flush := func() {
		if len(paragraph) > 0 {
			out = append(out, fold(strings.Join(paragraph, " "), width))
		}
		out = append(out, readableTable(table, width)...)
		paragraph, table = nil, nil
	}
	inBlock := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			inBlock = !inBlock
		case inBlock:
			out = append(out, strings.TrimRight("    "+line, " "))
		case strings.HasPrefix(line, "    ") && len(paragraph) == 0:
			flush()
			out = append(out, line)
		case strings.HasPrefix(line, "|"):
			table = append(table, plainLinks(line))
		case line == "" || strings.HasPrefix(line, "#"):
			flush()
			out = append(out, line)
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "!["):
			flush()
			paragraph = []string{plainLinks(line)}
		default:
			paragraph = append(paragraph, plainLinks(strings.TrimSpace(line)))
		}
	}
	flush()
	return strings.Join(out, "\n") + "\n"
}

// plainLinks replaces links and pictures by words, and removes Markdown syntax.
func plainLinks(line string) string {
	line = strings.NewReplacer("**", "", `\*`, "*", "&lt;", "<", "<br>", "; ").Replace(line)
	return pageLink.ReplaceAllStringFunc(line, func(link string) string {
		part := pageLink.FindStringSubmatch(link)
		page := ofPage.FindStringSubmatch(part[2])
		switch {
		case page != nil:
			return part[1] + " (bourse docs " + page[1] + ")"
		case strings.HasPrefix(part[2], "#"):
			return part[1]
		case link[0] == '!':
			return "[" + part[1] + "]"
		}
		return part[1] + " (" + strings.TrimLeft(part[2], "./") + ")"
	})
}

// fold wraps a paragraph and indents the items of a list.
func fold(paragraph string, width int) string {
	if rest, ok := strings.CutPrefix(paragraph, "- "); ok {
		return "- " + setIn(rest, width, "  ")
	}
	return setIn(paragraph, width, "")
}

// setIn wraps s into lines of the given width. Every line except the first one begins with the
// given text.
func setIn(s string, width int, with string) string {
	lines := strings.Split(text.WrapSoft(s, width-len(with)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"+with)
}

// readableTable returns the lines of a table, aligned in columns if they fit.
func readableTable(lines []string, width int) (out []string) {
	var rows [][]string
	var widths []int
	for _, line := range lines {
		if rule.MatchString(line) {
			continue
		}
		line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
		var row []string
		for i, cell := range strings.Split(line, "|") {
			cell = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], text.RuneWidthWithoutEscSequences(cell))
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	total := 0
	for _, w := range widths {
		total += w + 2
	}
	for _, row := range rows {
		if total-2 <= width {
			for i := range row {
				row[i] = text.Pad(row[i], widths[i], ' ')
			}
			out = append(out, strings.TrimRight(strings.Join(row, "  "), " "))
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, fold(row[0], width))
		for _, cell := range row[1:] {
			if cell != "" {
				out = append(out, "    "+setIn(cell, width, "    "))
			}
		}
	}
	return out
}
