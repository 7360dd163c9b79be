package whatif

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"bourse/bank"
	"bourse/experiments/report"
)

// Text formats r as text. It lists the largest gains and losses of other jobs, at most the
// given number of each, for the first change or for the job itself.
func (r *Explanation) Text(most int) string {
	var out strings.Builder
	d := &r.Decision
	fmt.Fprintf(&out, "Job %d of %s in %s, by %s: %s.\n", r.Job, r.Owner, r.Run, r.Policy, r.decided())
	fmt.Fprintf(&out, "The job requested %s.\n", r.said(&r.Asked))
	if d.Test != nil {
		fmt.Fprintln(&out, r.tested())
	}
	if len(d.Numbers) > 0 {
		var numbers []string
		for _, n := range d.Numbers {
			numbers = append(numbers, named(n.Name)+" "+measured(n.Name, n.Value))
		}
		fmt.Fprintf(&out, "The policy computed: %s.\n", strings.Join(numbers, ", "))
	}
	if r.Taken != nil {
		fmt.Fprintf(&out, "The owner accepted an offer: %s. The job was then %s. Its owner paid $%v and valued it at $%v.\n", r.said(r.Taken), r.Outcome.State, r.Outcome.Paid, r.Outcome.Worth)
	}
	if d.Verdict == "accept" {
		fmt.Fprintf(&out, "The job was %s. Its owner paid $%v and valued it at $%v.\n", r.Outcome.State, r.Outcome.Paid, r.Outcome.Worth)
		r.harm(&out, most)
		r.list(&out, "With everything else unchanged, the job would have been refused")
	} else {
		r.list(&out, "With everything else unchanged, the job would have been accepted")
		r.outcomes(&out, most)
		if r.Help != nil {
			fmt.Fprintf(&out, "\n%s\n", r.Help.text(r))
		}
	}
	if len(r.Frontier) > 0 {
		fmt.Fprint(&out, "\nThe lowest budget that would have been accepted\n")
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(w, "deadline, s\tbudget, $\t\n")
		for _, p := range r.Frontier {
			fmt.Fprintf(w, "%s\t%v\t\n", short(p.Deadline), p.Budget)
		}
		w.Flush()
	}
	return blanks.ReplaceAllString(out.String(), "")
}

// blanks matches the spaces at the ends of lines, which remain if a column is empty.
var blanks = regexp.MustCompile(`(?m) +$`)

// decided describes the decision and its time.
func (r *Explanation) decided() string {
	d := &r.Decision
	switch d.Verdict {
	case "accept":
		return "accepted at " + r.instant(d.At)
	case "reject":
		return "refused at " + r.instant(d.At) + ": " + d.Reason
	}
	return "not decided before the run ended"
}

// instant formats a time.
func (r *Explanation) instant(at float64) string {
	return short(at) + " s"
}

// said describes t in one sentence.
func (r *Explanation) said(t *terms) string {
	s := fmt.Sprintf("%s processor-seconds on each of %d nodes within %s s of %s, for $%v", short(t.Work), t.Nodes, short(t.Deadline), r.instant(t.Submit), t.Budget)
	if t.Nodes == 1 {
		s = strings.Replace(s, "each of 1 nodes", "1 node", 1)
	}
	if t.Class != "" {
		s += ", as " + t.Class
	}
	return s
}

// numbers maps the policy's name of a number to the name and unit for printing. Numbers that
// are not listed are counts without a unit, printed under the policy's name for them.
var numbers = map[string]struct{ name, unit string }{
	"price": {"spot price", "$/s"}, "percentile": {"price percentile", "$/s"},
	"spot_share": {"share at the spot price", "hosts"}, "share": {"share at the price percentile", "hosts"}, "threshold": {"required share", "hosts"},
	"gets": {"rate obtained", "processors"}, "want": {"rate needed", "processors"}, "violates": {"violated contract", ""},
	"ask": {"price asked", "$"}, "balance": {"balance", "$"}, "budget": {"budget", "$"}, "least": {"least bid", "$/s"}, "bid": {"bid", "$/s"},
	"start": {"start", "s"}, "completion": {"completion", "s"}, "impact": {"impact", "s"}, "hosts": {"suitable hosts", ""}, "nodes": {"nodes", ""},
}

func named(name string) string {
	if n, ok := numbers[name]; ok {
		return n.name
	}
	return name
}

// measured formats the number x with its unit.
func measured(name string, x float64) string {
	switch unit := numbers[name].unit; unit {
	case "":
		return short(x)
	case "$":
		return "$" + short(x)
	default:
		return short(x) + " " + unit
	}
}

// tested describes the test that failed, or the margin by which the last test was passed.
func (r *Explanation) tested() string {
	t := r.Decision.Test
	head, word := "Reason: ", t.word
	if r.Decision.Verdict == "accept" {
		head = "Margin: "
	}
	if t.Contract != r.Job {
		head += fmt.Sprintf("contract %d would be violated; ", t.Contract)
	}
	off, side, bound := t.Want-t.Got, "below", "required"
	if t.AtMost {
		bound = "allowed"
	}
	if off < 0 {
		off, side = -off, "above"
	}
	percent := ""
	if t.Want != 0 {
		percent = fmt.Sprintf(" (%.3g %%)", 100*off/t.Want)
	}
	return fmt.Sprintf("%s%s is %s, which is %s%s %s the %s %s.", head, word, measured(t.What, t.Got), measured(t.What, off), percent, side, bound, measured(t.What, t.Want))
}

