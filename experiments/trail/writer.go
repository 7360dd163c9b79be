package trail

import (
	"bytes"
	"html"
	"math"
	"strconv"

	"bourse/experiments/report"
)

// A writer writes HTML.
type writer struct {
	bytes.Buffer
	labels report.Labels
}

// put writes pieces of HTML without escaping them.
func (w *writer) put(pieces ...string) {
	for _, p := range pieces {
		w.WriteString(p)
	}
}

// text writes any text and escapes it.
func (w *writer) text(s string) { w.WriteString(html.EscapeString(s)) }

// link writes a link to an anchor on the page.
func (w *writer) link(place, text string) {
	w.put(`<a href="#`, place, `">`)
	w.text(text)
	w.put("</a>")
}

// begin begins a table with the given name and one column for each of heads. A + before a
// head marks a column of numbers.
func (w *writer) begin(name string, heads ...string) {
	w.put(`<div class="scroll" tabindex="0" role="region" aria-label="`)
	w.text(name)
	w.put(`"><table class="rows"><thead><tr>`)
	for _, h := range heads {
		if h[0] == '+' {
			w.put(`<th class="n">`)
			h = h[1:]
		} else {
			w.put("<th>")
		}
		w.text(h)
		w.put("</th>")
	}
	w.put("</tr></thead><tbody>\n")
}

func (w *writer) end() { w.put("</tbody></table></div>\n") }

// cell writes a cell that contains text.
func (w *writer) cell(s string) {
	w.put("<td>")
	w.text(s)
	w.put("</td>")
}

// number writes a cell that contains a number.
func (w *writer) number(s string) { w.put(`<td class="n">`, s, "</td>") }

// none is the text that is printed if there is no value.
const none = "–"

// short formats x with six significant digits.
func short(x float64) string {
	if math.IsNaN(x) {
		return none
	}
	if a := math.Abs(x); a >= 1e6 && a < 1e15 || a >= 1e-4 && a < 1e6 || a == 0 {
		digits := 0
		if a > 0 {
			digits = max(0, 5-int(math.Floor(math.Log10(a))))
		}
		s := strconv.FormatFloat(x, 'f', min(digits, 9), 64)
		if bytes.IndexByte([]byte(s), '.') >= 0 {
			s = string(bytes.TrimRight(bytes.TrimRight([]byte(s), "0"), "."))
		}
		return s
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func maybe(x *float64) string {
	if x == nil {
		return none
	}
	return short(*x)
}
