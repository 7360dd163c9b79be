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

// leastBeside is how many columns are to be left beside what a paragraph hangs on.
const leastBeside = 50

// unbroken stands for a space at which a line is not broken. It is as wide, and in no text.
const unbroken = "\ue000"

// Hang returns before and s behind it, broken between words where they are wider than t.
// The lines after the first stand below the beginning of s, or a little within that of
// before where that leaves them too narrow. At a no-break space no line is broken.
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

// text returns s as t can show it.
func (t Terminal) text(s string) string {
	if t.UTF8 {
		return s
	}
	return ASCII(s)
}

// Lines returns s as t can show it, broken between words into lines.
func (t Terminal) Lines(s string) []string { return strings.Split(t.fold(t.text(clean(s))), "\n") }
