package papers

import (
	"strings"
	"testing"

	"bourse/experiments/papers/claims"
	"bourse/experiments/report"
)

// TestWhichHold checks that claims judged on several make a row a claim and a
// column for what they are judged on, failures marked, and that others make none.
func TestWhichHold(t *testing.T) {
	t.Parallel()
	j := Judged{Claims: []claims.Judgement{
		{ID: "1-desk", On: "desk", Verdict: claims.Supported}, {ID: "1-lab", On: "lab", Verdict: claims.Contradicted},
		{ID: "2", Verdict: claims.Supported}, {ID: "3-peak-lab", On: "lab", Verdict: claims.NotTestable},
	}}
	got := strings.Fields(j.table().Text(report.Terminal{}))
	want := "Which claims hold on which claim | desk | lab --------+-----------+--------------- 1 | supported | contradicted* 3-peak | - | not testable"
	if strings.Join(got, " ") != want {
		t.Errorf("table %s, want %s", strings.Join(got, " "), want)
	}
	j.Claims = j.Claims[2:3]
	if n := len(j.table().Rows); n != 0 {
		t.Errorf("%d rows of claims that are judged once", n)
	}
}

// TestText checks that a claim's line has what decides it: the estimate with its interval,
// where it must lie, replications, p, the verdict at half the margin and what would decide
// it; and that each test says where its interval lies, whence its margin is, and why it
// has none; a reading that was added later is not counted.
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
UNDECIDED      1  §1 "more"  0.005 [-0.01, 0.02], want > 0, n 5, p 0.04; at half the margin undecided; no difference of 0.05 is left; n 34 would decide it
                   changed since the run
                   equal   0.005 [-0.01, 0.02], want > 0 (n 5, p 0.04): m of a
                   margin 0.05: digits
SUPPORTED      2  §2 "none"  0, want < 1, n 5; at half the margin contradicted
                   post hoc: it was seen
                   inside  0, want < 1 (n 5): m of b
                          no chance: b knows none
                   margin 1: one
NOT TESTABLE   3  §3 "else"
                   nobody counted
0 supported, 0 contradicted, 1 undecided, 1 not testable; intervals hold together at 95 % over the claims of the paper (Bonferroni)
`
	if got := j.text(report.Terminal{}, false); got != want {
		t.Errorf("text:\n%swant:\n%s", got, want)
	}
}
