package report

import (
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// A Terminal says what the receiver of text can show. The zero value is a pipe
// of any width that knows ASCII only.
type Terminal struct {
	Width int  // characters a line; 0 is no limit
	Color bool // understands ANSI colours
	UTF8  bool // shows more than ASCII
}

// ASCII returns s with something else for every character beyond ASCII: what stands for
// it, if it is one that the program writes, else a question mark. The replacer is made
// anew each time: the package keeps no state.
func ASCII(s string) string {
	s = strings.NewReplacer(
		"±", "+/-", "–", "-", "—", "-", "×", "x", "α", "alpha", "…", "...", "§§", "sections ", "§", "section ", "²", "^2", "³", "^3", "·", "*",
		"≤", "<=", "≥", ">=", "≠", "!=", "≈", "~", "−", "-", "→", "->", "⇒", "=>", "∞", "inf", "σ", "sigma", "μ", "mu", "λ", "lambda", "π", "pi",
		"‘", "'", "’", "'", "“", "\"", "”", "\"", "√", "sqrt ", "Σ", "sum ", "∈", "in",
		"á", "a", "é", "e", "è", "e", "ö", "o", "ü", "u", "ä", "a",
		"┤", "|", "┼", "+", "│", "|", "─", "-", "└", "+", "┬", "+", "╭", "+", "╮", "+", "╯", "+", "╰", "+", "■", "#",
	).Replace(s)
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, s)
}

// clean replaces what a terminal would act upon.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// fold breaks a line between words where it is wider than t.
func (t Terminal) fold(s string) string {
	if t.Width <= 0 || text.StringWidth(s) <= t.Width {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(text.WrapSoft(s, t.Width)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// text returns s as t can show it.
func (t Terminal) text(s string) string {
	if t.UTF8 {
		return s
	}
	return ASCII(s)
}
