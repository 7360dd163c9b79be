package papers

import (
	"fmt"
	"strings"
)

// Markdown returns all verdicts as a page. It has one table per paper and one line per
// claim, with the number on which the verdict depends.
func Markdown(all []Judged) string {
	var b strings.Builder
	for _, j := range all {
		fmt.Fprintf(&b, "## %s\n\n", j.Title)
		b.WriteString(j.counts() + ", without post hoc claims; intervals hold simultaneously at 95 % over the claims of the paper (Bonferroni).\n\n")
		for _, n := range j.Notes {
			fmt.Fprintf(&b, "- %s\n", escaped(n))
		}
		b.WriteString("\n| claim | sentence | verdict | covers | at half the margin | estimate | interval | wanted | margin | n |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
		for _, c := range j.Claims {
			cells := []string{c.ID, c.Section + " “" + c.Quote + "”", string(c.Verdict), "", "", "", "", "", "", ""}
			switch {
			case c.PostHoc != "":
				cells[1] += " (post hoc: " + c.PostHoc + ")"
			case c.Why != "":
				cells[1] += " (" + c.Why + ")"
			}
			if c.Decides >= 0 {
				o := c.Outcomes[c.Decides]
				interval := o.Exact
				if o.Lo != nil {
					interval = fmt.Sprintf("%.4g to %.4g", *o.Lo, *o.Hi)
				}
				cells[3], cells[4] = covers(c.Panels), strings.ToLower(string(c.Half))
				cells[5], cells[6], cells[7] = fmt.Sprintf("%.4g: %s", o.Value, o.What), interval, o.Want
				cells[8], cells[9] = fmt.Sprintf("%.4g: %s", o.Margin, o.Source), fmt.Sprint(o.N)
			}
			for i := range cells {
				cells[i] = escaped(cells[i])
			}
			b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// escaped returns s as the text of a table cell.
func escaped(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(s)
}