// text describes the help in sentences.
func (h *help) text(r *Explanation) string {
	said := "No change to a single term helps. "
	if h.Terms != nil {
		said += fmt.Sprintf("With several changes, the job would have been accepted: %s. ", r.said(h.Terms))
	} else {
		said += fmt.Sprintf("None of the %d combined changes that were tried helps. ", h.Tried)
	}
	switch {
	case len(h.Policies) > 0:
		said += fmt.Sprintf("Another policy accepts the job unchanged: %s.", strings.Join(h.Policies, ", "))
	case h.Terms == nil:
		said += "No other policy of this configuration accepts the job. The job needs more hosts or fewer competing jobs."
	default:
		said += "No other policy of this configuration accepts the job unchanged."
	}
	return said
}

// list lists the changes of r and the terms for which no change was found.
func (r *Explanation) list(out *strings.Builder, title string) {
	if len(r.Changes) > 0 {
		fmt.Fprintf(out, "\n%s\n", title)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for i := range r.Changes {
			c := &r.Changes[i]
			note := c.Reason
			if !c.Monotone {
				note = strings.TrimPrefix(note+"; a smaller change may be sufficient, or a larger change insufficient", "; ")
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", c.Of, c.By, r.is(c), note)
		}
		w.Flush()
	}
	if len(r.Unsolved) > 0 {
		fmt.Fprint(out, "\nThese changes do not help\n")
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, v := range r.Unsolved {
			fmt.Fprintf(w, "  %s\tup to %s\t%d tried\n", v.Of, v.Until, v.Tried)
		}
		w.Flush()
	}
}

// is formats the new value of the changed term.
func (r *Explanation) is(c *change) string {
	switch c.Of {
	case "budget":
		return fmt.Sprintf("$%v", c.Terms.Budget)
	case "deadline":
		return short(c.Terms.Deadline) + " s"
	case "nodes":
		return fmt.Sprintf("%d of %s s of work", c.Terms.Nodes, short(c.Terms.Work))
	case "submit":
		return "at " + r.instant(c.Terms.Submit)
	}
	return ""
}

// outcomes describes the alternative outcomes for each change.
func (r *Explanation) outcomes(out *strings.Builder, most int) {
	var first *change
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i := range r.Changes {
		c := &r.Changes[i]
		if c.Then == nil {
			continue
		}
		if first == nil {
			first = c
			fmt.Fprint(out, "\nOutcome for the job and for all others\n")
			fmt.Fprint(w, "change\toutcome\tpayment ($)\towner surplus ($)\texternality ($)\tothers gaining\tothers losing\t\n")
		}
		fmt.Fprintf(w, "%s %s\t%s\t%v\t%v\t%v\t%d\t%d\t\n", c.Of, c.By, c.Then.Outcome.State, c.Then.Outcome.Paid, c.Then.Has, c.Then.Externality, c.Then.Gain, c.Then.Lose)
	}
	w.Flush()
	if first == nil {
		return
	}
	fmt.Fprint(out, "The externality is the value of all other users' work without the job, minus the value of this work with the job.\n")
	first.Then.others(out, most, fmt.Sprintf("with %s %s", first.Of, first.By))
}

// harm describes the cost of the job for the other jobs.
func (r *Explanation) harm(out *strings.Builder, most int) {
	o := r.Without
	if o == nil {
		return
	}
	verb, by := "cost", o.Externality
	if by.Sign() < 0 {
		verb, by = "gave", bank.Micros(-by.Micros())
	}
	fmt.Fprintf(out, "The admission of the job %s all other users work worth $%v; this value is the externality. The payment was $%v.\n", verb, by, r.Outcome.Paid)
	paid, word := o.Paid, "more"
	if paid.Sign() < 0 {
		paid, word = bank.Micros(-paid.Micros()), "less"
	}
	fmt.Fprintf(out, "Without the job, the other users would have paid $%v %s; %d would have gained and %d would have lost.\n", paid, word, o.Gain, o.Lose)
	o.others(out, most, "without the job")
}

// others lists the largest gains and losses of other jobs.
func (o *effect) others(out *strings.Builder, most int, how string) {
	list := func(title string, n int, at func(i int) int) {
		if n = min(n, most); n == 0 {
			return
		}
		fmt.Fprintf(out, "\nOther users who would have %s %s\n", title, how)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for i := range n {
			j := &o.Jobs[at(i)]
			fmt.Fprintf(w, "  %d\t%s\t%s\tinstead of\t%s\t$%v\n", j.ID, j.Owner, j.Is.summary(), j.Was.summary(), j.Gain)
		}
		w.Flush()
	}
	list("gained", o.Gain, func(i int) int { return i })
	list("lost", o.Lose, func(i int) int { return len(o.Jobs) - 1 - i })
}

// Figure returns a figure of the frontier of r: for each deadline, the lowest budget with
// which the job would have been accepted. It also shows the request.
func (r *Explanation) Figure() report.Figure {
	least := report.Curve{Name: "least budget accepted"}
	for _, p := range r.Frontier {
		b := p.Budget.Float64()
		least.Points = append(least.Points, report.Point{X: p.Deadline, Mean: b, Lo: b, Hi: b})
	}
	b := r.Asked.Budget.Float64()
	asked := report.Curve{Name: "asked", Points: []report.Point{{X: r.Asked.Deadline, Mean: b, Lo: b, Hi: b}}}
	return report.Figure{
		Name: "explain", Title: fmt.Sprintf("Job %d of %s", r.Job, r.Run),
		Caption: "For each requested deadline, the curve shows the lowest budget, rounded to cents, with which the job would have been accepted at the submission. The point is the actual request.",
		Panels:  []report.Panel{{X: "deadline, s", Y: "budget, $", Curves: []report.Curve{least, asked}}},
	}
}

// short formats x with at most six significant digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
