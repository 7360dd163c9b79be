package papers

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
)

// TestText checks the line of a claim. The line must contain the estimate with its interval,
// the region, the number of replications, p, the verdict at half the margin, and the number of
// replications that would decide the claim. Each test must state where its interval lies, and
// either the source of its margin or the reason why there is no margin. A claim added later
// must not be counted.
func TestText(t *testing.T) {
	t.Parallel()
	lo, hi, p, needed := -0.01, 0.02, 0.04, 34
	j := Judged{Title: "Paper", Since: []string{"as registered (lab)"}, Claims: []claims.Judgement{
		{
			ID: "1", Section: "§1", Quote: "more", Verdict: claims.Undecided, Half: claims.Undecided, P: &p, Needed: &needed, Since: changed,
			Outcomes: []claims.Outcome{{What: "m of a", Want: "> 0", Margin: 0.05, Source: "digits", N: 5, Value: 0.005, Lo: &lo, Hi: &hi, Where: claims.Undecided, Equal: true, P: &p}},
		},
		{
			ID: "2", Section: "§2", Quote: "none", Verdict: claims.Supported, Half: claims.Contradicted, PostHoc: "it was seen",
			Outcomes: []claims.Outcome{{What: "m of b", Want: "< 1", Margin: 1, Source: "one", N: 5, Where: claims.Supported, Exact: "b knows none"}},
		},
		{ID: "3", Section: "§3", Quote: "else", Verdict: claims.NotTestable, Why: "nobody counted", Decides: -1, Outcomes: []claims.Outcome{}},
	}}
	want := `Paper
Claims: as registered (lab)
UNDECIDED      1  §1 "more"  0.005 [-0.01, 0.02], want > 0, n 5, p 0.04; at half the margin, undecided; the interval lies within the margin of 0.05; n 34 would decide it
                   changed since the run
                   equal   0.005 [-0.01, 0.02], want > 0 (n 5, p 0.04): m of a
                   margin 0.05: digits
SUPPORTED      2  §2 "none"  0, want < 1, n 5; at half the margin, contradicted
                   post hoc: it was seen
                   inside  0, want < 1 (n 5): m of b
                          no chance: b knows none
                   margin 1: one
NOT TESTABLE   3  §3 "else"
                   nobody counted
0 supported, 0 contradicted, 1 undecided, 1 not testable; intervals hold simultaneously at 95 % over the claims of the paper (Bonferroni)
`
	if got := j.text(report.Terminal{UTF8: true}, false); got != want {
		t.Errorf("text:\n%swant:\n%s", got, want)
	}
	for _, width := range []int{60, 80, 120} {
		got := j.text(report.Terminal{UTF8: true, Width: width}, false)
		for line := range strings.Lines(got) {
			if utf8.RuneCountInString(line)-1 > width {
				t.Errorf("at %d columns: a line of %d: %s", width, utf8.RuneCountInString(line)-1, line)
			}
		}
		if strings.Count(got, "0.005 [-0.01, 0.02], want > 0") != 2 || strings.Count(got, " 0, want < 1") != 2 {
			t.Errorf("at %d columns a number is parted from what is wanted of it:\n%s", width, got)
		}
		if !slices.Equal(strings.Fields(got), strings.Fields(want)) {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}

// TestUndecided checks that the line names the undecided claims with the numbers of
// replications that would decide them. The line must exclude claims added later, and be empty
// if no claim was tested.
func TestUndecided(t *testing.T) {
	t.Parallel()
	one := []claims.Outcome{{}}
	n := func(n int) *int { return &n }
	for want, all := range map[string][]claims.Judgement{
		"": {{ID: "1", Verdict: claims.NotTestable, Decides: -1}},
		"claims of the paper: 1 supported, 0 contradicted, 0 undecided, 0 not testable": {{ID: "1", Verdict: claims.Supported, Outcomes: one}},
		"claims of the paper: 0 supported, 1 contradicted, 3 undecided, 0 not testable. Undecided: 1, 2, 5; 7 replications would decide half of these claims, and 30 would decide all claims except those for which the number is unknown": {
			{ID: "1", Verdict: claims.Undecided, Outcomes: one, Needed: n(30)}, {ID: "2", Verdict: claims.Undecided, Outcomes: one, Needed: n(7)},
			{ID: "3", Verdict: claims.Contradicted, Outcomes: one}, {ID: "4", Verdict: claims.Undecided, Outcomes: one, Needed: n(90), PostHoc: "seen"},
			{ID: "5", Verdict: claims.Undecided, Outcomes: one},
		},
	} {
		if got := (Judged{Claims: all}).Undecided(); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// TestMarkdown checks a page of verdicts. It must have one line per claim with the number
// that decides it, and no cell text that would end the cell.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	lo, hi := -0.01, 0.02
	got := Markdown([]Judged{{Title: "Paper", Notes: []string{"it is of a <log>"}, Claims: []claims.Judgement{
		{ID: "1", Section: "§1", Quote: "a|b", Verdict: claims.Undecided, Half: claims.Supported, Decides: 1, Panels: map[claims.Verdict]int{claims.Supported: 2, claims.Undecided: 1}, Outcomes: []claims.Outcome{
			{}, {What: "m of a", Want: "< 0", Margin: 0.05, Source: "digits", N: 5, Value: 0.005, Lo: &lo, Hi: &hi},
		}},
		{ID: "2", Section: "§2", Quote: "else", Verdict: claims.NotTestable, Why: "nobody counted", Decides: -1},
	}}})
	for _, want := range []string{
		"## Paper\n", "- it is of a &lt;log>\n", "0 supported, 0 contradicted, 1 undecided, 1 not testable",
		"| 1 | §1 “a\\|b” | UNDECIDED | 3 panels: 2 supported, 1 undecided | supported | 0.005: m of a | -0.01 to 0.02 | &lt; 0 | 0.05: digits | 5 |\n",
		"| 2 | §2 “else” (nobody counted) | NOT TESTABLE |  |  |  |  |  |  |  |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
