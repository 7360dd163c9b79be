package report

import (
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// A Terminal describes the display capabilities of the device that receives the text. The zero
// value describes a pipe of unlimited width that supports only ASCII.
type Terminal struct {
	Width int  // maximum number of characters per line; 0 means no limit
	Color bool // whether ANSI colours are supported
	UTF8  bool // whether characters beyond ASCII are supported

	Braille bool // whether braille patterns are supported, which charts need
}

// ASCII returns s with every non-ASCII character replaced. A character that the program itself
// writes is replaced by a similar text, and any other character by a question mark. ASCII
// creates its replacer in each call, because the package has no global state.
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

// clean replaces control characters, because a terminal might interpret them.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// fold breaks each line of s that is wider than t between words.
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

// leastBeside is the minimum width of a paragraph with a hanging indent, in characters.
const leastBeside = 50

// unbroken represents a space at which lines must not be broken. It has the width of a space
// and does not occur in texts.
const unbroken = "\ue000"

// Hang returns before followed by s, wrapped to the width of t. Continuation lines are
// indented to the start of s. If this would make the lines too narrow, they are indented only
// slightly more than before. Lines are not broken at no-break spaces.
func (t Terminal) Hang(before, s string) string {
	parts := strings.Split(s, "\u00a0")
	for i := range parts {
		parts[i] = t.text(parts[i])
	}
	before, s = t.text(before), strings.Join(parts, unbroken)
	in := text.StringWidth(before)
	if t.Width > 0 && in+text.StringWidth(s) > t.Width {
		if t.Width-in < leastBeside {
			rest := strings.TrimLeft(before, " ")
			before, s = before[:len(before)-len(rest)], strings.ReplaceAll(rest, " ", unbroken)+s
			in = len(before) + 4
		}
		lines := strings.Split(text.WrapSoft(s, t.Width-in), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " "+unbroken)
		}
		s = strings.Join(lines, "\n"+strings.Repeat(" ", in))
	}
	return before + strings.ReplaceAll(s, unbroken, " ")
}

// text returns s, using only characters that t supports.
func (t Terminal) text(s string) string {
	if t.UTF8 {
		return s
	}
	return ASCII(s)
}

// Lines returns s formatted for t and wrapped into lines.
func (t Terminal) Lines(s string) []string { return strings.Split(t.fold(t.text(clean(s))), "\n") }
