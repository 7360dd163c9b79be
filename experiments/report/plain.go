package report

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// A PlainWriter writes only ASCII characters if the locale is not UTF-8. All output of the
// program passes through it. In text for people, a PlainWriter replaces other characters by
// similar ones. In JSON, it escapes them. It does not change data.
type PlainWriter struct {
	io.Writer
	Convert func(string) string // function that converts the text; nil for data
	rest    []byte              // bytes of an incomplete character
}

// Write writes b without the bytes of an incomplete character at its end.
func (w *PlainWriter) Write(b []byte) (int, error) {
	if w.Convert == nil || len(w.rest) == 0 && !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf }) {
		return w.Writer.Write(b)
	}
	all := append(w.rest, b...)
	end := len(all)
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(all[i]) {
			if !utf8.FullRune(all[i:]) {
				end = i
			}
			break
		}
	}
	w.rest = slices.Clone(all[end:])
	if _, err := io.WriteString(w.Writer, w.Convert(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Escaped returns JSON in which non-ASCII characters are escaped. Such characters occur
// only in strings.
func Escaped(s string) string {
	var b []byte
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return string(b)
}
